#include "constraints/csrc/lexed_lengths.h"

#include <algorithm>

namespace tokamata {

uint32_t LexedLengths::Least(const Position& p) { return Least(p, false); }

uint32_t LexedLengths::LeastCharacters(const Position& p) { return Least(p, true); }

uint32_t LexedLengths::Least(const Position& p, bool characters) {
  constexpr uint32_t kFar = StackLengths::kFar;
  std::unique_ptr<StackLengths>& lengths = lengths_[characters];
  if (!lengths) {
    std::vector<uint32_t> of_terminal(lexer_->NumTerminals());
    for (uint32_t t = 0; t < of_terminal.size(); ++t)
      of_terminal[t] = characters ? lexer_->LeastCharactersOf(t) : lexer_->LeastLengthOf(t);
    if (lexer_->HasEnd()) of_terminal.back() = 0;
    if (rules_.indentation) of_terminal[rules_.indentation->indent] = of_terminal[rules_.indentation->dedent] = 0;
    lengths = std::make_unique<StackLengths>(*rules_.automata, of_terminal);
  }
  const auto of_stacks = [&](StackSets::Set stacks) { return lengths->Of(stacks, stacks_->Stacks()); };
  if (p.lexer == Position::kBoundary) return of_stacks(stacks_->StacksOf(p.stacks));
  // The lexeme may have ended: then the shortest way on from there. Else it takes a byte more, at least.
  uint32_t least = kFar;
  const auto after = [&](uint32_t terminal, uint32_t more) {
    const ParserStates::Set next = HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_->Advance(p.stacks, terminal);
    if (next != ParserStates::kNone) least = std::min(least, StackLengths::Sum(more, of_stacks(stacks_->StacksOf(next))));
  };
  if (lexer_->IsFinal(p.lexer)) lexer_->ForEachAccepted(lexer_->Accepted(p.lexer), [&](uint32_t t) { after(t, 0); });
  const uint32_t more = !characters || !lexer_->Live(p.lexer).Intersects(ByteSet::Range(0x80, 0xBF));
  lexer_->AnyPossible(p.lexer, [&](uint32_t t) {
    if (!rules_.indentation || t != rules_.indentation->newline) {
      after(t, more);
      return false;
    }
    // Its column is not known yet: whatever it is, indents and dedents have no text.
    const StackSets::Set here = stacks_->StacksOf(p.stacks);
    const StackSets::Set next = stacks_->InBrackets(p.stacks) ? here : stacks_->Stacks().Advance(here, t);
    if (next != StackSets::kNone) least = std::min(least, StackLengths::Sum(more, of_stacks(next)));
    return false;
  });
  return least == kFar ? 0 : least;
}

}  // namespace tokamata
