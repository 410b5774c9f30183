// Topological order of states.
#pragma once
#include "automata/csrc/fst.h"

namespace tokamata {

// Renumbers the states so that every arc leads to a higher one (Kahn 1962); the start state is 0 unless an arc leads to
// it. FstError where the machine is cyclic; the text names a state of a cycle. O(states + arcs).
Fst TopSort(const Fst& fst);

}  // namespace tokamata
