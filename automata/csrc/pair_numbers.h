// PairNumbers: pairs of numbers, numbered as they come.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/id_table.h"

namespace tokamata {

class PairNumbers {
 public:
  uint32_t Of(uint32_t a, uint32_t b) {
    const auto [it, added] = ids_.emplace(PairKey(a, b), static_cast<uint32_t>(pairs_.size()));
    if (added) pairs_.emplace_back(a, b);
    return it->second;
  }
  uint32_t Size() const { return static_cast<uint32_t>(pairs_.size()); }
  std::pair<uint32_t, uint32_t> operator[](uint32_t number) const { return pairs_[number]; }

 private:
  std::unordered_map<uint64_t, uint32_t> ids_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
};

}  // namespace tokamata
