#include "automata/csrc/sure_meets.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "automata/csrc/bounded_parts.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr size_t kMostSearched = 1000;  // pairs, in one search
constexpr size_t kMostRows = 4096;      // of regular operands that are kept
constexpr uint64_t kMostTexts = 1 << 20;

// c{low,high}, where e is nothing else, and neither c* nor c+; c? only where all texts of c are as long, as in what is left
// of a counter.
bool IsCount(Expressions& pool, Expr e, Expr* c, uint32_t* low, uint32_t* high) {
  if (pool.Kind(e) == ExprKind::kRepeat) {
    *c = pool.Body(e), *low = pool.Low(e), *high = pool.High(e);
    return !pool.Nullable(*c) && !pool.MayBeEmpty(*c) && (*low > 1 || *high != kUnbounded);
  }
  if (pool.Kind(e) != ExprKind::kUnion || pool.NumMembers(e) != 2 || pool.Members(e)[0] != kEpsilonExpr) return false;
  *c = pool.Members(e)[1], *low = 0, *high = 1;
  return !pool.Nullable(*c) && !pool.MayBeEmpty(*c) && pool.Parts().NumCharacters(&pool, *c) >= 0;
}

}  // namespace

RegularOperand* SureMeets::Operand() {
  if (!operand_ || operand_->NumRows() > kMostRows) operand_ = std::make_shared<RegularOperand>(pool_);
  return operand_.get();
}

MeetingLeaf* SureMeets::LeafOf(Expr x) {
  const uint32_t number = pool_->SourceOfRule(x);
  if (number >= leaves_.size()) leaves_.resize(number + 1);
  if (!leaves_[number]) leaves_[number] = dynamic_cast<MeetingLeaf*>(pool_->LeafOf(x));
  return *leaves_[number];
}

bool SureMeets::Split(Expr meet, Counted* out) {
  if (pool_->Kind(meet) != ExprKind::kIntersect) return false;
  const std::vector<Expr> members(pool_->Members(meet), pool_->Members(meet) + pool_->NumMembers(meet));
  ExprList bases;
  for (const Expr m : members) {
    if (pool_->IsPushDown(m)) {
      if (out->x != kEmpty) return false;
      out->x = m;
      continue;
    }
    std::vector<Expr> before;
    Expr last = m, c;
    for (; pool_->Kind(last) == ExprKind::kConcat; last = pool_->Tail(last)) before.push_back(pool_->Head(last));
    uint32_t low, high;
    if (!IsCount(*pool_, last, &c, &low, &high)) {
      bases.push_back(m);
      continue;
    }
    Expr base = pool_->Star(c);
    for (size_t i = before.size(); i-- > 0;) base = pool_->Concat(before[i], base);
    bases.push_back(base);
    if (low > 0) {
      const ByteSet one = BoundedParts::OneByteMembers(pool_, c);
      out->one = out->low ? out->one & one : one;
      out->at_once = out->at_once && before.empty();
    }
    out->low = std::max<uint64_t>(out->low, low);
    if (high == kUnbounded) continue;
    uint64_t bytes = high;
    int64_t characters = pool_->Parts().NumCharacters(pool_, c) == 1 ? high : -1;
    for (const Expr part : before) {
      bytes += pool_->LeastLength(part);
      const int64_t more = pool_->Parts().NumCharacters(pool_, part);
      characters = characters < 0 || more < 0 ? -1 : characters + more;
    }
    out->most_bytes = std::min(out->most_bytes, bytes);
    if (characters >= 0) out->most_characters = std::min(out->most_characters, static_cast<uint64_t>(characters));
  }
  if (out->x == kEmpty || bases.empty()) return false;
  out->base = pool_->Intersect(std::move(bases));
  return out->base != kEmpty;
}

std::optional<bool> SureMeets::Find(Expr meet) {
  Counted counted;
  if (!Split(meet, &counted)) return std::nullopt;
  if (CannotEnd(counted.x, pool_->BytesOf(counted.base))) return false;
  if (counted.most_characters != kAny && LeastCharacters(counted.x) > counted.most_characters) return false;
  const Text text = FindText(counted.x, counted.base);
  if (text.bytes == MeetingLeaf::kNotKnown) return std::nullopt;
  uint64_t bytes = text.bytes;
  if (counted.low > 1 || (counted.low == 1 && !(counted.at_once && bytes > 0))) {
    if (text.separator < 0 || !counted.one.Has(static_cast<uint8_t>(text.separator))) return std::nullopt;
    bytes += counted.low;
  }
  if (bytes > counted.most_bytes) return std::nullopt;
  return true;
}

