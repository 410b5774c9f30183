// Closure: any number of members in turn (Kleene star), or at least one (plus).
#pragma once
#include "automata/csrc/fst.h"

namespace tokamata {

enum class ClosureKind { kStar, kPlus };

// Each final state gets an epsilon arc with its final weight back to the start; star adds a new start state, which is
// final, with an epsilon arc to the old one. O(states + arcs). Where the machine accepts the empty string the result
// has an epsilon cycle; over the log semiring its sums converge only if that string's weight is above 0.
Fst Closure(const Fst& fst, ClosureKind kind);

}  // namespace tokamata
