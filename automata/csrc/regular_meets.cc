#include "automata/csrc/regular_meets.h"

#include <algorithm>
#include <iterator>

#include "automata/csrc/id_table.h"
#include "automata/csrc/map_parts.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr uint32_t kFar[] = {24, 80};    // bounds of counters that are left out: of these, or else only of those
constexpr size_t kMostMembers = 8;
constexpr size_t kMostTuples = 4000;     // in one search,
constexpr size_t kMostInVain = 4000;     // and in all that found nothing
constexpr size_t kMostRows = 4096;       // that are kept
constexpr size_t kMostBesides = 8;
constexpr size_t kMostGood = 1 << 16;    // of each of these

}  // namespace

size_t RegularMeets::TupleHash::operator()(const Tuple& t) const {
  uint64_t h = t.others.size();
  for (const Expr e : t.others) h = MixHash(h << 1 ^ e);
  for (const Expr e : t.complements) h = MixHash(h << 1 ^ e);
  return h;
}

void RegularMeets::Tuple::Normalize() {
  for (std::vector<Expr>* const list : {&others, &complements}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

RegularOperand* RegularMeets::Operand() {
  if (!operand_ || operand_->NumRows() > kMostRows) operand_ = std::make_unique<RegularOperand>(pool_);
  return operand_.get();
}

RegularMeets::Beside* RegularMeets::BesideOf(const ByteSet& first) {
  for (const auto& b : besides_)
    if (b->first == first) return b.get();
  if (besides_.size() == kMostBesides) return nullptr;
  besides_.push_back(std::make_unique<Beside>());
  besides_.back()->first = first;
  return besides_.back().get();
}

// Recursion follows operator nesting, which ExpressionLimits::depth bounds. Complements stay: with fewer bounds inside they
// would have fewer texts.
RegularMeets::Wide RegularMeets::WithoutFar(Expr e, uint32_t far, Known* known) {
  if (const Expr* const found = known->wide.Find(e)) return {*found, known->least[e]};
  Wide wide{e, kUnbounded};
  const auto part = [&](Expr x) {
    const Wide w = WithoutFar(x, far, known);
    wide.least = std::min(wide.least, w.least);
    return w.e;
  };
  if (pool_->Kind(e) == ExprKind::kRepeat) {
    uint32_t high = pool_->High(e);
    if (high != kUnbounded && high >= far) {
      wide.least = high;
      high = kUnbounded;
    }
    const uint32_t low = pool_->Low(e);
    wide.e = pool_->Repeat(part(pool_->Body(e)), low, high);
  } else {
    wide.e = MapParts(pool_, e, part);
  }
  known->wide[e] = wide.e;
  known->least[e] = wide.least;
  return wide;
}

bool RegularMeets::Split(Expr e, uint32_t enough, ExprList* operands, uint32_t* most_bytes) {
  const Expr both = pool_->FirstPart(e), rest = pool_->Rest(e);
  if (pool_->Kind(both) != ExprKind::kIntersect || pool_->NumMembers(both) > kMostMembers) return false;
  const std::vector<Expr> members(pool_->Members(both), pool_->Members(both) + pool_->NumMembers(both));
  const auto is_regular = [this](Expr m) { return !pool_->IsPushDown(m) && !pool_->Remembers(m); };
  if (pool_->MayBeEmpty(rest) || !std::all_of(members.begin(), members.end(), is_regular)) return false;
  Beside* const beside = BesideOf(rest == kEpsilonExpr ? ByteSet() : pool_->First(rest));
  if (!beside) return false;
  *most_bytes = 0;
  for (size_t i = 0; i < std::size(kFar) && *most_bytes < enough; ++i) {
    uint32_t least = kUnbounded;
    Tuple root;
    Expr widest = kEmpty;
    for (const Expr m : members) {
      if (pool_->Kind(m) == ExprKind::kComplement) {
        root.complements.push_back(m);
        continue;
      }
      const Wide wide = WithoutFar(m, kFar[i], &known_[i]);
      least = std::min(least, wide.least);
      root.others.push_back(wide.e);
      if (widest == kEmpty || pool_->Kind(wide.e) == ExprKind::kRepeat) widest = wide.e;
    }
    const bool ends = rest == kEpsilonExpr;
    if (!ends && widest == kEmpty) return false;
    root.Normalize();
    if (least <= *most_bytes || (!beside->good.count(root) && !Explore(root, beside, &known_[i].in_vain))) continue;
    const uint32_t bytes = least == kUnbounded ? kUnbounded : least - std::min(least, beside->most);
    if (bytes <= *most_bytes) continue;
    *most_bytes = bytes;
    operands->clear();
    for (const Expr m : members)
      if (ends || pool_->Kind(m) != ExprKind::kComplement) operands->push_back(pool_->Concat(m, rest));
    if (ends || root.complements.empty()) continue;
    ExprList more(root.complements);
    more.push_back(widest);
    operands->push_back(pool_->Concat(pool_->Intersect(std::move(more)), rest));
  }
  return *most_bytes > 0;
}

// All that bytes lead to, then backwards from the ends.
bool RegularMeets::Explore(const Tuple& root, Beside* beside, size_t* in_vain) {
  if (*in_vain > kMostInVain || beside->bad.count(root)) return false;
  RegularOperand* const operand = Operand();
  std::vector<Tuple> all{root};
  std::unordered_map<Tuple, uint32_t, TupleHash> place{{root, 0}};
  std::vector<std::vector<uint32_t>> before(1);
  std::vector<std::pair<uint32_t, uint32_t>> ends;  // bytes to an end, and where
  std::vector<const RegularOperand::Row*> rows;  // of others, then of complements
  std::vector<Expr> last;
  bool open = false;  // something was not looked at
  for (uint32_t i = 0; i < all.size() && !open; ++i) {
    TimeLimit::Spend(4);
    const Tuple at = all[i];
    const size_t num_others = at.others.size();
    const auto is_final = [operand](Expr r) { return operand->IsFinal(r); };
    const bool all_complements = std::all_of(at.complements.begin(), at.complements.end(), is_final);
    if (all_complements && std::all_of(at.others.begin(), at.others.end(), is_final)) ends.emplace_back(0, i);
    const bool may_end = std::any_of(at.others.begin(), at.others.end(), is_final);
    rows.clear();
    for (const Expr r : at.others) rows.push_back(&operand->RowOf(r));
    for (const Expr r : at.complements) rows.push_back(&operand->RowOf(r));
    last.assign(rows.size(), kEmpty);
    for (size_t b = 0; b < 256 && !open; ++b) {
      if (may_end && beside->first.Has(static_cast<uint8_t>(b)))  // some might go on where others have ended
        for (size_t k = 0; k < num_others; ++k) open = open || (*rows[k])[b] != kEmpty;
      bool same = true, dead = false;
      for (size_t k = 0; k < rows.size(); ++k) {
        const Expr r = (*rows[k])[b];
        same = same && r == last[k];
        dead = dead || r == kEmpty;
        last[k] = r;
      }
      if (same || dead) continue;
      const auto middle = last.begin() + static_cast<ptrdiff_t>(num_others);
      Tuple next{{last.begin(), middle}, {middle, last.end()}};
      next.Normalize();
      if (const auto good = beside->good.find(next); good != beside->good.end()) {
        ends.emplace_back(good->second + 1, i);
        continue;
      }
      const auto [it, added] = place.emplace(std::move(next), static_cast<uint32_t>(all.size()));
      if (added) {
        all.push_back(it->first);
        before.emplace_back();
        open = open || all.size() > kMostTuples || beside->bad.count(it->first);
      }
      before[it->second].push_back(i);
    }
  }
  std::vector<uint32_t> bytes(all.size(), kUnbounded);
  if (!open) {
    std::sort(ends.begin(), ends.end());
    std::vector<uint32_t> now, later;
    for (uint32_t d = 0, next = 0; next < ends.size() || !now.empty(); ++d) {
      for (; next < ends.size() && ends[next].first == d; ++next) now.push_back(ends[next].second);
      for (const uint32_t i : now) {
        if (bytes[i] != kUnbounded) continue;
        bytes[i] = d;
        later.insert(later.end(), before[i].begin(), before[i].end());
      }
      now = std::exchange(later, {});
    }
    open = std::count(bytes.begin(), bytes.end(), kUnbounded) > 0;
  }
  if (open) {
    *in_vain += all.size();
    beside->bad.insert(root);
    return false;
  }
  if (beside->good.size() > kMostGood) {
    beside->good.clear();
    beside->most = 0;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    beside->most = std::max(beside->most, bytes[i]);
    beside->good.emplace(std::move(all[i]), bytes[i]);
  }
  return true;
}

}  // namespace tokamata
