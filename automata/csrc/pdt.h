// Push-down transducers: an Fst, some labels of which push and pop (Allauzen and Riley, "A pushdown transducer
// extension for the OpenFst library", 2012). Its paths are those of the Fst whose parentheses are balanced.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

// Pairs of an opening and a closing arc that a search may look at, and arcs that an operation may make.
constexpr int64_t kPdtMaxArcs = 50'000'000;

using ParenPairs = std::vector<std::pair<int64_t, int64_t>>;

// What a label does to the stack.
enum class ParenKind : uint8_t { kNone, kOpen, kClose };

class Parens {
 public:
  // Pairs of an opening and a closing label. Throws FstError where one is not a label, is 0, or occurs twice.
  Parens(const char* operation, const ParenPairs& pairs);

  size_t Size() const { return pairs_.size(); }
  Label Open(uint32_t i) const { return pairs_[i].first; }
  Label Close(uint32_t i) const { return pairs_[i].second; }
  struct Role {
    ParenKind kind;
    uint32_t index;  // of the pair
  };
  Role Find(Label label) const {
    if (label < low_ || label > high_) return {ParenKind::kNone, 0};
    const auto found = roles_.find(label);
    return found == roles_.end() ? Role{ParenKind::kNone, 0} : found->second;
  }
  bool Has(Label label) const { return Find(label).kind != ParenKind::kNone; }
  // The other label of the pair.
  Label Partner(Label label) const {
    const Role role = Find(label);
    return role.kind == ParenKind::kOpen ? Close(role.index) : Open(role.index);
  }

 private:
  std::vector<std::pair<Label, Label>> pairs_;
  std::unordered_map<Label, Role> roles_;
  Label low_ = 1, high_ = 0;
};

// An arc with a parenthesis has it on both sides; throws FstError otherwise.
void RequirePdt(const char* operation, const Fst& fst, const Parens& parens);

}  // namespace tokamata
