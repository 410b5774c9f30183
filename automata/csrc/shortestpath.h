// shortestpath: a machine of the best paths.
#pragma once
#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct ShortestPathOptions {
  int64_t nshortest = 1;
  bool unique = false;       // at most one path for each string; acceptors without epsilons only
  float weight = kInfinity;  // leave out paths that are worse than the best by more than this
  int64_t max_states = kDefaultMaxStates;
};

// One path by shortest distances; several by best-first search with exact distances to the end (Mohri and Riley, "An
// efficient algorithm for the n-best-strings problem", 2002): the result is the tree of their common beginnings. Throws
// FstError without the path property (log) and on cycles of negative weight on accepted paths.
Fst ShortestPath(const Fst& fst, const ShortestPathOptions& options = {});

}  // namespace tokamata
