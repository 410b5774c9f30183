// Concatenation: a member of each machine in turn.
#pragma once
#include <vector>

#include "automata/csrc/fst.h"

namespace tokamata {

// The operands' states in order; each final state of one has an epsilon arc with its final weight to the next one's
// start. Where an operand has no start state the result has no states. All must share one semiring, and agree on
// symbols (else FstError). O(states + arcs).
Fst Concat(const std::vector<const Fst*>& fsts);

}  // namespace tokamata
