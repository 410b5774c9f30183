// pdt_is_empty: whether a push-down transducer has no accepted path.
#pragma once
#include "automata/csrc/pdt.h"

namespace tokamata {

struct PdtIsEmptyOptions {
  int64_t max_states = kDefaultMaxStates;  // pairs of states with a balanced path
  int64_t max_arcs = kPdtMaxArcs;      // pairs of an opening and a closing arc
};

// Ends when a path is found. O(C + V E) for C pairs of an opening and a closing arc that can belong together.
bool PdtIsEmpty(const Fst& fst, const Parens& parens, const PdtIsEmptyOptions& options = {});

}  // namespace tokamata
