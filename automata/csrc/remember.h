// Expressions that begin with rules which remember what they have read (see RuleSource).
#pragma once
#include "automata/csrc/expression.h"

namespace tokamata {

// head and then rest, such that a union of what remembers stays one.
Expr Spread(Expressions* all, Expr head, Expr rest);

}  // namespace tokamata
