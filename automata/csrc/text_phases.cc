#include "automata/csrc/text_phases.h"

#include <vector>

namespace tokamata {
namespace {

constexpr int kPhases = Utf8Phase::kNumPhases;
constexpr uint8_t kAll = 0xFF;

}  // namespace

bool TextPhases::Leaves(const Expressions& pool, Expr e) { return Of(pool, e).leaves & 1; }

TextPhases::Ways TextPhases::OfBytes(const ByteSet& bytes) {
  Ways w;
  (bytes & ByteSet::Range(0xC2, 0xF4)).ForEach([&](uint8_t b) {
    w.to[0] = static_cast<uint8_t>(w.to[0] | 1 << Utf8LeadPhase(b));
  });
  if (bytes.Intersects(ByteSet::Range(0, 0x7F))) w.to[0] |= 1;
  if (bytes.Intersects(ByteSet::Range(0x80, 0xC1) | ByteSet::Range(0xF5, 0xFF))) w.leaves |= 1;
  for (int phase = 1; phase < kPhases; ++phase) {
    const Utf8Phase& p = kUtf8Phases[phase];
    const ByteSet more = ByteSet::Range(p.low, p.high);
    if (bytes.Intersects(more)) w.to[phase] = static_cast<uint8_t>(1 << p.next);
    if ((bytes - more).Any()) w.leaves = static_cast<uint8_t>(w.leaves | 1 << phase);
  }
  return w;
}

TextPhases::Ways TextPhases::Then(const Ways& a, const Ways& b) {
  Ways w;
  w.leaves = a.leaves;
  for (int p = 0; p < kPhases; ++p) {
    for (int r = 0; r < kPhases; ++r)
      if (a.to[p] >> r & 1) w.to[p] |= b.to[r];
    if (a.to[p] & b.leaves) w.leaves = static_cast<uint8_t>(w.leaves | 1 << p);
  }
  return w;
}

TextPhases::Ways TextPhases::Repeated(const Ways& turn, bool none) {
  Ways all;  // so far, with no turn
  for (int p = 0; p < kPhases; ++p) all.to[p] = static_cast<uint8_t>(1 << p);
  for (int i = 0; i < kPhases; ++i) {
    const Ways more = Then(all, turn);
    for (int p = 0; p < kPhases; ++p) all.to[p] |= more.to[p];
    all.leaves |= more.leaves;
  }
  return none ? all : Then(turn, all);
}

// Of concatenations, which are long, not by recursion; elsewhere it follows operator nesting.
TextPhases::Ways TextPhases::Of(const Expressions& pool, Expr e) {
  std::vector<Expr> spine;
  while (!known_.Find(e) && pool.Kind(e) == ExprKind::kConcat) {
    spine.push_back(e);
    e = pool.Tail(e);
  }
  if (!known_.Find(e)) {
    const Ways w = Find(pool, e);
    known_[e] = w;
  }
  Ways w = *known_.Find(e);
  for (; !spine.empty(); spine.pop_back()) {
    w = Then(Of(pool, pool.Head(spine.back())), w);
    known_[spine.back()] = w;
  }
  return w;
}

TextPhases::Ways TextPhases::Find(const Expressions& pool, Expr e) {
  Ways w;
  switch (pool.Kind(e)) {
    case ExprKind::kEmpty: return w;
    case ExprKind::kEpsilon: return Repeated(w, true);
    case ExprKind::kBytes: return OfBytes(pool.First(e));
    case ExprKind::kRepeat: return Repeated(Of(pool, pool.Body(e)), pool.Low(e) == 0);
    case ExprKind::kUnion:
    case ExprKind::kIntersect: {
      const bool both = pool.Kind(e) == ExprKind::kIntersect;
      if (both) w.leaves = kAll;
      for (uint8_t& to : w.to) to = both ? kAll : 0;
      for (uint32_t i = 0; i < pool.NumMembers(e); ++i) {
        const Ways m = Of(pool, pool.Members(e)[i]);
        w.leaves = both ? w.leaves & m.leaves : w.leaves | m.leaves;
        for (int p = 0; p < kPhases; ++p) w.to[p] = both ? w.to[p] & m.to[p] : w.to[p] | m.to[p];
      }
      return w;
    }
    case ExprKind::kComplement:
    case ExprKind::kAutomaton:
    case ExprKind::kPaths:
      w.leaves = kAll;
      for (uint8_t& to : w.to) to = kAll;
      return w;
    default:  // which end between characters
      for (uint8_t& to : w.to) to = 1;
      return w;
  }
}

}  // namespace tokamata
