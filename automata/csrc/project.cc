#include "automata/csrc/project.h"

#include "automata/csrc/properties.h"

namespace tokamata {

Fst Project(const Fst& fst, ProjectSide side) {
  Fst out = fst;
  for (StateId s = 0; s < out.NumStates(); ++s)
    for (Arc& a : out.MutableArcs(s)) (side == ProjectSide::kInput ? a.olabel = a.ilabel : a.ilabel = a.olabel);
  const auto symbols = side == ProjectSide::kInput ? fst.InputSymbols() : fst.OutputSymbols();
  out.SetInputSymbols(symbols);
  out.SetOutputSymbols(symbols);
  out.SetKnownProperties(kAcceptor);
  return out;
}

}  // namespace tokamata
