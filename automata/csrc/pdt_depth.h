// pdt_depth: how deep the stack of a push-down transducer gets.
#pragma once
#include "automata/csrc/pdt.h"

namespace tokamata {

struct PdtDepthOptions {
  int64_t max_states = kDefaultMaxStates;
  int64_t max_arcs = kPdtMaxArcs;
  const char* operation = "Pdt.depth";
};

constexpr int64_t kUnboundedDepth = -1;

struct PdtDepthResult {
  int64_t depth = 0;         // of the stack on accepted paths, kUnboundedDepth where there is no bound
  StateId state = kNoState;  // where unbounded: a state that an opening arc enters again and again
};

// The greatest depth of the stack on accepted paths. Exact: frames are pairs of the state that an opening arc enters
// and the state that the closing arc leaves; one contains another where a balanced path between its ends makes that
// call, and depth is bounded where no frame of an accepted path contains itself. O(C + F (V + E)) for C combinations of
// callers and closers and F frames of E arcs.
PdtDepthResult PdtDepth(const Fst& fst, const Parens& parens, const PdtDepthOptions& options = {});

}  // namespace tokamata
