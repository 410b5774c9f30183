// MapParts: an expression of other parts.
#pragma once
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// The concatenation of f(part) for each part of one, the union or intersection of f(member) for each member; any other
// expression as it is. f may make expressions.
template <class F>
Expr MapParts(Expressions* pool, Expr e, F f) {
  std::vector<Expr> parts;
  switch (pool->Kind(e)) {
    case ExprKind::kConcat:
      for (Expr rest = e; rest != kEpsilonExpr; rest = pool->Rest(rest)) parts.push_back(pool->FirstPart(rest));
      break;
    case ExprKind::kUnion:
    case ExprKind::kIntersect: parts.assign(pool->Members(e), pool->Members(e) + pool->NumMembers(e)); break;
    default: return e;
  }
  std::transform(parts.begin(), parts.end(), parts.begin(), f);
  switch (pool->Kind(e)) {
    case ExprKind::kConcat: return pool->Concat(parts);
    case ExprKind::kUnion: return pool->Union(std::move(parts));
    default: return pool->Intersect(std::move(parts));
  }
}

}  // namespace tokamata
