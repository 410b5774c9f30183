#include "automata/csrc/bounded_parts.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

namespace tokamata {
namespace {

constexpr size_t kMostPairs = 600;  // of expressions in one search
constexpr size_t kMostOfMeet = 1200;  // the same of an intersection, as of many characters and what may not come first
constexpr size_t kMostMet = 1000;    // of them where neither need be a part of the other
constexpr size_t kMostCounted = 100;  // of them where the structure gives an answer, but in bytes
constexpr size_t kMostInVain = 2400;  // pairs of searches that found nothing, after which no more are made
constexpr size_t kMostMetInVain = 1500;
constexpr size_t kMostSought = 1200;  // of them where a text is sought, as words between others
constexpr size_t kMostSoughtInVain = 1200;
constexpr size_t kMostCountedInVain = 200;
constexpr int kMostPieces = 6;        // of a concatenation that a character may take, as its escapes do
constexpr int kMostPrefixes = 6;      // bytes, rules and unions before what is bounded
constexpr int kMostVisited = 1000;    // expressions that are looked at for bounds
constexpr int64_t kFar = int64_t{1} << 40;

int64_t Times(int64_t count, int64_t n) { return n && count > kFar / n ? kFar : count * n; }

ByteSet Continuations() { return ByteSet::Range(0x80, 0xBF); }  // bytes that go on with a character

// Intersections and complements of each other have steps that take long.
bool StepsAreShort(const Expressions& pool, Expr x) {
  constexpr uint32_t kMostMembers = 8;
  if (!pool.MayBeEmpty(x)) return true;
  if (pool.Kind(x) == ExprKind::kComplement) return !pool.MayBeEmpty(pool.Body(x));
  if (pool.Kind(x) != ExprKind::kIntersect || pool.NumMembers(x) > kMostMembers) return false;
  const Expr* const members = pool.Members(x);
  return std::all_of(members, members + pool.NumMembers(x), [&pool](Expr m) {
    return pool.Kind(m) != ExprKind::kIntersect && StepsAreShort(pool, m);
  });
}

std::vector<Expr> MembersOf(const Expressions& pool, Expr x) {
  if (pool.Kind(x) != ExprKind::kIntersect) return {x};
  return {pool.Members(x), pool.Members(x) + pool.NumMembers(x)};
}

// What a concatenation, or an expression by itself, begins with any number of times, or from some on; else kEmpty.
Expr TurnsOf(const Expressions& pool, Expr e) {
  const Expr head = pool.FirstPart(e);
  const bool is = pool.Kind(head) == ExprKind::kRepeat && pool.High(head) == kUnbounded;
  return is ? pool.Body(head) : Expr{kEmpty};
}

// Whether a member of x as an intersection repeats some of the c, and nothing else.
bool RepeatsSome(Expressions* pool, Expr x, Expr c) {
  for (const Expr m : MembersOf(*pool, x))
    if (const Expr d = TurnsOf(*pool, m); d != kEmpty && pool->Rest(m) == kEpsilonExpr)
      if (BoundedParts::IsIn(pool, d, c)) return true;
  return false;
}

// The bytes that are a c by themselves and that all stars which the members of x begin with repeat.
ByteSet Readable(Expressions* pool, Expr x, Expr c) {
  ByteSet readable = BoundedParts::OneByteMembers(pool, c);
  for (const Expr m : MembersOf(*pool, x))
    if (const Expr d = TurnsOf(*pool, m); d != kEmpty) readable = readable & BoundedParts::OneByteMembers(pool, d);
  return readable;
}

// Of a complement: none of c* but `bytes` takes a text out of it that it has, and one of these c brings any text into it that
// can be brought there. `absorbs`: no text that it has not can be, as with ~(.*pass.*), where the bytes are those of pass.
struct Barring {
  ByteSet bytes;
  bool absorbs = true;
};
Barring BarringOf(Expressions* pool, Expr complement, Expr c) {
  const Expr out = pool->Body(complement), star = pool->Star(c);
  std::vector<Expr> ways{out};
  if (pool->Kind(out) == ExprKind::kUnion) ways.assign(pool->Members(out), pool->Members(out) + pool->NumMembers(out));
  const auto repeats = [pool](Expr e) {
    return pool->Kind(e) == ExprKind::kRepeat && pool->Low(e) == 0 && pool->High(e) == kUnbounded;
  };
  const auto any = [&](Expr e) {  // turns of which each c is a whole one
    if (!repeats(e) || !pool->Covers(e, star)) return false;
    const Expr turn = pool->Body(e);
    return turn == c || pool->Kind(turn) == ExprKind::kBytes || pool->Parts().OneCharacter(*pool, turn);
  };
  Barring barring;
  for (const Expr way : ways) {
    ByteSet bytes;
    Expr e = any(pool->FirstPart(way)) ? pool->Rest(way) : way;
    for (; pool->Kind(e) == ExprKind::kConcat; e = pool->Tail(e)) bytes = bytes | pool->BytesOf(pool->Head(e));
    barring.absorbs = barring.absorbs && any(e);
    barring.bytes = barring.bytes | (any(e) ? bytes : pool->BytesOf(way));
  }
  return barring;
}

// The readable bytes that no complement among the members of x bars.
ByteSet Fillers(Expressions* pool, Expr x, Expr c) {
  ByteSet fillers = Readable(pool, x, c);
  for (const Expr m : MembersOf(*pool, x))
    if (pool->Kind(m) == ExprKind::kComplement) fillers = fillers - BarringOf(pool, m, c).bytes;
  return fillers;
}

// Whether no t but such as anything may follow has t·text in the language of the parts, one after the other: where `last`,
// any bytes at their end may begin before the text. `left` bounds the parts that are looked at.
bool EndsClosed(Expressions* pool, std::vector<Expr> parts, std::string_view text, bool last, int* left) {
  while (!parts.empty() && !text.empty()) {
    if (--*left < 0) return false;
    const Expr part = parts.back();
    parts.pop_back();
    if (last && part == pool->AnyBytes()) {
      for (size_t n = 1; n <= text.size(); ++n)
        if (!EndsClosed(pool, parts, text.substr(0, n), false, left)) return false;
      return true;
    }
    if (!pool->Nullable(part) && !pool->BytesOf(part).Has(static_cast<uint8_t>(text.back()))) return true;
    const auto with = [&](std::initializer_list<Expr> more) {
      std::vector<Expr> all = parts;
      all.insert(all.end(), more);
      return EndsClosed(pool, std::move(all), text, last, left);
    };
    switch (pool->Kind(part)) {
      case ExprKind::kEmpty: return true;
      case ExprKind::kEpsilon: break;
      case ExprKind::kBytes:
        text.remove_suffix(1);
        last = false;
        break;
      case ExprKind::kConcat:
        for (Expr e = part; e != kEpsilonExpr; e = pool->Rest(e)) parts.push_back(pool->FirstPart(e));
        break;
      case ExprKind::kUnion: {
        const std::vector<Expr> members(pool->Members(part), pool->Members(part) + pool->NumMembers(part));
        return std::all_of(members.begin(), members.end(), [&](Expr m) { return with({m}); });
      }
      case ExprKind::kRepeat: {
        const Expr body = pool->Body(part);
        const uint32_t low = pool->Low(part), high = pool->High(part);
        if (pool->Nullable(body) || (low == 0 && !with({}))) return false;
        const Expr before = pool->Repeat(body, low ? low - 1 : 0, high == kUnbounded ? high : high - 1);
        return with({before, body});
      }
      default: return false;
    }
  }
  return !text.empty();
}

// Of complements x, and y = c*·end: how many c, or fewer, lead to a member of both, wherever a text of both leads; -1: not
// found. A byte is looked for after which, and the end, a text is left out only if all others that begin with it are.
int64_t MostToClosing(Expressions* pool, Expr x, Expr y) {
  constexpr int kMostParts = 2000;
  constexpr size_t kMostEnd = 16;
  const Expr c = TurnsOf(*pool, y);
  const std::vector<Expr> members = MembersOf(*pool, x);
  const auto is_complement = [pool](Expr m) { return pool->Kind(m) == ExprKind::kComplement; };
  if (c == kEmpty || pool->Low(pool->FirstPart(y)) > 0) return -1;
  if (!std::all_of(members.begin(), members.end(), is_complement)) return -1;
  std::string text(1, ' ');
  for (Expr e = pool->Rest(y); e != kEpsilonExpr; e = pool->Rest(e)) {
    const Expr part = pool->FirstPart(e);
    if (pool->Kind(part) != ExprKind::kBytes || text.size() > kMostEnd) return -1;
    text.push_back(static_cast<char>(pool->Set(part).First()));
  }
  const ByteSet bytes = BoundedParts::OneByteMembers(pool, c);
  int left = kMostParts;
  for (const char b : std::string_view("axzeq0 A-.,\n")) {
    if (!bytes.Has(static_cast<uint8_t>(b))) continue;
    text[0] = b;
    const auto closes = [&](Expr m) { return EndsClosed(pool, {pool->Body(m)}, text, true, &left); };
    if (std::all_of(members.begin(), members.end(), closes)) return static_cast<int64_t>(text.size()) + 1;  // one was begun
  }
  return -1;
}

// Whether every member may be followed by members of star.
bool GoesOn(Expressions* pool, Expr x, Expr star) {
  while (pool->Kind(x) == ExprKind::kConcat) x = pool->Tail(x);
  if (x == star) return true;
  const ExprKind kind = pool->Kind(x);
  if (kind == ExprKind::kRepeat) return pool->High(x) == kUnbounded && pool->Covers(pool->Star(pool->Body(x)), star);
  if (kind != ExprKind::kUnion && kind != ExprKind::kIntersect) return false;
  const std::vector<Expr> members(pool->Members(x), pool->Members(x) + pool->NumMembers(x));
  for (const Expr m : members)
    if (!GoesOn(pool, m, star)) return false;
  return true;
}

}  // namespace

// Recursion in this file follows operator nesting, which ExpressionLimits::depth bounds.
// What to measure instead of a call, which would have to be expanded, with all that it leads to.
BoundedParts::Outline BoundedParts::OutlineOf(Expressions* pool, Expr call) {
  RuleSource* const rules = pool->Rules(pool->SourceOfRule(call));
  if (!rules->IsRegular()) return {};
  Outline outline;
  outline.e = rules->Outline(pool->Rule(call), &outline.slack);
  return outline;
}

BoundedParts::Distance BoundedParts::DistanceOf(Expressions* pool, Expr e) {
  if (const Distance* const known = distances_.Find(e)) return *known;
  Distance d{kFar, kFar, 0, kFar};
  switch (pool->Kind(e)) {
    case ExprKind::kEpsilon: d = {0, 0, 0, 0}; break;
    case ExprKind::kBytes: {
      const ByteSet &bytes = pool->First(e), inside = Continuations();
      d = {1, 1, !bytes.Intersects(inside), !bytes.SubsetOf(inside)};
      break;
    }
    case ExprKind::kConcat: {
      std::vector<Expr> pieces;
      Expr x = e;
      for (; pool->Kind(x) == ExprKind::kConcat; x = pool->Tail(x)) pieces.push_back(pool->Head(x));
      d = DistanceOf(pool, x);
      for (size_t i = pieces.size(); i-- > 0;) {
        const Distance head = DistanceOf(pool, pieces[i]);
        d.most = std::max(d.most, head.most + d.least);
        d.least += head.least;
        d.least_characters += head.least_characters;
        d.most_characters += head.most_characters;
      }
      break;
    }
    case ExprKind::kUnion:
      d = {kFar, 0, kFar, 0};
      for (uint32_t i = 0; i < pool->NumMembers(e); ++i) {
        const Distance one = DistanceOf(pool, pool->Members(e)[i]);
        d = {std::min(d.least, one.least), std::max(d.most, one.most),
             std::min(d.least_characters, one.least_characters), std::max(d.most_characters, one.most_characters)};
      }
      break;
    case ExprKind::kRepeat: {
      const Distance body = DistanceOf(pool, pool->Body(e));
      const int64_t low = pool->Low(e), high = pool->High(e) == kUnbounded ? kFar : pool->High(e);
      d = {Times(low, body.least), body.most + Times(std::max<int64_t>(low - 1, 0), body.least),
           Times(low, body.least_characters), Times(high, body.most_characters)};
      break;
    }
    case ExprKind::kIntersect:
      for (uint32_t i = 0; i < pool->NumMembers(e); ++i) {
        const Distance one = DistanceOf(pool, pool->Members(e)[i]);
        d.least_characters = std::max(d.least_characters, one.least_characters);
        d.most_characters = std::min(d.most_characters, one.most_characters);
      }
      break;
    case ExprKind::kCall:
      if (const Outline outline = OutlineOf(pool, e); outline.e != kEmpty) {
        d = DistanceOf(pool, outline.e);
        d.least += outline.slack;
        d.most += outline.slack;
      }
      break;
    default: break;
  }
  d = {std::min(d.least, kFar), std::min(d.most, kFar), std::min(d.least_characters, kFar),
       std::min(d.most_characters, kFar)};
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
    while (part && x != kEpsilonExpr) {
      Expr begin = kEpsilonExpr;
      part = false;
      for (int i = 0; i < kMostPieces && !part && x != kEpsilonExpr; ++i) {
        begin = pool->Concat(begin, pool->FirstPart(x));
        x = pool->Rest(x);
        part = (i == 0 && pool->Kind(begin) != ExprKind::kBytes && IsPart(pool, begin, star)) ||
               ((i > 0 || pool->Kind(begin) == ExprKind::kBytes) && Search(pool, begin, star) >= 0);
      }
    }
  } else if (const Expr outline = kind == ExprKind::kCall ? OutlineOf(pool, e).e : Expr{kEmpty}; outline != kEmpty) {
    part = IsPart(pool, outline, star);
  } else {
    if (kind == ExprKind::kUnion) {
      const std::vector<Expr> members(pool->Members(e), pool->Members(e) + pool->NumMembers(e));
      part = std::all_of(members.begin(), members.end(), [&](Expr m) { return IsPart(pool, m, star); });
    }
    part = part || Search(pool, e, star) >= 0;
  }
  return part_[PairKey(e, star)] = part;
}

