// Inversion: input and output change places.
#pragma once
#include "automata/csrc/fst.h"

namespace tokamata {

// Swaps the labels of every arc, and the symbol tables. O(states + arcs).
Fst Invert(const Fst& fst);

}  // namespace tokamata
