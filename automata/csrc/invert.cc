#include "automata/csrc/invert.h"

#include <utility>

namespace tokamata {

Fst Invert(const Fst& fst) {
  Fst out = fst;
  for (StateId s = 0; s < out.NumStates(); ++s)
    for (Arc& a : out.MutableArcs(s)) std::swap(a.ilabel, a.olabel);
  out.SetInputSymbols(fst.OutputSymbols());
  out.SetOutputSymbols(fst.InputSymbols());
  return out;
}

}  // namespace tokamata