// The pairs that texts of both lead to, with their distances; those from which no member of both is reached have none.
// False where they are more than `most`, or where x has not the relation to y: a part of y, a c*, in which case distances
// are the c that are yet to begin, else bytes; or one that goes along, so that each text of y can be read in x.
bool BoundedParts::FindPairs(Expressions* pool, Expr x, Expr y, Relation relation, size_t most, std::vector<Pair>* pairs) {
  const bool part = relation == Relation::kPart;
  pairs->assign(1, {x, y, {}, -1});
  std::unordered_map<uint64_t, uint32_t> index{{PairKey(x, y), 0}};
  std::vector<Expressions::Term> inner, outer;
  for (uint32_t i = 0; i < pairs->size(); ++i) {
    const Expr a = (*pairs)[i].x, b = (*pairs)[i].y;
    pool->Step(a, &inner);
    pool->Step(b, &outer);
    bool inside = !pool->Nullable(a) || pool->Nullable(b);
    ByteSet uncovered;  // of y's bytes
    if (relation == Relation::kGoesAlong)
      for (const auto& q : outer) uncovered = uncovered | q.bytes;
    for (const auto& p : inner) {
      ByteSet left = p.bytes;
      uncovered = uncovered - p.bytes;
      for (const auto& q : outer) {
        if (!p.bytes.Intersects(q.bytes)) continue;
        left = left - q.bytes;
        const auto [it, added] = index.emplace(PairKey(p.target, q.target), static_cast<uint32_t>(pairs->size()));
        if (added) pairs->push_back({p.target, q.target, {}, -1});
        (*pairs)[it->second].before.push_back(i);
      }
      inside = inside && !left.Any();
    }
    if ((part && !inside) || uncovered.Any() || pairs->size() > most) return false;
  }
  std::vector<uint32_t> queue, next;  // pairs of one distance, and of one more
  for (uint32_t i = 0; i < pairs->size(); ++i)
    if (pool->Nullable((*pairs)[i].x) && pool->Nullable((*pairs)[i].y)) queue.push_back(i);
  size_t reached = 0;
  for (int64_t distance = 0; !queue.empty(); ++distance, queue.swap(next), next.clear())
    for (size_t i = 0; i < queue.size(); ++i) {
      Pair& to = (*pairs)[queue[i]];
      if (to.distance >= 0) continue;
      to.distance = distance;
      ++reached;
      for (uint32_t p : to.before) (part && (*pairs)[p].y != y ? queue : next).push_back(p);
    }
  return !part || reached == pairs->size();
}

