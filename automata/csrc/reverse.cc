#include "automata/csrc/reverse.h"

#include <utility>
#include <vector>

#include "automata/csrc/check.h"

namespace tokamata {

Fst Reverse(const Fst& fst) {
  CheckRoom(fst, 1, "reverse");
  const StateId n = fst.NumStates();
  std::vector<size_t> offsets(static_cast<size_t>(n) + 2, 0);  // counts, then where the arcs of each state begin
  for (StateId s = 0; s < n; ++s) {
    offsets[1] += fst.IsFinal(s);
    for (const Arc& a : fst.Arcs(s)) ++offsets[a.nextstate + 2];
  }
  for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  std::vector<Arc> pool(offsets.back());
  std::vector<size_t> next(offsets.begin(), offsets.end() - 1);
  for (StateId s = 0; s < n; ++s) {
    if (fst.IsFinal(s)) pool[next[0]++] = {kEpsilon, kEpsilon, fst.Final(s), s + 1};
    for (const Arc& a : fst.Arcs(s)) pool[next[a.nextstate + 1]++] = {a.ilabel, a.olabel, a.weight, s + 1};
  }
  std::vector<float> finals(static_cast<size_t>(n) + 1, fst.Zero());
  if (fst.Start() != kNoState) finals[fst.Start() + 1] = fst.One();
  Fst out = Fst::FromPool(fst.Semiring(), std::move(pool), offsets, finals, 0);
  out.SetInputSymbols(fst.InputSymbols());
  out.SetOutputSymbols(fst.OutputSymbols());
  return out;
}

}  // namespace tokamata
