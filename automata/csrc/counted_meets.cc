#include "automata/csrc/counted_meets.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "automata/csrc/pair_numbers.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr size_t kMostPairs = 5000;       // of what is left of x and of characters
constexpr size_t kMostCounts = 5000;      // before they must have begun to repeat themselves
constexpr size_t kMostWork = 20'000'000;  // arcs followed in finding them
constexpr size_t kMostFailures = 8;
constexpr size_t kMostBounds = 256;       // of counters in x, which make states of their own

// The sum of the bounds of what is counted in an expression, each time that it is met once; stops above `most`.
class Bounds {
 public:
  Bounds(const Expressions& pool, size_t most) : pool_(pool), most_(most) {}
  // Recursion follows operator nesting, which ExpressionLimits::depth bounds.
  size_t Add(Expr e) {
    for (; pool_.Kind(e) == ExprKind::kConcat; e = pool_.Tail(e)) Add(pool_.Head(e));
    if (sum_ > most_ || !seen_.insert(e).second) return sum_;
    switch (pool_.Kind(e)) {
      case ExprKind::kRepeat: {
        const uint32_t high = pool_.High(e);
        const size_t bound = high == kUnbounded ? pool_.Low(e) : high;
        if (bound > 1) sum_ += bound;
        return Add(pool_.Body(e));
      }
      case ExprKind::kUnion:
      case ExprKind::kIntersect:
        for (uint32_t i = 0; i < pool_.NumMembers(e); ++i) Add(pool_.Members(e)[i]);
        return sum_;
      case ExprKind::kComplement: return Add(pool_.Body(e));
      default: return sum_;
    }
  }

 private:
  const Expressions& pool_;
  const size_t most_;
  size_t sum_ = 0;
  std::unordered_set<Expr> seen_;
};

}  // namespace

// What x leads to at the end of characters, and where one character more leads from there.
struct CountedMeets::States {
  std::vector<Expr> exprs;
  std::vector<std::vector<uint32_t>> after;
  size_t arcs = 0;

  bool Find(Expressions* pool, Expr x, Expr body);
};

bool CountedMeets::IsCode(Expressions* pool, Expr e) {
  constexpr size_t kMost = 256;
  if (pool->Kind(e) == ExprKind::kBytes) return true;
  if (pool->Nullable(e) || pool->MayBeEmpty(e) || pool->IsPushDown(e)) return false;
  if (const bool* const known = codes_.Find(e)) return *known;
  std::vector<Expr> work{e};
  std::unordered_set<Expr> seen{e};
  std::vector<Expressions::Term> steps;
  bool code = true;
  for (size_t i = 0; code && i < work.size(); ++i) {
    code = i < kMost && !(pool->Nullable(work[i]) && pool->First(work[i]).Any());
    if (!code) break;
    TimeLimit::Spend(4);
    pool->Step(work[i], &steps);
    for (const Expressions::Term& t : steps)
      if (seen.insert(t.target).second) work.push_back(t.target);
  }
  return codes_[e] = code;
}

bool CountedMeets::Difference(Expressions* pool, Expr x, Expr y, Expr* left) {
  constexpr size_t kMostBegun = 4;
  std::vector<Expr> begun;
  while (pool->FirstPart(x) == pool->FirstPart(y) && pool->Kind(pool->FirstPart(x)) != ExprKind::kRepeat) {
    if (begun.size() == kMostBegun || x == y || !IsCode(pool, pool->FirstPart(x))) return false;
    begun.push_back(pool->FirstPart(x));
    x = pool->Rest(x);
    y = pool->Rest(y);
  }
  const auto is_count = [pool](Expr e) { return pool->Kind(e) == ExprKind::kRepeat; };
  const Expr all = pool->FirstPart(x), some = pool->FirstPart(y), rest = pool->Rest(x);
  if (!is_count(all) || !is_count(some) || pool->Rest(y) != rest) return false;
  const Expr c = pool->Body(all);
  if (c != pool->Body(some) || pool->First(c).Intersects(pool->First(rest)) || !IsCode(pool, c)) return false;
  uint32_t low = pool->Low(all), high = pool->High(all);
  if (pool->Low(some) > high || pool->High(some) < low) {  // no number in common
  } else if (pool->Low(some) <= low) {
    if (pool->High(some) >= high) return *left = kEmpty, true;
    low = pool->High(some) + 1;
  } else if (pool->High(some) >= high) {
    high = pool->Low(some) - 1;
  } else {
    return false;
  }
  *left = pool->Concat(pool->Repeat(c, low, high), rest);
  for (; !begun.empty(); begun.pop_back()) *left = pool->Concat(begun.back(), *left);
  return true;
}

bool CountedMeets::Split(Expressions* pool, Expr e, Counted* out) {
  if (pool->Kind(e) != ExprKind::kIntersect) return false;
  Expr counter = kEmpty;
  uint32_t most = 0;
  for (uint32_t i = 0; i < pool->NumMembers(e); ++i) {
    const Expr m = pool->Members(e)[i];
    if (pool->IsPushDown(m)) return false;
    if (pool->Kind(m) != ExprKind::kRepeat || pool->MayBeEmpty(m) || pool->Nullable(pool->Body(m))) continue;
    const uint32_t bound = pool->High(m) == kUnbounded ? pool->Low(m) : pool->High(m);
    if (counter == kEmpty || bound > most) counter = m, most = bound;
  }
  if (counter == kEmpty) return false;
  std::vector<Expr> others;
  for (uint32_t i = 0; i < pool->NumMembers(e); ++i)
    if (pool->Members(e)[i] != counter) others.push_back(pool->Members(e)[i]);
  *out = {pool->Intersect(std::move(others)), pool->Body(counter), pool->Low(counter), pool->High(counter)};
  return true;
}

