// minimize: the smallest deterministic machine equivalent to a deterministic one.
#pragma once
#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct MinimizeOptions {
  float delta = kShortestDelta;  // weights that round to one multiple of delta are one
  int64_t max_visits = kDefaultMaxVisits;
};

// Weights are pushed toward the start, then states are merged by partition refinement (Hopcroft, 1971, in the form for
// partial transition functions by Valmari and Lehtinen, 2008), O(states + arcs log arcs). The total weight goes onto
// the start's arcs, or, where an arc enters the start, onto the final weights, so no state is added. A transducer is
// minimized as an acceptor of label pairs: outputs are not moved. Throws FstError unless no state has two arcs with one
// pair of labels.
void Minimize(Fst* fst, const MinimizeOptions& options = {});

}  // namespace tokamata
