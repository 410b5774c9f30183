#include "automata/csrc/line_keys.h"

namespace tokamata {
namespace {

constexpr uint32_t kAny = kKeyBehindBlanks | kKeysOfJson;
constexpr int kMostLevels = 8;  // of unions and repetitions in one another

// Along the spine up to the first call, which is of the innermost object or array. `only`: blanks were read at most,
// and so many.
uint32_t KeysAheadIn(const Expressions& pool, Expr e, bool only, uint32_t blanks, int level) {
  if (level > kMostLevels) return kAny;
  uint32_t all = kNoKeys;
  for (;; e = pool.Tail(e)) {
    const Expr head = pool.FirstPart(e);
    const ExprKind kind = pool.Kind(head);
    if (kind == ExprKind::kCall) {
      auto* rules = dynamic_cast<LineKeys*>(pool.Rules(pool.SourceOfRule(head)));
      if (!rules) return kAny;
      const uint32_t rule = pool.Rule(head);
      const Expr left = rules->LeftOfValue(rule);
      if (left != kEmpty) all |= KeysAheadIn(pool, left, only, blanks, level + 1);
      if (only && blanks && rules->BeginsKey(rule)) all |= kKeyBehindBlanks;
      return all | (rules->IsBetweenBrackets(rule) ? kKeysOfJson : kNoKeys);
    }
    if (pool.IsPushDown(head)) {
      if (kind == ExprKind::kUnion) {
        for (uint32_t i = 0; i < pool.NumMembers(head); ++i)
          all |= KeysAheadIn(pool, pool.Members(head)[i], only, blanks, level + 1);
      } else if (kind == ExprKind::kRepeat) {
        all |= KeysAheadIn(pool, pool.Body(head), only, blanks, level + 1);
      } else {
        return kAny;
      }
    }
    if (head == e || all == kAny) return all;
    const bool blank = kind == ExprKind::kBytes && pool.First(head) == ByteSet::Of(' ');
    only = only && (blank || pool.Nullable(head));
    blanks += blank;
  }
}

}  // namespace

ExpressionAcceptor* WithLineKeys(DelayedAcceptor* acceptor) {
  auto* expressions = dynamic_cast<ExpressionAcceptor*>(acceptor);
  const auto some = [](const Expressions& pool) {
    for (uint32_t i = 0; i < pool.NumRuleSources(); ++i) {
      const auto* rules = dynamic_cast<const LineKeys*>(pool.Rules(i));
      if (rules && rules->HasKeysInLines()) return true;
    }
    return false;
  };
  return expressions && expressions->WithPool(some) ? expressions : nullptr;
}

uint32_t KeysAheadOf(const ExpressionAcceptor& acceptor, DelayedAcceptor::State q) {
  return acceptor.WithPool([&](const Expressions& pool) {
    return KeysAheadIn(pool, acceptor.SourceOf(q), true, 0, 0);
  });
}

}  // namespace tokamata
