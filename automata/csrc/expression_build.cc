#include "automata/csrc/expression.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "automata/csrc/counted_meets.h"

namespace tokamata {
namespace {

void Tidy(ExprList* parts) {
  if (!std::is_sorted(parts->begin(), parts->end())) std::sort(parts->begin(), parts->end());
  parts->erase(std::unique(parts->begin(), parts->end()), parts->end());
}

constexpr size_t kShortSpine = 16;
constexpr size_t kMostCompared = 16;  // members of an intersection, each with the others
constexpr int kMaxMergeDepth = 24;  // nested factoring of unions; deeper ones stay unfactored, which is still right

}  // namespace

Expr Expressions::AnyBytes() { return any_bytes_; }

Expr Expressions::Bytes(const ByteSet& set) {
  if (!set.Any()) return kEmpty;
  Node n;
  n.kind = ExprKind::kBytes;
  n.first = set;
  return Intern(n);
}

Expr Expressions::Literal(std::string_view text) {
  Expr e = kEpsilonExpr;
  for (size_t i = text.size(); i-- > 0;) e = Concat(Byte(static_cast<uint8_t>(text[i])), e);
  return e;
}

Expr Expressions::Concat(Expr a, Expr b) {
  if (a == kEmpty || b == kEmpty) return kEmpty;
  if (a == kEpsilonExpr) return b;
  if (b == kEpsilonExpr) return a;
  if (b == any_bytes_ && nodes_[a].nullable) return b;
  if (nodes_[a].kind == ExprKind::kConcat) {  // re-associate to the right, from the end of a's spine
    Expr spine[kShortSpine];  // most are, and steps ask for them one after the other
    size_t n = 0;
    ExprList more;
    for (; nodes_[a].kind == ExprKind::kConcat; a = nodes_[a].b)
      if (n < kShortSpine)
        spine[n++] = nodes_[a].a;
      else
        more.push_back(nodes_[a].a);
    b = Concat(a, b);
    for (; !more.empty(); more.pop_back()) b = Concat(more.back(), b);
    while (n) b = Concat(spine[--n], b);
    return b;
  }
  if (const Expr known = Find(ExprKind::kConcat, a, b)) return known;
  if (const Expr repeated = MergeTurn(a, b); repeated != kEmpty) return repeated;
  if (nodes_[a].kind == ExprKind::kUnion && nodes_[a].push_down && Remembers(a)) {  // of what remembers: stays a union
    ExprList parts(Members(a), Members(a) + NumMembers(a));
    for (Expr& part : parts) part = Concat(part, b);
    return Union(std::move(parts));
  }
  Node n;
  n.kind = ExprKind::kConcat;
  n.a = a;
  n.b = b;
  const Node &x = nodes_[a], &y = nodes_[b];
  n.nullable = x.nullable && y.nullable;
  n.extended = x.extended || y.extended;
  n.depth = std::max(x.depth + 1, y.depth);
  n.first = x.nullable ? x.first | y.first : x.first;
  return Intern(n);
}

// x·x·R = x{2,2}·R and x·x{l,h}·R = x{l+1,h+1}·R, where x is one character of many: which loops are looked for in. Else
// kEmpty.
Expr Expressions::MergeTurn(Expr x, Expr rest) {
  constexpr int kManyBytes = 60;
  const Node& first = nodes_[x];
  if ((first.kind != ExprKind::kUnion && first.kind != ExprKind::kBytes) || first.push_down || first.nullable) return kEmpty;
  const Expr head = FirstPart(rest);
  const bool turns = nodes_[head].kind == ExprKind::kRepeat && nodes_[head].a == x;
  if ((head != x && !turns) || (first.first & ByteSet::Range(0, 0x7F)).Count() < kManyBytes) return kEmpty;
  const uint32_t low = turns ? nodes_[head].b : 1, high = turns ? nodes_[head].c : 1;
  if (low >= kUnbounded - 1 || (high != kUnbounded && high >= kUnbounded - 1)) return kEmpty;
  const Expr repeat = Repeat(x, low + 1, high == kUnbounded ? high : high + 1);
  return Concat(repeat, Rest(rest));
}

Expr Expressions::Concat(const std::vector<Expr>& parts) {
  Expr e = kEpsilonExpr;
  for (size_t i = parts.size(); i-- > 0;) e = Concat(parts[i], e);
  return e;
}

void Expressions::FlattenInto(ExprKind kind, Expr e, ExprList* out) const {
  if (nodes_[e].kind == kind)
    out->Append(Members(e), Members(e) + NumMembers(e));
  else
    out->push_back(e);
}

Expr Expressions::Union(Expr a, Expr b) {
  if (a == kEmpty || a == b) return b;
  if (b == kEmpty) return a;
  return Union(ExprList{a, b});
}

// Factors what derivatives of loops produce, so that equal states become equal expressions:
//   x{a,b}R | x{c,d}R = x{min,max}R where the intervals overlap or touch;   W*Y | W*Z = W*(Y|Z);   W*Y | Y = W*Y.
void Expressions::MergeRepeats(ExprList* parts) {
  struct Item {
    Expr body, rest;
    uint32_t low, high;
    Expr whole;
  };
  const auto repeats = [&](Expr e) { return nodes_[FirstPart(e)].kind == ExprKind::kRepeat; };
  const size_t count = static_cast<size_t>(std::count_if(parts->begin(), parts->end(), repeats));
  if (!count || parts->size() < 2) return;
  SmallVector<Item, 8> items, merged;
  ExprList others;
  items.reserve(count);
  others.reserve(parts->size() - count);
  for (Expr e : *parts) {
    const Node& head = nodes_[FirstPart(e)];
    if (head.kind == ExprKind::kRepeat)
      items.push_back({head.a, Rest(e), head.b, head.c, e});
    else
      others.push_back(e);
  }
  bool changed = false;
  std::sort(items.begin(), items.end(), [](const Item& x, const Item& y) {
    return std::tie(x.body, x.rest, x.low, x.high) < std::tie(y.body, y.rest, y.low, y.high);
  });
  for (const Item& i : items) {
    if (!merged.empty() && merged.back().body == i.body && merged.back().rest == i.rest &&
        (merged.back().high == kUnbounded || i.low <= merged.back().high + 1)) {
      Item& m = merged.back();
      m.high = m.high == kUnbounded || i.high == kUnbounded ? kUnbounded : std::max(m.high, i.high);
      m.whole = kEmpty;  // rebuilt below
      changed = true;
    } else {
      merged.push_back(i);
    }
  }
  ExprList out;
  for (size_t i = 0; i < merged.size();) {
    size_t j = i;
    ExprList tails;  // of the plain stars over one body
    for (; j < merged.size() && merged[j].body == merged[i].body; ++j) {
      Item& m = merged[j];
      if (m.low == 0 && m.high == kUnbounded)
        tails.push_back(m.rest);
      else
        out.push_back(m.whole != kEmpty ? m.whole : Concat(Repeat(m.body, m.low, m.high), m.rest));
    }
    if (tails.size() == 1)
      out.push_back(Concat(Star(merged[i].body), tails[0]));
    else if (!tails.empty()) {
      out.push_back(Concat(Star(merged[i].body), Union(tails)));
      changed = true;
    }
    for (Expr t : tails) {  // W*Y | Y = W*Y
      Expr* const it = std::lower_bound(others.begin(), others.end(), t);
      if (t != kEpsilonExpr && it != others.end() && *it == t) {
        others.erase(it);
        changed = true;
      }
    }
    i = j;
  }
  if (!changed) return;
  out.Append(others.begin(), others.end());
  parts->swap(out);
}

// X·Y | X·Z = X·(Y|Z) for a set of bytes or a union X, and for a call: two stacks with one top.
void Expressions::MergeHeads(ExprList* parts) {
  const auto has_head = [this](Expr e) {
    const Expr head = FirstPart(e);
    const ExprKind kind = nodes_[head].kind;
    return kind == ExprKind::kCall || (head != e && (kind == ExprKind::kBytes || kind == ExprKind::kUnion));
  };
  const size_t count = static_cast<size_t>(std::count_if(parts->begin(), parts->end(), has_head));
  if (count < 2) return;
  struct Item {
    Expr head, rest, whole;
    bool operator<(const Item& o) const { return head != o.head ? head < o.head : rest < o.rest; }
  };
  SmallVector<Item, 16> items;
  items.reserve(count);
  for (Expr e : *parts) {
    if (!has_head(e)) continue;
    items.push_back({FirstPart(e), Rest(e), e});
  }
  std::sort(items.begin(), items.end());
  const auto alike = [](const Item& x, const Item& y) { return x.head == y.head; };
  if (std::adjacent_find(items.begin(), items.end(), alike) == items.end()) return;
  parts->erase(std::remove_if(parts->begin(), parts->end(), has_head), parts->end());
  for (size_t first = 0, end; first < items.size(); first = end) {
    for (end = first + 1; end < items.size() && alike(items[first], items[end]);) ++end;
    Expr whole = items[first].whole;
    if (end - first > 1) {
      ExprList rests;
      rests.reserve(end - first);
      for (size_t i = first; i < end; ++i) rests.push_back(items[i].rest);
      whole = Concat(items[first].head, Union(std::move(rests)));
    }
    parts->push_back(whole);
  }
}

// X·Y | Y = X·Y where X is nullable, for all tails Y that only nullable heads separate from a member. Members are
// sorted and tails have smaller numbers than what they are tails of, so both are followed downwards. Time is bounded:
// what is not found stays, which is right, too.
void Expressions::DropTails(ExprList* parts) {
  const auto nullable_head = [this](Expr e) { return nodes_[e].kind == ExprKind::kConcat && nodes_[nodes_[e].a].nullable; };
  if (!nullable_head(parts->back()) && std::none_of(parts->begin(), parts->end(), nullable_head)) return;
  size_t steps = 64 + 8 * parts->size();
  SmallVector<uint8_t, 64> dropped;
  dropped.resize(parts->size());
  for (size_t i = parts->size(); i-- > 1 && steps;) {
    if (dropped[i]) continue;  // its tails were followed with it
    size_t k = i;
    for (Expr tail = (*parts)[i]; nullable_head(tail) && steps; --steps) {
      tail = nodes_[tail].b;
      if (k && (*parts)[k - 1] >= tail)
        k = static_cast<size_t>(std::lower_bound(parts->begin(), parts->begin() + static_cast<ptrdiff_t>(k), tail) - parts->begin());
      if ((*parts)[k] == tail) dropped[k] = 1;
      if (!k) break;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < parts->size(); ++i)
    if (!dropped[i]) (*parts)[kept++] = (*parts)[i];
  parts->resize(kept);
}

// Whether e is T*, of most of a text's characters.
bool Expressions::IsBroadStar(Expr e) const {
  constexpr int kManyBytes = 64;
  const Node& n = nodes_[e];
  return n.kind == ExprKind::kRepeat && n.b == 0 && n.c == kUnbounded && n.first.Count() >= kManyBytes;
}

// X·S | T*·S = T*·S where T* covers X: what was searched for has been found. So has it in X·T*·S with a nullable X.
// Looked for where T is most of a text's characters. Time is bounded, as in DropTails.
void Expressions::DropCovered(ExprList* parts) {
  constexpr size_t kMostStars = 4, kMostHeads = 24;
  struct Star {
    Expr star, rest, whole;
  };
  Star stars[kMostStars];
  size_t count = 0;
  if (covering_) return;
  const auto star_of = [&](Expr e) {
    const Expr head = FirstPart(e);
    return IsBroadStar(head) ? head : Expr{kEmpty};
  };
  bool changed = false;
  for (Expr& e : *parts) {
    if (nodes_[e].kind == ExprKind::kConcat && nodes_[nodes_[e].a].nullable) {
      const Expr head = nodes_[e].a, tail = nodes_[e].b, star = star_of(tail);
      if (star != kEmpty && Covers(star, head)) {
        e = tail;
        changed = true;
      }
    }
    if (const Expr star = star_of(e); star != kEmpty && count < kMostStars) stars[count++] = {star, Rest(e), e};
  }
  if (!count) return;
  if (changed) Tidy(parts);
  const auto covered_by = [&](Expr e, const Star& s) {
    size_t heads = 0;
    Expr tail = e;
    if (!nodes_[FirstPart(e)].first.SubsetOf(nodes_[s.star].first)) return false;
    for (; tail > s.rest && heads < kMostHeads; ++heads) tail = Rest(tail);
    if (tail != s.rest || e == s.whole) return false;
    for (; heads; --heads, e = Rest(e))
      if (!Covers(s.star, FirstPart(e))) return false;
    return true;
  };
  size_t kept = 0;
  for (size_t i = 0; i < parts->size(); ++i) {
    const Expr e = (*parts)[i];
    bool covered = false;
    for (size_t k = 0; k < count && !covered; ++k) covered = covered_by(e, stars[k]);
    if (!covered) {
      (*parts)[kept++] = e;
      continue;
    }
    // Two that cover each other are one language, of which one has to stay.
    const auto gone = [e](const Star& s) { return s.whole == e; };
    count = static_cast<size_t>(std::remove_if(stars, stars + count, gone) - stars);
  }
  parts->resize(kept);
}

void Expressions::Rank(Expr e, uint32_t series, uint32_t low, uint32_t high) {
  if (nodes_.IsShared(e) || e == kEmpty || e == kEpsilonExpr || ranks_.Find(e)) return;
  ranks_[e] = {series, low, high};
  nodes_[e].ranked = true;
}

bool Expressions::IsBelow(Expr x, Expr y) const {
  if (!nodes_[x].ranked || !nodes_[y].ranked) return false;
  const RankOf *const m = ranks_.Find(x), *const n = ranks_.Find(y);
  return m && n && m->series == n->series && n->low <= m->low && m->high <= n->high;
}

// Whether x is y or a part of it, as DropCounted finds.
bool Expressions::IsWithin(Expr x, Expr y, size_t* steps) const {
  while (x != y && !IsBelow(x, y)) {
    if (!*steps) return false;
    --*steps;
    const Expr a = FirstPart(x), b = FirstPart(y);
    const Node &m = nodes_[a], &n = nodes_[b];
    const bool same = m.kind == n.kind && (m.kind == ExprKind::kRepeat || m.kind == ExprKind::kPaths) && m.a == n.a;
    if (a == b || (same && n.b <= m.b && m.c <= n.c)) {
      x = Rest(x);
      y = Rest(y);
    } else if (y != kEpsilonExpr && n.nullable) {
      y = Rest(y);
    } else {
      return false;
    }
  }
  return true;
}

// The same of turns from one state of a graph in X's place.
// X{a,b}·Y | X{c,d}·Z = X{c,d}·Z where c <= a, b <= d and Y is Z or a part of it in the same way, maybe without what is
// nullable in Z: of the ways to share out a text among turns, the ones that leave the most. Time is bounded, as in DropTails.
void Expressions::DropCounted(ExprList* parts) const {
  ExprList counted;
  for (const Expr e : *parts)
    if (nodes_[e].counts || nodes_[e].paths || nodes_[e].ranked) counted.push_back(e);
  if (counted.size() < 2) return;
  size_t steps = 64 + 16 * counted.size();
  ExprList dropped;
  const auto covered = [&](Expr e) {
    return std::any_of(counted.begin(), counted.end(), [&](Expr other) {
      return steps && other != e && !std::binary_search(dropped.begin(), dropped.end(), other) && IsWithin(e, other, &steps);
    });
  };
  for (size_t i = 0; i < counted.size() && steps; ++i)
    if (covered(counted[i])) dropped.push_back(counted[i]);
  if (dropped.empty()) return;
  ExprList kept;
  std::set_difference(parts->begin(), parts->end(), dropped.begin(), dropped.end(), std::back_inserter(kept));
  parts->swap(kept);
}

// X&Y | X = X, where X is a member, a union of some, or one behind what is nullable, and X&Y&Z | X&Y = X&Y: what lookahead
// in loops makes, which would double with each turn. Time is bounded, as in DropTails.
void Expressions::DropAbsorbed(ExprList* parts) const {
  constexpr size_t kMostMembers = 32;
  ExprList meets, behind, ranked;  // intersections; concatenations that begin with what is nullable; others
  for (const Expr e : *parts) {
    const Node& n = nodes_[e];
    if (n.kind == ExprKind::kIntersect) meets.push_back(e);
    if (n.kind == ExprKind::kConcat && nodes_[n.a].nullable) behind.push_back(e);
    if (n.ranked && n.kind != ExprKind::kIntersect) ranked.push_back(e);  // which stay
  }
  if (meets.empty()) return;
  size_t steps = 64 + 8 * parts->size();
  const auto spend = [&steps](size_t n) { return steps > n ? steps -= n : steps = 0; };
  const auto has = [&](Expr e) { return std::binary_search(parts->begin(), parts->end(), e); };
  const auto ends_with = [&](Expr e, Expr x) {
    for (; e > x && spend(1) && nodes_[e].kind == ExprKind::kConcat && nodes_[nodes_[e].a].nullable;) e = nodes_[e].b;
    return e == x;
  };
  const auto covers = [&](Expr x) {
    if (has(x)) return true;
    for (size_t i = 0; i < behind.size() && spend(1); ++i)
      if (ends_with(behind[i], x)) return true;
    for (size_t i = 0; i < ranked.size() && nodes_[x].ranked && spend(1); ++i)
      if (IsWithin(x, ranked[i], &steps)) return true;
    if (nodes_[x].kind != ExprKind::kUnion || NumMembers(x) >= parts->size() || !spend(NumMembers(x))) return false;
    return std::all_of(Members(x), Members(x) + NumMembers(x), has);
  };
  const auto absorbed = [&](Expr e) {
    if (NumMembers(e) > kMostMembers) return false;
    const Expr *const first = Members(e), *const last = first + NumMembers(e);
    if (std::any_of(first, last, covers)) return true;
    for (size_t i = 0; i < meets.size() && spend(1); ++i) {
      const Expr *const other = Members(meets[i]), *const end = other + NumMembers(meets[i]);
      if (end - other < last - first && spend(kMostMembers) && std::includes(first, last, other, end)) return true;
    }
    return false;
  };
  ExprList dropped;
  for (size_t i = 0; i < meets.size() && spend(1); ++i)
    if (absorbed(meets[i])) dropped.push_back(meets[i]);
  if (dropped.empty()) return;
  ExprList kept;
  std::set_difference(parts->begin(), parts->end(), dropped.begin(), dropped.end(), std::back_inserter(kept));
  parts->swap(kept);
}

// Whether each part of e has members of a star only, so that e has.
bool Expressions::CoversParts(Expr star, Expr e) {
  switch (nodes_[e].kind) {
    case ExprKind::kConcat:
      for (; nodes_[e].kind == ExprKind::kConcat; e = nodes_[e].b)
        if (!Covers(star, nodes_[e].a)) return false;
      return Covers(star, e);
    case ExprKind::kRepeat: return Covers(star, nodes_[e].a);
    default: return false;
  }
}

// Whether all members of e are members of a star; found by stepping both, memoized. False where that takes long.
bool Expressions::Covers(Expr star, Expr e) {
  constexpr size_t kMostPairs = 1024;
  if (e == star || e == kEpsilonExpr) return true;
  if (nodes_[e].push_down || nodes_[e].extended || nodes_[star].push_down || nodes_[star].extended) return false;
  if (!nodes_[e].first.SubsetOf(nodes_[star].first)) return false;
  if (const bool* const known = covered_.Find(PairKey(star, e))) return *known;
  if (CoversParts(star, e)) return covered_[PairKey(star, e)] = true;
  covering_ = true;
  bool covers = true;
  std::vector<std::pair<Expr, Expr>> pairs{{e, star}};
  std::unordered_set<uint64_t> seen{PairKey(e, star)};
  std::vector<Term> mine, other;
  try {
    for (size_t i = 0; covers && i < pairs.size(); ++i) {
      const auto [x, s] = pairs[i];
      covers = pairs.size() <= kMostPairs && (!nodes_[x].nullable || nodes_[s].nullable) &&
               nodes_[x].first.SubsetOf(nodes_[s].first);
      if (!covers) break;
      Partition(x, &mine);
      Partition(s, &other);
      for (const Term& m : mine)
        for (const Term& o : other)
          if (m.bytes.Intersects(o.bytes) && seen.insert(PairKey(m.target, o.target)).second)
            pairs.emplace_back(m.target, o.target);
    }
  } catch (...) {
    covering_ = false;
    throw;
  }
  covering_ = false;
  if (covers)
    for (const auto& [x, s] : pairs)
      if (s == star) covered_[PairKey(star, x)] = true;
  return covered_[PairKey(star, e)] = covers;
}

Expr Expressions::Union(ExprList given) {
  size_t size = 0;
  bool flat = true;
  for (Expr e : given) {
    flat = flat && e != kEmpty && nodes_[e].kind != ExprKind::kUnion;
    size += nodes_[e].kind == ExprKind::kUnion ? NumMembers(e) : 1;
  }
  ExprList flattened, &parts = flat ? given : flattened;
  if (!flat) {
    parts.reserve(size);
    for (Expr e : given)
      if (e != kEmpty) FlattenInto(ExprKind::kUnion, e, &parts);
  }
  Tidy(&parts);
  Spend(1 + static_cast<int64_t>(parts.size() / 4));
  constexpr size_t kWorthwhile = 3, kMost = 64, kPlaces = 256, kFewPlaces = 16, kManyNodes = 512, kManyParts = 8192;
  if (parts.size() < kWorthwhile || parts.size() > kMost) return Normalize(std::move(parts));
  uint64_t hash = parts.size();
  for (Expr e : parts) hash = (hash ^ e) * 0x9E3779B97F4A7C15ull;
  if (known_parts_.size() > kManyParts) {  // mostly of unions that others took the place of
    known_parts_.clear();
    known_unions_.clear();
  }
  if (known_unions_.size() < kPlaces) known_unions_.resize(nodes_.size() < kManyNodes ? kFewPlaces : kPlaces);
  const size_t place = static_cast<size_t>(hash >> 56) % known_unions_.size();
  static_assert(kPlaces == 1 << 8, "a place is 8 bits");
  const KnownUnion& known = known_unions_[place];
  const auto first = known_parts_.begin() + known.first;
  if (known.count == parts.size() && std::equal(parts.begin(), parts.end(), first)) return known.whole;
  const Expr whole = Normalize(parts);  // of others on the way; places grow in number only
  known_unions_[place] = {static_cast<uint32_t>(known_parts_.size()), static_cast<uint32_t>(parts.size()), whole};
  known_parts_.insert(known_parts_.end(), parts.begin(), parts.end());
  return whole;
}

Expr Expressions::Normalize(ExprList parts) {
  if (parts.size() > 1) MergePaths(&parts);
  if (parts.size() > 1) DropTails(&parts);
  if (parts.size() > 1) DropCovered(&parts);
  if (parts.size() > 1) DropCounted(&parts);
  if (parts.size() > 1 && merge_depth_ < kMaxMergeDepth) {
    const size_t before = parts.size();
    ++merge_depth_;
    try {
      MergeRepeats(&parts);
      MergeHeads(&parts);
    } catch (...) {
      --merge_depth_;
      throw;
    }
    --merge_depth_;
    if (parts.size() != before) {
      ExprList flat;
      for (Expr e : parts) FlattenInto(ExprKind::kUnion, e, &flat);
      parts.swap(flat);
    }
    Tidy(&parts);
  }
  if (parts.size() > 1) DropAbsorbed(&parts);
  if (parts.empty()) return kEmpty;
  if (parts.size() == 1) return parts[0];
  ByteSet set;
  size_t sets = 0;
  bool nullable = false;
  for (Expr e : parts) {
    const Node& n = nodes_[e];
    if (e == any_bytes_) return any_bytes_;
    if (n.kind == ExprKind::kBytes) {
      set = set | n.first;
      ++sets;
    }
    if (e != kEpsilonExpr) nullable = nullable || n.nullable;
    if (n.kind == ExprKind::kComplement && std::binary_search(parts.begin(), parts.end(), n.a)) return any_bytes_;
  }
  if (sets > 1 || (nullable && parts[0] == kEpsilonExpr)) {
    ExprList rest;
    for (Expr e : parts)
      if ((sets < 2 || nodes_[e].kind != ExprKind::kBytes) && !(nullable && e == kEpsilonExpr)) rest.push_back(e);
    if (sets > 1) rest.push_back(Bytes(set));
    parts.swap(rest);
    Tidy(&parts);
    if (parts.size() == 1) return parts[0];
  }
  if (parts.size() > limits.width) ThrowLimit("expression_width", limits.width, "members of one union");
  Node n;
  n.kind = ExprKind::kUnion;
  for (Expr e : parts) {
    const Node& m = nodes_[e];
    n.nullable = n.nullable || m.nullable;
    n.extended = n.extended || m.extended;
    n.depth = std::max(n.depth, m.depth + 1);
    n.first = n.first | m.first;
  }
  return Intern(n, &parts);
}

Expr Expressions::Repeat(Expr x, uint32_t low, uint32_t high) {
  if (high == 0 || x == kEpsilonExpr) return kEpsilonExpr;
  if (x == kEmpty) return low ? kEmpty : kEpsilonExpr;
  if (nodes_[x].kind == ExprKind::kUnion && Members(x)[0] == kEpsilonExpr) {  // (y|ε){m,n} = y{0,n}
    x = Union(ExprList(Members(x) + 1, Members(x) + NumMembers(x)));
    low = 0;
  }
  if (nodes_[x].nullable) low = 0;
  if (nodes_[x].kind == ExprKind::kRepeat && High(x) == kUnbounded && Low(x) <= 1) {  // (y*){m,n}, (y+){m,n}
    if (Low(x) == 0) return x;
    return Repeat(Body(x), low, kUnbounded);
  }
  if (nodes_[x].kind == ExprKind::kRepeat) {  // (y{a,b}){m,n} = y{ma,nb} where ka..kb, for k from m to n, leave no gap
    const uint64_t a = Low(x), b = High(x), m = low, n = high;
    const bool gapless = m == n || (m + 1) * a <= m * b + 1;
    const uint64_t most = b == kUnbounded || n == kUnbounded ? kUnbounded : n * b;
    const bool fits = m * a < kUnbounded && (most < kUnbounded || b == kUnbounded || n == kUnbounded);
    if (gapless && fits) return Repeat(Body(x), static_cast<uint32_t>(m * a), static_cast<uint32_t>(most));
  }
  if (low == 1 && high == 1) return x;
  if (low == 0 && high == 1) return Union(x, kEpsilonExpr);
  if (high == kUnbounded && low <= 1)
    if (const Expr mixed = Mixed(x, low); mixed != kEmpty) return mixed;
  Node n;
  n.kind = ExprKind::kRepeat;
  n.a = x;
  n.b = low;
  n.c = high;
  n.nullable = low == 0;
  n.extended = nodes_[x].extended;
  n.depth = nodes_[x].depth + 1;
  n.first = nodes_[x].first;
  return Intern(n);
}

// x{low,}, low being 0 or 1, where what x repeats may as well come in any order, but for the first turn:
// (x+|y)* = (x|y)*, (x*y*)* = (x|y)*, (xy*)* = (x(x|y)*)?, as in the star normal form of Brüggemann-Klein (1993). Else
// kEmpty. Of (x*y)* it says more what comes when.
Expr Expressions::Mixed(Expr x, uint32_t low) {
  constexpr uint32_t kFewInside = 12;  // as characters have; what is not looks simpler apart
  const auto repeats = [this](Expr e) { return nodes_[e].kind == ExprKind::kRepeat && High(e) == kUnbounded && Low(e) <= 1; };
  const auto turn = [&](Expr e) { return repeats(e) ? Body(e) : e; };
  if (nodes_[x].kind == ExprKind::kUnion) {
    ExprList members(Members(x), Members(x) + NumMembers(x));
    if (std::none_of(members.begin(), members.end(), repeats)) return kEmpty;
    for (Expr& m : members) m = turn(m);
    return Repeat(Union(std::move(members)), low, kUnbounded);
  }
  if (nodes_[x].kind != ExprKind::kConcat || nodes_[Tail(x)].kind == ExprKind::kConcat) return kEmpty;
  const Expr head = Head(x), tail = Tail(x), first = turn(head), last = turn(tail);
  if (nodes_[first].depth > kFewInside || nodes_[last].depth > kFewInside) return kEmpty;
  if (!repeats(tail) || Low(tail)) return kEmpty;
  const Expr any = Repeat(Union(first, last), 0, kUnbounded);
  if (repeats(head) && Low(head) == 0) return any;
  return low ? Concat(first, any) : Union(kEpsilonExpr, Concat(first, any));
}

// Whether a star has all members of one of the parts.
bool Expressions::CoversAny(Expr star, const ExprList& parts) {
  return !covering_ && std::any_of(parts.begin(), parts.end(), [this, star](Expr e) { return CoversParts(star, e); });
}

Expr Expressions::Intersect(Expr a, Expr b) { return Intersect(ExprList{a, b}); }

// Of members of an intersection, x{low,} says nothing beside an x with other bounds that begin no sooner.
void Expressions::DropUnbounded(ExprList* parts) const {
  const auto says_nothing = [&](Expr e) {
    const Node& n = nodes_[e];
    return n.kind == ExprKind::kRepeat && n.c == kUnbounded && std::any_of(parts->begin(), parts->end(), [&](Expr other) {
             const Node& o = nodes_[other];
             return other != e && o.kind == ExprKind::kRepeat && o.a == n.a && n.b <= o.b;
           });
  };
  if (parts->size() > kMostCompared) return;
  for (size_t i = 0; i < parts->size();)
    if (says_nothing((*parts)[i]))
      parts->erase(parts->begin() + i);
    else
      ++i;
}

Expr Expressions::Intersect(ExprList given) {
  ExprList parts;
  for (Expr e : given) {
    if (e == kEmpty) return kEmpty;
    if (e != any_bytes_) FlattenInto(ExprKind::kIntersect, e, &parts);
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  Spend(1 + static_cast<int64_t>(parts.size() / 4));
  DropUnbounded(&parts);
  if (parts.empty()) return any_bytes_;
  if (parts.size() == 1) return parts[0];
  for (const Expr e : parts) {
    const Expr without = nodes_[e].kind == ExprKind::kComplement ? nodes_[e].a : Expr{kEmpty};
    if (!nodes_[without].counts) continue;
    if (!counted_) counted_ = std::make_shared<CountedMeets>();
    Expr left;
    for (Expr& x : parts) {
      if (!counted_->Difference(this, x, without, &left)) continue;
      x = left;
      parts.erase(std::find(parts.begin(), parts.end(), e));
      return Intersect(std::move(parts));
    }
  }
  ByteSet first = ByteSet::All(), set = ByteSet::All();
  size_t sets = 0;
  bool nullable = true;
  for (Expr e : parts) {
    const Node& n = nodes_[e];
    first = first & n.first;
    nullable = nullable && n.nullable;
    if (n.kind == ExprKind::kBytes) {
      set = set & n.first;
      ++sets;
    }
    if (n.kind == ExprKind::kComplement && std::binary_search(parts.begin(), parts.end(), n.a)) return kEmpty;
  }
  for (Expr e : parts)
    if (nodes_[e].kind == ExprKind::kComplement && IsBroadStar(nodes_[e].a) && CoversAny(nodes_[e].a, parts)) return kEmpty;
  if (!first.Any() || parts[0] == kEpsilonExpr) return nullable ? kEpsilonExpr : kEmpty;
  if (sets > 1) {
    ExprList rest{Bytes(set)};
    for (Expr e : parts)
      if (nodes_[e].kind != ExprKind::kBytes) rest.push_back(e);
    return Intersect(std::move(rest));
  }
  if (parts.size() > limits.width) ThrowLimit("expression_width", limits.width, "members of one intersection");
  Node n;
  n.kind = ExprKind::kIntersect;
  n.extended = true;
  n.nullable = nullable;
  n.first = first;
  for (Expr e : parts) n.depth = std::max(n.depth, nodes_[e].depth + 1);
  return Intern(n, &parts);
}

Expr Expressions::Complement(Expr x) {
  if (x == kEmpty) return any_bytes_;
  if (x == any_bytes_) return kEmpty;
  if (nodes_[x].kind == ExprKind::kComplement) return nodes_[x].a;
  Node n;
  n.kind = ExprKind::kComplement;
  n.a = x;
  n.extended = true;
  n.nullable = !nodes_[x].nullable;
  n.depth = nodes_[x].depth + 1;
  n.first = ByteSet::All();
  return Intern(n);
}

uint32_t Expressions::AddRules(std::shared_ptr<RuleSource> source) {
  rules_.push_back({std::move(source), {}});
  return static_cast<uint32_t>(rules_.size() - 1);
}

Expr Expressions::Call(uint32_t source, uint32_t rule, bool nullable, const ByteSet& first) {
  Node n;
  n.kind = ExprKind::kCall;
  n.a = source;
  n.b = rule;
  n.nullable = nullable;
  n.first = first;
  return Intern(n);
}

Expr Expressions::Expand(Expr call) {
  const uint32_t source = nodes_[call].a, rule = nodes_[call].b;
  std::vector<Expr>& known = rules_[source].bodies;
  if (rule >= known.size()) known.resize(std::max<size_t>(rule + 1, known.size() * 2), kEmpty);
  if (known[rule] != kEmpty) return known[rule];
  const Expr body = rules_[source].source->Expand(rule);  // may add rules and expand others
  return rules_[source].bodies[rule] = body;
}

uint32_t Expressions::AddLeaf(std::shared_ptr<LeafAutomaton> leaf) {
  leaves_.push_back(std::move(leaf));
  return static_cast<uint32_t>(leaves_.size() - 1);
}

Expr Expressions::Leaf(uint32_t leaf, uint32_t state) {
  Node n;
  n.kind = ExprKind::kLeaf;
  n.a = leaf;
  n.b = state;
  n.nullable = leaves_[leaf]->IsFinal(state);
  n.first = ByteSet::All();
  return Intern(n);
}

Expr Expressions::NestedInLeaf(uint32_t leaf, uint32_t nested, std::string_view begun, uint32_t state) {
  Expr left = leaves_[leaf]->Nested(nested, this);
  for (const char c : begun) left = AfterByte(left, static_cast<uint8_t>(c));
  return Concat(left, Leaf(leaf, state));
}

Expr Expressions::Automaton(const std::shared_ptr<const ByteTable>& table, uint32_t state) {
  const auto [it, added] = automaton_index_.emplace(table.get(), static_cast<uint32_t>(automata_.size()));
  if (added) automata_.push_back(table);
  return AutomatonState(it->second, state);
}

Expr Expressions::AutomatonState(uint32_t automaton, uint32_t state) {
  if (state == 0) return kEmpty;
  if (const Expr known = Find(ExprKind::kAutomaton, automaton, state)) return known;
  const ByteTable& table = *automata_[automaton];
  Node n;
  n.kind = ExprKind::kAutomaton;
  n.a = automaton;
  n.b = state;
  n.nullable = table.final[state] != 0;
  const uint32_t* row = table.next.data() + size_t{state} * 256;
  uint8_t live[256];  // apart, so that it is done many at a time
  for (int b = 0; b < 256; ++b) live[b] = row[b] != 0;
  for (int b = 0; b < 256; ++b) n.first.words[b >> 6] |= uint64_t{live[b]} << (b & 63);
  if (!n.first.Any()) return n.nullable ? kEpsilonExpr : kEmpty;
  return Intern(n);
}

}  // namespace tokamata
