// pdt_compose: a push-down transducer composed with an Fst.
#pragma once
#include "automata/csrc/compose.h"
#include "automata/csrc/pdt.h"

namespace tokamata {

// The composition of a and b, one of which is the push-down transducer; the result has its parentheses. The product of
// Bar-Hillel, Perles and Shamir (1961): a parenthesis moves the push-down transducer alone, as an epsilon does, under
// the epsilon-sequencing filter of ComposeFst. The Fst must have no arcs with parentheses; nothing need be sorted.
Fst PdtCompose(const Fst& a, const Fst& b, const Parens& parens, bool left_pdt, const ComposeOptions& options = {});

}  // namespace tokamata
