#include "automata/csrc/delayed.h"

#include "automata/csrc/preconditions.h"

namespace tokamata {

Fst Materialize(const char* operation, DelayedFst* delayed, int64_t max_arcs) {
  Fst fst(delayed->Semiring());
  fst.SetInputSymbols(delayed->InputSymbols());
  fst.SetOutputSymbols(delayed->OutputSymbols());
  const StateId start = delayed->Start();
  if (start == kNoState) return fst;
  std::vector<Arc> arcs;
  for (StateId s = 0; s < delayed->NumKnownStates(); ++s) {
    delayed->Expand(s, &arcs);
    fst.AddState();
    fst.SetFinal(s, delayed->Final(s));
    for (const Arc& arc : arcs) fst.AddArc(s, arc);
    CheckLimit(operation, "max_arcs", fst.NumArcs(), max_arcs, "the result has too many arcs");
  }
  fst.SetStart(start);
  return fst;
}

}  // namespace tokamata