// Whether x is a part of star, a c*, and then the most c that any expression reached from x is away from a member's end;
// -1 where x is no part or has too many derivatives.
int64_t BoundedParts::Search(Expressions* pool, Expr x, Expr star) {
  if (const int64_t* const known = to_end_.Find(PairKey(x, star))) return *known;
  std::vector<Pair> pairs;
  const bool meet = pool->Kind(x) == ExprKind::kIntersect;
  if (!FindPairs(pool, x, star, Relation::kPart, meet ? kMostOfMeet : kMostPairs, &pairs)) {
    in_vain_ += pairs.size();
    return to_end_[PairKey(x, star)] = -1;
  }
  int64_t most = 0;
  for (const Pair& p : pairs) most = std::max(most, p.distance);
  for (const Pair& p : pairs) to_end_[PairKey(p.x, p.y)] = most;
  return most;
}

// The most bytes that x & y is away from a member's end wherever a text of it leads; -1 where too many have to be
// looked at, or there is no member.
int64_t BoundedParts::MostToEndOfMeet(Expressions* pool, Expr x, Expr y) {
  if (const int64_t* const known = to_end_of_meet_.Find(PairKey(x, y))) return *known;
  int64_t most = MostToClosing(pool, x, y);
  if (most >= 0) return to_end_of_meet_[PairKey(x, y)] = most;
  if (met_in_vain_ >= kMostMetInVain) return -1;
  std::vector<Pair> pairs;
  if (FindPairs(pool, x, y, Relation::kNone, kMostMet, &pairs)) {
    for (const Pair& p : pairs) most = std::max(most, p.distance);
    for (const Pair& p : pairs) to_end_of_meet_[PairKey(p.x, p.y)] = most;
  }
  if (most < 0) met_in_vain_ += pairs.size();
  return to_end_of_meet_[PairKey(x, y)] = most;
}

