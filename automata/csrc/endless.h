// EndlessNesting: a proof that an expression has no end of states.
#pragma once
#include <optional>
#include <string>

#include "automata/csrc/expression.h"

namespace tokamata {

struct Nesting {
  std::string before, again;  // texts that lead to some language X, and from X to X·Y, where no text of Y is empty
};

// Where there is one, the texts before·againⁿ leave ever longer least texts to be read: no finite automaton tells all of
// these apart. Looks at a few thousand steps; nothing is found of what compares texts or repeats without nesting.
std::optional<Nesting> EndlessNesting(Expressions* pool, Expr root);

}  // namespace tokamata
