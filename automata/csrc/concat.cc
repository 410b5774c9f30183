#include "automata/csrc/concat.h"

#include "automata/csrc/check.h"
#include "automata/csrc/errors.h"

namespace tokamata {

Fst Concat(const std::vector<const Fst*>& fsts) {
  if (fsts.empty()) throw FstError("concat: expected at least one Fst, got none");
  Fst out(fsts[0]->Semiring());
  bool empty = false;
  size_t arcs = 0;
  for (const Fst* fst : fsts) {
    CheckSameSemiring(*fsts[0], *fst, "concat");
    out.SetInputSymbols(MergeSymbols(out.InputSymbols(), fst->InputSymbols(), "concat"));
    out.SetOutputSymbols(MergeSymbols(out.OutputSymbols(), fst->OutputSymbols(), "concat"));
    empty |= fst->Start() == kNoState;
  }
  if (empty) return out;
  for (const Fst* fst : fsts) {
    CheckRoom(out, fst->NumStates(), "concat");
    out.AddStates(fst->NumStates());
    arcs += fst->NumArcs();
  }
  out.SetStart(fsts[0]->Start());
  out.ReserveArcs(arcs + out.NumStates());
  StateId base = 0;
  for (size_t i = 0; i < fsts.size(); ++i) {
    const Fst& fst = *fsts[i];
    const StateId next = base + fst.NumStates();
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      for (const Arc& a : fst.Arcs(s)) out.AddArc(base + s, {a.ilabel, a.olabel, a.weight, base + a.nextstate});
      if (!fst.IsFinal(s)) continue;
      if (i + 1 == fsts.size())
        out.SetFinal(base + s, fst.Final(s));
      else
        out.AddArc(base + s, {kEpsilon, kEpsilon, fst.Final(s), static_cast<StateId>(next + fsts[i + 1]->Start())});
    }
    base = next;
  }
  return out;
}

}  // namespace tokamata
