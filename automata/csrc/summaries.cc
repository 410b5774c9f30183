#include "automata/csrc/summaries.h"

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

uint32_t Summaries::NodeOf(Expr e, Expr from) {
  const auto [it, added] = node_of_.emplace(Key(e, from), static_cast<uint32_t>(nodes_.size()));
  if (added) {
    TimeLimit::Spend(4);
    if (nodes_.size() >= most_pairs_)
      throw LimitError("expressions: the limit emptiness=" + std::to_string(most_pairs_) +
                       " was reached (rules beside states of a regular language); simplify the constraint or raise it: "
                       "tokamata.Limits(emptiness=...)");
    nodes_.push_back({e, from, {}, {}, {}});
    fresh_.push_back(it->second);
  }
  return it->second;
}

void Summaries::AddOut(uint32_t node, Expr to) {
  if (Insert(&nodes_[node].out, to)) news_.emplace_back(node, to);
}

void Summaries::AddCopy(uint32_t from, uint32_t to) {
  if (from == to || !Insert(&nodes_[from].copies, to)) return;
  const std::vector<Expr> out = nodes_[from].out;
  for (const Expr r : out) AddOut(to, r);
}

void Summaries::AddFollow(uint32_t from, Expr next, uint32_t to) {
  if (!Insert(&nodes_[from].follow, {next, to})) return;
  const std::vector<Expr> out = nodes_[from].out;
  for (const Expr r : out) AddCopy(NodeOf(next, r), to);
}

// The product with a regular part, breadth-first.
void Summaries::ReadRegular(uint32_t node) {
  std::vector<std::pair<Expr, Expr>> queue{{nodes_[node].e, nodes_[node].from}};
  std::unordered_set<uint64_t> seen{Key(queue[0].first, queue[0].second)};
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto [e, r] = queue[i];
    if (pool_->Nullable(e)) AddOut(node, r);
    const RegularOperand::Row& mine = operand_.RowOf(e);
    const RegularOperand::Row& other = operand_.RowOf(r);
    TimeLimit::Spend(16);
    uint64_t last = 0;
    for (size_t b = 0; b < 256; ++b) {
      if (mine[b] == kEmpty || other[b] == kEmpty || Key(mine[b], other[b]) == last) continue;
      last = Key(mine[b], other[b]);
      if (seen.insert(last).second) queue.emplace_back(mine[b], other[b]);
    }
    if (seen.size() > most_pairs_)
      throw LimitError("expressions: the limit emptiness=" + std::to_string(most_pairs_) +
                       " was reached (states of two regular languages); simplify the constraint or raise it: "
                       "tokamata.Limits(emptiness=...)");
  }
}

// False where the part cannot be summarized.
bool Summaries::Expand(uint32_t node) {
  const Expr e = nodes_[node].e, from = nodes_[node].from;
  if (e == kEmpty) return true;
  if (!pool_->IsPushDown(e)) {
    ReadRegular(node);
    return true;
  }
  switch (pool_->Kind(e)) {
    case ExprKind::kConcat:
      AddFollow(NodeOf(pool_->Head(e), from), pool_->Tail(e), node);
      return true;
    case ExprKind::kUnion: {
      const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
      for (const Expr m : members) AddCopy(NodeOf(m, from), node);
      return true;
    }
    case ExprKind::kRepeat: {
      const Expr body = pool_->Body(e);
      const uint32_t low = pool_->Low(e), high = pool_->High(e);
      if (low == 0 || pool_->Nullable(body)) AddOut(node, from);
      const Expr rest = pool_->Repeat(body, low ? low - 1 : 0, high == kUnbounded ? kUnbounded : high - 1);
      AddFollow(NodeOf(body, from), rest, node);
      return true;
    }
    case ExprKind::kCall: AddCopy(NodeOf(pool_->Expand(e), from), node); return true;
    case ExprKind::kLeaf: {
      std::vector<Expr> ends;
      if (!pool_->LeafOf(e)->EndsBeside(pool_->LeafState(e), &operand_, from, &ends)) return false;
      for (const Expr r : ends) AddOut(node, r);
      return true;
    }
    default: return false;
  }
}

Summaries::Answer Summaries::Meet(Expr push_down, Expr regular) {
  const uint32_t root = NodeOf(push_down, regular);
  const auto found = [&] {
    const std::vector<Expr>& out = nodes_[root].out;
    return std::any_of(out.begin(), out.end(), [this](Expr r) { return pool_->Nullable(r); });
  };
  while (!fresh_.empty() || !news_.empty()) {
    if (!news_.empty()) {
      const auto [from, r] = news_.back();
      news_.pop_back();
      const std::vector<uint32_t> copies = nodes_[from].copies;
      for (const uint32_t to : copies) AddOut(to, r);
      const std::vector<std::pair<Expr, uint32_t>> follow = nodes_[from].follow;
      for (const auto& [next, to] : follow) AddCopy(NodeOf(next, r), to);
      TimeLimit::Spend(static_cast<int64_t>(1 + copies.size() + follow.size()));
      if (from == root && pool_->Nullable(r)) return Answer::kYes;
      continue;
    }
    const uint32_t node = fresh_.back();
    fresh_.pop_back();
    if (!Expand(node)) return Answer::kUnknown;
  }
  return found() ? Answer::kYes : Answer::kNo;
}

}  // namespace tokamata
