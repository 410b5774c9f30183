#include "automata/csrc/push.h"

#include <vector>

#include "automata/csrc/shortestdistance.h"

namespace tokamata {
namespace {

template <class S>
void ScaleState(Fst* fst, StateId s, float weight) {
  for (Arc& arc : fst->MutableArcs(s)) arc.weight = S::Times(weight, arc.weight);
  fst->SetFinal(s, S::Times(weight, fst->Final(s)));
}

template <class S>
float PushTo(Fst* fst, const PushOptions& options) {
  ShortestDistanceOptions distance_options;
  distance_options.reverse = !options.to_final;
  distance_options.delta = options.delta;
  distance_options.max_visits = options.max_visits;
  distance_options.operation = options.operation;
  const std::vector<float> distance = ShortestDistance(*fst, distance_options);
  float total = S::Zero();
  if (options.to_final) {
    for (StateId s = 0; s < fst->NumStates(); ++s) total = S::Plus(total, S::Times(distance[s], fst->Final(s)));
  } else {
    total = distance[fst->Start()];
  }
  if (total == S::Zero()) return total;
  for (StateId s = 0; s < fst->NumStates(); ++s) {
    if (distance[s] == S::Zero()) continue;
    for (Arc& arc : fst->MutableArcs(s)) {
      const float next = distance[arc.nextstate];
      if (next == S::Zero()) continue;
      arc.weight = options.to_final ? S::Divide(S::Times(distance[s], arc.weight), next)
                                    : S::Divide(S::Times(arc.weight, next), distance[s]);
    }
    const float final = fst->Final(s);
    if (final == S::Zero()) continue;
    fst->SetFinal(s, options.to_final ? S::Times(distance[s], final) : S::Divide(final, distance[s]));
  }
  if (options.to_final) {
    // The start's own distance (cycles through it) now stands before every path.
    const float start = distance[fst->Start()];
    const float divisor = options.remove_total_weight ? S::Times(start, total) : start;
    for (StateId s = 0; s < fst->NumStates(); ++s) {
      if (fst->IsFinal(s)) fst->SetFinal(s, S::Divide(fst->Final(s), divisor));
    }
  } else if (!options.remove_total_weight) {
    ScaleAtStart(fst, total);
  }
  return total;
}

}  // namespace

bool IsStartEntered(const Fst& fst) {
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    for (const Arc& arc : fst.Arcs(s)) {
      if (arc.nextstate == fst.Start()) return true;
    }
  }
  return false;
}

void DropZeroArcs(Fst* fst) {
  const float zero = fst->Zero();
  std::vector<Arc> kept;
  for (StateId s = 0; s < fst->NumStates(); ++s) {
    kept.clear();
    for (const Arc& arc : fst->Arcs(s)) {
      if (arc.weight != zero) kept.push_back(arc);
    }
    if (kept.size() == fst->Arcs(s).size()) continue;
    fst->DeleteArcs(s);
    for (const Arc& arc : kept) fst->AddArc(s, arc);
  }
}

void ScaleAtStart(Fst* fst, float weight) {
  if (weight == fst->One() || fst->Start() == kNoState) return;
  StateId start = fst->Start();
  if (IsStartEntered(*fst)) {
    const Span<const Arc> arcs = fst->Arcs(start);
    const std::vector<Arc> copy(arcs.begin(), arcs.end());
    const float final = fst->Final(start);
    start = fst->AddState();
    fst->SetFinal(start, final);
    for (const Arc& arc : copy) fst->AddArc(start, arc);
    fst->SetStart(start);
  }
  VisitSemiring(fst->Semiring(), [&](auto s) { ScaleState<decltype(s)>(fst, start, weight); });
}

void ScaleAtFinals(Fst* fst, float weight) {
  if (weight == fst->One()) return;
  VisitSemiring(fst->Semiring(), [&](auto semiring) {
    for (StateId s = 0; s < fst->NumStates(); ++s) {
      if (fst->IsFinal(s)) fst->SetFinal(s, decltype(semiring)::Times(fst->Final(s), weight));
    }
  });
}

float Push(Fst* fst, const PushOptions& options) {
  if (fst->Start() == kNoState) return fst->Zero();
  return VisitSemiring(fst->Semiring(), [&](auto s) { return PushTo<decltype(s)>(fst, options); });
}

}  // namespace tokamata
