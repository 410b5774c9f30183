#include "automata/csrc/without_counters.h"

#include <algorithm>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/map_parts.h"

namespace tokamata {
namespace {

constexpr uint32_t kMany = 8;

Expr Widen(Expressions* pool, Expr e, FlatMap<Expr, Expr>* known) {
  if (const Expr* const wide = known->Find(e)) return *wide;
  const auto widen = [&](Expr x) { return Widen(pool, x, known); };
  Expr wide = e;  // a complement, too: with its counters it would have fewer texts
  switch (pool->Kind(e)) {
    case ExprKind::kRepeat: {
      const uint32_t low = pool->Low(e), high = pool->High(e);
      const Expr body = widen(pool->Body(e));
      wide = high < kMany ? pool->Repeat(body, low, high) : pool->Repeat(body, std::min<uint32_t>(low, 1), kUnbounded);
      break;
    }
    case ExprKind::kCall: {
      RuleSource* const rules = pool->Rules(pool->SourceOfRule(e));
      uint32_t slack = 0;
      const Expr outline = rules->IsRegular() ? rules->Outline(pool->Rule(e), &slack) : Expr{kEmpty};
      if (outline != kEmpty) wide = widen(outline);
      break;
    }
    default: wide = MapParts(pool, e, widen);
  }
  return (*known)[e] = wide;
}

}  // namespace

// Recursion follows operator nesting, which ExpressionLimits::depth bounds.
Expr WithoutCounters(Expressions* pool, Expr e) {
  FlatMap<Expr, Expr> known;
  return Widen(pool, e, &known);
}

}  // namespace tokamata
