#include "constraints/csrc/lexed_lengths.h"

#include <algorithm>

#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr uint32_t kFar = 0x7fffffff;

uint32_t Sum(uint32_t a, uint32_t b) { return std::min(kFar, a + b); }

}  // namespace

void LexedLengths::MakeRules() {
  const std::vector<RuleAutomata::State>& states = rules_.automata->states;
  const uint32_t num_terminals = lexer_->NumTerminals();
  std::vector<uint32_t> of_terminal(num_terminals);
  for (uint32_t t = 0; t < num_terminals; ++t) of_terminal[t] = lexer_->LeastLengthOf(t);
  if (lexer_->HasEnd()) of_terminal.back() = 0;
  if (rules_.indentation) of_terminal[rules_.indentation->indent] = of_terminal[rules_.indentation->dedent] = 0;
  of_state_.assign(states.size(), kFar);
  for (bool again = true; again;) {
    again = false;
    for (size_t q = states.size(); q-- > 0;) {
      uint32_t least = states[q].final ? 0 : kFar;
      for (const RuleAutomata::Arc& arc : states[q].arcs) {
        const uint32_t letter =
            arc.letter < num_terminals ? of_terminal[arc.letter] : of_state_[rules_.automata->start_of[arc.letter - num_terminals]];
        least = std::min(least, Sum(letter, of_state_[arc.state]));
      }
      TimeLimit::Spend(static_cast<int64_t>(1 + states[q].arcs.size()));
      if (least >= of_state_[q]) continue;
      of_state_[q] = least;
      again = true;
    }
  }
}

uint32_t LexedLengths::OfStacks(StackSets::Set stacks) {
  if (of_state_.empty()) MakeRules();
  std::vector<StackSets::Set> work{stacks};
  while (!work.empty()) {
    const StackSets::Set p = work.back();
    if (of_stacks_.count(p)) {
      work.pop_back();
      continue;
    }
    TimeLimit::Spend();
    uint32_t least = p != StackSets::kNone && stacks_->Stacks().HasBottom(p) ? 0 : kFar;
    const size_t open = work.size();
    stacks_->Stacks().ForEachTop(p, [&](uint32_t state, StackSets::Set below) {
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

uint32_t LexedLengths::Least(const Position& p) {
  if (p.lexer == Position::kBoundary) return OfStacks(stacks_->StacksOf(p.stacks));
  // The lexeme may have ended: then the shortest way on from there. Else it takes a byte more, at least.
  uint32_t least = kFar;
  const auto after = [&](uint32_t terminal, uint32_t bytes) {
    const ParserStates::Set next = HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_->Advance(p.stacks, terminal);
    if (next != ParserStates::kNone) least = std::min(least, Sum(bytes, OfStacks(stacks_->StacksOf(next))));
  };
  if (lexer_->IsFinal(p.lexer)) lexer_->ForEachAccepted(lexer_->Accepted(p.lexer), [&](uint32_t t) { after(t, 0); });
  lexer_->AnyPossible(p.lexer, [&](uint32_t t) {
    if (!rules_.indentation || t != rules_.indentation->newline) {
      after(t, 1);
      return false;
    }
    // Its column is not known yet: whatever it is, indents and dedents have no text.
    const StackSets::Set here = stacks_->StacksOf(p.stacks);
    const StackSets::Set next = stacks_->InBrackets(p.stacks) ? here : stacks_->Stacks().Advance(here, t);
    if (next != StackSets::kNone) least = std::min(least, Sum(1, OfStacks(next)));
    return false;
  });
  return least == kFar ? 0 : least;
}

}  // namespace tokamata
