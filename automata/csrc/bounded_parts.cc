#include "automata/csrc/bounded_parts.h"

#include <algorithm>
#include <vector>

namespace tokamata {
namespace {

constexpr size_t kMostPairs = 600;  // of expressions in one search
constexpr int kMostFailures = 8;    // searches in vain, after which no more are made
constexpr int kMostPrefixes = 6;      // bytes, rules and unions before what is bounded
constexpr int kMostVisited = 1000;    // expressions that are looked at for bounds
constexpr int64_t kFar = int64_t{1} << 40;

// Whether every member may be followed by members of star.
bool GoesOn(const Expressions& pool, Expr x, Expr star) {
  if (pool.Kind(x) == ExprKind::kUnion) {
    for (uint32_t i = 0; i < pool.NumMembers(x); ++i)
      if (!GoesOn(pool, pool.Members(x)[i], star)) return false;
    return true;
  }
  while (pool.Kind(x) == ExprKind::kConcat) x = pool.Tail(x);
  return x == star || (pool.Kind(x) == ExprKind::kUnion && GoesOn(pool, x, star));
}

}  // namespace

// Recursion in this file follows operator nesting, which ExpressionLimits::depth bounds.
BoundedParts::Distance BoundedParts::DistanceOf(const Expressions& pool, Expr e) {
  if (const Distance* const known = distances_.Find(e)) return *known;
  Distance d{kFar, kFar};
  switch (pool.Kind(e)) {
    case ExprKind::kEpsilon: d = {0, 0}; break;
    case ExprKind::kBytes: d = {1, 1}; break;
    case ExprKind::kConcat: {
      std::vector<Expr> pieces;
      Expr x = e;
      for (; pool.Kind(x) == ExprKind::kConcat; x = pool.Tail(x)) pieces.push_back(pool.Head(x));
      d = DistanceOf(pool, x);
      for (size_t i = pieces.size(); i-- > 0;) {
        const Distance head = DistanceOf(pool, pieces[i]);
        d.most = std::max(d.most, head.most + d.least);
        d.least += head.least;
      }
      break;
    }
    case ExprKind::kUnion:
      d = {kFar, 0};
      for (uint32_t i = 0; i < pool.NumMembers(e); ++i) {
        const Distance one = DistanceOf(pool, pool.Members(e)[i]);
        d = {std::min(d.least, one.least), std::max(d.most, one.most)};
      }
      break;
    case ExprKind::kRepeat: {
      const Distance body = DistanceOf(pool, pool.Body(e));
      const int64_t low = pool.Low(e);
      d = {low * std::min(body.least, kFar), body.most + std::max<int64_t>(low - 1, 0) * std::min(body.least, kFar)};
      break;
    }
    default: break;
  }
  d = {std::min(d.least, kFar), std::min(d.most, kFar)};
  distances_[e] = d;
  return d;
}

// Whether e is a part of star, as far as its structure and short searches tell.
bool BoundedParts::IsPart(Expressions* pool, Expr e, Expr star) {
  if (e == kEpsilonExpr || e == star || e == pool->Body(star)) return true;
  if (const bool* const known = part_.Find(PairKey(e, star))) return *known;
  bool part = false;
  const ExprKind kind = pool->Kind(e);
  if (kind == ExprKind::kRepeat) {
    part = IsPart(pool, pool->Body(e), star);
  } else if (kind == ExprKind::kConcat) {
    part = true;
    Expr x = e;
    while (part && x != kEpsilonExpr) {  // a character may take up to four pieces
      Expr begin = kEpsilonExpr;
      part = false;
      for (int i = 0; i < 4 && !part && x != kEpsilonExpr; ++i) {
        const bool more = pool->Kind(x) == ExprKind::kConcat;
        begin = pool->Concat(begin, more ? pool->Head(x) : x);
        x = more ? pool->Tail(x) : kEpsilonExpr;
        part = (i == 0 && pool->Kind(begin) != ExprKind::kBytes && IsPart(pool, begin, star)) ||
               ((i > 0 || pool->Kind(begin) == ExprKind::kBytes) && Search(pool, begin, star) >= 0);
      }
    }
  } else {
    if (kind == ExprKind::kUnion) {
      const std::vector<Expr> members(pool->Members(e), pool->Members(e) + pool->NumMembers(e));
      part = std::all_of(members.begin(), members.end(), [&](Expr m) { return IsPart(pool, m, star); });
    }
    part = part || Search(pool, e, star) >= 0;
  }
  return part_[PairKey(e, star)] = part;
}

// Whether x is a part of star, and then the most bytes that any expression reached from x is away from a member's end;
// -1 where x is no part or has too many derivatives.
int64_t BoundedParts::Search(Expressions* pool, Expr x, Expr star) {
  if (const int64_t* const known = to_end_.Find(PairKey(x, star))) return *known;
  struct Pair {
    Expr x, star;
    std::vector<uint32_t> before;
    int64_t distance;
  };
  std::vector<Pair> pairs{{x, star, {}, -1}};
  std::unordered_map<uint64_t, uint32_t> index{{PairKey(x, star), 0}};
  std::vector<Expressions::Term> inner, outer;
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    pool->Step(pairs[i].x, &inner);
    pool->Step(pairs[i].star, &outer);
    bool inside = !pool->Nullable(pairs[i].x) || pool->Nullable(pairs[i].star);
    for (const auto& a : inner) {
      ByteSet left = a.bytes;
      for (const auto& b : outer) {
        if (!(a.bytes & b.bytes).Any()) continue;
        left = left - b.bytes;
        const auto [it, added] = index.emplace(PairKey(a.target, b.target), static_cast<uint32_t>(pairs.size()));
        if (added) pairs.push_back({a.target, b.target, {}, -1});
        pairs[it->second].before.push_back(i);
      }
      inside = inside && !left.Any();
    }
    if (!inside || pairs.size() > kMostPairs) return to_end_[PairKey(x, star)] = -1;
  }
  std::vector<uint32_t> queue;
  for (uint32_t i = 0; i < pairs.size(); ++i)
    if (pool->Nullable(pairs[i].x)) {
      pairs[i].distance = 0;
      queue.push_back(i);
    }
  for (size_t i = 0; i < queue.size(); ++i)
    for (uint32_t p : pairs[queue[i]].before)
      if (pairs[p].distance < 0) {
        pairs[p].distance = pairs[queue[i]].distance + 1;
        queue.push_back(p);
      }
  if (queue.size() < pairs.size()) return to_end_[PairKey(x, star)] = -1;
  const int64_t most = pairs[queue.back()].distance;
  for (const Pair& p : pairs) to_end_[PairKey(p.x, p.star)] = most;
  return most;
}

