#include "automata/csrc/counter_clamp.h"

#include <algorithm>
#include <vector>

#include "automata/csrc/along_spine.h"

namespace tokamata {
namespace {

constexpr size_t kMostParts = 64;  // of a concatenation that are looked at
constexpr int kFewBytes = 8;       // that a turn begins with, of which texts have few

}  // namespace

// A turn begins with one of the first bytes of the body and reads no fewer bytes than its shortest member has: a text
// has no more turns than either gives room for.
Expr CounterClamp::Part(Expressions* pool, Expr e) {
  const uint32_t low = pool->Low(e), high = pool->High(e);
  if (low <= 1 && (high == kUnbounded || high <= 1)) return e;
  if (const Expr* const known = parts_.Find(e)) return *known;
  const Expr body = pool->Body(e);
  Expr clamped = e;
  if (!pool->Nullable(body)) {
    uint64_t turns = bytes_ / std::max(pool->LeastLength(body), 1u), begun = 0;
    const ByteSet first = pool->First(body);
    if (first.Count() <= kFewBytes) {
      first.ForEach([&](uint8_t b) { begun += most_(b); });
      turns = std::min(turns, begun);
    }
    const uint32_t enough = static_cast<uint32_t>(turns) + 1;
    const uint32_t least = std::min(low, enough);
    clamped = pool->Repeat(body, least, high == kUnbounded ? high : std::min(high, std::max(least, enough)));
  }
  return parts_[e] = clamped;
}

Expr CounterClamp::Of(Expressions* pool, Expr e) {
  if (pool->Kind(e) == ExprKind::kUnion) {
    std::vector<Expr> members(pool->Members(e), pool->Members(e) + pool->NumMembers(e));
    bool changed = false;
    for (Expr& m : members) {
      if (pool->Kind(m) != ExprKind::kConcat) continue;
      const Expr clamped = Of(pool, m);
      changed = changed || clamped != m;
      m = clamped;
    }
    return changed ? pool->Union(std::move(members)) : e;
  }
  if (pool->Kind(e) != ExprKind::kConcat) return e;
  const Expr tail = pool->Tail(e), clamped = Tail(pool, tail);
  return clamped == tail ? e : pool->Concat(pool->Head(e), clamped);
}

Expr CounterClamp::Tail(Expressions* pool, Expr e) {
  const auto stops = [](Expr, size_t passed) { return passed == kMostParts; };
  const auto of_part = [&](Expr part) { return pool->Kind(part) == ExprKind::kRepeat ? Part(pool, part) : part; };
  return AlongSpine(pool, e, &tails_, stops, of_part, of_part);
}

}  // namespace tokamata
