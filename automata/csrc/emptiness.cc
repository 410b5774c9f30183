#include "automata/csrc/expression.h"

namespace tokamata {

// Structural where that decides; a breadth-first search for a member where an intersection or complement is on top.
bool Expressions::IsEmpty(Expr e) {
  for (;;) {
    const Node n = nodes_[e];
    if (!n.extended) return e == kEmpty;
    if (n.nullable || n.emptiness == 2) return false;
    if (n.emptiness == 1) return true;
    if (n.kind == ExprKind::kConcat) {
      if (IsEmpty(n.a)) return true;
      e = n.b;
      continue;
    }
    if (n.kind == ExprKind::kRepeat) {
      e = n.a;
      continue;
    }
    if (n.kind == ExprKind::kUnion) {
      for (uint32_t i = 0; i < n.b; ++i)
        if (!IsEmpty(members_[n.a + i])) return false;
      nodes_[e].emptiness = 1;
      return true;
    }
    return SearchEmpty(e);
  }
}

bool Expressions::SearchEmpty(Expr root) {
  struct Visit {
    Expr e;
    size_t parent;
  };
  std::vector<Visit> queue{{root, 0}};
  std::unordered_set<Expr> seen{root};
  std::vector<Term> steps;
  for (size_t i = 0; i < queue.size(); ++i) {
    Partition(queue[i].e, &steps);
    for (const Term& t : steps) {
      const Node& n = nodes_[t.target];
      if (t.target == kEmpty || n.emptiness == 1) continue;
      if (!n.extended || n.nullable || n.emptiness == 2) {  // a member: all that led here is not empty
        nodes_[t.target].emptiness = 2;
        for (size_t j = i;; j = queue[j].parent) {
          nodes_[queue[j].e].emptiness = 2;
          if (j == 0) return false;
        }
      }
      if (seen.insert(t.target).second) {
        if (seen.size() > limits.emptiness) ThrowLimit("emptiness", limits.emptiness, "search for a member of an intersection or complement");
        queue.push_back({t.target, i});
      }
    }
  }
  for (const Visit& v : queue) nodes_[v.e].emptiness = 1;
  return true;
}

}  // namespace tokamata
