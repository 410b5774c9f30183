// isomorphic: whether two machines are one up to the numbers of states and the order of arcs.
#pragma once
#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct IsomorphicOptions {
  float delta = kDelta;  // weights this close are equal
};

// Compares what the start states lead to. Throws FstError where a state has two arcs with the same labels and weight to
// different states (deciding isomorphism is then hard).
bool Isomorphic(const Fst& a, const Fst& b, const IsomorphicOptions& options = {});

}  // namespace tokamata
