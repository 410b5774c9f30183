// Loops whose first or last character is another one's: `[a-z][a-z0-9]{3,10}`, `[a-z0-9-]{1,61}[a-z0-9]`. The loop that
// counts this character, too, has the same texts, but for those with one of the bytes that tell the two apart.
#include "automata/csrc/expression_acceptor.h"

namespace tokamata {

// The bytes with which turns of two expressions begin that are not the same ones; false where that is not told.
bool ExpressionAcceptor::Differ(Expr a, Expr b, ByteSet* bytes) {
  if (pool_->MayBeEmpty(a) || pool_->MayBeEmpty(b) || pool_->Nullable(a) || pool_->Nullable(b)) return false;
  std::vector<Expressions::Term> left, right;
  pool_->Step(a, &left);
  pool_->Step(b, &right);
  *bytes = pool_->First(a) | pool_->First(b);
  for (const auto& l : left)
    for (const auto& r : right)
      if (l.target == r.target) *bytes = *bytes - (l.bytes & r.bytes);
  return true;
}

// Whether e is one character of some; of fewer nothing is gained.
bool ExpressionAcceptor::IsCharacter(Expr e) const {
  constexpr int kFewBytes = 8;
  const ExprKind kind = pool_->Kind(e);
  return (kind == ExprKind::kBytes || kind == ExprKind::kUnion) && pool_->First(e).Count() >= kFewBytes;
}

// x{low,high}·y·rest as x{low+1,high+1}·rest; kEmpty where e is none, or where it does not count and is of ASCII.
Expr ExpressionAcceptor::EndsAlike(Expr e, ByteSet* differing, bool* fewer) {
  if (pool_->Kind(e) != ExprKind::kConcat) return kEmpty;
  const Expr more = pool_->Tail(e);
  const Expr last = pool_->FirstPart(more), rest = pool_->Rest(more);
  Repetition r;
  if (!IsCharacter(last) || !SplitRepetition(pool_->Head(e), &r) || !IsCharacter(r.body)) return kEmpty;
  if (r.high == kUnbounded && !pool_->First(r.body).Intersects(ByteSet::Range(0x80, 0xFF))) return kEmpty;
  if (!Differ(r.body, last, differing)) return kEmpty;
  *fewer = !pool_->First(last).Intersects(*differing);
  return pool_->Concat(pool_->Repeat(r.body, r.low + 1, r.high == kUnbounded ? r.high : r.high + 1), rest);
}

DelayedAcceptor::State ExpressionAcceptor::EndsLike(State q, ByteSet* differing, bool* fewer) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q);
  const Expr head = pool_->FirstPart(e);
  if (pool_->Kind(head) != ExprKind::kUnion) {
    const Expr alike = EndsAlike(e, differing, fewer);
    return alike == kEmpty ? State{kDead} : StateOf(alike);
  }
  const Expr loop = pool_->OptionalOf(head);  // or nothing: what was read may be the end
  if (loop == kEmpty) return kDead;
  const Expr alike = EndsAlike(loop, differing, fewer);
  if (alike == kEmpty) return kDead;
  return StateOf(pool_->Concat(pool_->Union(kEpsilonExpr, alike), pool_->Rest(e)));
}

// (x & c{1,n})·rest as (x & c{0,n})·rest, where x may be nothing: only the rest begins otherwise. Else kEmpty.
Expr ExpressionAcceptor::WithoutLeast(Expr e) {
  const Expr both = pool_->FirstPart(e);
  if (pool_->Kind(both) != ExprKind::kIntersect || pool_->Nullable(both)) return kEmpty;
  std::vector<Expr> members(pool_->Members(both), pool_->Members(both) + pool_->NumMembers(both));
  for (Expr& m : members) {
    if (pool_->Nullable(m)) continue;
    if (pool_->Kind(m) != ExprKind::kRepeat || pool_->Low(m) != 1 || pool_->High(m) == kUnbounded) return kEmpty;
    m = pool_->Repeat(pool_->Body(m), 0, pool_->High(m));
  }
  return pool_->Concat(pool_->Intersect(std::move(members)), pool_->Rest(e));
}

DelayedAcceptor::State ExpressionAcceptor::BeginsLike(State q, ByteSet* differing) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q);
  if (const Expr free = WithoutLeast(e); free != kEmpty) {
    *differing = pool_->First(pool_->Rest(e));
    return StateOf(free);
  }
  if (pool_->Kind(e) != ExprKind::kConcat || !IsCharacter(pool_->Head(e))) return kDead;
  const Expr more = pool_->Tail(e);
  const Expr loop = pool_->FirstPart(more);
  if (pool_->Kind(loop) != ExprKind::kRepeat || pool_->High(loop) == kUnbounded) return kDead;
  const Expr turn = pool_->Body(loop);
  if (!IsCharacter(turn) || !Differ(turn, pool_->Head(e), differing)) return kDead;
  const Expr longer = pool_->Repeat(turn, pool_->Low(loop) + 1, pool_->High(loop) + 1);
  return StateOf(pool_->Concat(longer, pool_->Rest(more)));
}

}  // namespace tokamata
