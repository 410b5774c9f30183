// StackLengths: the least sum of what terminals cost with which stacks can be emptied.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "constraints/csrc/rule_automata.h"
#include "constraints/csrc/stack_sets.h"

namespace tokamata {

// The least solution for rules (Knuth 1977), added up along the stacks; memoized.
class StackLengths {
 public:
  static constexpr uint32_t kFar = 0x7fffffff;
  static uint32_t Sum(uint32_t a, uint32_t b) { return std::min(kFar, a + b); }

  // `of_terminal`: at most kFar each, kFar where one must not be read.
  StackLengths(const RuleAutomata& rules, const std::vector<uint32_t>& of_terminal);
  uint32_t Of(StackSets::Set p, const StackSets& stacks);
  // Whether all stacks can be emptied.
  bool HasAll() const {
    return std::none_of(of_state_.begin(), of_state_.end(), [](uint32_t length) { return length == kFar; });
  }

 private:
  std::vector<uint32_t> of_state_;  // of the rule automata
  std::unordered_map<StackSets::Set, uint32_t> of_stacks_;
};

}  // namespace tokamata
