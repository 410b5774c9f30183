#include "constraints/csrc/lexed_lengths.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "automata/csrc/time_limit.h"

namespace tokamata {

uint32_t LexedLengths::Least(const Position& p) { return Least(p, false); }

uint32_t LexedLengths::LeastCharacters(const Position& p) { return Least(p, true); }

uint32_t LexedLengths::Least(const Position& p, bool characters) {
  std::unique_ptr<StackLengths>& lengths = lengths_[characters];
  if (!lengths) {
    std::vector<uint32_t> of_terminal(lexer_->NumTerminals());
    for (uint32_t t = 0; t < of_terminal.size(); ++t)
      of_terminal[t] = characters ? lexer_->LeastCharactersOf(t) : lexer_->LeastLengthOf(t);
    lengths = Make(std::move(of_terminal));
  }
  const uint32_t least = Least(p, lengths.get(), characters);
  return least == StackLengths::kFar ? 0 : least;
}

bool LexedLengths::CannotEnd(const Position& p, const ByteSet& bytes) {
  constexpr size_t kMost = 16;  // sets
  if (bytes == ByteSet::All()) return false;
  auto known = std::find_if(within_.begin(), within_.end(), [&](const auto& w) { return w.first == bytes; });
  if (known == within_.end()) {
    if (within_.size() >= kMost) within_.clear();
    std::vector<uint32_t> of_terminal(lexer_->NumTerminals(), 0);
    for (uint32_t t = 0; t < of_terminal.size(); ++t)
      if (!MayBeWritten(t, bytes)) of_terminal[t] = StackLengths::kFar;
    const bool all = std::count(of_terminal.begin(), of_terminal.end(), StackLengths::kFar) == 0;
    within_.emplace_back(bytes, all ? nullptr : Make(std::move(of_terminal)));
    known = std::prev(within_.end());
  }
  return known->second && Least(p, known->second.get(), false) == StackLengths::kFar;
}

// Whether a lexeme of some terminal has only these bytes, if only its own ones compete; true where that takes long.
bool LexedLengths::MayBeWritten(uint32_t terminal, const ByteSet& bytes) {
  constexpr size_t kMost = 1000;
  if (!(lexer_->BytesOf(terminal) - bytes).Any() || lexer_->Calls(terminal)) return true;
  Lexer::Terminals only(rules_.all.size(), 0);
  only[terminal >> 6] |= uint64_t{1} << (terminal & 63);
  const Lexer::State begin = lexer_->Begin(only, only);
  if (!begin) return true;  // it has no text
  std::vector<Lexer::State> states{begin};
  std::unordered_set<Lexer::State> seen{Lexer::kDead, begin};
  for (size_t i = 0; i < states.size(); ++i) {
    if (i >= kMost) return true;
    TimeLimit::Spend(4);
    if (i > 0 && lexer_->IsFinal(states[i])) return true;
    const Lexer::State* const row = lexer_->DenseRow(states[i]);
    bytes.ForEach([&](uint8_t b) {
      if (seen.insert(row[b]).second) states.push_back(row[b]);
    });
  }
  return false;
}

// Without what has no text.
std::unique_ptr<StackLengths> LexedLengths::Make(std::vector<uint32_t> of_terminal) {
  if (lexer_->HasEnd()) of_terminal.back() = 0;
  if (rules_.indentation) of_terminal[rules_.indentation->indent] = of_terminal[rules_.indentation->dedent] = 0;
  return std::make_unique<StackLengths>(*rules_.automata, of_terminal);
}

// kFar where there is no text.
uint32_t LexedLengths::Least(const Position& p, StackLengths* lengths, bool characters) {
  constexpr uint32_t kFar = StackLengths::kFar;
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
  return least;
}

}  // namespace tokamata
