#include "automata/csrc/equivalent.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "automata/csrc/connect.h"
#include "automata/csrc/push.h"

namespace tokamata {
namespace {

class UnionFind {
 public:
  explicit UnionFind(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t Find(uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  // False where both were together before.
  bool Join(uint32_t x, uint32_t y) {
    x = Find(x);
    y = Find(y);
    if (x == y) return false;
    parent_[std::max(x, y)] = std::min(x, y);
    return true;
  }

 private:
  std::vector<uint32_t> parent_;
};

// Trimmed, weights toward the start; returns the total weight.
float Normalize(Fst* fst, const EquivalentOptions& options) {
  DropZeroArcs(fst);
  *fst = Connect(*fst);
  if (IsUnweighted(*fst)) return fst->One();
  PushOptions push;
  push.remove_total_weight = true;
  push.max_visits = options.max_visits;
  push.operation = "equivalent";
  return Push(fst, push);
}

void SortedArcs(const Fst& fst, StateId s, std::vector<Arc>* arcs) {
  const Span<const Arc> from = fst.Arcs(s);
  arcs->assign(from.begin(), from.end());
  const auto before = [](const Arc& x, const Arc& y) { return x.ilabel < y.ilabel; };
  if (!std::is_sorted(arcs->begin(), arcs->end(), before)) std::sort(arcs->begin(), arcs->end(), before);
}

}  // namespace

bool Equivalent(const Fst& a, const Fst& b, const EquivalentOptions& options) {
  CheckSameSemiring(a, b, "equivalent");
  RequireSameSymbols("equivalent", "the input sides of both operands", a.InputSymbols(), b.InputSymbols());
  RequireSameSymbols("equivalent", "the output sides of both operands", a.OutputSymbols(), b.OutputSymbols());
  RequireDeterministicAcceptor("equivalent", a, "the first operand");
  RequireDeterministicAcceptor("equivalent", b, "the second operand");
  Fst x = a, y = b;
  const float total_x = Normalize(&x, options), total_y = Normalize(&y, options);
  if (x.Start() == kNoState || y.Start() == kNoState) return x.Start() == y.Start();
  if (!ApproxEqual(total_x, total_y, options.delta)) return false;

  const uint32_t offset = static_cast<uint32_t>(x.NumStates());
  UnionFind sets(static_cast<size_t>(x.NumStates()) + static_cast<size_t>(y.NumStates()));
  std::vector<std::pair<StateId, StateId>> pending{{x.Start(), y.Start()}};
  sets.Join(static_cast<uint32_t>(x.Start()), offset + static_cast<uint32_t>(y.Start()));
  std::vector<Arc> from_x, from_y;
  while (!pending.empty()) {
    const auto [s, t] = pending.back();
    pending.pop_back();
    if (!ApproxEqual(x.Final(s), y.Final(t), options.delta)) return false;
    SortedArcs(x, s, &from_x);
    SortedArcs(y, t, &from_y);
    if (from_x.size() != from_y.size()) return false;
    for (size_t i = 0; i < from_x.size(); ++i) {
      if (from_x[i].ilabel != from_y[i].ilabel) return false;
      if (!ApproxEqual(from_x[i].weight, from_y[i].weight, options.delta)) return false;
      if (sets.Join(static_cast<uint32_t>(from_x[i].nextstate), offset + static_cast<uint32_t>(from_y[i].nextstate))) {
        pending.emplace_back(from_x[i].nextstate, from_y[i].nextstate);
      }
    }
  }
  return true;
}

}  // namespace tokamata
