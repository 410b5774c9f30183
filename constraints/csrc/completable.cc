#include "constraints/csrc/completable.h"

#include <algorithm>
#include <string>

#include "automata/csrc/errors.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

uint64_t Key(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }

}  // namespace

Completable::Completable(const LexedRules& rules, Lexer* lexer, StackSets* stacks)
    : rules_(rules), lexer_(lexer), stacks_(stacks), positions_(rules, lexer, stacks) {
  if (rules_.has_separator) after_separator_ = lexer_->Pending(lexer_->Next(lexer_->Begin(rules_.all, rules_.all), rules_.separator));
}

bool Completable::Ask(const Position& p) {
  if (!p.pending) {
    if (p.lexer == Position::kBoundary) {
      if (rules_.has_separator) return p.stacks != StackSets::kNone;
    } else if (EndsFreely(p.lexer)) {
      return true;
    }
  }
  std::vector<std::pair<Position, bool>>& known = known_[MixHash(Key(p.lexer, p.pending)) ^ p.stacks];
  for (const auto& [position, can] : known)
    if (position == p) return can;
  spent_ = 0;
  const bool can = rules_.contextual ? SearchPositions(p) : Search(p);
  known_[MixHash(Key(p.lexer, p.pending)) ^ p.stacks].emplace_back(p, can);
  return can;
}

void Completable::Spend(size_t steps) {
  TimeLimit::Spend(static_cast<int64_t>(steps));
  if ((spent_ += steps) > 64 * rules_.most_searched)
    throw LimitError("grammar: the limit emptiness=" + std::to_string(rules_.most_searched) +
                     " was reached (search for a way to complete a text); simplify the terminals or raise it: "
                     "tokamata.Limits(emptiness=...)");
}

// Whether the lexeme can end, as one that the stacks take or an ignored one, where the separator does not continue it.
bool Completable::EndsFreely(Lexer::State lexer) {
  if (!rules_.has_separator) return false;
  if (lexer >= free_.size()) free_.resize(lexer + lexer / 2 + 64, 0);
  if (free_[lexer]) return free_[lexer] == 2;
  if (!Intersects(lexer_->Possible(lexer), rules_.unseparated)) {
    free_[lexer] = 2;
    return true;
  }
  constexpr size_t kMost = 500;
  std::vector<Lexer::State> queue{lexer};
  std::unordered_set<Lexer::State> seen{lexer};
  bool found = false;
  for (size_t i = 0; i < queue.size() && i < kMost && !found; ++i) {
    const Lexer::State q = queue[i];
    TimeLimit::Spend(4);
    if (lexer_->IsFinal(q)) {
      const Lexer::State longer = lexer_->Pending(q);
      found = !longer || longer == after_separator_ || !lexer_->Next(longer, rules_.separator);
    }
    const Lexer::State* row = lexer_->Row(q);
    Lexer::State last = Lexer::kDead;
    for (int b = 0; b < 256; ++b) {
      if (row[b] == last || !row[b]) continue;
      last = row[b];
      if (seen.insert(last).second) queue.push_back(last);
    }
  }
  free_[lexer] = found ? 2 : 1;
  return found;
}

template <class F>
bool Completable::ForEachEnd(Lexer::State lexer, Pending pending, bool now, F found) {
  std::vector<std::pair<Lexer::State, Pending>> queue{{lexer, pending}};
  std::unordered_set<uint64_t> seen{Key(lexer, pending)};
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto [q, n] = queue[i];
    const uint32_t accepted = (i || now) ? lexer_->Accepted(q) : Lexer::kNoTerminal;
    if (accepted != Lexer::kNoTerminal && found(accepted, lexer_->UnionOfPending(n, lexer_->Pending(q))))
      return true;
    const Lexer::State* row = lexer_->Row(q);
    const Lexer::State* pending_row = n ? lexer_->Row(n) : nullptr;
    uint64_t last = 0;
    Spend(16);
    for (int b = 0; b < 256; ++b) {
      const Pending m = pending_row ? pending_row[b] : Lexer::kDead;
      const uint64_t key = Key(row[b], m);
      if (!row[b] || key == last) continue;
      last = key;
      if (m && lexer_->IsFinal(m)) continue;
      if (seen.insert(key).second) queue.emplace_back(row[b], m);
    }
  }
  return false;
}

// What may be pending after the lexeme that is being read.
const std::vector<Completable::Pending>& Completable::Ends(Lexer::State lexer, Pending pending) {
  const auto known = ends_.find(Key(lexer, pending));
  if (known != ends_.end()) return known->second;
  std::vector<Pending> all;
  ForEachEnd(lexer, pending, true, [&](uint32_t, Pending after) {
    if (std::find(all.begin(), all.end(), after) == all.end()) all.push_back(after);
    return false;
  });
  return ends_[Key(lexer, pending)] = std::move(all);
}

// What may be pending after one more lexeme of the wanted terminals; most often nothing is left after its first byte.
void Completable::AddEnds(const Lexer::Terminals& wanted, Pending pending, std::vector<Pending>* all) {
  const Lexer::State begin = lexer_->Begin(rules_.all, wanted);
  if (!begin) return;
  const Lexer::State* row = lexer_->Row(begin);
  const Lexer::State* pending_row = pending ? lexer_->Row(pending) : nullptr;
  uint64_t last = 0;
  for (int b = 0; b < 256; ++b) {
    const Pending m = pending_row ? pending_row[b] : Pending{Lexer::kDead};
    if (!row[b] || Key(row[b], m) == last || (m && lexer_->IsFinal(m))) continue;
    last = Key(row[b], m);
    const std::vector<Pending> ends = Ends(row[b], m);
    for (const Pending n : ends)
      if (std::find(all->begin(), all->end(), n) == all->end()) all->push_back(n);
  }
}

