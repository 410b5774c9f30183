#include "constraints/csrc/lexed_meet.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "automata/csrc/errors.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

template <class T>
bool Insert(std::vector<T>* all, const T& x) {
  if (std::find(all->begin(), all->end(), x) != all->end()) return false;
  all->push_back(x);
  return true;
}

}  // namespace

void LexedMeet::Spend(size_t steps) {
  TimeLimit::Spend(static_cast<int64_t>(steps));
  if ((spent_ += steps) > 64 * rules_.most_searched)
    throw LimitError("grammar: the limit emptiness=" + std::to_string(rules_.most_searched) +
                     " was reached (rules beside states of a regular language); simplify the constraint or raise it: "
                     "tokamata.Limits(emptiness=...)");
}

LexedMeet::Beside LexedMeet::Number(Lexer::State pending, Expr r) {
  const auto [it, added] = beside_ids_.emplace(PairKey(pending, r), static_cast<Beside>(besides_.size()));
  if (added) besides_.emplace_back(pending, r);
  return it->second;
}

// Calls found(terminal, beside) for every way to finish the lexeme that is being read.
template <class F>
void LexedMeet::ForEachEnd(Lexer::State lexer, Beside beside, F found) {
  std::vector<std::pair<Lexer::State, Beside>> queue{{lexer, beside}};
  std::unordered_set<uint64_t> seen{PairKey(lexer, beside)};
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto [q, n] = queue[i];
    const auto [pending, r] = besides_[n];
    if (lexer_->IsFinal(q)) {
      const Beside after = Number(lexer_->UnionOfPending(pending, lexer_->Pending(q)), r);
      lexer_->ForEachAccepted(lexer_->Accepted(q), [&](uint32_t t) { found(t, after); });
    }
    const Lexer::State* row = lexer_->Row(q);
    const Lexer::State* pending_row = pending ? lexer_->Row(pending) : nullptr;
    const RegularOperand::Row& regular = operand_->RowOf(r);
    Spend(16);
    Lexer::State last_q = Lexer::kDead, last_pending = Lexer::kDead;
    Expr last_r = kEmpty;
    for (size_t b = 0; b < 256; ++b) {
      const Lexer::State m = pending_row ? pending_row[b] : Lexer::State{Lexer::kDead};
      if (!row[b] || regular[b] == kEmpty || (m && lexer_->IsFinal(m))) continue;
      if (row[b] == last_q && m == last_pending && regular[b] == last_r) continue;
      last_q = row[b];
      last_pending = m;
      last_r = regular[b];
      const Beside to = Number(m, regular[b]);
      if (seen.insert(PairKey(row[b], to)).second) queue.emplace_back(row[b], to);
    }
  }
}

const std::vector<LexedMeet::Beside>& LexedMeet::NextEnds(const Lexer::Terminals& wanted, Beside beside) {
  Lexer::Terminals competing = rules_.all;
  for (size_t i = 0; fewest_ && i < competing.size(); ++i) competing[i] = wanted[i] | rules_.ignored[i];
  const Lexer::State begin = lexer_->Begin(competing, wanted);
  const auto known = next_ends_.find(PairKey(begin, beside));
  if (known != next_ends_.end()) return known->second;
  std::vector<Beside> all;
  // No terminal has the empty text, so the state before a lexeme is not final.
  if (begin) ForEachEnd(begin, beside, [&](uint32_t, Beside n) { Insert(&all, n); });
  return next_ends_[PairKey(begin, beside)] = std::move(all);
}

const std::vector<LexedMeet::Beside>& LexedMeet::AfterIgnored(Beside beside) {
  const auto known = after_ignored_.find(beside);
  if (known != after_ignored_.end()) return known->second;
  std::vector<Beside> all{beside};
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<Beside> more = NextEnds(rules_.ignored, all[i]);
    for (const Beside n : more) Insert(&all, n);
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
    for (const Beside m : more) Insert(&all, m);
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
      for (const Beside last : AfterIgnored(n)) Insert(out, besides_[last].second);
    stacks_->Stacks().ForEachTop(p, [&](uint32_t state, StackSets::Set below) {
      const std::vector<Beside> after = Out(state, n);
      for (const Beside m : after)
        if (seen.insert(PairKey(below, m)).second) work.emplace_back(below, m);
    });
  }
}

void LexedMeet::Ends(const Position& p, Expr from, std::vector<Expr>* out) {
  const Beside start = Number(p.pending, from);
  if (p.lexer == Position::kBoundary) return Finish(p.stacks, start, out);
  std::vector<std::pair<StackSets::Set, Beside>> ends;
  ForEachEnd(p.lexer, start, [&](uint32_t terminal, Beside n) {
    const StackSets::Set next = HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_->Advance(p.stacks, terminal);
    if (next != StackSets::kNone) Insert(&ends, {next, n});
  });
  for (const auto& [stacks, n] : ends) Finish(stacks, n, out);
}

}  // namespace tokamata
