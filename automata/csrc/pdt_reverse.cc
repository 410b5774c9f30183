#include "automata/csrc/pdt_reverse.h"

#include "automata/csrc/reverse.h"

namespace tokamata {

Fst PdtReverse(const Fst& fst, const Parens& parens) {
  RequirePdt("Pdt.reverse", fst, parens);
  Fst out = Reverse(fst);
  for (StateId s = 0; s < out.NumStates(); ++s) {
    for (Arc& arc : out.MutableArcs(s)) {
      if (parens.Has(arc.ilabel)) arc.ilabel = arc.olabel = parens.Partner(arc.ilabel);
    }
  }
  return out;
}

}  // namespace tokamata
