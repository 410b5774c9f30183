#include "constraints/csrc/stack_lengths.h"

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

uint32_t StackLengths::Of(StackSets::Set stacks, const StackSets& sets) {
  std::vector<StackSets::Set> work{stacks};
  while (!work.empty()) {
    const StackSets::Set p = work.back();
    if (of_stacks_.count(p)) {
      work.pop_back();
      continue;
    }
    TimeLimit::Spend();
    uint32_t least = p != StackSets::kNone && sets.HasBottom(p) ? 0 : kFar;
    const size_t open = work.size();
    sets.ForEachTop(p, [&](uint32_t state, StackSets::Set below) {
      const auto known = of_stacks_.find(below);
      if (known == of_stacks_.end())
        work.push_back(below);
      else
        least = std::min(least, Sum(of_state_[state], known->second));
    });
    if (work.size() > open) continue;
    of_stacks_[p] = least;
    work.pop_back();
  }
  return of_stacks_.at(stacks);
}

}  // namespace tokamata
