#include "constraints/csrc/stack_lengths.h"

#include <map>

#include "automata/csrc/time_limit.h"

namespace tokamata {

StackLengths::StackLengths(const RuleAutomata& rules, const std::vector<uint32_t>& of_terminal) {
  const std::vector<RuleAutomata::State>& states = rules.states;
  const uint32_t num_terminals = static_cast<uint32_t>(of_terminal.size());
  of_state_.assign(states.size(), kFar);
  for (bool again = true; again;) {
    again = false;
    for (size_t q = states.size(); q-- > 0;) {
      uint32_t least = states[q].final ? 0 : kFar;
      for (const RuleAutomata::Arc& arc : states[q].arcs) {
        const uint32_t letter =
            arc.letter < num_terminals ? of_terminal[arc.letter] : of_state_[rules.start_of[arc.letter - num_terminals]];
        least = std::min(least, Sum(letter, of_state_[arc.state]));
      }
      TimeLimit::Spend(static_cast<int64_t>(1 + states[q].arcs.size()));
      if (least >= of_state_[q]) continue;
      of_state_[q] = least;
      again = true;
    }
  }
}

template <class Begin, class Add>
uint32_t StackLengths::Evaluate(StackSets::Set stacks, const StackSets& sets, OfStacks* known, Begin begin, Add add) {
  std::vector<StackSets::Set> work{stacks};
  while (!work.empty()) {
    const StackSets::Set p = work.back();
    if (known->count(p)) {
      work.pop_back();
      continue;
    }
    TimeLimit::Spend();
    uint32_t value = begin(p);
    const size_t open = work.size();
    sets.ForEachTop(p, [&](uint32_t state, StackSets::Set below) {
      const auto of_below = known->find(below);
      if (of_below == known->end()) return work.push_back(below);
      add(state, below, of_below->second, &value);
    });
    if (work.size() > open) continue;
    (*known)[p] = value;
    work.pop_back();
  }
  return known->at(stacks);
}

uint32_t StackLengths::Of(StackSets::Set stacks, const StackSets& sets) {
  return Evaluate(
      stacks, sets, &of_stacks_,
      [&](StackSets::Set p) { return p != StackSets::kNone && sets.HasBottom(p) ? 0 : kFar; },
      [&](uint32_t state, StackSets::Set, uint32_t of_below, uint32_t* least) {
        *least = std::min(*least, Sum(of_state_[state], of_below));
      });
}

uint32_t StackLengths::MostOf(StackSets::Set stacks, const StackSets& sets) {
  return Evaluate(
      stacks, sets, &most_of_stacks_, [](StackSets::Set) { return 0; },
      [&](uint32_t state, StackSets::Set below, uint32_t most_of_below, uint32_t* most) {
        *most = std::max({*most, most_of_below, Sum(of_state_[state], Of(below, sets))});
      });
}

std::vector<uint32_t> StackLengths::MostGrowth(const RuleAutomata& rules, uint32_t num_terminals) const {
  const size_t num_states = rules.states.size();
  // What is left of the rule that is called after its first terminal, and of those that it calls, by state at which it is
  // called and terminal; rules do not begin by calling themselves.
  std::vector<std::map<uint32_t, uint32_t>> after(num_states);
  std::vector<uint8_t> known(num_states, 0), is_called(num_states, 0);
  for (const uint32_t q : rules.start_of)
    if (q != RuleAutomata::kNone) is_called[q] = 1;
  const auto callee = [&](const RuleAutomata::Arc& arc) { return rules.start_of[arc.letter - num_terminals]; };
  std::vector<uint32_t> growth(num_terminals, 0), work;
  for (uint32_t root = 0; root < num_states; ++root) {
    for (work.push_back(root); !work.empty();) {
      const uint32_t q = work.back();
      const size_t open = work.size();
      for (const RuleAutomata::Arc& arc : rules.states[q].arcs)
        if (arc.letter >= num_terminals && !known[callee(arc)]) work.push_back(callee(arc));
      if (work.size() > open) continue;
      work.pop_back();
      if (std::exchange(known[q], 1)) continue;
      const auto add = [&](uint32_t t, uint32_t left) {
        TimeLimit::Spend();
        uint32_t& most = after[q][t];
        most = std::max(most, left);
      };
      for (const RuleAutomata::Arc& arc : rules.states[q].arcs) {
        if (arc.letter < num_terminals) add(arc.letter, of_state_[arc.state]);
        else
          for (const auto& [t, left] : after[callee(arc)]) add(t, Sum(left, of_state_[arc.state]));
      }
      for (const auto& [t, left] : after[q]) growth[t] = std::max(growth[t], left - std::min(left, of_state_[q]));
      if (!is_called[q]) after[q].clear();
    }
  }
  return growth;
}

}  // namespace tokamata