int64_t BoundedParts::MostToEnd(Expressions* pool, Expr x, Expr star) {
  if (const int64_t* const known = to_end_.Find(PairKey(x, star))) return *known;
  int64_t most = -1;
  if (!pool->MayBeEmpty(x)) {
    if (Part(pool, x, star)) most = DistanceOf(*pool, x).most;
    if (most >= kFar) most = Search(pool, x, star);
  } else if (searches_failed_ < kMostFailures) {
    most = Search(pool, x, star);
    searches_failed_ += most < 0;
  }
  return to_end_[PairKey(x, star)] = most < kFar ? most : -1;
}

bool BoundedParts::Part(Expressions* pool, Expr x, Expr star) {
  if (searches_failed_ >= kMostFailures && !part_.Find(PairKey(x, star))) return false;
  const bool part = IsPart(pool, x, star);
  searches_failed_ += !part;
  return part;
}

bool BoundedParts::HasMember(Expressions* pool, Expr e) {
  if (pool->NumMembers(e) != 2) return false;
  for (int i = 0; i < 2; ++i) {
    const Expr x = pool->Members(e)[i], count = pool->Members(e)[1 - i];
    if (pool->MayBeEmpty(x) || pool->MayBeEmpty(count) || pool->Kind(count) != ExprKind::kRepeat) continue;
    const Expr star = pool->Star(pool->Body(count));
    if (pool->Low(count) > 0 && !GoesOn(*pool, x, star)) continue;
    if (DistanceOf(*pool, x).least <= pool->High(count) && Part(pool, x, star)) return true;
  }
  return false;
}

Expr BoundedParts::WithoutBounds(Expressions* pool, Expr e, uint32_t length) {
  visited_ = 0;
  return WithoutBounds(pool, e, length, 0);
}

