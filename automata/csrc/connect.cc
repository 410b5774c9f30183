#include "automata/csrc/connect.h"

#include <utility>
#include <vector>

#include "automata/csrc/properties.h"
#include "automata/csrc/visit.h"

namespace tokamata {

Fst Connect(const Fst& fst) {
  const std::vector<uint8_t> from = AccessibleStates(fst), to = CoaccessibleStates(fst);
  std::vector<StateId> id(fst.NumStates(), kNoState);
  std::vector<float> finals;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    if (!from[s] || !to[s]) continue;
    id[s] = static_cast<StateId>(finals.size());
    finals.push_back(fst.Final(s));
  }
  std::vector<Arc> pool;
  std::vector<size_t> offsets{0};
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    if (id[s] == kNoState) continue;
    for (const Arc& a : fst.Arcs(s))
      if (id[a.nextstate] != kNoState) pool.push_back({a.ilabel, a.olabel, a.weight, id[a.nextstate]});
    offsets.push_back(pool.size());
  }
  const StateId start = fst.Start() == kNoState ? kNoState : id[fst.Start()];
  Fst out = Fst::FromPool(fst.Semiring(), std::move(pool), offsets, finals, start);
  out.SetInputSymbols(fst.InputSymbols());
  out.SetOutputSymbols(fst.OutputSymbols());
  out.SetKnownProperties(kAccessible | kCoAccessible);
  return out;
}

}  // namespace tokamata
