// PlaceIn: what an expression reads first, for errors about limits.
#pragma once
#include <string>

#include "automata/csrc/expression.h"

namespace tokamata {

// The place of the call or leaf which stands first, or of what comes before it: between the two there is text only.
// Empty where nothing is known.
std::string PlaceIn(const Expressions& pool, Expr e);

}  // namespace tokamata
