// prune: drops what lies only on paths that are worse than the best by more than a threshold.
#pragma once
#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

// Tropical or boolean; throws FstError over log and where the threshold is negative.
void Prune(Fst* fst, float weight);

}  // namespace tokamata
