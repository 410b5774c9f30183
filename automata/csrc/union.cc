#include "automata/csrc/union.h"

#include "automata/csrc/check.h"
#include "automata/csrc/errors.h"

namespace tokamata {

Fst Union(const std::vector<const Fst*>& fsts) {
  if (fsts.empty()) throw FstError("union: expected at least one Fst, got none");
  Fst out(fsts[0]->Semiring());
  size_t arcs = fsts.size();
  CheckRoom(out, 1, "union");
  out.SetStart(out.AddState());
  for (const Fst* fst : fsts) {
    CheckSameSemiring(*fsts[0], *fst, "union");
    out.SetInputSymbols(MergeSymbols(out.InputSymbols(), fst->InputSymbols(), "union"));
    out.SetOutputSymbols(MergeSymbols(out.OutputSymbols(), fst->OutputSymbols(), "union"));
    if (fst->Start() == kNoState) continue;
    CheckRoom(out, fst->NumStates(), "union");
    out.AddArc(0, {kEpsilon, kEpsilon, out.One(), static_cast<StateId>(out.NumStates() + fst->Start())});
    out.AddStates(fst->NumStates());
    arcs += fst->NumArcs();
  }
  out.ReserveArcs(arcs + fsts.size());
  StateId base = 1;
  for (const Fst* fst : fsts) {
    if (fst->Start() == kNoState) continue;
    for (StateId s = 0; s < fst->NumStates(); ++s) {
      if (fst->IsFinal(s)) out.SetFinal(base + s, fst->Final(s));
      for (const Arc& a : fst->Arcs(s)) out.AddArc(base + s, {a.ilabel, a.olabel, a.weight, base + a.nextstate});
    }
    base += fst->NumStates();
  }
  return out;
}

}  // namespace tokamata