Expr BoundedParts::WithoutBounds(Expressions* pool, Expr e, uint32_t length, int depth) {
  if (depth > kMostPrefixes || ++visited_ > kMostVisited) return e;
  const bool concat = pool->Kind(e) == ExprKind::kConcat;
  Expr head = concat ? pool->Head(e) : e;
  const Expr rest = concat ? pool->Tail(e) : kEpsilonExpr;
  if (pool->Kind(head) == ExprKind::kCall) {
    if (pool->Remembers(head)) return e;
    head = pool->Expand(head);
  }
  const ExprKind kind = pool->Kind(head);
  const bool hidden = look_into_rules && (kind == ExprKind::kCall || kind == ExprKind::kConcat || kind == ExprKind::kUnion);
  if (!hidden && !pool->MayBeEmpty(head) && !(concat && pool->Kind(head) == ExprKind::kBytes && pool->MayBeEmpty(rest))) return e;
  if (pool->Kind(head) == ExprKind::kBytes) return pool->Concat(head, WithoutBounds(pool, rest, length, depth + 1));
  if (kind == ExprKind::kConcat || kind == ExprKind::kCall) {  // an expanded rule
    const Expr less = WithoutBounds(pool, pool->Concat(head, rest), length, depth + 1);
    return less == pool->Concat(head, rest) ? e : less;
  }
  if (pool->Kind(head) != ExprKind::kUnion) return WithoutBound(pool, e, length);
  std::vector<Expr> members(pool->Members(head), pool->Members(head) + pool->NumMembers(head));
  bool changed = false;
  for (Expr& m : members) {
    const Expr whole = pool->Concat(m, rest);
    m = WithoutBounds(pool, whole, length, depth + 1);
    changed = changed || m != whole;
  }
  return changed ? pool->Union(std::move(members)) : e;
}

Expr BoundedParts::WithoutBound(Expressions* pool, Expr e, uint32_t length) {
  const bool concat = pool->Kind(e) == ExprKind::kConcat;
  const Expr both = concat ? pool->Head(e) : e, rest = concat ? pool->Tail(e) : kEpsilonExpr;
  if (pool->Kind(both) != ExprKind::kIntersect) return e;
  const std::vector<Expr> members(pool->Members(both), pool->Members(both) + pool->NumMembers(both));
  for (Expr count : members) {
    if (pool->Kind(count) != ExprKind::kRepeat || pool->MayBeEmpty(count) || pool->Low(count) > 1) continue;
    if (pool->High(count) == kUnbounded || pool->High(count) <= length || pool->Nullable(pool->Body(count))) continue;
    std::vector<Expr> others;
    for (Expr m : members)
      if (m != count) others.push_back(m);
    const Expr x = pool->Intersect(std::move(others));
    if (pool->Low(count) && pool->Nullable(x)) continue;
    const int64_t most = MostToEnd(pool, x, pool->Star(pool->Body(count)));
    if (most < 0 || most + length > pool->High(count)) continue;
    return pool->Concat(x, rest);
  }
  return e;
}

bool BoundedParts::Find(Expressions* pool, Expr e, Split* split) {
  const bool concat = pool->Kind(e) == ExprKind::kConcat;
  const Expr both = concat ? pool->Head(e) : e, rest = concat ? pool->Tail(e) : kEpsilonExpr;
  if (pool->Kind(both) != ExprKind::kIntersect) return false;
  const std::vector<Expr> members(pool->Members(both), pool->Members(both) + pool->NumMembers(both));
  for (Expr count : members) {
    if (pool->Kind(count) != ExprKind::kRepeat || pool->MayBeEmpty(count)) continue;
    const Expr body = pool->Body(count), star = pool->Star(body);
    if (pool->Nullable(body) || pool->First(body).Intersects(pool->First(rest))) return false;
    std::vector<Expr> others;
    for (Expr m : members)
      if (m != count) others.push_back(m);
    const Expr x = pool->Intersect(std::move(others));
    if (!pool->First(x).SubsetOf(pool->First(star))) continue;  // no part of it
    if (pool->Low(count) > 0 && !GoesOn(*pool, x, star)) continue;
    const int64_t most = MostToEnd(pool, x, star), high = pool->High(count);
    if (most < 0 || most >= high) return false;
    *split = {pool->Concat(x, rest), pool->Concat(count, rest),
              high == kUnbounded ? kUnbounded : static_cast<uint32_t>(high - most), x, star, pool->High(count)};
    return true;
  }
  return false;
}

}  // namespace tokamata
