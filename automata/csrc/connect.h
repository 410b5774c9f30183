// Connection (trimming): only states on a path from the start to a final state.
#pragma once
#include "automata/csrc/fst.h"

namespace tokamata {

// Drops all other states and the arcs at them; the rest keep their order. Where nothing is accepted the result has no
// states. Arcs of weight zero count as arcs. O(states + arcs).
Fst Connect(const Fst& fst);

}  // namespace tokamata
