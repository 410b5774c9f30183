// pdt_reverse: every balanced path read backwards.
#pragma once
#include "automata/csrc/pdt.h"

namespace tokamata {

// The reversal of the Fst (see Reverse), in which each parenthesis becomes the other of its pair. O(states + arcs).
Fst PdtReverse(const Fst& fst, const Parens& parens);

}  // namespace tokamata