uint64_t SureMeets::FindWherever(Expr meet, std::array<uint32_t, 256>* per_byte) {
  Counted counted;
  if (!Split(meet, &counted) || pool_->Kind(counted.x) != ExprKind::kLeaf || counted.low) return 0;
  MeetingLeaf* const leaf = LeafOf(counted.x);
  MeetingLeaf::Left left;
  const bool any = counted.most_bytes == kAny;
  if (!leaf || !leaf->MeetsWherever(pool_->LeafState(counted.x), Operand(), counted.base, any ? nullptr : &left)) return 0;
  if (any) return kAny;
  *per_byte = left.per_byte;
  return counted.most_bytes - std::min<uint64_t>(counted.most_bytes, left.bytes);
}

// Whether some part of x has no text of these bytes only.
bool SureMeets::CannotEnd(Expr x, const ByteSet& bytes) {
  if (bytes == ByteSet::All()) return false;
  for (;; x = pool_->Tail(x)) {
    const Expr part = pool_->FirstPart(x);
    if (pool_->Kind(part) == ExprKind::kLeaf)
      if (MeetingLeaf* const leaf = LeafOf(part); leaf && leaf->CannotEnd(pool_->LeafState(part), bytes)) return true;
    if (part == x) return false;
  }
}

uint64_t SureMeets::LeastCharacters(Expr x) {
  uint64_t sum = 0;
  for (;; x = pool_->Tail(x)) {
    const Expr part = pool_->FirstPart(x);
    if (pool_->Kind(part) == ExprKind::kLeaf) {
      if (MeetingLeaf* const leaf = LeafOf(part)) sum += leaf->LeastCharacters(pool_->LeafState(part));
    } else {
      sum += static_cast<uint64_t>(pool_->Parts().LeastCharacters(pool_, part));
    }
    if (part == x) return sum;
  }
}

// The nearest first: bytes read and those that are left at least.
MeetingLeaf::Text SureMeets::FindText(Expr x, Expr base) {
  if (const Text* const known = texts_.Find(PairKey(x, base))) return *known;
  if (texts_.Size() > kMostTexts) texts_.Clear();
  RegularOperand* const operand = Operand();
  struct Visit {
    Expr x, r;
    uint32_t bytes;
    size_t before;
  };
  std::vector<Visit> all;
  std::unordered_map<uint64_t, uint32_t> found;  // and after so many bytes
  // A bound on the bytes of a text, and twice the place in `all`, plus 1 for such a text.
  using Next = std::pair<uint64_t, size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  const auto add = [&](Expr e, Expr r, uint32_t bytes, size_t before) {
    const auto [it, added] = found.emplace(PairKey(e, r), bytes);
    if (!added && it->second <= bytes) return;
    it->second = bytes;
    const uint32_t least = pool_->Kind(e) == ExprKind::kLeaf ? 0 : lengths_.Least(e);
    if (least == kNoLength) return;
    queue.emplace(uint64_t{bytes} + least, 2 * all.size());
    all.push_back({e, r, bytes, before});
  };
  std::unordered_map<size_t, Text> texts;  // found at the end of a way
  std::vector<Expressions::Term> steps;
  add(x, base, 0, 0);
  Text result;
  for (size_t spent = 0; !queue.empty() && spent < kMostSearched; ++spent) {
    const auto [bound, place] = queue.top();
    queue.pop();
    const Visit at = all[place / 2];
    if (place % 2) {
      result = texts.at(place / 2);
      for (size_t i = place / 2;; i = all[i].before) {
        const uint32_t bytes = std::min(MeetingLeaf::kOfAnyLength, at.bytes - all[i].bytes + result.bytes);
        texts_[PairKey(all[i].x, all[i].r)] = {bytes, result.separator};
        if (i == 0) break;
      }
      return texts_[PairKey(x, base)];
    }
    if (found.at(PairKey(at.x, at.r)) < at.bytes) continue;
    TimeLimit::Spend(8);
    Text text;
    if (pool_->Kind(at.x) == ExprKind::kLeaf) {
      if (const Text* const known = texts_.Find(PairKey(at.x, at.r)))
        text = *known;
      else if (MeetingLeaf* const leaf = LeafOf(at.x))
        text = leaf->FindText(pool_->LeafState(at.x), operand, at.r);
      texts_[PairKey(at.x, at.r)] = text;
    } else if (pool_->Nullable(at.x) && pool_->Nullable(at.r)) {
      text.bytes = 0;
    }
    if (text.bytes != MeetingLeaf::kNotKnown) {
      texts[place / 2] = text;
      queue.emplace(uint64_t{at.bytes} + text.bytes, place + 1);
    }
    if (pool_->Kind(at.x) == ExprKind::kLeaf) continue;
    pool_->Step(at.x, &steps);
    const RegularOperand::Row& row = operand->RowOf(at.r);
    for (const Expressions::Term& t : steps) {
      if (t.target == kEmpty) continue;
      Expr last = kEmpty;
      t.bytes.ForEach([&](uint8_t b) {
        if (row[b] == kEmpty || row[b] == last) return;
        last = row[b];
        add(t.target, last, at.bytes + 1, place / 2);
      });
    }
  }
  return texts_[PairKey(x, base)] = result;
}

}  // namespace tokamata
