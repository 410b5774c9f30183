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
  // With what is left of rules, by state of their automata.
  explicit StackLengths(std::vector<uint32_t> of_state) : of_state_(std::move(of_state)) {}
  uint32_t Of(StackSets::Set p, const StackSets& stacks);
  // The most of it when a state is to be ended that is on one of the stacks, and what is below that as is least: so much is
  // left at most whichever state takes the next terminal.
  uint32_t MostOf(StackSets::Set p, const StackSets& stacks);
  // How much that may grow with a terminal, at most, by terminal: more is left after it than of the state that takes it.
  std::vector<uint32_t> MostGrowth(const RuleAutomata& rules, uint32_t num_terminals) const;
  // Whether all stacks can be emptied.
  bool HasAll() const {
    return std::none_of(of_state_.begin(), of_state_.end(), [](uint32_t length) { return length == kFar; });
  }

 private:
  using OfStacks = std::unordered_map<StackSets::Set, uint32_t>;
  // What is defined by what is below: from begin(p) on, add(state, below, value of that, &value) for each top.
  template <class Begin, class Add>
  static uint32_t Evaluate(StackSets::Set p, const StackSets& stacks, OfStacks* known, Begin begin, Add add);

  std::vector<uint32_t> of_state_;  // of the rule automata
  OfStacks of_stacks_, most_of_stacks_;
};

}  // namespace tokamata
