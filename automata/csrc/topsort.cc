#include "automata/csrc/topsort.h"

#include <string>
#include <utility>
#include <vector>

#include "automata/csrc/errors.h"
#include "automata/csrc/properties.h"
#include "automata/csrc/visit.h"

namespace tokamata {

Fst TopSort(const Fst& fst) {
  const StateId n = fst.NumStates();
  std::vector<size_t> waits(n, 0);  // arcs into a state from states without a place
  for (StateId s = 0; s < n; ++s)
    for (const Arc& a : fst.Arcs(s)) ++waits[a.nextstate];
  std::vector<StateId> order;
  order.reserve(n);
  if (fst.Start() != kNoState && waits[fst.Start()] == 0) order.push_back(fst.Start());
  for (StateId s = 0; s < n; ++s)
    if (waits[s] == 0 && s != fst.Start()) order.push_back(s);
  for (size_t i = 0; i < order.size(); ++i)
    for (const Arc& a : fst.Arcs(order[i]))
      if (--waits[a.nextstate] == 0) order.push_back(a.nextstate);
  if (order.size() < static_cast<size_t>(n)) {
    const Components components = StronglyConnected(fst);
    StateId s = 0;
    while (!components.cyclic[components.of[s]]) ++s;
    throw FstError("topsort: expected an acyclic Fst, but state " + std::to_string(s) +
                   " lies on a cycle; remove its cycles first, or work on the cyclic Fst");
  }
  std::vector<StateId> id(n);
  for (StateId i = 0; i < n; ++i) id[order[i]] = i;
  std::vector<Arc> pool;
  pool.reserve(fst.NumArcs());
  std::vector<size_t> offsets{0};
  std::vector<float> finals;
  for (const StateId s : order) {
    for (const Arc& a : fst.Arcs(s)) pool.push_back({a.ilabel, a.olabel, a.weight, id[a.nextstate]});
    offsets.push_back(pool.size());
    finals.push_back(fst.Final(s));
  }
  const StateId start = fst.Start() == kNoState ? kNoState : id[fst.Start()];
  Fst out = Fst::FromPool(fst.Semiring(), std::move(pool), offsets, finals, start);
  out.SetInputSymbols(fst.InputSymbols());
  out.SetOutputSymbols(fst.OutputSymbols());
  out.SetKnownProperties(kTopSorted | kAcyclic | kInitialAcyclic);
  return out;
}

}  // namespace tokamata