int64_t BoundedParts::MostToEnd(Expressions* pool, Expr x, Expr star) {
  if (const int64_t* const known = to_end_.Find(PairKey(x, star))) return *known;
  int64_t most = -1;
  if (!pool->MayBeEmpty(x)) {
    if (Part(pool, x, star)) most = DistanceOf(pool, x).most;
    if (most >= kFar) most = Search(pool, x, star);
  } else if (in_vain_ < kMostInVain) {
    most = Search(pool, x, star);
  }
  return to_end_[PairKey(x, star)] = most < kFar ? most : -1;
}

// The same where few c may be left, so that it matters that a spelling of one has many bytes.
int64_t BoundedParts::MostToEnd(Expressions* pool, Expr x, Expr star, uint32_t high) {
  constexpr int64_t kFew = 24;
  const int64_t most = MostToEnd(pool, x, star);
  if (most <= 1 || high > most + kFew || pool->MayBeEmpty(x)) return most;
  if (const int64_t* const known = counted_.Find(PairKey(x, star))) return *known;
  std::vector<Pair> pairs;
  int64_t counted = most;
  if (counted_in_vain_ < kMostCountedInVain && FindPairs(pool, x, star, Relation::kPart, kMostCounted, &pairs)) {
    counted = 0;
    for (const Pair& p : pairs) counted = std::max(counted, p.distance);
    for (const Pair& p : pairs) counted_[PairKey(p.x, p.y)] = counted;
  } else {
    counted_in_vain_ += pairs.size();
  }
  return counted_[PairKey(x, star)] = counted;
}

bool BoundedParts::Part(Expressions* pool, Expr x, Expr star) {
  if (x == star) return true;
  if (in_vain_ >= kMostInVain && !part_.Find(PairKey(x, star))) return false;
  return IsPart(pool, x, star);
}

// Whether x is a part of star since a member of it as an intersection is.
bool BoundedParts::SomeArePart(Expressions* pool, Expr x, Expr star) {
  if (pool->Kind(x) != ExprKind::kIntersect) return !pool->MayBeEmpty(x) && Part(pool, x, star);
  const std::vector<Expr> members(pool->Members(x), pool->Members(x) + pool->NumMembers(x));
  return std::any_of(members.begin(), members.end(), [&](Expr m) { return SomeArePart(pool, m, star); });
}

// Whether x is a star that has all texts of c*.
static bool CoversStar(Expressions* pool, Expr x, Expr star) {
  return pool->Kind(x) == ExprKind::kRepeat && pool->Low(x) == 0 && pool->High(x) == kUnbounded && pool->Covers(x, star);
}

// Whether some alternative of x ends in such a star; alternatives may share their ends, so each is looked at once.
static bool MayEndIn(Expressions* pool, Expr x, Expr star) {
  std::vector<Expr> all{x};
  std::unordered_set<Expr> seen;
  for (size_t i = 0; i < all.size() && i < size_t{kMostVisited}; ++i) {
    Expr e = all[i];
    while (pool->Kind(e) == ExprKind::kConcat) e = pool->Tail(e);
    if (pool->Kind(e) != ExprKind::kUnion) {
      if (CoversStar(pool, e, star)) return true;
      continue;
    }
    for (const Expr *m = pool->Members(e), *end = m + pool->NumMembers(e); m != end; ++m)
      if (seen.insert(*m).second) all.push_back(*m);
  }
  return false;
}

bool BoundedParts::IsIn(Expressions* pool, Expr x, Expr y) {
  constexpr size_t kMostSteps = 200;
  if (x == y) return true;
  BoundedParts& parts = pool->Parts();
  if (const auto& some = parts.OneCharacter(*pool, x))
    if (const auto& all = parts.OneCharacter(*pool, y)) return IntersectRanges(*some, *all) == *some;
  return pool->IsSurelyEmpty(pool->Difference(x, y), kMostSteps);
}

