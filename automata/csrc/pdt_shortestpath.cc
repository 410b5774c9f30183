#include "automata/csrc/pdt_shortestpath.h"

#include <algorithm>
#include <vector>

#include "automata/csrc/pdt_balanced.h"

namespace tokamata {
namespace {

constexpr const char* kOperation = "Pdt.shortestpath";

// The arcs of the derivation of an item, the last first.
std::vector<Arc> Unwind(const Fst& fst, const BalancedPaths& paths, StateId item, int64_t max_states) {
  std::vector<Arc> arcs;
  struct Step {
    StateId item;  // emit its derivation, or
    Arc arc;       // where it is kNoState, this arc
  };
  std::vector<Step> pending{{item, {}}};
  while (!pending.empty()) {
    const Step step = pending.back();
    pending.pop_back();
    if (step.item == kNoState) {
      arcs.push_back(step.arc);
    } else if (const auto& at = paths.At(step.item); at.from != kNoState) {
      const Arc& arc = fst.Arcs(paths.At(at.from).state)[at.arc];
      pending.push_back({at.from, {}});
      pending.push_back({kNoState, arc});
      if (at.inner != kNoState) {
        pending.push_back({at.inner, {}});
        pending.push_back({kNoState, fst.Arcs(paths.At(at.inner).state)[at.close]});
      }
    }
    CheckLimit(kOperation, "max_states", arcs.size() + 1, max_states, "the best path is too long");
  }
  return arcs;
}

}  // namespace

Fst PdtShortestPath(const Fst& fst, const Parens& parens, const PdtShortestPathOptions& options) {
  RequirePdt(kOperation, fst, parens);
  RequirePathSemiring(kOperation, fst);
  BalancedOptions balanced;
  balanced.weighted = true;
  balanced.best_only = true;
  balanced.max_states = options.max_states;
  balanced.max_arcs = options.max_arcs;
  balanced.operation = kOperation;
  const BalancedPaths paths(fst, parens, balanced);
  Fst out(fst.Semiring());
  out.SetInputSymbols(fst.InputSymbols());
  out.SetOutputSymbols(fst.OutputSymbols());
  if (paths.Best() == kNoState) return out;
  std::vector<Arc> arcs = Unwind(fst, paths, paths.Best(), options.max_states);
  std::reverse(arcs.begin(), arcs.end());
  out.AddStates(arcs.size() + 1);
  out.SetStart(0);
  for (size_t i = 0; i < arcs.size(); ++i) {
    Arc arc = arcs[i];
    if (!options.keep_parentheses && parens.Has(arc.ilabel)) arc.ilabel = arc.olabel = kEpsilon;
    arc.nextstate = static_cast<StateId>(i + 1);
    out.AddArc(static_cast<StateId>(i), arc);
  }
  out.SetFinal(static_cast<StateId>(arcs.size()), fst.Final(paths.At(paths.Best()).state));
  return out;
}

}  // namespace tokamata
