#include "automata/csrc/summaries.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "automata/csrc/bounded_leaf.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {

void Summaries::Spend(size_t pairs, const char* what) const {
  TimeLimit::Spend(4);
  if (pairs <= most_pairs_) return;
  throw LimitError("expressions: the limit emptiness=" + std::to_string(most_pairs_) + " was reached (" + what +
                   "); simplify the constraint or raise it: tokamata.Limits(emptiness=...)");
}

// The product with a regular part, breadth-first.
void Summaries::ReadRegular(Node node) {
  std::vector<std::pair<Expr, Expr>> queue{{graph_.Place(node), graph_.From(node)}};
  std::unordered_set<uint64_t> seen{PairKey(queue[0].first, queue[0].second)};
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto [e, r] = queue[i];
    if (pool_->Nullable(e)) graph_.AddOut(node, r);
    const RegularOperand::Row& mine = rows_.RowOf(e);
    const RegularOperand::Row& other = operand_->RowOf(r);
    Spend(seen.size(), "states of two regular languages");
    uint64_t last = 0;
    for (size_t b = 0; b < 256; ++b) {
      if (mine[b] == kEmpty || other[b] == kEmpty || PairKey(mine[b], other[b]) == last) continue;
      last = PairKey(mine[b], other[b]);
      if (seen.insert(last).second) queue.emplace_back(mine[b], other[b]);
    }
  }
}

// False where the part cannot be summarized.
bool Summaries::Expand(Node node) {
  const Expr e = graph_.Place(node), from = graph_.From(node);
  if (e == kEmpty) return true;
  if (!pool_->IsPushDown(e)) {
    ReadRegular(node);
    return true;
  }
  switch (pool_->Kind(e)) {
    case ExprKind::kConcat:
      graph_.AddFollow(graph_.NodeOf(pool_->Head(e), from), pool_->Tail(e), node);
      return true;
    case ExprKind::kUnion: {
      const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
      for (const Expr m : members) graph_.AddCopy(graph_.NodeOf(m, from), node);
      return true;
    }
    case ExprKind::kRepeat: {
      const Expr body = pool_->Body(e);
      const uint32_t low = pool_->Low(e), high = pool_->High(e);
      if (low == 0 || pool_->Nullable(body)) graph_.AddOut(node, from);
      const Expr rest = pool_->Repeat(body, low ? low - 1 : 0, high == kUnbounded ? kUnbounded : high - 1);
      graph_.AddFollow(graph_.NodeOf(body, from), rest, node);
      return true;
    }
    case ExprKind::kCall: graph_.AddCopy(graph_.NodeOf(pool_->Expand(e), from), node); return true;
    case ExprKind::kLeaf: {
      std::vector<Expr> ends;
      if (!pool_->LeafOf(e)->EndsBeside(pool_->LeafState(e), operand_, from, &ends)) {
        BoundedLeaf* const leaf = bounded_ ? dynamic_cast<BoundedLeaf*>(pool_->LeafOf(e)) : nullptr;
        if (!leaf || !leaf->EndsAtMost(pool_->LeafState(e), operand_, from, &ends)) return false;
      }
      for (const Expr r : ends) graph_.AddOut(node, r);
      return true;
    }
    default: return false;
  }
}

bool Summaries::Ends(Expr push_down, Expr from, std::vector<Expr>* out) {
  const Node root = graph_.NodeOf(push_down, from);
  const auto expand = [this](Node node) { return Expand(node); };
  const auto spend = [this](size_t) { Spend(graph_.Size(), "rules beside states of a regular language"); };
  if (!graph_.Solve(expand, spend)) return false;
  out->insert(out->end(), graph_.Out(root).begin(), graph_.Out(root).end());
  return true;
}

Summaries::Answer Summaries::Meet(Expr push_down, Expr regular, bool bounded) {
  std::vector<Expr> out;
  bounded_ = bounded;
  if (!Ends(push_down, regular, &out)) return Answer::kUnknown;
  if (std::none_of(out.begin(), out.end(), [this](Expr r) { return operand_->IsFinal(r); })) return Answer::kNo;
  return bounded ? Answer::kUnknown : Answer::kYes;
}

}  // namespace tokamata
