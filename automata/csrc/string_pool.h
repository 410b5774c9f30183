// StringPool: label strings under dense ids; equal strings have one id, the empty string has id 0.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "automata/csrc/fst.h"
#include "automata/csrc/id_table.h"

namespace tokamata {

class StringPool {
 public:
  StringPool() : ends_{0} {}

  Span<const Label> Get(int32_t id) const {
    if (id == 0) return {labels_.data(), 0};
    const size_t begin = ends_[id - 1];
    return {labels_.data() + begin, ends_[id] - begin};
  }

  // The string may lie in the pool itself.
  int32_t Intern(const Label* data, size_t size) {
    if (size == 0) return 0;
    uint64_t hash = size;
    for (size_t i = 0; i < size; ++i) hash = MixHash(hash ^ static_cast<uint32_t>(data[i])) + 0x9e3779b97f4a7c15ull;
    const StateId found = table_.Find(hash, [&](StateId id) {
      const Span<const Label> other = Get(id);
      return other.size() == size && std::equal(other.begin(), other.end(), data);
    });
    if (found != kNoState) return found;
    const std::vector<Label> copy(data, data + size);
    labels_.insert(labels_.end(), copy.begin(), copy.end());
    ends_.push_back(labels_.size());
    const int32_t id = static_cast<int32_t>(ends_.size() - 1);
    table_.Insert(hash, id);
    return id;
  }

 private:
  std::vector<Label> labels_;
  std::vector<size_t> ends_;  // where string i ends; it begins where string i - 1 ends
  IdTable table_;
};

}  // namespace tokamata
