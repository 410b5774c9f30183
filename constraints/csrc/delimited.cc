#include "constraints/csrc/delimited.h"

namespace tokamata {

// An item and what may follow it: each later item behind a delimiter, or not. All of these tails share their ends.
Expr DelimitedSubsequence(Expressions* pool, const std::vector<Expr>& items, Expr delimiter) {
  std::vector<Expr> parts;
  Expr tail = kEpsilonExpr;
  for (size_t i = items.size(); i-- > 0;) {
    parts.push_back(pool->Concat(items[i], tail));
    tail = pool->Concat(pool->Optional(pool->Concat(delimiter, items[i])), tail);
  }
  return pool->Union(std::move(parts));
}

}  // namespace tokamata