CountedMeets::Answer CountedMeets::Find(Expressions* pool, Expr e) const {
  Counted counted;
  if (counts_.empty() || !Split(pool, e, &counted)) return Answer::kUnknown;
  const Place* const place = places_.Find(PairKey(counted.others, counted.body));
  if (!place) return Answer::kUnknown;
  const Counts& counts = counts_[place->counts];
  const size_t known = counts.has.size();
  for (size_t k = counted.low, i = 0; k <= counted.high && i < known; ++k, ++i) {
    const size_t like = k < known ? k : known - counts.period + (k - known) % counts.period;
    if (counts.has[like][place->state / 64] >> (place->state % 64) & 1) return Answer::kYes;
  }
  return Answer::kNo;  // as many in a row as are known are all that there are
}

bool CountedMeets::States::Find(Expressions* pool, Expr x, Expr body) {
  const Expr star = pool->Star(body);
  PairNumbers pairs;  // of what is left of x, and of characters
  pairs.Of(x, star);
  std::vector<std::vector<uint32_t>> next;
  std::vector<Expressions::Term> inner, outer;
  for (uint32_t i = 0; i < pairs.Size(); ++i) {
    TimeLimit::Spend(8);
    const auto [of_x, rest] = pairs[i];
    if (pool->Nullable(rest) != (rest == star)) return false;  // some c begins another one
    pool->Step(of_x, &inner);
    pool->Step(rest, &outer);
    next.emplace_back();
    for (const auto& a : inner)
      for (const auto& b : outer)
        if (a.target != kEmpty && b.target != kEmpty && (a.bytes & b.bytes).Any())
          next[i].push_back(pairs.Of(a.target, b.target));
    if (pairs.Size() > kMostPairs) return false;
  }
  std::vector<uint32_t> number(pairs.Size(), 0);
  for (uint32_t i = 0; i < pairs.Size(); ++i)
    if (pairs[i].second == star) {
      number[i] = static_cast<uint32_t>(exprs.size());
      exprs.push_back(pairs[i].first);
    }
  after.resize(exprs.size());
  std::vector<uint32_t> seen(pairs.Size(), 0), open;
  for (uint32_t i = 0, turn = 0; i < pairs.Size(); ++i) {
    if (pairs[i].second != star) continue;
    ++turn;
    for (open = {i}; !open.empty();) {
      const uint32_t at = open.back();
      open.pop_back();
      for (const uint32_t n : next[at]) {
        TimeLimit::Spend(1);
        if (std::exchange(seen[n], turn) == turn) continue;
        if (pairs[n].second != star) {
          open.push_back(n);
          continue;
        }
        after[number[i]].push_back(number[n]);
        ++arcs;
      }
    }
  }
  return true;
}

bool CountedMeets::Count(const States& states, Counts* counts) const {
  const size_t n = states.exprs.size();
  const auto hash = [](const std::vector<uint64_t>& bits) {
    uint64_t h = 0;
    for (const uint64_t word : bits) h = MixHash(h ^ word);
    return h;
  };
  std::unordered_multimap<uint64_t, size_t> seen;
  for (size_t work = 0; counts->has.size() < kMostCounts && work < kMostWork; work += states.arcs + n) {
    TimeLimit::Spend(static_cast<int64_t>(1 + (states.arcs + n) / 64));
    const std::vector<uint64_t>& last = counts->has.back();
    const auto [from, to] = seen.equal_range(hash(last));
    for (auto it = from; it != to; ++it)
      if (counts->has[it->second] == last) {
        counts->period = counts->has.size() - 1 - it->second;
        counts->has.pop_back();
        return true;
      }
    seen.emplace(hash(last), counts->has.size() - 1);
    std::vector<uint64_t> next(last.size(), 0);
    for (size_t q = 0; q < n; ++q)
      for (const uint32_t r : states.after[q])
        if (last[r / 64] >> (r % 64) & 1) {
          next[q / 64] |= uint64_t{1} << (q % 64);
          break;
        }
    counts->has.push_back(std::move(next));
  }
  return false;
}

void CountedMeets::Explore(Expressions* pool, Expr e) {
  Counted counted;
  if (failed_.Size() >= kMostFailures || !Split(pool, e, &counted)) return;
  const uint64_t key = PairKey(counted.others, counted.body);
  if (places_.Find(key) || failed_.Find(key) || Bounds(*pool, kMostBounds).Add(counted.others) > kMostBounds) return;
  States states;
  Counts counts;
  bool found = states.Find(pool, counted.others, counted.body);
  if (found) {
    counts.has.emplace_back((states.exprs.size() + 63) / 64, 0);
    for (size_t q = 0; q < states.exprs.size(); ++q)
      if (pool->Nullable(states.exprs[q])) counts.has[0][q / 64] |= uint64_t{1} << (q % 64);
    found = Count(states, &counts);
  }
  if (!found) {
    failed_[key] = true;
    return;
  }
  counts_.push_back(std::move(counts));
  for (size_t q = 0; q < states.exprs.size(); ++q)
    places_[PairKey(states.exprs[q], counted.body)] = {static_cast<uint32_t>(counts_.size() - 1), static_cast<uint32_t>(q)};
}

}  // namespace tokamata
