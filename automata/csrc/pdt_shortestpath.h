// pdt_shortestpath: the best balanced path of a push-down transducer.
#pragma once
#include "automata/csrc/pdt.h"

namespace tokamata {

struct PdtShortestPathOptions {
  bool keep_parentheses = false;           // else their arcs become epsilon arcs
  int64_t max_states = kDefaultMaxStates;  // of the path, and of the search
  int64_t max_arcs = kPdtMaxArcs;      // of the search
};

// The path as a chain of states 0, 1, 2, …; no states where nothing is accepted. The stack need not be bounded. Needs a
// semiring with the path property. The length of the path can be exponential in the machine's size.
Fst PdtShortestPath(const Fst& fst, const Parens& parens, const PdtShortestPathOptions& options = {});

}  // namespace tokamata
