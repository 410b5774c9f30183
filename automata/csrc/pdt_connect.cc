#include "automata/csrc/pdt_connect.h"

#include <vector>

#include "automata/csrc/pdt_balanced.h"

namespace tokamata {

Fst PdtConnect(const Fst& fst, const Parens& parens, const PdtConnectOptions& options) {
  constexpr const char* kOperation = "Pdt.connect";
  RequirePdt(kOperation, fst, parens);
  Fst out(fst.Semiring());
  out.SetInputSymbols(fst.InputSymbols());
  out.SetOutputSymbols(fst.OutputSymbols());
  BalancedOptions balanced;
  balanced.keep_derivations = true;
  balanced.max_states = options.max_states;
  balanced.max_arcs = options.max_arcs;
  balanced.operation = kOperation;
  const BalancedPaths paths(fst, parens, balanced);
  if (paths.Best() == kNoState) return out;

  std::vector<size_t> first(static_cast<size_t>(fst.NumStates()) + 1, 0);  // of each state's arcs among all
  for (StateId s = 0; s < fst.NumStates(); ++s) first[s + 1] = first[s] + fst.Arcs(s).size();
  std::vector<uint8_t> kept_arcs(first.back(), 0), kept(fst.NumStates(), 0), ends(fst.NumStates(), 0);
  const std::vector<uint8_t> useful = paths.Useful();
  for (StateId i = 0; i < paths.NumItems(); ++i) {
    if (!useful[i]) continue;
    const auto& item = paths.At(i);
    kept[item.state] = 1;
    if (item.entry == fst.Start()) ends[item.state] = 1;
    const Span<const Arc> arcs = fst.Arcs(item.state);
    for (size_t k = 0; k < arcs.size(); ++k) {
      if (arcs[k].weight == fst.Zero() || parens.Has(arcs[k].ilabel)) continue;
      if (useful[paths.Find(item.entry, arcs[k].nextstate)]) kept_arcs[first[item.state] + k] = 1;
    }
    for (const auto& derivation : paths.Derivations(i)) {
      kept_arcs[first[paths.At(derivation.caller).state] + derivation.open] = 1;
      kept_arcs[first[paths.At(derivation.closer).state] + derivation.close] = 1;
    }
  }
  std::vector<StateId> number(fst.NumStates(), kNoState);
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    if (kept[s]) number[s] = out.AddState();
  }
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    if (!kept[s]) continue;
    if (ends[s]) out.SetFinal(number[s], fst.Final(s));
    const Span<const Arc> arcs = fst.Arcs(s);
    for (size_t k = 0; k < arcs.size(); ++k) {
      if (!kept_arcs[first[s] + k]) continue;
      Arc arc = arcs[k];
      arc.nextstate = number[arc.nextstate];
      out.AddArc(number[s], arc);
    }
  }
  out.SetStart(number[fst.Start()]);
  return out;
}

}  // namespace tokamata
