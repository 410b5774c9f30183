// JsonStrings::Intersect: lengths as counters, and what follows a beginning, instead of intersections.
#include <algorithm>
#include <iterator>
#include <vector>

#include "constraints/csrc/json_string.h"

namespace tokamata {
namespace {

constexpr uint64_t kNoBound = kUnbounded;
constexpr int kMostBranchings = 3;  // alternatives in a row that are taken apart

uint64_t Times(uint64_t a, uint64_t b) {
  return a == 0 || b == 0 ? 0 : std::min(a > kNoBound / b ? kNoBound : a * b, kNoBound);
}
uint64_t Plus(uint64_t a, uint64_t b) { return std::min(a + b, kNoBound); }
uint64_t Minus(uint64_t a, uint64_t b) { return a >= kNoBound ? kNoBound : a > b ? a - b : 0; }

}  // namespace

bool JsonStrings::IsLength(Expr e, Lengths* lengths) const {
  if (any_character_ == kEmpty) return false;
  *lengths = {0, 0};
  if (e == kEpsilonExpr) return true;
  *lengths = {1, 1};
  if (e == any_character_) return true;
  if (pool_.Kind(e) != ExprKind::kRepeat || pool_.Body(e) != any_character_) return false;
  *lengths = {pool_.Low(e), pool_.High(e)};
  return true;
}

// The lengths of which all texts are members and no others, in ascending order; empty: it is something else.
std::vector<JsonStrings::Lengths> JsonStrings::AllOfLengths(Expr e) const {
  Lengths one;
  if (IsLength(e, &one)) return {one};
  if (const auto* const unions = unions_of_lengths_.IfMade())
    if (const auto known = unions->find(e); known != unions->end()) return known->second;
  return {};
}

Expr JsonStrings::OfLengths(const std::vector<Lengths>& lengths) {
  std::vector<Expr> parts;
  for (const Lengths& l : lengths)
    parts.push_back(Length(static_cast<uint32_t>(l.low), static_cast<uint32_t>(l.high)));
  const Expr e = pool_.Union(std::move(parts));
  if (lengths.size() > 1) unions_of_lengths_->emplace(e, lengths);  // whose form does not show it
  return e;
}

// The characters that one of them may be; nothing where e is no class.
std::optional<CodePointRanges> JsonStrings::ClassOf(Expr e) const {
  if (!characters_.count(e)) return std::nullopt;
  for (const auto& [ranges, character] : classes_)
    if (character == e) return ranges;
  for (uint32_t c = 0; c < 128; ++c)
    if (ascii_[c] == e) return CodePointRanges{{c, c}};
  return std::nullopt;
}

// As texts of all lengths between two of characters of a class.
std::optional<JsonStrings::Counted> JsonStrings::AsCounted(Expr e) const {
  const bool repeats = pool_.Kind(e) == ExprKind::kRepeat;
  std::optional<CodePointRanges> characters = ClassOf(repeats ? pool_.Body(e) : e);
  if (!characters) return std::nullopt;
  return Counted{std::move(*characters), repeats ? Lengths{pool_.Low(e), pool_.High(e)} : Lengths{1, 1}};
}

// Whether texts are surely made of some characters only. Recursion follows operator nesting, as above.
bool JsonStrings::OnlyHas(Expr e, const CodePointRanges& characters) const {
  if (e == kEpsilonExpr) return true;
  if (const std::optional<CodePointRanges> own = ClassOf(e)) return IntersectRanges(*own, characters) == *own;
  switch (pool_.Kind(e)) {
    case ExprKind::kConcat:
      for (; pool_.Kind(e) == ExprKind::kConcat; e = pool_.Tail(e))
        if (!OnlyHas(pool_.Head(e), characters)) return false;
      return OnlyHas(e, characters);
    case ExprKind::kRepeat: return OnlyHas(pool_.Body(e), characters);
    case ExprKind::kUnion:
      return std::all_of(pool_.Members(e), pool_.Members(e) + pool_.NumMembers(e),
                         [&](Expr m) { return OnlyHas(m, characters); });
    default: return false;
  }
}

// The least and the most characters of members, or more widely; nothing where the expression does not tell. Recursion
// follows operator nesting, which ExpressionLimits::depth bounds.
std::optional<JsonStrings::Lengths> JsonStrings::LengthsOf(Expr e) {
  const auto known = lengths_->find(e);
  if (known != lengths_->end()) return known->second;
  const std::optional<Lengths> found = FindLengths(e);
  lengths_->emplace(e, found);
  return found;
}

std::optional<JsonStrings::Lengths> JsonStrings::FindLengths(Expr e) {
  static const ByteSet ascii = ByteSet::Range(0x20, 0x7F) - ByteSet::Of('"') - ByteSet::Of('\\');
  const ByteSet raw = style_ == StringStyle::kYamlSingle ? ascii - ByteSet::Of('\'') : ascii;
  if (e == kEpsilonExpr) return Lengths{0, 0};
  if (characters_.count(e)) return Lengths{1, 1};
  switch (pool_.Kind(e)) {
    case ExprKind::kBytes:
      if (pool_.Set(e).SubsetOf(raw) || pool_.Set(e).SubsetOf(ByteSet::Range(0xC2, 0xF4))) return Lengths{1, 1};
      if (pool_.Set(e).SubsetOf(ByteSet::Range(0x80, 0xBF))) return Lengths{0, 0};  // goes on with a character
      return std::nullopt;
    case ExprKind::kConcat: {
      Lengths sum;
      for (; pool_.Kind(e) == ExprKind::kConcat; e = pool_.Tail(e)) {
        const std::optional<Lengths> head = LengthsOf(pool_.Head(e));
        if (!head) return std::nullopt;
        sum = {Plus(sum.low, head->low), Plus(sum.high, head->high)};
      }
      const std::optional<Lengths> last = LengthsOf(e);
      if (!last) return std::nullopt;
      return Lengths{Plus(sum.low, last->low), Plus(sum.high, last->high)};
    }
    case ExprKind::kUnion: {
      Lengths all{kNoBound, 0};
      for (uint32_t i = 0; i < pool_.NumMembers(e); ++i) {
        const std::optional<Lengths> one = LengthsOf(pool_.Members(e)[i]);
        if (!one) return std::nullopt;
        all = {std::min(all.low, one->low), std::max(all.high, one->high)};
      }
      return all;
    }
    case ExprKind::kRepeat: {
      const std::optional<Lengths> body = LengthsOf(pool_.Body(e));
      if (!body) return std::nullopt;
      return Lengths{Times(body->low, pool_.Low(e)), Times(body->high, pool_.High(e))};
    }
    default: return std::nullopt;
  }
}

// The members of e that have the least length which LengthsOf tells, if any.
std::optional<Expr> JsonStrings::Shortest(Expr e) {
  const std::optional<Lengths> own = LengthsOf(e);
  if (!own || own->low >= kNoBound) return std::nullopt;
  if (own->low == own->high) return e;
  std::vector<Expr> parts;
  switch (pool_.Kind(e)) {
    case ExprKind::kUnion:
      parts.assign(pool_.Members(e), pool_.Members(e) + pool_.NumMembers(e));
      for (Expr& part : parts) {
        const std::optional<Lengths> lengths = LengthsOf(part);
        if (!lengths) return std::nullopt;
        const std::optional<Expr> least = lengths->low > own->low ? kEmpty : Shortest(part);
        if (!least) return std::nullopt;
        part = *least;
      }
      return pool_.Union(std::move(parts));
    case ExprKind::kRepeat: {
      const std::optional<Expr> body = Shortest(pool_.Body(e));
      if (!body) return std::nullopt;
      const bool none = LengthsOf(pool_.Body(e))->low == 0;  // then turns may be as many as before
      return pool_.Repeat(*body, pool_.Low(e), none ? pool_.High(e) : pool_.Low(e));
    }
    case ExprKind::kConcat:
      for (;; e = pool_.Tail(e)) {
        const Expr part = pool_.FirstPart(e);
        const std::optional<Expr> least = Shortest(part);
        if (!least) return std::nullopt;
        parts.push_back(*least);
        if (part == e) return pool_.Concat(parts);
      }
    default: return std::nullopt;
  }
}

// The members of e with lengths within the bounds, where counters express that.
std::optional<Expr> JsonStrings::WithLengths(Expr e, const Lengths& bounds, int depth) {
  const std::optional<Lengths> own = LengthsOf(e);
  if (!own) return std::nullopt;
  if (own->low >= bounds.low && own->high <= bounds.high) return e;
  if (own->high < bounds.low || own->low > bounds.high) return kEmpty;
  if (own->low == bounds.high)
    if (const std::optional<Expr> least = Shortest(e)) return least;
  switch (pool_.Kind(e)) {
    case ExprKind::kUnion: {
      const std::vector<Expr> members(pool_.Members(e), pool_.Members(e) + pool_.NumMembers(e));
      std::vector<Expr> parts;
      for (Expr m : members) {
        const std::optional<Expr> part = WithLengths(m, bounds, depth);
        if (!part) return std::nullopt;
        parts.push_back(*part);
      }
      return pool_.Union(std::move(parts));
    }
    case ExprKind::kRepeat: {
      const std::optional<Lengths> body = LengthsOf(pool_.Body(e));
      if (!body || body->low != body->high || body->low == 0) return std::nullopt;
      const uint64_t step = body->low;
      const uint64_t low = std::max<uint64_t>(pool_.Low(e), (bounds.low + step - 1) / step);
      const uint64_t high = std::min<uint64_t>(pool_.High(e), bounds.high >= kNoBound ? kNoBound : bounds.high / step);
      if (low > high) return kEmpty;
      return pool_.Repeat(pool_.Body(e), static_cast<uint32_t>(low), static_cast<uint32_t>(high));
    }
    case ExprKind::kConcat: {
      std::vector<Expr> pieces;
      for (; pool_.Kind(e) == ExprKind::kConcat; e = pool_.Tail(e)) pieces.push_back(pool_.Head(e));
      pieces.push_back(e);
      constexpr uint32_t kFewBranches = 4;
      size_t open = pieces.size();  // the one piece whose length is not fixed
      uint64_t fixed = 0;
      for (size_t i = 0; i < pieces.size(); ++i) {
        const std::optional<Lengths> piece = LengthsOf(pieces[i]);
        if (!piece) return std::nullopt;
        if (piece->low == piece->high) {
          fixed = Plus(fixed, piece->low);
          continue;
        }
        if (open == pieces.size()) {
          open = i;
          continue;
        }
        // Two of them: branch by branch, where one is an alternative as in https?://.*
        const size_t branching = pool_.Kind(pieces[open]) == ExprKind::kUnion ? open : i;
        const Expr choice = pieces[branching];
        if (depth == 0 || pool_.Kind(choice) != ExprKind::kUnion || pool_.NumMembers(choice) > kFewBranches)
          return std::nullopt;
        const std::vector<Expr> members(pool_.Members(choice), pool_.Members(choice) + pool_.NumMembers(choice));
        std::vector<Expr> parts;
        for (Expr m : members) {
          pieces[branching] = m;
          const std::optional<Expr> part = WithLengths(pool_.Concat(pieces), bounds, depth - 1);
          if (!part) return std::nullopt;
          parts.push_back(*part);
        }
        return pool_.Union(std::move(parts));
      }
      // Where the counted piece and what follows begin alike, each count would be a state of its own.
      const Expr rest = pool_.Concat(std::vector<Expr>(pieces.begin() + static_cast<int64_t>(open) + 1, pieces.end()));
      const ByteSet common = pool_.First(rest) & pool_.First(pieces[open]);
      if (rest != kEpsilonExpr && (common - ByteSet::Of('\\')).Any()) return std::nullopt;
      const std::optional<Expr> part =
          WithLengths(pieces[open],
                      {Minus(bounds.low, fixed), bounds.high < fixed ? 0 : Minus(bounds.high, fixed)}, depth);
      if (!part) return std::nullopt;
      pieces[open] = *part;
      return pool_.Concat(pieces);
    }
    default: return std::nullopt;
  }
}

// Where x has the texts with some character of a set, and says so, the star of all other characters; else kEmpty.
Expr JsonStrings::StarOfOthers(Expr x) {
  if (pool_.FirstPart(x) != Any() || x == Any()) return kEmpty;
  const Expr rest = pool_.Rest(x);
  if (pool_.Kind(rest) != ExprKind::kConcat || pool_.Tail(rest) != Any()) return kEmpty;
  const std::optional<CodePointRanges> set = ClassOf(pool_.Head(rest));
  return set ? pool_.Star(Characters(ComplementRanges(*set))) : Expr{kEmpty};
}

Expr JsonStrings::Complement(Expr x) {
  const std::vector<Lengths> lengths = AllOfLengths(x);
  if (lengths.empty()) {
    if (const Expr others = StarOfOthers(x); others != kEmpty) return others;
    const Expr others = pool_.Difference(Any(), x);
    opposites_->emplace(others, x);
    return others;
  }
  std::vector<Lengths> others;
  uint64_t low = 0;
  for (const Lengths& l : lengths) {
    if (l.low > low) others.push_back({low, l.low - 1});
    low = Plus(l.high, 1);
  }
  if (low < kNoBound) others.push_back({low, kNoBound});
  return OfLengths(others);
}

// Whether that any text may follow shows in e, so that it is seen at once that another one has all that is left of it.
bool JsonStrings::EndsFreely(Expr e) {
  while (pool_.Kind(e) == ExprKind::kConcat) e = pool_.Tail(e);
  if (pool_.Kind(e) != ExprKind::kUnion && pool_.Kind(e) != ExprKind::kIntersect) return e == Any();
  const std::vector<Expr> members(pool_.Members(e), pool_.Members(e) + pool_.NumMembers(e));
  const auto ends_freely = [this](Expr m) { return EndsFreely(m); };
  if (pool_.Kind(e) == ExprKind::kUnion) return std::all_of(members.begin(), members.end(), ends_freely);
  return std::any_of(members.begin(), members.end(), ends_freely);
}

// What has the same contents as e where those end with any text: with any bytes there, so that others have nothing left
// beside the opposite as soon as that is reached, without a look at them. What begins with any text stays as it is: other
// forms of it are known.
Expr JsonStrings::Onward(Expr e) {
  if (pool_.Kind(e) == ExprKind::kUnion) {
    std::vector<Expr> members(pool_.Members(e), pool_.Members(e) + pool_.NumMembers(e));
    for (Expr& m : members) m = Onward(m);
    return pool_.Union(std::move(members));
  }
  std::vector<Expr> pieces;
  for (; pool_.Kind(e) == ExprKind::kConcat; e = pool_.Tail(e)) pieces.push_back(pool_.Head(e));
  const bool any = !pieces.empty() && e == Any() && pool_.Kind(pieces[0]) != ExprKind::kRepeat;
  pieces.push_back(any ? pool_.AnyBytes() : e);
  return pool_.Concat(pieces);
}

// Where a has the characters of a class only, whether b has it too is a matter of its length.
Expr JsonStrings::Difference(Expr a, Expr b) {
  if (b == Any()) return kEmpty;
  if (a == Any()) return Complement(b);
  if (!AllOfLengths(b).empty()) return Intersect(a, Complement(b));
  const std::optional<Counted> counted = AsCounted(b);
  if (!counted || !OnlyHas(a, counted->characters)) return pool_.Difference(a, EndsFreely(a) ? b : Onward(b));
  return Intersect(a, Complement(OfLengths({counted->lengths})));
}

// The contents of a with one of b's beginnings, where any text may follow these and they are few: what a has left after
// each. Contents have all spellings of their texts, so that it does not matter which one a beginning has.
std::optional<Expr> JsonStrings::WithBeginnings(Expr a, Expr b, int* steps) {
  constexpr int kMostNext = 4;
  static const ByteSet plain = ByteSet::Range(0x20, 0x7E) - ByteSet::Of('"') - ByteSet::Of('\\');
  if (a == kEmpty || b == Any()) return a;
  const ByteSet next = pool_.First(b) & plain;
  if (!next.Any() || next.Count() > kMostNext || pool_.Nullable(b)) return std::nullopt;
  std::vector<Expr> all, both;
  for (int c = 0; c < 0x80; ++c) {
    if (!next.Has(static_cast<uint8_t>(c))) continue;
    if (--*steps < 0) return std::nullopt;
    const Expr character = Character(static_cast<uint32_t>(c)), rest = pool_.AfterByte(b, static_cast<uint8_t>(c));
    const std::optional<Expr> others = WithBeginnings(pool_.AfterByte(a, static_cast<uint8_t>(c)), rest, steps);
    if (!others) return std::nullopt;
    all.push_back(pool_.Concat(character, rest));
    both.push_back(pool_.Concat(character, *others));
  }
  constexpr size_t kMostSpelled = 100;
  const Expr begun = pool_.Union(std::move(all));
  const bool others = begun != b && !pool_.IsSurelyEmpty(pool_.Difference(b, begun), kMostSpelled);
  if (others) return std::nullopt;  // characters that it may begin with, too
  return pool_.Union(std::move(both));
}

Expr JsonStrings::Intersect(Expr a, Expr b) {
  if (a == Any()) return b;
  if (b == Any()) return a;
  if (const auto opposite = opposites_->find(b); opposite != opposites_->end()) return Difference(a, opposite->second);
  if (const auto opposite = opposites_->find(a); opposite != opposites_->end()) return Difference(b, opposite->second);
  if (const std::optional<Counted> of_a = AsCounted(a), of_b = AsCounted(b); of_a && of_b) {
    const Lengths both{std::max(of_a->lengths.low, of_b->lengths.low), std::min(of_a->lengths.high, of_b->lengths.high)};
    if (both.low > both.high) return kEmpty;
    const Expr character = Characters(IntersectRanges(of_a->characters, of_b->characters));
    if (character != kEmpty) return pool_.Repeat(character, static_cast<uint32_t>(both.low), static_cast<uint32_t>(both.high));
    return both.low ? kEmpty : kEpsilonExpr;
  } else if (of_a || of_b) {
    const Expr own = of_a ? a : b, other = of_a ? b : a;
    const auto& [characters, lengths] = of_a ? *of_a : *of_b;
    const Expr length = OfLengths({lengths}), star = pool_.Star(Characters(characters));
    if (own != length && own != star && lengths.high > 1)
      return Intersect(OnlyHas(other, characters) ? other : pool_.Intersect(other, star), length);
  }
  const std::vector<Lengths> of_a = AllOfLengths(a), of_b = AllOfLengths(b);
  if (!of_a.empty() && !of_b.empty()) {
    std::vector<Lengths> both;
    for (const Lengths& x : of_a)
      for (const Lengths& y : of_b)
        if (std::max(x.low, y.low) <= std::min(x.high, y.high))
          both.push_back({std::max(x.low, y.low), std::min(x.high, y.high)});
    return OfLengths(both);
  }
  if (of_a.size() > 1) return Intersect(b, a);
  if (of_b.size() > 1) {
    std::vector<Expr> parts;
    for (const Lengths& l : of_b) parts.push_back(Intersect(a, OfLengths({l})));
    return pool_.Union(std::move(parts));
  }
  constexpr int kMostSteps = 100;
  for (int i = 0; i < 2; ++i, std::swap(a, b)) {
    int steps = kMostSteps;
    if (const std::optional<Expr> both = WithBeginnings(a, b, &steps)) return *both;
  }
  Lengths bounds, others;
  if (IsLength(a, &bounds)) std::swap(a, b);
  if (!IsLength(b, &bounds)) return pool_.Intersect(a, b);
  if (pool_.Kind(a) == ExprKind::kIntersect) {  // with a length among its members
    std::vector<Expr> members(pool_.Members(a), pool_.Members(a) + pool_.NumMembers(a));
    const auto length = std::find_if(members.begin(), members.end(), [&](Expr m) { return IsLength(m, &others); });
    if (length != members.end()) {
      b = Intersect(*length, b);
      members.erase(length);
      return Intersect(pool_.Intersect(std::move(members)), b);
    }
  }
  if (const std::optional<Expr> e = WithLengths(a, bounds, kMostBranchings)) return *e;
  const std::optional<Lengths> own = LengthsOf(a);  // a bound that holds anyway would only slow the masks down
  if (own && own->low >= bounds.low) bounds.low = 0;
  if (own && own->high <= bounds.high) bounds.high = kNoBound;
  return pool_.Intersect(a, Length(static_cast<uint32_t>(bounds.low), static_cast<uint32_t>(bounds.high)));
}

}  // namespace tokamata
