#include "automata/csrc/counter_clamp.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "automata/csrc/along_spine.h"
#include "automata/csrc/blank_scan.h"
#include "automata/csrc/id_table.h"

namespace tokamata {
namespace {

constexpr size_t kMostParts = 64;  // of a concatenation that are looked at
constexpr int kFewBytes = 8;       // that a turn begins with, of which texts have few
constexpr uint32_t kFewMembers = 8;  // of a union that are looked into
constexpr size_t kMostPlaces = 100;  // in a turn that are looked at

}  // namespace

// A turn begins with one of the first bytes of the body and reads no fewer bytes than its shortest member has: a text
// has no more turns than either gives room for, nor where each turn has a word and what ends it, more than words.
uint64_t CounterClamp::MostTurns(Expressions* pool, Expr body) {
  if (const uint64_t* const known = turns_.Find(body)) return *known;
  uint64_t turns = bytes_ / std::max(pool->LeastLength(body), 1u), begun = 0;
  const ByteSet first = pool->First(body);
  if (first.Count() <= kFewBytes) {
    first.ForEach([&](uint8_t b) { begun += most_(b); });
    turns = std::min(turns, begun);
  }
  if (turns > blanks_() && EndsWords(pool, body)) turns = blanks_();
  return turns_[body] = turns;
}

// Whether white space comes after something else in every member, none of which begins inside of a character.
bool CounterClamp::EndsWords(Expressions* pool, Expr body) {
  if (const bool* const found = words_.Find(body)) return *found;
  return words_[body] = FindWords(pool, body);
}

bool CounterClamp::FindWords(Expressions* pool, Expr body) {
  if (pool->IsPushDown(body) || pool->Nullable(body) || pool->First(body).Intersects(ByteSet::Range(0x80, 0xBF))) return false;
  if (pool->LeastLength(body) < 2) return false;
  struct Place {
    Expr left;
    BlankScan scan;
  };
  std::vector<Place> places{{body, BlankScan()}};
  std::unordered_set<uint64_t> known;
  std::vector<Expressions::Term> steps;
  for (size_t i = 0; i < places.size(); ++i) {
    const Place at = places[i];
    if (pool->Nullable(at.left) || places.size() > kMostPlaces) return false;
    pool->Step(at.left, &steps);
    for (const Expressions::Term& t : steps)
      t.bytes.ForEach([&](uint8_t b) {
        Place next{t.target, at.scan};
        if (!next.scan.Step(b) && known.insert(PairKey(t.target, next.scan.Key())).second) places.push_back(next);
      });
  }
  return true;
}

Expr CounterClamp::Part(Expressions* pool, Expr e) {
  const uint32_t low = pool->Low(e), high = pool->High(e);
  if (!pool->Counts(e)) return e;
  if (const Expr* const known = parts_.Find(e)) return *known;
  const Expr body = pool->Body(e);
  Expr clamped = e;
  if (!pool->Nullable(body)) {
    const uint32_t enough = static_cast<uint32_t>(MostTurns(pool, body)) + 1;
    const uint32_t least = std::min(low, enough);
    clamped = pool->Repeat(body, least, high < enough ? high : kUnbounded);
  }
  return parts_[e] = clamped;
}

Expr CounterClamp::Of(Expressions* pool, Expr e) {
  if (!pool->Counts(e)) return e;
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
  const Expr head = pool->Head(e), tail = pool->Tail(e), clamped = Tail(pool, tail);
  const bool words = pool->Kind(head) == ExprKind::kRepeat && pool->Counts(head) && EndsWords(pool, pool->Body(head));
  const Expr begin = words ? Part(pool, head) : head;
  return clamped == tail && begin == head ? e : pool->Concat(begin, clamped);
}

// Recursion follows the nesting of unions.
Expr CounterClamp::Tail(Expressions* pool, Expr e) {
  const auto stops = [pool](Expr at, size_t passed) { return passed == kMostParts || !pool->Counts(at); };
  const auto of_part = [&](Expr part) {
    if (pool->Kind(part) == ExprKind::kRepeat) return Part(pool, part);
    if (pool->Kind(part) != ExprKind::kUnion || pool->NumMembers(part) > kFewMembers || !pool->Counts(part)) return part;
    std::vector<Expr> members(pool->Members(part), pool->Members(part) + pool->NumMembers(part));
    for (Expr& m : members) m = Tail(pool, m);
    return pool->Union(std::move(members));
  };
  return AlongSpine(pool, e, &tails_, stops, of_part, of_part);
}

}  // namespace tokamata
