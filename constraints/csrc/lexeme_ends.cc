#include "constraints/csrc/lexeme_ends.h"

#include <algorithm>

#include "automata/csrc/id_table.h"

namespace tokamata {
namespace {

template <class T>
void SortUnique(std::vector<T>* all) {
  std::sort(all->begin(), all->end());
  all->erase(std::unique(all->begin(), all->end()), all->end());
}

}  // namespace

bool LexemeEnds::PastCall(Expr call, Expr from, std::vector<Expr>* ends) {
  return lexer_->WithPool([&](Expressions* pool) {
    if (!calls_) calls_ = std::make_unique<Summaries>(pool, pool->limits.emptiness, operand_);
    return calls_->Ends(call, from, ends);
  });
}

const LexemeEnds::List* LexemeEnds::Intern(List ends) {
  SortUnique(&ends);
  const auto [list, added] = lists_.insert(std::move(ends));
  if (added) num_listed_ += list->size();
  return &*list;
}

const LexemeEnds::List* LexemeEnds::Join(std::vector<const List*> lists) {
  SortUnique(&lists);
  if (lists.size() == 1) return lists[0];
  List all;
  for (const List* list : lists) all.insert(all.end(), list->begin(), list->end());
  return Intern(std::move(all));
}

// The ends at a state itself; adds where it leads.
const LexemeEnds::List* LexemeEnds::Begin(Key key, std::vector<Key>* to, const Spend& spend) {
  spend(size_t{16});
  List ends;
  const auto q = static_cast<Lexer::State>(key >> 32);
  const auto n = static_cast<Beside>(key);
  const auto [pending, r] = besides_[n];
  lexer_->AnyEnd(q, [&, pending = pending, r = r](uint32_t accepted, Lexer::State longer) {
    const Beside after = Number(lexer_->UnionOfPending(pending, longer), r);
    lexer_->ForEachAccepted(accepted, [&](uint32_t t) { ends.emplace_back(t, after); });
    return false;
  });
  if (!pending && !operand_) {
    const std::vector<Lexer::State>& ahead = lexer_->Ahead(q);
    for (const Lexer::State next : ahead) to->push_back(PairKey(next, n));
    if (!ahead.empty()) return Intern(std::move(ends));
  }
  Expr call;
  std::vector<Expr> after_call;
  const bool goes_past = !pending && operand_;
  if (const Lexer::State past = goes_past ? lexer_->PastCall(q, &call) : q; past != q && PastCall(call, r, &after_call)) {
    for (const Expr s : after_call) to->push_back(PairKey(past, Number(Lexer::kDead, s)));
    return Intern(std::move(ends));
  }
  const Lexer::State* row = lexer_->DenseRow(q);
  const Lexer::State* pending_row = pending ? lexer_->DenseRow(pending) : nullptr;
  const RegularOperand::Row* regular = operand_ ? &operand_->RowOf(r) : nullptr;
  Lexer::State last_q = Lexer::kDead, last_pending = Lexer::kDead;
  Expr last_r = kEmpty;
  for (size_t b = 0; b < 256; ++b) {
    const Lexer::State m = pending_row ? pending_row[b] : Lexer::State{Lexer::kDead};
    const bool reads = regular && !(lexer_->HasEnd() && b == Lexer::kEndByte);
    const Expr s = reads ? (*regular)[b] : r;
    if (!row[b] || (regular && s == kEmpty) || (m && lexer_->IsFinal(m))) continue;
    if (row[b] == last_q && m == last_pending && s == last_r) continue;
    last_q = row[b];
    last_pending = m;
    last_r = s;
    to->push_back(PairKey(row[b], Number(m, s)));
  }
  SortUnique(to);
  return Intern(std::move(ends));
}

// Depth first: states that lead to each other have the same ends, which are known when the first of them is left
// (Tarjan 1972).
const LexemeEnds::List& LexemeEnds::Of(Lexer::State lexer, Beside beside, const Spend& spend) {
  constexpr size_t kMost = 1 << 19;
  const Key root = PairKey(lexer, beside);
  if (const List* const* list = known_.Find(root)) return **list;
  if (known_.Size() + num_listed_ > kMost) {
    known_.Clear();
    lists_.clear();
    num_listed_ = 0;
  }
  FlatMap<Key, uint32_t> numbers;  // of what was visited
  std::vector<Key> open;           // of these, those whose ends are not known, in order
  std::vector<const List*> ends;   // of the open ones, in the same order
  std::vector<Visit> visits;
  const auto visit = [&](Key key) {
    const auto number = static_cast<uint32_t>(numbers.Size());
    visits.push_back({key, number, number, ends.size(), 0, {}});
    numbers[key] = number;
    open.push_back(key);
    ends.push_back(Begin(key, &visits.back().after, spend));
  };
  for (visit(root);;) {
    Visit& last = visits.back();
    if (last.at < last.after.size()) {
      const Key next = last.after[last.at++];
      if (const List* const* list = known_.Find(next)) {
        ends.push_back(*list);
      } else if (const uint32_t* number = numbers.Find(next)) {
        last.least = std::min(last.least, *number);
      } else {
        visit(next);
      }
      continue;
    }
    const Visit done = std::move(last);
    visits.pop_back();
    if (done.least < done.number) {
      visits.back().least = std::min(visits.back().least, done.least);
      continue;
    }
    const List* const all = Join({ends.begin() + static_cast<ptrdiff_t>(done.first_end), ends.end()});
    ends.resize(done.first_end);
    ends.push_back(all);
    Key key;
    do {
      key = open.back();
      open.pop_back();
      known_[key] = all;
    } while (key != done.key);
    if (visits.empty()) return *all;
  }
}

}  // namespace tokamata
