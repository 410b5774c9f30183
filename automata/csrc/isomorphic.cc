#include "automata/csrc/isomorphic.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace tokamata {
namespace {

void SortedArcs(const Fst& fst, StateId s, std::vector<Arc>* arcs) {
  const Span<const Arc> from = fst.Arcs(s);
  arcs->assign(from.begin(), from.end());
  std::sort(arcs->begin(), arcs->end(), [](const Arc& x, const Arc& y) {
    return std::tie(x.ilabel, x.olabel, x.weight, x.nextstate) < std::tie(y.ilabel, y.olabel, y.weight, y.nextstate);
  });
}

// Arcs that cannot be told apart must at least lead to one state.
void CheckTellable(const std::vector<Arc>& arcs, float delta) {
  for (size_t i = 1; i < arcs.size(); ++i) {
    const Arc &x = arcs[i - 1], &y = arcs[i];
    if (x.ilabel == y.ilabel && x.olabel == y.olabel && ApproxEqual(x.weight, y.weight, delta) &&
        x.nextstate != y.nextstate) {
      throw FstError(
          "isomorphic: expected arcs of one state with the same labels and weight to lead to one state, got several "
          "states; determinize both machines first, or compare with equivalent");
    }
  }
}

}  // namespace

bool Isomorphic(const Fst& a, const Fst& b, const IsomorphicOptions& options) {
  CheckSameSemiring(a, b, "isomorphic");
  RequireSameSymbols("isomorphic", "the input sides of both operands", a.InputSymbols(), b.InputSymbols());
  RequireSameSymbols("isomorphic", "the output sides of both operands", a.OutputSymbols(), b.OutputSymbols());
  if (a.Start() == kNoState || b.Start() == kNoState) return a.Start() == b.Start();
  std::vector<StateId> to_b(a.NumStates(), kNoState), to_a(b.NumStates(), kNoState);
  std::vector<std::pair<StateId, StateId>> pending;
  const auto pair = [&](StateId s, StateId t) {
    if (to_b[s] == t && to_a[t] == s) return true;
    if (to_b[s] != kNoState || to_a[t] != kNoState) return false;
    to_b[s] = t;
    to_a[t] = s;
    pending.emplace_back(s, t);
    return true;
  };
  pair(a.Start(), b.Start());
  std::vector<Arc> from_a, from_b;
  while (!pending.empty()) {
    const auto [s, t] = pending.back();
    pending.pop_back();
    if (!ApproxEqual(a.Final(s), b.Final(t), options.delta)) return false;
    SortedArcs(a, s, &from_a);
    SortedArcs(b, t, &from_b);
    CheckTellable(from_a, options.delta);
    CheckTellable(from_b, options.delta);
    if (from_a.size() != from_b.size()) return false;
    for (size_t i = 0; i < from_a.size(); ++i) {
      const Arc &x = from_a[i], &y = from_b[i];
      if (x.ilabel != y.ilabel || x.olabel != y.olabel || !ApproxEqual(x.weight, y.weight, options.delta)) return false;
      if (!pair(x.nextstate, y.nextstate)) return false;
    }
  }
  return true;
}

}  // namespace tokamata