namespace {

// Adds the numbers that bytes of a set spell, each times `block`, with those of what follows them.
void AddSpelled(const ByteSet& bytes, uint32_t bits, uint32_t block, const CodePointRanges& tail, CodePointRanges* to) {
  bytes.ForEach([&](uint8_t b) {
    for (const auto& [low, high] : tail) {
      const uint32_t first = (b & bits) * block + low, last = (b & bits) * block + high;
      if (!to->empty() && to->back().second + 1 == first)
        to->back().second = last;
      else
        to->emplace_back(first, last);
    }
  });
}

// What e spells as bytes that go on with a character, each text so many; nothing where some text is none.
std::optional<CodePointRanges> Continued(const Expressions& pool, Expr e, int bytes) {
  constexpr size_t kMostRanges = 2048;
  static const CodePointRanges kOne{{0, 0}};
  CodePointRanges ranges;
  const ExprKind kind = pool.Kind(e);
  if (kind == ExprKind::kUnion) {
    for (const Expr *m = pool.Members(e), *end = m + pool.NumMembers(e); m != end; ++m) {
      const std::optional<CodePointRanges> some = Continued(pool, *m, bytes);
      if (!some || ranges.size() + some->size() > kMostRanges) return std::nullopt;
      ranges.insert(ranges.end(), some->begin(), some->end());
    }
    return ranges;
  }
  const Expr head = kind == ExprKind::kConcat ? pool.Head(e) : e;
  if (pool.Kind(head) != ExprKind::kBytes || !pool.Set(head).SubsetOf(Continuations())) return std::nullopt;
  if (kind == ExprKind::kBytes) {
    if (bytes != 1) return std::nullopt;
    AddSpelled(pool.Set(e), 0x3F, 1, kOne, &ranges);
    return ranges;
  }
  const std::optional<CodePointRanges> tail = bytes > 1 ? Continued(pool, pool.Tail(e), bytes - 1) : std::nullopt;
  if (!tail || tail->size() * static_cast<size_t>(pool.Set(head).Count()) > kMostRanges) return std::nullopt;
  AddSpelled(pool.Set(head), 0x3F, 1u << (6 * (bytes - 1)), *tail, &ranges);
  return ranges;
}

// Where each text of e is one character, and e is written as their bytes, those characters.
std::optional<CodePointRanges> AsCharacters(const Expressions& pool, Expr e) {
  struct Lead {
    int low, high;
    uint32_t bits, least;
  };
  static constexpr Lead kLeads[] = {{0xC2, 0xDF, 0x1F, 0x80}, {0xE0, 0xEF, 0x0F, 0x800}, {0xF0, 0xF4, 0x07, 0x10000}};
  CodePointRanges ranges;
  const ExprKind kind = pool.Kind(e);
  if (kind == ExprKind::kUnion) {
    for (const Expr *m = pool.Members(e), *end = m + pool.NumMembers(e); m != end; ++m) {
      const std::optional<CodePointRanges> some = AsCharacters(pool, *m);
      if (!some) return std::nullopt;
      ranges.insert(ranges.end(), some->begin(), some->end());
    }
    return NormalizeRanges(std::move(ranges));
  }
  if (kind == ExprKind::kBytes) {
    if (!pool.Set(e).SubsetOf(ByteSet::Range(0, 0x7F))) return std::nullopt;
    AddSpelled(pool.Set(e), 0x7F, 1, {{0, 0}}, &ranges);
    return ranges;
  }
  if (kind != ExprKind::kConcat || pool.Kind(pool.Head(e)) != ExprKind::kBytes) return std::nullopt;
  for (int i = 0; i < 3; ++i) {
    const Lead& lead = kLeads[i];
    if (!pool.Set(pool.Head(e)).SubsetOf(ByteSet::Range(lead.low, lead.high))) continue;
    const std::optional<CodePointRanges> tail = Continued(pool, pool.Tail(e), i + 1);
    if (!tail) return std::nullopt;
    AddSpelled(pool.Set(pool.Head(e)), lead.bits, 1u << (6 * (i + 1)), *tail, &ranges);
    const bool fits = std::all_of(ranges.begin(), ranges.end(), [&](const auto& r) {
      return r.first >= lead.least && r.second <= 0x10FFFF && (r.second < 0xD800 || r.first > 0xDFFF);
    });
    return fits ? std::optional<CodePointRanges>(NormalizeRanges(std::move(ranges))) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

const std::optional<CodePointRanges>& BoundedParts::OneCharacter(const Expressions& pool, Expr e) {
  if (const uint32_t* const known = one_character_.Find(e)) return character_sets_[*known];
  character_sets_.push_back(AsCharacters(pool, e));
  one_character_[e] = static_cast<uint32_t>(character_sets_.size() - 1);
  return character_sets_.back();
}

ByteSet BoundedParts::OneByteMembers(Expressions* pool, Expr e) {
  if (pool->Kind(e) == ExprKind::kBytes) return pool->Set(e);
  ByteSet members;
  std::vector<Expressions::Term> steps;
  pool->Step(e, &steps);
  for (const Expressions::Term& step : steps)
    if (pool->Nullable(step.target)) members = members | step.bytes;
  return members;
}

// Of x = s·a·t, with c* a part of s* and t*, and a of c*, or a byte of both a and c: whatever text of c* was read, so
// many c make a member of it, and any more of them leave it one. -1 where x, or one of its alternatives, is nothing of
// the kind.
int64_t BoundedParts::Sought(Expressions* pool, const Expr whole, Expr star) {
  Expr x = whole;
  if (pool->MayBeEmpty(x) || pool->IsPushDown(x)) return -1;
  if (const int64_t* const known = sought_.Find(PairKey(x, star))) return *known;
  const auto covers = [&](Expr s) { return CoversStar(pool, s, star); };
  int64_t sought = -1;
  if (pool->Kind(x) == ExprKind::kRepeat && pool->High(x) == kUnbounded && covers(pool->Star(pool->Body(x)))) {
    sought = pool->Low(x);
  } else if (pool->Kind(x) == ExprKind::kUnion) {
    const ExprList members(pool->Members(x), pool->Members(x) + pool->NumMembers(x));
    for (const Expr m : members)
      if (const int64_t one = Sought(pool, m, star); one >= 0) sought = sought < 0 ? one : std::min(sought, one);
  } else if (pool->Kind(x) == ExprKind::kConcat && covers(pool->Head(x))) {
    int64_t bytes = 0;  // of a, no fewer than its c
    for (x = pool->Tail(x); bytes >= 0 && pool->Kind(x) == ExprKind::kConcat; x = pool->Tail(x)) {
      const Expr part = pool->Head(x);
      if (pool->Covers(star, part))
        bytes = std::min(kFar, bytes + DistanceOf(pool, part).least);
      else
        bytes = OneByteMembers(pool, part).Intersects(OneByteMembers(pool, pool->Body(star))) ? bytes + 1 : -1;
    }
    if (bytes >= 0 && bytes < kFar && covers(x)) sought = bytes;
  }
  if (sought < 0 && MayEndIn(pool, whole, star)) sought = FindReset(pool, whole, star);
  return sought_[PairKey(whole, star)] = sought;
}

// The same where a text of c* is found that leads from wherever others lead to what has all of c*, as ` word ` does where a
// word is sought. It is put together as what resets an automaton is: from one place after the other.
// Source: Eppstein, "Reset sequences for monotonic automata" (1990).
int64_t BoundedParts::FindReset(Expressions* pool, Expr x, Expr star) {
  constexpr int64_t kFarthest = 64;
  if (sought_in_vain_ >= kMostSoughtInVain) return -1;
  std::vector<Pair> pairs;
  const auto in_vain = [&] {
    sought_in_vain_ += pairs.size();
    return -1;
  };
  if (!FindPairs(pool, x, star, Relation::kGoesAlong, kMostSought, &pairs)) return in_vain();
  const auto found = [&](Expr e) { return CoversStar(pool, e, star); };
  std::vector<Expr> places;  // at the ends of characters
  for (const Pair& p : pairs)
    if (p.y == star && !found(p.x)) places.push_back(p.x);
  int64_t count = 0;
  for (std::vector<Expr> left = places; !left.empty();) {
    std::string text;
    if (!FindWay(pool, left.front(), star, &text)) return in_vain();
    count += static_cast<int64_t>(text.size());
    if (count > kFarthest) return in_vain();
    for (Expr& e : left)
      for (const char b : text) e = pool->AfterByte(e, static_cast<uint8_t>(b));
    std::sort(left.begin(), left.end());
    left.erase(std::unique(left.begin(), left.end()), left.end());
    left.erase(std::remove_if(left.begin(), left.end(), found), left.end());
  }
  for (const Expr e : places) sought_[PairKey(e, star)] = count;
  return count;
}

// A shortest text of bytes, each a c, from x to what has all of c*.
bool BoundedParts::FindWay(Expressions* pool, Expr x, Expr star, std::string* text) {
  struct Step {
    Expr e;
    size_t before;
    uint8_t byte;
  };
  const ByteSet single = OneByteMembers(pool, pool->Body(star));
  std::vector<Step> steps{{x, 0, 0}};
  std::unordered_set<Expr> known{x};
  std::vector<Expressions::Term> terms;
  for (size_t i = 0; i < steps.size() && steps.size() <= kMostPairs; ++i) {
    if (CoversStar(pool, steps[i].e, star)) {
      for (size_t k = i; k; k = steps[k].before) text->push_back(static_cast<char>(steps[k].byte));
      std::reverse(text->begin(), text->end());
      return true;
    }
    pool->Step(steps[i].e, &terms);
    for (const Expressions::Term& t : terms) {
      const ByteSet bytes = t.bytes & single;
      if (bytes.Any() && known.insert(t.target).second) steps.push_back({t.target, i, static_cast<uint8_t>(bytes.First())});
    }
  }
  return false;
}

// The same of several: what one seeks is no harm to others.
int64_t BoundedParts::SoughtByAll(Expressions* pool, Expr x, Expr star) {
  if (pool->Kind(x) != ExprKind::kIntersect) return Sought(pool, x, star);
  const std::vector<Expr> members(pool->Members(x), pool->Members(x) + pool->NumMembers(x));
  int64_t sum = 0;
  for (const Expr m : members) {
    const int64_t one = Sought(pool, m, star);
    if (one < 0) return -1;
    sum += one;
  }
  return sum;
}

bool BoundedParts::SeeksCharacters(Expressions* pool, const Split& split, Wanted* sought) {
  constexpr size_t kMostSets = 8, kMostSteps = 200;
  *sought = Wanted();
  const Expr star = split.star, c = pool->Body(star), end = split.end;
  if (!pool->Nullable(end) || pool->IsPushDown(split.part) || pool->IsPushDown(end)) return false;
  const ByteSet readable = Readable(pool, split.part, c), fillers = Fillers(pool, split.part, c);
  if (!fillers.Any()) return false;
  const Expr others = pool->Star(pool->Bytes(readable));
  const std::optional<CodePointRanges>& characters = OneCharacter(*pool, c);
  // What of a set a text of c* may have, if that is a c; else kEmpty.
  const auto counted_in_c = [&](Expr set) {
    if (characters && OneCharacter(*pool, set)) return set;
    const Expr counted = pool->Intersect(set, star);
    return IsIn(pool, counted, c) ? counted : Expr{kEmpty};
  };
  const auto apart = [&](Expr a, Expr b) {  // no c is in both
    if (const auto& in_a = OneCharacter(*pool, a); in_a && characters)
      if (const auto& in_b = OneCharacter(*pool, b))
        return IntersectRanges(IntersectRanges(*in_a, *in_b), *characters).empty();
    return pool->IsSurelyEmpty(pool->Intersect(a, b), kMostSteps);
  };
  bool ends = true;  // whether what follows the counter may come after any text that x has so far
  size_t at_end = 0;
  for (const Expr m : MembersOf(*pool, split.part)) {
    if (pool->Kind(m) == ExprKind::kComplement) {
      if (!BarringOf(pool, m, c).absorbs) return false;
      ends = ends && end == kEpsilonExpr;
      continue;
    }
    const Expr head = pool->FirstPart(m), rest = pool->Rest(m);
    if (CoversStar(pool, m, others)) {
      ends = ends && pool->Covers(m, end);
      continue;
    }
    if (TurnsOf(*pool, m) == kEmpty) return false;
    if (pool->Nullable(rest) && pool->Low(head) <= split.high) {
      ends = ends && rest == end;
      continue;
    }
    if (!CoversStar(pool, head, others)) return false;
    const size_t first = sought->sets.size();
    for (Expr wanted = rest; pool->Kind(wanted) == ExprKind::kConcat;) {
      const Expr set = pool->Head(wanted), tail = pool->Tail(wanted);
      const ByteSet bytes = OneByteMembers(pool, set);
      if (!bytes.Intersects(fillers)) return false;
      const Expr counted = counted_in_c(set);
      if (counted == kEmpty) return false;
      for (size_t i = 0; i < first; ++i)
        if (!apart(counted, sought->sets[i])) return false;
      sought->sets.push_back(set);
      if (sought->sets.size() > kMostSets) return false;
      const bool last = CoversStar(pool, tail, others);
      if (last) ends = ends && pool->Covers(tail, end);
      if (!last && !(pool->Kind(tail) == ExprKind::kConcat && CoversStar(pool, pool->Head(tail), others))) return false;
      sought->ordered = sought->ordered || !last;
      wanted = last ? tail : pool->Tail(tail);
      if (!last && pool->Kind(wanted) != ExprKind::kConcat) return false;
      if (!pool->BytesOf(set).Intersects(pool->BytesOf(end))) continue;
      if (sought->more || sought->ordered || !bytes.Intersects(OneByteMembers(pool, end))) return false;
      sought->more = true;
      at_end = sought->sets.size() - 1;
    }
    if (sought->sets.size() == first) return false;
  }
  if (sought->more) sought->sets.erase(sought->sets.begin() + static_cast<ptrdiff_t>(at_end));
  sought->among = readable;
  return ends || !sought->more;
}

// Of x that asks for characters, each to be found behind others that are read as often as may be: whatever text of c* was
// read that x allows, so many `readable` make a member of it, each a c, and any more of them leave it one. -1 where x, or
// one of its members as an intersection, is nothing of the kind.
int64_t BoundedParts::SoughtAmong(Expressions* pool, Expr x, Expr c, Expr readable) {
  if (readable == kEpsilonExpr) return -1;
  int64_t sum = 0;
  const auto is_one = [&](Expr e) {
    if (OneCharacter(*pool, e) && OneCharacter(*pool, c)) return true;
    return IsIn(pool, pool->Intersect(e, pool->Star(c)), c);
  };
  for (const Expr m : MembersOf(*pool, x)) {
    if (pool->Kind(m) == ExprKind::kComplement && !pool->IsPushDown(m)) {
      sum += !BarringOf(pool, m, c).absorbs;
      continue;
    }
    if (TurnsOf(*pool, m) == kEmpty || pool->IsPushDown(m) || pool->MayBeEmpty(m)) return -1;
    const Expr head = pool->FirstPart(m), rest = pool->Rest(m);
    if (!is_one(pool->Body(head))) return -1;
    sum += pool->Low(head);
    if (rest == kEpsilonExpr) continue;
    if (pool->Low(head) || pool->Kind(rest) != ExprKind::kConcat) return -1;
    for (Expr wanted = rest; wanted != kEpsilonExpr; ++sum) {
      const Expr set = pool->Head(wanted), tail = pool->Tail(wanted), star = pool->FirstPart(tail);
      if (!CoversStar(pool, star, readable) || !is_one(set) || !is_one(pool->Body(star))) return -1;
      if (!OneByteMembers(pool, set).Intersects(OneByteMembers(pool, pool->Body(readable)))) return -1;
      wanted = pool->Rest(tail);
      if (wanted != kEpsilonExpr && pool->Kind(wanted) != ExprKind::kConcat) return -1;
    }
  }
  return sum;
}

int64_t BoundedParts::Enough(Expressions* pool, Expr e, Expr star) {
  if (pool->Nullable(e)) return 0;
  if (const int64_t bytes = DistanceOf(pool, e).least; bytes < kFar) return bytes;
  if (pool->Kind(e) != ExprKind::kIntersect) return kFar;
  const std::vector<Expr> members(pool->Members(e), pool->Members(e) + pool->NumMembers(e));
  int64_t sum = 0;
  for (const Expr m : members) {
    const bool ends = pool->Kind(m) == ExprKind::kConcat && pool->Head(m) == star && pool->Nullable(pool->Tail(m));
    const int64_t one = ends ? 0 : Sought(pool, m, star);
    if (one < 0) return kFar;
    sum += one;
  }
  return sum;
}

// Whether a text of a rule that has every length (see RuleSource::HasEveryLength), or of a union with one, is as long as
// all that it is intersected with count.
static bool HasCountedText(Expressions* pool, Expr e) {
  using Lengths = std::vector<std::pair<uint32_t, uint32_t>>;
  const auto for_each = [pool](Expr x, auto&& visit) {
    if (pool->Kind(x) != ExprKind::kUnion) return visit(x);
    const std::vector<Expr> members(pool->Members(x), pool->Members(x) + pool->NumMembers(x));
    std::for_each(members.begin(), members.end(), visit);
  };
  if (!pool->NumRuleSources()) return false;
  for (uint32_t i = 0; i < pool->NumMembers(e); ++i) {
    Lengths lengths;
    ByteSet bytes;
    for_each(pool->Members(e)[i], [&](Expr call) {
      if (pool->Kind(call) != ExprKind::kCall) return;
      ByteSet own;
      if (!pool->Rules(pool->SourceOfRule(call))->HasEveryLength(pool->Rule(call), &own)) return;
      bytes = bytes | own;
      lengths.push_back({pool->LeastLength(call), kUnbounded});
    });
    for (uint32_t k = 0; k < pool->NumMembers(e) && !lengths.empty(); ++k) {
      if (k == i) continue;
      Lengths common;
      for_each(pool->Members(e)[k], [&](Expr count) {
        if (!pool->Nullable(pool->Rest(count))) return;
        for_each(pool->FirstPart(count), [&](Expr turns) {
          const bool many = pool->Kind(turns) == ExprKind::kRepeat;
          const Expr turn = many ? pool->Body(turns) : turns;
          if (pool->Kind(turn) != ExprKind::kBytes || !bytes.SubsetOf(pool->Set(turn))) return;
          for (const auto& [low, high] : lengths) {
            const uint32_t least = std::max(low, many ? pool->Low(turns) : 1);
            const uint32_t most = std::min(high, many ? pool->High(turns) : 1);
            if (least <= most) common.push_back({least, most});
          }
        });
      });
      lengths = common;
    }
    if (!lengths.empty()) return true;
  }
  return false;
}

bool BoundedParts::HasMember(Expressions* pool, Expr e) {
  if (HasCountedText(pool, e)) return true;
  if (pool->NumMembers(e) != 2) {
    return ForSomeCounter(pool, e, [pool, this](Counter* c, Expr) {
      if (c->nothing || !pool->Nullable(c->end)) return false;
      const int64_t sought = SoughtByAll(pool, c->others, pool->Star(pool->Body(c->count)));
      return sought >= 0 && sought <= pool->High(c->count);
    });
  }
  for (int i = 0; i < 2; ++i) {
    const Expr x = pool->Members(e)[i], count = pool->Members(e)[1 - i];
    if (pool->MayBeEmpty(x) || pool->MayBeEmpty(count) || pool->Kind(count) != ExprKind::kRepeat) continue;
    const Expr star = pool->Star(pool->Body(count));
    if (pool->Low(count) > 0 && !GoesOn(pool, x, star)) continue;
    if (DistanceOf(pool, x).least <= pool->High(count) && Part(pool, x, star)) return true;
  }
  return false;
}

Expr BoundedParts::WithoutBounds(Expressions* pool, Expr e, uint32_t length) {
  visited_ = 0;
  return WithoutBounds(pool, e, length, 0);
}

Expr BoundedParts::WithoutBounds(Expressions* pool, Expr e, uint32_t length, int depth) {
  if (depth > kMostPrefixes || ++visited_ > kMostVisited) return e;
  Expr head = pool->FirstPart(e);
  const Expr rest = pool->Rest(e);
  const bool concat = head != e;
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

// Calls accept(counter, rest) for each counter among the members of x in e = x·rest, an intersection, until it returns
// true; whether it did. What counts the shortest texts comes first, as characters before words: less has to be found out.
template <class F>
bool BoundedParts::ForSomeCounter(Expressions* pool, Expr e, F accept) {
  const Expr both = pool->FirstPart(e), rest = pool->Rest(e);
  if (pool->Kind(both) != ExprKind::kIntersect) return false;
  const std::vector<Expr> members(pool->Members(both), pool->Members(both) + pool->NumMembers(both));
  std::vector<std::pair<int64_t, size_t>> counting;  // the most characters that count as one, place
  for (size_t i = 0; i < members.size(); ++i) {
    const Expr m = members[i], optional = pool->OptionalOf(m), count = pool->FirstPart(optional == kEmpty ? m : optional);
    if (pool->Kind(count) != ExprKind::kRepeat || pool->MayBeEmpty(m) || pool->Nullable(pool->Body(count))) continue;
    counting.emplace_back(DistanceOf(pool, pool->Body(count)).most_characters, i);
  }
  std::sort(counting.begin(), counting.end());
  return std::any_of(counting.begin(), counting.end(), [&](const auto& counts) {
    const Expr m = members[counts.second];
    const bool nothing = pool->OptionalOf(m) != kEmpty;
    const Expr counted = nothing ? pool->OptionalOf(m) : m;
    std::vector<Expr> others = members;
    others.erase(others.begin() + static_cast<ptrdiff_t>(counts.second));
    Counter c{pool->FirstPart(counted), pool->Rest(counted), nothing, pool->Intersect(std::move(others)), kEmpty, -1};
    return accept(&c, rest);
  });
}

bool BoundedParts::Unbound(Expressions* pool, bool beside, Counter* c) {
  const Expr x = c->others, body = pool->Body(c->count), star = pool->Star(body);
  const int64_t low = pool->Low(c->count);
  const Distance end = DistanceOf(pool, c->end);
  const bool characters = DistanceOf(pool, body).most_characters <= 1;
  const bool enough = low == 0 || (characters && DistanceOf(pool, x).least_characters >= low + end.most_characters);
  Expr readable = kEmpty;  // a star, once asked for
  const auto goes_on = [&] {
    readable = pool->Star(pool->Bytes(Fillers(pool, x, body)));
    const std::vector<Expr> members = MembersOf(*pool, x);
    return readable != kEpsilonExpr && std::all_of(members.begin(), members.end(), [&](Expr m) {
      return pool->Kind(m) == ExprKind::kComplement || GoesOn(pool, m, readable);
    });
  };
  const bool any = enough || (low == 1 && !pool->Nullable(x)) || (beside && goes_on());
  if (!any && !pool->MayBeEmpty(x)) return false;  // others keep the lower bound: masks without it are made sooner
  Expr y = pool->Concat(any ? star : pool->Repeat(body, low, kUnbounded), c->end);
  if (c->nothing) y = pool->Union(kEpsilonExpr, y);
  const ByteSet begins = pool->First(body), end_begins = pool->First(c->end);
  const bool apart = !c->nothing && characters && pool->Nullable(c->end) && !(begins | end_begins).Intersects(Continuations()) &&
                     !begins.Intersects(end_begins);  // then no text of c* is one of c*·end but by epsilon
  const bool met = to_end_of_meet_.Find(PairKey(x, y)), stands_alone = c->end == kEpsilonExpr && !c->nothing;
  const auto seek = [&] {
    if (!any || met || !(stands_alone || apart) || pool->High(c->count) == kUnbounded) return false;
    if (readable == kEmpty) readable = pool->Star(pool->Bytes(Fillers(pool, x, body)));
    c->most = SoughtAmong(pool, x, body, readable);
    if (c->most < 0) c->most = SoughtByAll(pool, x, star);
    if (c->most < 0) return false;
    const bool is_part = RepeatsSome(pool, x, body) || SomeArePart(pool, x, star);
    if (is_part) c->end = kEpsilonExpr;
    c->unbounded = is_part ? x : pool->Intersect(x, y);
    return true;
  };
  if (pool->MayBeEmpty(x) && seek()) return true;
  if (any && !met && (stands_alone || apart) && pool->First(x).SubsetOf(begins)) {
    const bool endless = pool->High(c->count) == kUnbounded;  // then it does not matter how many c are left
    c->most = endless && SomeArePart(pool, x, star) ? 0 : MostToEnd(pool, x, star, pool->High(c->count));
    if (c->most >= 0) {
      c->end = kEpsilonExpr;
      c->unbounded = x;
      return true;
    }
  }
  if (!pool->MayBeEmpty(x) && seek()) return true;
  if (c->end != kEpsilonExpr && any && !enough) return false;
  if (pool->High(c->count) == kUnbounded || !StepsAreShort(*pool, x)) return false;
  c->most = MostToEndOfMeet(pool, x, y);
  if (c->most < 0) return false;
  c->unbounded = pool->Intersect(x, y);
  return true;
}

Expr BoundedParts::WithoutBound(Expressions* pool, Expr e, uint32_t length) {
  ForSomeCounter(pool, e, [&](Counter* c, Expr rest) {
    const uint32_t high = pool->High(c->count);
    if (high == kUnbounded || high <= length || !Unbound(pool, false, c) || c->most + length > high) return false;
    e = pool->Concat(c->unbounded, rest);
    return true;
  });
  return e;
}

bool BoundedParts::Find(Expressions* pool, Expr e, Split* split) {
  return ForSomeCounter(pool, e, [&](Counter* c, Expr rest) {
    const Expr body = pool->Body(c->count);
    const uint32_t high = pool->High(c->count);
    const ByteSet& begins = pool->First(body);
    if (begins.Intersects(Continuations()) || begins.Intersects(pool->First(rest))) return false;
    if (!Unbound(pool, true, c) || c->most >= high) return false;
    Expr counter = pool->Concat(c->count, c->end);
    if (c->nothing) counter = pool->Union(kEpsilonExpr, counter);
    *split = {pool->Concat(c->unbounded, rest), pool->Concat(counter, rest),
              high == kUnbounded ? kUnbounded : static_cast<uint32_t>(high - c->most), c->unbounded, pool->Star(body), high,
              c->end == kEpsilonExpr && !c->nothing, c->nothing ? kEmpty : c->end};
    return true;
  });
}

}  // namespace tokamata
