// Union: what any of several machines relates.
#pragma once
#include <vector>

#include "automata/csrc/fst.h"

namespace tokamata {

// A new start state with an epsilon arc to each operand's; states of the operands follow in order. An operand without a
// start state adds nothing. All must share one semiring, and agree on symbols (else FstError). O(states + arcs).
Fst Union(const std::vector<const Fst*>& fsts);

}  // namespace tokamata