// What may be pending after any number of ignored lexemes.
const std::vector<Completable::Pending>& Completable::AfterIgnored(Pending pending) {
  const auto known = after_ignored_.find(pending);
  if (known != after_ignored_.end()) return known->second;
  std::vector<Pending> all{pending};
  for (size_t i = 0; i < all.size(); ++i) AddEnds(rules_.ignored, all[i], &all);
  return after_ignored_[pending] = std::move(all);
}

const std::vector<Completable::Pending>& Completable::AfterTerminal(uint32_t terminal, Pending pending) {
  const auto known = after_terminal_.find(Key(terminal, pending));
  if (known != after_terminal_.end()) return known->second;
  Lexer::Terminals wanted(rules_.all.size(), 0);
  wanted[terminal >> 6] |= uint64_t{1} << (terminal & 63);
  std::vector<Pending> all;
  const std::vector<Pending> before = AfterIgnored(pending);
  for (const Pending n : before) AddEnds(wanted, n, &all);
  return after_terminal_[Key(terminal, pending)] = std::move(all);
}

// ---------------------------------------------------------------------------------------------- summaries of rules

uint32_t Completable::NodeOf(uint32_t state, Pending pending) {
  const auto [it, added] = node_of_.emplace(Key(state, pending), static_cast<uint32_t>(nodes_.size()));
  if (added) {
    nodes_.push_back({state, pending, {}, {}, {}});
    fresh_.push_back(it->second);
  }
  return it->second;
}

void Completable::AddOut(uint32_t node, Pending pending) {
  std::vector<Pending>& out = nodes_[node].out;
  if (std::find(out.begin(), out.end(), pending) != out.end()) return;
  out.push_back(pending);
  news_.emplace_back(node, pending);
}

void Completable::AddCopy(uint32_t from, uint32_t to) {
  std::vector<uint32_t>& copies = nodes_[from].copies;
  if (from == to || std::find(copies.begin(), copies.end(), to) != copies.end()) return;
  copies.push_back(to);
  const std::vector<Pending> out = nodes_[from].out;
  for (const Pending n : out) AddOut(to, n);
}

void Completable::Expand(uint32_t node) {
  const uint32_t state = nodes_[node].state;
  const Pending pending = nodes_[node].pending;
  const RuleAutomata::State& s = rules_.automata->states[state];
  Spend(1 + s.arcs.size());
  if (s.final) AddOut(node, pending);
  const uint32_t num_terminals = lexer_->NumTerminals();
  for (const RuleAutomata::Arc& arc : s.arcs) {
    if (arc.letter < num_terminals) {
      const std::vector<Pending> after = AfterTerminal(arc.letter, pending);
      for (const Pending n : after) AddCopy(NodeOf(arc.state, n), node);
      continue;
    }
    const uint32_t callee = NodeOf(rules_.automata->start_of[arc.letter - num_terminals], pending);
    nodes_[callee].returns.emplace_back(arc.state, node);
    const std::vector<Pending> out = nodes_[callee].out;
    for (const Pending n : out) AddCopy(NodeOf(arc.state, n), node);
  }
}

const std::vector<Completable::Pending>& Completable::Out(uint32_t state, Pending pending) {
  const uint32_t node = NodeOf(state, pending);
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

bool Completable::CanEnd(StackSets::Set stacks, Pending pending) {
  std::vector<std::pair<StackSets::Set, Pending>> work{{stacks, pending}};
  while (!work.empty()) {
    const auto [p, n] = work.back();
    const uint64_t key = Key(p, n);
    if (can_end_.count(key)) {
      work.pop_back();
      continue;
    }
    Spend(1);
    bool can = p != StackSets::kNone && stacks_->HasBottom(p);
    const size_t open = work.size();
    if (!can)
      stacks_->ForEachTop(p, [&](uint32_t state, StackSets::Set below) {
        if (can || work.size() > open) return;
        for (const Pending after : Out(state, n)) {
          const auto known = can_end_.find(Key(below, after));
          if (known == can_end_.end()) {
            work.emplace_back(below, after);
            return;
          }
          can = can || known->second;
        }
      });
    if (work.size() > open) continue;
    can_end_[key] = can;
    work.pop_back();
  }
  return can_end_.at(Key(stacks, pending));
}

bool Completable::Search(const Position& p) {
  if (p.lexer == Position::kBoundary) return CanEnd(p.stacks, p.pending);
  return ForEachEnd(p.lexer, p.pending, true, [&](uint32_t terminal, Pending after) {
    const StackSets::Set next = HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_->Advance(p.stacks, terminal);
    return next != StackSets::kNone && CanEnd(next, after);
  });
}

bool Completable::SearchPositions(const Position& p) {
  std::vector<Position> queue{p}, next;
  std::unordered_map<uint64_t, std::vector<Position>> seen;
  std::vector<ByteSet> classes;
  const auto add = [&](const Position& q) {
    std::vector<Position>& alike = seen[MixHash(Key(q.lexer, q.pending)) ^ q.stacks];
    if (std::find(alike.begin(), alike.end(), q) != alike.end()) return;
    alike.push_back(q);
    queue.push_back(q);
  };
  for (size_t i = 0; i < queue.size(); ++i) {
    const Position q = queue[i];
    Spend(64);
    if (positions_.IsFinal(q)) return true;
    if (i && !q.pending && q.lexer != Position::kBoundary && EndsFreely(q.lexer)) return true;
    const Positions::Ready ready = positions_.Prepare(q);
    positions_.Classes(ready, &classes);
    for (const ByteSet& c : classes) {
      next.clear();
      positions_.Move(ready, c.First(), &next);
      for (const Position& to : next) add(to);
    }
  }
  return false;
}

}  // namespace tokamata
