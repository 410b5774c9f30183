// pdt_shortestdistance: the sum of the weights of all balanced paths of a push-down transducer.
#pragma once
#include "automata/csrc/pdt.h"

namespace tokamata {

struct PdtShortestDistanceOptions {
  float delta = kShortestDelta;            // log: relative change that ends the iteration over recursive rules
  int64_t max_visits = kDefaultMaxVisits;  // log: rounds of that iteration
  int64_t max_states = kDefaultMaxStates;  // of the search
  int64_t max_arcs = kPdtMaxArcs;
};

// The semiring's zero where nothing is accepted. Over the log semiring the sums of the states that opening arcs enter
// are computed callees first, each as the shortest distance of a machine in which whole calls are arcs; where they call
// each other in a circle, again and again from zero, which converges to the sum from below.
float PdtShortestDistance(const Fst& fst, const Parens& parens, const PdtShortestDistanceOptions& options = {});

}  // namespace tokamata
