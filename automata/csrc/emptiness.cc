#include "automata/csrc/expression.h"

#include <algorithm>
#include <optional>

#include "automata/csrc/bounded_parts.h"
#include "automata/csrc/counted_meets.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/restored.h"
#include "automata/csrc/split_meets.h"
#include "automata/csrc/summaries.h"
#include "automata/csrc/sure_meets.h"
#include "automata/csrc/without_counters.h"

namespace tokamata {

// Whether an intersection has a member that counts bytes, but not as many as another one's texts are long at least.
static bool IsTooShort(const Expressions& pool, Expr e) {
  for (uint32_t i = 0; i < pool.NumMembers(e); ++i) {
    const Expr m = pool.Members(e)[i];
    if (pool.Kind(m) == ExprKind::kRepeat && pool.Kind(pool.Body(m)) == ExprKind::kBytes && pool.High(m) < pool.LeastLength(e)) return true;
  }
  return false;
}

// Structural where that decides; a breadth-first search for a member where an intersection or complement is on top.
bool Expressions::IsEmpty(Expr e) {
  for (;;) {
    const Node n = nodes_[e];
    if (!n.extended) return e == kEmpty;
    if (n.nullable || n.emptiness == 2) return false;
    if (n.emptiness == 1) return true;
    if (n.kind == ExprKind::kConcat) return IsEmptySpine(e);
    if (n.kind == ExprKind::kRepeat) {
      e = n.a;
      continue;
    }
    if (n.kind == ExprKind::kUnion) {
      bool empty = true;
      for (uint32_t i = 0; empty && i < n.b; ++i) empty = IsEmpty(members_[n.a + i]);
      KeepEmptiness(e, empty);
      return empty;
    }
    if ((n.kind == ExprKind::kIntersect && IsTooShort(*this, e)) ||
        (counted_ && counted_->Find(this, e) == CountedMeets::Answer::kNo)) {
      KeepEmptiness(e, true);
      return true;
    }
    return SearchEmpty(e);
  }
}

// Of extended ones, the others show it themselves; not of those that are another pool's, too.
void Expressions::KeepEmptiness(Expr e, bool empty) {
  if (nodes_[e].extended && !nodes_.IsShared(e)) nodes_[e].emptiness = empty ? 1 : 2;
}

// Of a concatenation; all along its spine keep the answer, as many states share what comes later.
bool Expressions::IsEmptySpine(Expr e) {
  Expr at = e;
  bool empty = false;
  const auto unknown = [](const Node& n) { return n.extended && !n.nullable && !n.emptiness; };
  while (!empty && nodes_[at].kind == ExprKind::kConcat && unknown(nodes_[at])) {
    empty = IsEmpty(nodes_[at].a);
    at = nodes_[at].b;
  }
  empty = empty || IsEmpty(at);
  for (; e != at; e = nodes_[e].b) KeepEmptiness(e, empty);
  return empty;
}

bool Expressions::IsSurelyEmpty(Expr e, size_t most) {
  const Restored<size_t> restored(&limits.emptiness);
  limits.emptiness = std::min(limits.emptiness, most);
  try {
    return IsEmpty(e);
  } catch (const LimitError&) {
    if (TimeLimit::IsOver()) throw;
    return false;
  }
}

BoundedParts& Expressions::Parts() {
  if (!parts_) parts_ = std::make_shared<BoundedParts>();
  return *parts_;
}

SureMeets& Expressions::Sure() {
  if (!sure_) sure_ = std::make_shared<SureMeets>(this);
  return *sure_;
}

bool Expressions::SurelyNotEmpty(Expr e) {
  const Node& n = nodes_[e];
  return !n.extended || n.nullable || n.emptiness == 2 ||
         (n.kind == ExprKind::kIntersect &&
          (Parts().HasMember(this, e) || (counted_ && counted_->Find(this, e) == CountedMeets::Answer::kYes)));
}

// Splits an intersection of one push-down member and regular others.
static bool SplitMeet(const Expressions& pool, Expr root, Expr* push_down, std::vector<Expr>* regular) {
  if (pool.Kind(root) != ExprKind::kIntersect) return false;
  *push_down = kEmpty;
  for (uint32_t i = 0; i < pool.NumMembers(root); ++i) {
    const Expr m = pool.Members(root)[i];
    if (!pool.IsPushDown(m)) {
      regular->push_back(m);
    } else if (*push_down == kEmpty) {
      *push_down = m;
    } else {
      return false;
    }
  }
  return *push_down != kEmpty;
}

// Whether one push-down member and regular others have nothing in common: 1 yes, 0 no, -1 another kind of question.
int Expressions::SummarizeEmpty(Expr root) {
  Expr push_down;
  std::vector<Expr> regular;
  if (!SplitMeet(*this, root, &push_down, &regular)) return -1;
  switch (Summaries(this, limits.emptiness, Sure().Operand()).Meet(push_down, Intersect(std::move(regular)))) {
    case Summaries::Answer::kNo: return 1;
    case Summaries::Answer::kYes: return 0;
    default: return -1;
  }
}

// The same of several push-down members.
int Expressions::SplitEmpty(Expr root) {
  if (Kind(root) != ExprKind::kIntersect) return -1;
  switch (SplitMeets(this, limits.emptiness / 4).Find(root)) {
    case SplitMeets::Answer::kNo: return 1;
    case SplitMeets::Answer::kYes: return 0;
    default: return -1;
  }
}

// Whether more than all texts of a regular expression have none: its counters may multiply, what is without them is
// searched in no time.
static bool SurelyEmptyWide(Expressions* pool, Expr root) {
  constexpr size_t kMost = 5000;
  const Expr wide = WithoutCounters(pool, root);
  return wide != root && pool->IsSurelyEmpty(wide, kMost);
}

// Whether summaries without counters say that an intersection has no member.
static bool SurelyEmptySummaries(Expressions* pool, Expr root) {
  Expr push_down;
  std::vector<Expr> regular;
  if (!SplitMeet(*pool, root, &push_down, &regular)) return false;
  try {
    return Summaries(pool, pool->limits.emptiness).Meet(push_down, pool->Intersect(std::move(regular)), true) ==
           Summaries::Answer::kNo;
  } catch (const LimitError&) {  // the search may still find a member
    return false;
  }
}

// Takes turns between the expression found first and the most promising one, which may be near its end: the bound on
// the length of its members is least, then the number of its conditions, then it was found last. The former finds short
// members, the latter those at the end of a long way.
bool Expressions::SearchEmpty(Expr root) {
  struct Visit {
    Expr e;
    size_t parent;
    bool done;
  };
  const bool push_down = nodes_[root].push_down;
  constexpr int kMostInVain = 100;  // expressions of which nothing is seen soon
  int in_vain = push_down ? 0 : kMostInVain;
  const auto has_member = [this, &in_vain](Expr e) -> std::optional<bool> {
    if (SurelyNotEmpty(e)) return true;
    if (in_vain >= kMostInVain) return std::nullopt;
    const std::optional<bool> has = Sure().Find(e);
    in_vain += !has;
    return has;
  };
  if (const std::optional<bool> has = has_member(root)) {
    KeepEmptiness(root, !*has);
    return !*has;
  }
  const auto promise = [this](Expr e) {
    const Node& n = nodes_[e];
    uint32_t least = n.shortest;
    // What leaves know better is asked for only here.
    for (uint32_t i = 0; n.kind == ExprKind::kIntersect && i < n.b; ++i)
      if (const Expr m = members_[n.a + i]; nodes_[m].kind == ExprKind::kLeaf)
        least = std::max(least, LeafOf(m)->Least(LeafState(m)));
    return -(int64_t{least} << 20) - (n.kind == ExprKind::kIntersect ? n.b : 1);
  };
  std::vector<Visit> found{{root, 0, false}};
  std::vector<std::pair<int64_t, size_t>> best;  // a heap: promise, place in `found`
  std::unordered_set<Expr> seen{root};
  std::vector<Term> steps;
  size_t first = 0;
  constexpr size_t kQuick = 10;  // expressions, after which an answer by summaries may be had for less
  constexpr size_t kSome = 100;  // after which it is worth it to see whether more than all texts have none
  constexpr size_t kMany = 1000;  // after which lengths are counted
  bool summarized = !push_down, widened = push_down, bounded = false;
  for (bool turn = false; first < found.size(); turn = !turn) {
    Spend(4);
    if (!summarized && seen.size() > kQuick) {
      summarized = true;
      int empty = SummarizeEmpty(root);
      if (empty < 0) empty = SplitEmpty(root);
      if (empty >= 0) {
        KeepEmptiness(root, empty);
        return empty != 0;
      }
    }
    if (!widened && seen.size() > kSome) {
      widened = true;
      if (SurelyEmptyWide(this, root)) {
        KeepEmptiness(root, true);
        return true;
      }
    }
    if (!bounded && seen.size() > kMany) {
      bounded = true;
      if (!counted_) counted_ = std::make_shared<CountedMeets>();
      counted_->Explore(this, root);
      const CountedMeets::Answer has = counted_->Find(this, root);
      if (has != CountedMeets::Answer::kUnknown || (push_down && SurelyEmptySummaries(this, root))) {
        KeepEmptiness(root, has != CountedMeets::Answer::kYes);
        return has != CountedMeets::Answer::kYes;
      }
    }
    size_t i = first;
    if (turn && !best.empty()) {
      std::pop_heap(best.begin(), best.end());
      i = best.back().second;
      best.pop_back();
    } else {
      ++first;
    }
    if (found[i].done) continue;
    found[i].done = true;
    Partition(found[i].e, &steps);
    for (const Term& t : steps) {
      if (t.target == kEmpty || nodes_[t.target].emptiness == 1) continue;
      if (seen.count(t.target)) continue;
      const std::optional<bool> has = has_member(t.target);
      if (has == false) {
        KeepEmptiness(t.target, true);
        continue;
      }
      if (has) {  // a member: all that led here is not empty
        KeepEmptiness(t.target, false);
        for (size_t j = i;; j = found[j].parent) {
          KeepEmptiness(found[j].e, false);
          if (j == 0) return false;
        }
      }
      seen.insert(t.target);
      if ((nodes_[t.target].kind == ExprKind::kIntersect && IsTooShort(*this, t.target)) ||
          (counted_ && counted_->Find(this, t.target) == CountedMeets::Answer::kNo)) {
        KeepEmptiness(t.target, true);
        continue;
      }
      if (seen.size() > limits.emptiness)
        ThrowLimit("emptiness", limits.emptiness, "search for a member of an intersection or complement",
                   push_down ? "; no limit may be enough where several parts nest without bound or remember what was read: "
                               "whether these have a common text cannot be decided in general; bound one of them before, "
                               "as in (a & tokamata.regex(\"(?s:.{0,20})\")) - b"
                             : "");
      best.emplace_back(promise(t.target), found.size());
      std::push_heap(best.begin(), best.end());
      found.push_back({t.target, i, false});
    }
  }
  for (const Visit& v : found) KeepEmptiness(v.e, true);
  return true;
}

}  // namespace tokamata
