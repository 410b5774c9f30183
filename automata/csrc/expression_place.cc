#include "automata/csrc/expression_place.h"

#include <algorithm>
#include <vector>

#include "automata/csrc/places.h"

namespace tokamata {

std::string PlaceIn(const Expressions& pool, Expr e) {
  constexpr uint32_t kMost = 500;
  struct Part {
    Expr e;
    bool before;  // something else is read first
  };
  std::vector<Part> open{{e, false}};
  for (uint32_t i = 0; i < kMost && !open.empty(); ++i) {
    const Part at = open.back();
    open.pop_back();
    std::string place;
    switch (pool.Kind(at.e)) {
      case ExprKind::kConcat:
        open.push_back({pool.Tail(at.e), true});
        open.push_back({pool.Head(at.e), at.before});
        break;
      case ExprKind::kUnion:
      case ExprKind::kIntersect:
        for (uint32_t k = std::min(pool.NumMembers(at.e), kMost); k-- > 0;) open.push_back({pool.Members(at.e)[k], at.before});
        break;
      case ExprKind::kRepeat:  // what was read last is one of them
      case ExprKind::kComplement: open.push_back({pool.Body(at.e), false}); break;
      case ExprKind::kCall:
        if (auto* const places = dynamic_cast<RulePlaces*>(pool.Rules(pool.SourceOfRule(at.e))))
          place = places->PlaceOf(pool.Rule(at.e), at.before);
        break;
      case ExprKind::kLeaf: place = pool.LeafOf(at.e)->PlaceOf(pool.LeafState(at.e)); break;
      default: break;
    }
    if (!place.empty()) return place;
  }
  return {};
}

}  // namespace tokamata
