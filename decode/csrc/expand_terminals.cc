#include "decode/csrc/expand_terminals.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "automata/csrc/check.h"
#include "automata/csrc/errors.h"

namespace tokamata {

Fst ExpandTerminals(const Fst& fst, uint32_t num_tokens, const int64_t* offsets, size_t terminals, const int32_t* ids,
                    uint64_t max_arcs) {
  const int64_t first = int64_t{num_tokens} + 1;
  uint64_t arcs = 0;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    const uint64_t before = arcs;
    for (const Arc& a : fst.Arcs(s)) {
      const int64_t terminal = a.ilabel - first;
      if (a.ilabel != a.olabel || terminal >= static_cast<int64_t>(terminals))
        throw FstError("TokenAcceptor.expand: state " + std::to_string(s) + " has the arc " + std::to_string(a.ilabel) +
                       ":" + std::to_string(a.olabel) + "; expected token labels 1.." + std::to_string(num_tokens) +
                       " and terminals up to " + std::to_string(first - 1 + static_cast<int64_t>(terminals)));
      arcs += terminal < 0 ? 1 : static_cast<uint64_t>(offsets[terminal + 1] - offsets[terminal]);
    }
    if (arcs > max_arcs || arcs - before > kMaxArcsOfState)
      throw LimitError("TokenAcceptor.expand: the limit max_arcs=" + std::to_string(max_arcs) +
                       " was reached (16 bytes each); pass a larger one or keep the terminals");
  }
  std::vector<Arc> pool;
  pool.reserve(arcs);
  std::vector<size_t> at{0};
  std::vector<float> finals;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    for (const Arc& a : fst.Arcs(s)) {
      const int64_t terminal = a.ilabel - first;
      if (terminal < 0) {
        pool.push_back(a);
        continue;
      }
      for (int64_t i = offsets[terminal]; i < offsets[terminal + 1]; ++i)
        pool.push_back({ids[i] + 1, ids[i] + 1, a.weight, a.nextstate});
    }
    std::stable_sort(pool.begin() + static_cast<int64_t>(at.back()), pool.end(),
                     [](const Arc& a, const Arc& b) { return a.ilabel < b.ilabel; });
    at.push_back(pool.size());
    finals.push_back(fst.Final(s));
  }
  return Fst::FromPool(fst.Semiring(), std::move(pool), at, finals, fst.Start());
}

}  // namespace tokamata
