// pdt_connect: a push-down transducer without the states and arcs that lie on no accepted path.
#pragma once
#include "automata/csrc/pdt.h"

namespace tokamata {

struct PdtConnectOptions {
  int64_t max_states = kDefaultMaxStates;  // pairs of states with a balanced path
  int64_t max_arcs = kPdtMaxArcs;          // pairs of an opening and a closing arc
};

// The same balanced paths; every state and arc of the result is on one of them. The order of states and arcs stays.
// O(C + V E) for C pairs of an opening and a closing arc that can belong together.
Fst PdtConnect(const Fst& fst, const Parens& parens, const PdtConnectOptions& options = {});

}  // namespace tokamata
