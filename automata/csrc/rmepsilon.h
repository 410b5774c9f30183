// rmepsilon: an equivalent machine without arcs that have epsilon on both sides.
#pragma once
#include "automata/csrc/preconditions.h"
#include "automata/csrc/fst.h"

namespace tokamata {

struct RmEpsilonOptions {
  bool connect = true;
  float delta = kShortestDelta;
  int64_t max_visits = kDefaultMaxVisits;
  int64_t max_arcs = kDefaultMaxArcs;
};

// Mohri, "Generic epsilon-removal and input epsilon-normalization algorithms for weighted transducers" (2002). Only the
// start state and states that a non-epsilon arc enters get arcs, so the cost is that of the epsilon closures of those.
void RmEpsilon(Fst* fst, const RmEpsilonOptions& options = {});

}  // namespace tokamata
