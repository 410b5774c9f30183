#include "automata/csrc/closure.h"

#include "automata/csrc/check.h"

namespace tokamata {

Fst Closure(const Fst& fst, ClosureKind kind) {
  Fst out(fst.Semiring());
  out.SetInputSymbols(fst.InputSymbols());
  out.SetOutputSymbols(fst.OutputSymbols());
  CheckRoom(fst, 1, "closure");
  out.AddStates(fst.NumStates());
  out.ReserveArcs(fst.NumArcs() + fst.NumStates());
  out.SetStart(fst.Start());
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    for (const Arc& a : fst.Arcs(s)) out.AddArc(s, a);
    if (!fst.IsFinal(s)) continue;
    out.SetFinal(s, fst.Final(s));
    if (fst.Start() != kNoState) out.AddArc(s, {kEpsilon, kEpsilon, fst.Final(s), fst.Start()});
  }
  if (kind == ClosureKind::kPlus) return out;
  const StateId start = out.AddState();
  out.SetFinal(start, out.One());
  if (fst.Start() != kNoState) out.AddArc(start, {kEpsilon, kEpsilon, out.One(), fst.Start()});
  out.SetStart(start);
  return out;
}

}  // namespace tokamata
