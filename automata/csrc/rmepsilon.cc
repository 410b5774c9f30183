#include "automata/csrc/rmepsilon.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "automata/csrc/connect.h"
#include "automata/csrc/single_source.h"

namespace tokamata {
namespace {

bool IsEpsilon(const Arc& arc) { return arc.ilabel == kEpsilon && arc.olabel == kEpsilon; }

bool Before(const Arc& a, const Arc& b) {
  return std::tie(a.ilabel, a.olabel, a.nextstate) < std::tie(b.ilabel, b.olabel, b.nextstate);
}

template <class S>
Fst WithoutEpsilons(const Fst& fst, const RmEpsilonOptions& options) {
  Fst result(fst.Semiring());
  result.AddStates(fst.NumStates());
  result.SetInputSymbols(fst.InputSymbols());
  result.SetOutputSymbols(fst.OutputSymbols());
  if (fst.Start() == kNoState) return result;
  result.SetStart(fst.Start());

  const ForwardGraph graph{fst, /*epsilons_only=*/true};
  SingleSource<S, ForwardGraph> closure("rmepsilon", graph, options.delta, options.max_visits);
  std::vector<bool> seen(fst.NumStates());
  std::vector<StateId> pending{fst.Start()};
  seen[fst.Start()] = true;
  std::vector<Arc> arcs;
  while (!pending.empty()) {
    const StateId s = pending.back();
    pending.pop_back();
    arcs.clear();
    closure.Run({{s, S::One()}});
    float final = S::Zero();
    for (StateId q : closure.Reached()) {
      const float distance = closure.Distance(q);
      if (distance == S::Zero()) continue;
      final = S::Plus(final, S::Times(distance, fst.Final(q)));
      for (const Arc& arc : fst.Arcs(q)) {
        if (!IsEpsilon(arc)) arcs.push_back({arc.ilabel, arc.olabel, S::Times(distance, arc.weight), arc.nextstate});
      }
    }
    result.SetFinal(s, final);
    if (closure.Reached().size() > 1) {  // arcs of several states: equal ones become one
      if (!std::is_sorted(arcs.begin(), arcs.end(), Before)) std::sort(arcs.begin(), arcs.end(), Before);
      size_t kept = 0;
      for (size_t i = 0; i < arcs.size(); ++i) {
        if (kept && !Before(arcs[kept - 1], arcs[i])) {
          arcs[kept - 1].weight = S::Plus(arcs[kept - 1].weight, arcs[i].weight);
        } else {
          arcs[kept++] = arcs[i];
        }
      }
      arcs.resize(kept);
    }
    for (const Arc& arc : arcs) {
      result.AddArc(s, arc);
      if (!seen[arc.nextstate]) {
        seen[arc.nextstate] = true;
        pending.push_back(arc.nextstate);
      }
    }
    CheckLimit("rmepsilon", "max_arcs", result.NumArcs(), options.max_arcs,
               "the result has too many arcs; determinize, minimize or connect before");
  }
  return result;
}

}  // namespace

void RmEpsilon(Fst* fst, const RmEpsilonOptions& options) {
  bool has_epsilons = false;
  for (StateId s = 0; s < fst->NumStates() && !has_epsilons; ++s) {
    const Span<const Arc> arcs = fst->Arcs(s);
    has_epsilons = std::any_of(arcs.begin(), arcs.end(), IsEpsilon);
  }
  if (has_epsilons) {
    *fst = VisitSemiring(fst->Semiring(),
                         [&](auto semiring) { return WithoutEpsilons<decltype(semiring)>(*fst, options); });
  }
  if (options.connect) *fst = Connect(*fst);
}

}  // namespace tokamata
