// Reversal: every member read backwards.
#pragma once
#include "automata/csrc/fst.h"

namespace tokamata {

// State 0 is a new start with an epsilon arc, weighted with the final weight, to each final state; state s becomes
// s + 1 with its arcs turned round; the old start is final. The semirings are commutative, so weights stay. O(states +
// arcs).
Fst Reverse(const Fst& fst);

}  // namespace tokamata
