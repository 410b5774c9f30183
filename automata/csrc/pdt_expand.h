// pdt_expand: the Fst of the balanced paths of a push-down transducer.
#pragma once
#include "automata/csrc/pdt.h"

namespace tokamata {

struct PdtExpandOptions {
  bool keep_parentheses = false;  // else their arcs become epsilon arcs
  int64_t max_depth = -1;         // of the stack; negative: as deep as it gets
  bool truncate = false;          // leave out what is deeper than max_depth
  float weight = kInfinity;       // leave out what is worse than the best path by more
  int64_t max_states = kDefaultMaxStates;
  int64_t max_arcs = kPdtMaxArcs;
};

// States are pairs (state, stack) on accepted paths; state 0 is the start. Throws LimitError where the stack gets
// deeper than max_depth, or has no bound: this is decided before anything is built. Stacks that can no longer be
// emptied are not entered: with each stack goes the set of states, or the costs, from which a path to the end exists.
Fst PdtExpand(const Fst& fst, const Parens& parens, const PdtExpandOptions& options = {});

}  // namespace tokamata
