#include "constraints/csrc/lexed_meet.h"

#include <string>
#include <unordered_set>

#include "automata/csrc/id_table.h"
#include "automata/csrc/insert_new.h"

namespace tokamata {

void LexedMeet::Spend(size_t steps) {
  rules_.Spend(steps, &spent_, "rules beside states of a regular language", "constraint");
}

const std::vector<LexedMeet::Beside>& LexedMeet::NextEnds(const Lexer::Terminals& wanted, Beside beside) {
  Lexer::Terminals competing = rules_.all;
  for (size_t i = 0; fewest_ && i < competing.size(); ++i) competing[i] = wanted[i] | rules_.ignored[i];
  const Lexer::State begin = lexer_->Begin(competing, wanted);
  const auto known = next_ends_.find(PairKey(begin, beside));
  if (known != next_ends_.end()) return known->second;
  std::vector<Beside> all;
  // No terminal has the empty text, so the state before a lexeme is not final.
  if (begin) ForEachEnd(begin, beside, [&](uint32_t, Beside n) { InsertNew(&all, n); });
  return next_ends_[PairKey(begin, beside)] = std::move(all);
}

const std::vector<LexedMeet::Beside>& LexedMeet::AfterIgnored(Beside beside) {
  const auto known = after_ignored_.find(beside);
  if (known != after_ignored_.end()) return known->second;
  std::vector<Beside> all{beside};
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<Beside> more = NextEnds(rules_.ignored, all[i]);
    for (const Beside n : more) InsertNew(&all, n);
  }
  return after_ignored_[beside] = std::move(all);
}

std::vector<LexedMeet::Beside> LexedMeet::After(uint32_t terminal, Beside beside) {
  Lexer::Terminals wanted(rules_.all.size(), 0);
  wanted[terminal >> 6] |= uint64_t{1} << (terminal & 63);
  std::vector<Beside> all;
  const std::vector<Beside> before = AfterIgnored(beside);
  for (const Beside n : before) {
    const std::vector<Beside> more = NextEnds(wanted, n);
    for (const Beside m : more) InsertNew(&all, m);
  }
  return all;
}

const std::vector<LexedMeet::Beside>& LexedMeet::Out(uint32_t state, Beside beside) {
  return summaries_.Out(
      state, beside, [this](uint32_t terminal, Beside from) { return After(terminal, from); },
      [this](size_t steps) { Spend(steps); });
}

// The states at the bottom of the stacks.
void LexedMeet::Finish(StackSets::Set stacks, Beside beside, std::vector<Expr>* out) {
  std::vector<std::pair<StackSets::Set, Beside>> work{{stacks, beside}};
  std::unordered_set<uint64_t> seen{PairKey(stacks, beside)};
  while (!work.empty()) {
    const auto [p, n] = work.back();
    work.pop_back();
    Spend(1);
    if (stacks_->Stacks().HasBottom(p))
      for (const Beside last : AfterIgnored(n)) InsertNew(out, ends_.RegularOf(last));
    stacks_->Stacks().ForEachTop(p, [&](uint32_t state, StackSets::Set below) {
      const std::vector<Beside> after = Out(state, n);
      for (const Beside m : after)
        if (seen.insert(PairKey(below, m)).second) work.emplace_back(below, m);
    });
  }
}

void LexedMeet::Ends(const Position& p, Expr from, std::vector<Expr>* out) {
  spent_ = 0;
  const Beside start = ends_.Number(p.pending, from);
  if (p.lexer == Position::kBoundary) return Finish(p.stacks, start, out);
  std::vector<std::pair<StackSets::Set, Beside>> ends;
  ForEachEnd(p.lexer, start, [&](uint32_t terminal, Beside n) {
    const StackSets::Set next = HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_->Advance(p.stacks, terminal);
    if (next != StackSets::kNone) InsertNew(&ends, {next, n});
  });
  for (const auto& [stacks, n] : ends) Finish(stacks, n, out);
}

}  // namespace tokamata
