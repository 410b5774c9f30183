// difference: the strings of the first acceptor, with their weights, that the second does not accept.
#pragma once
#include "automata/csrc/compose.h"

namespace tokamata {

// The second operand must be an unweighted, epsilon-free, deterministic acceptor sorted by input label, the first an
// acceptor; else FstError. States are pairs of a state of each, or of a state of a and "b can no longer accept".
Fst Difference(const Fst& a, const Fst& b, const ComposeOptions& options = {});

}  // namespace tokamata
