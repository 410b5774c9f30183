// Lists whose elements come out of a row of languages, in its order.
#pragma once
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// Texts of some of the items, at least one, in order, the delimiter between neighbours. Linear in the number of items.
Expr DelimitedSubsequence(Expressions* pool, const std::vector<Expr>& items, Expr delimiter);

}  // namespace tokamata
