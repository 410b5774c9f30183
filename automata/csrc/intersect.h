// intersect: the strings that both acceptors accept, with the product of their weights.
#pragma once
#include "automata/csrc/compose.h"

namespace tokamata {

// Throws FstError unless both operands are acceptors and one of them is sorted.
Fst Intersect(const Fst& a, const Fst& b, const ComposeOptions& options = {});

}  // namespace tokamata
