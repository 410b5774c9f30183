#include "automata/csrc/prune.h"

#include <algorithm>
#include <vector>

#include "automata/csrc/connect.h"
#include "automata/csrc/shortestdistance.h"

namespace tokamata {

void Prune(Fst* fst, float weight) {
  RequirePathSemiring("prune", *fst);
  if (!(weight >= 0)) throw FstError("prune: the threshold must be at least 0, got " + std::to_string(weight));
  if (fst->Start() == kNoState || fst->Semiring() == SemiringKind::kBoolean) {
    *fst = Connect(*fst);
    return;
  }
  ShortestDistanceOptions forward, reverse;
  forward.operation = reverse.operation = "prune";
  forward.connected = reverse.connected = true;
  reverse.reverse = true;
  const std::vector<float> from_start = ShortestDistance(*fst, forward);
  const std::vector<float> to_end = ShortestDistance(*fst, reverse);
  const float best = to_end[fst->Start()];
  const float limit = Tropical::Times(best, weight) + std::max(RoundingOf(from_start), RoundingOf(to_end));
  std::vector<Arc> kept;
  for (StateId s = 0; s < fst->NumStates(); ++s) {
    kept.clear();
    for (const Arc& arc : fst->Arcs(s)) {
      const float whole = Tropical::Times(Tropical::Times(from_start[s], arc.weight), to_end[arc.nextstate]);
      if (whole <= limit && whole != kInfinity) kept.push_back(arc);
    }
    if (kept.size() < fst->Arcs(s).size()) {
      fst->DeleteArcs(s);
      for (const Arc& arc : kept) fst->AddArc(s, arc);
    }
    if (!(Tropical::Times(from_start[s], fst->Final(s)) <= limit)) fst->SetFinal(s, fst->Zero());
  }
  *fst = Connect(*fst);
}

}  // namespace tokamata
