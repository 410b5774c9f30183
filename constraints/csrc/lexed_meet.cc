#include "constraints/csrc/lexed_meet.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

uint64_t Key(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }

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
  const auto [it, added] = beside_ids_.emplace(Key(pending, r), static_cast<Beside>(besides_.size()));
  if (added) besides_.emplace_back(pending, r);
  return it->second;
}

// Calls found(terminal, beside) for every way to finish the lexeme that is being read.
template <class F>
void LexedMeet::ForEachEnd(Lexer::State lexer, Beside beside, F found) {
  std::vector<std::pair<Lexer::State, Beside>> queue{{lexer, beside}};
  std::unordered_set<uint64_t> seen{Key(lexer, beside)};
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
      if (seen.insert(Key(row[b], to)).second) queue.emplace_back(row[b], to);
    }
  }
}

const std::vector<LexedMeet::Beside>& LexedMeet::NextEnds(const Lexer::Terminals& wanted, Beside beside) {
  const Lexer::State begin = lexer_->Begin(rules_.all, wanted);
  const auto known = next_ends_.find(Key(begin, beside));
  if (known != next_ends_.end()) return known->second;
  std::vector<Beside> all;
  // No terminal has the empty text, so the state before a lexeme is not final.
  if (begin) ForEachEnd(begin, beside, [&](uint32_t, Beside n) { Insert(&all, n); });
  return next_ends_[Key(begin, beside)] = std::move(all);
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

uint32_t LexedMeet::NodeOf(uint32_t state, Beside beside) {
  const auto [it, added] = node_of_.emplace(Key(state, beside), static_cast<uint32_t>(nodes_.size()));
  if (added) {
    nodes_.push_back({state, beside, {}, {}, {}});
    fresh_.push_back(it->second);
  }
  return it->second;
}

void LexedMeet::AddOut(uint32_t node, Beside beside) {
  if (Insert(&nodes_[node].out, beside)) news_.emplace_back(node, beside);
}

void LexedMeet::AddCopy(uint32_t from, uint32_t to) {
  if (from == to || !Insert(&nodes_[from].copies, to)) return;
  const std::vector<Beside> out = nodes_[from].out;
  for (const Beside n : out) AddOut(to, n);
}

void LexedMeet::Expand(uint32_t node) {
  const uint32_t state = nodes_[node].state;
  const Beside beside = nodes_[node].beside;
  const RuleAutomata::State& s = rules_.automata->states[state];
  Spend(1 + s.arcs.size());
  if (s.final) AddOut(node, beside);
  const uint32_t num_terminals = lexer_->NumTerminals();
  for (const RuleAutomata::Arc& arc : s.arcs) {
    if (arc.letter < num_terminals) {
      for (const Beside n : After(arc.letter, beside)) AddCopy(NodeOf(arc.state, n), node);
      continue;
    }
    const uint32_t callee = NodeOf(rules_.automata->start_of[arc.letter - num_terminals], beside);
    nodes_[callee].returns.emplace_back(arc.state, node);
    const std::vector<Beside> out = nodes_[callee].out;
    for (const Beside n : out) AddCopy(NodeOf(arc.state, n), node);
  }
}

const std::vector<LexedMeet::Beside>& LexedMeet::Out(uint32_t state, Beside beside) {
  const uint32_t node = NodeOf(state, beside);
  while (!fresh_.empty() || !news_.empty()) {
    if (!fresh_.empty()) {
      const uint32_t next = fresh_.back();
      fresh_.pop_back();
      Expand(next);
      continue;
    }
    const auto [from, n] = news_.back();
    news_.pop_back();
    Spend(1 + nodes_[from].copies.size() + nodes_[from].returns.size());
    const std::vector<uint32_t> copies = nodes_[from].copies;
    for (const uint32_t to : copies) AddOut(to, n);
    const std::vector<std::pair<uint32_t, uint32_t>> returns = nodes_[from].returns;
    for (const auto& [back, caller] : returns) AddCopy(NodeOf(back, n), caller);
  }
  return nodes_[node].out;
}

// The states at the bottom of the stacks.
void LexedMeet::Finish(StackSets::Set stacks, Beside beside, std::vector<Expr>* out) {
  std::vector<std::pair<StackSets::Set, Beside>> work{{stacks, beside}};
  std::unordered_set<uint64_t> seen{Key(stacks, beside)};
  while (!work.empty()) {
    const auto [p, n] = work.back();
    work.pop_back();
    Spend(1);
    if (stacks_->Stacks().HasBottom(p))
      for (const Beside last : AfterIgnored(n)) Insert(out, besides_[last].second);
    stacks_->Stacks().ForEachTop(p, [&](uint32_t state, StackSets::Set below) {
      const std::vector<Beside> after = Out(state, n);
      for (const Beside m : after)
        if (seen.insert(Key(below, m)).second) work.emplace_back(below, m);
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
