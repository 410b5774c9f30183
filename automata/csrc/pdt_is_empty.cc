#include "automata/csrc/pdt_is_empty.h"

#include "automata/csrc/pdt_balanced.h"

namespace tokamata {

bool PdtIsEmpty(const Fst& fst, const Parens& parens, const PdtIsEmptyOptions& options) {
  RequirePdt("Pdt.is_empty", fst, parens);
  BalancedOptions balanced;
  balanced.best_only = true;
  balanced.max_states = options.max_states;
  balanced.max_arcs = options.max_arcs;
  balanced.operation = "Pdt.is_empty";
  return BalancedPaths(fst, parens, balanced).Best() == kNoState;
}

}  // namespace tokamata
