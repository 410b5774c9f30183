// Expressions that begin with rules which remember what they have read (see RuleSource).
#include <algorithm>

#include "automata/csrc/along_spine.h"
#include "automata/csrc/opening_rules.h"

namespace tokamata {

bool Expressions::SplitCall(Expr e, Expr* call, Expr* rest) const {
  *call = FirstPart(e);
  *rest = Rest(e);
  return nodes_[*call].kind == ExprKind::kCall;
}

bool Expressions::SplitBytes(Expr e, Expr* bytes, Expr* rest) const {
  *bytes = FirstPart(e);
  *rest = Rest(e);
  return nodes_[*bytes].kind == ExprKind::kBytes && !nodes_[*rest].extended;
}

bool Expressions::Remembers(Expr e) const {
  Expr call, rest;
  const Node& n = nodes_[e];
  if (n.kind != ExprKind::kUnion) return SplitCall(e, &call, &rest) && Rules(SourceOfRule(call))->Remembers(Rule(call));
  for (uint32_t i = 0; i < n.b; ++i)
    if (SplitCall(members_[n.a + i], &call, &rest) && Rules(SourceOfRule(call))->Remembers(Rule(call))) return true;
  return false;
}

bool Expressions::BeginsRemembering(Expr e) const {
  constexpr int kMost = 1000;
  static const ByteSet before = [] {  // white space, and a quote
    ByteSet set;
    for (const char c : {' ', '\t', '\n', '\r', '"'}) set.Add(static_cast<uint8_t>(c));
    return set;
  }();
  std::vector<Expr> open{e};
  for (int i = 0; i < kMost && !open.empty(); ++i) {
    const Expr at = open.back();
    open.pop_back();
    const Node& n = nodes_[at];
    if (n.kind == ExprKind::kCall && Rules(SourceOfRule(at))->Remembers(Rule(at))) {
      auto* const rules = dynamic_cast<OpeningRules*>(Rules(SourceOfRule(at)));
      if (rules && rules->Opens(Rule(at))) return true;
    }
    if (n.kind == ExprKind::kUnion) open.insert(open.end(), members_.begin() + n.a, members_.begin() + n.a + n.b);
    if (n.kind != ExprKind::kConcat) continue;
    open.push_back(n.a);
    const bool passes = nodes_[n.a].kind == ExprKind::kBytes && nodes_[n.a].first.Intersects(before);
    if (Nullable(n.a) || passes) open.push_back(n.b);
  }
  return !open.empty();
}

Expr Expressions::Forget(Expr e) {
  bool any = false;
  for (const RuleTable& rules : rules_) any = any || rules.source->HasMemory();
  if (!any) return e;
  Expr call, rest;
  if (nodes_[e].kind == ExprKind::kUnion) {
    std::vector<Expr> parts(Members(e), Members(e) + NumMembers(e));
    bool changed = false;
    for (Expr& part : parts) {
      const Expr less = Forget(part);
      changed = changed || less != part;
      part = less;
    }
    return changed ? Union(std::move(parts)) : e;
  }
  if (!SplitCall(e, &call, &rest) || !Rules(SourceOfRule(call))->Remembers(Rule(call))) return Bare(e);
  const Expr like = Rules(SourceOfRule(call))->Forget(Rule(call));
  return Concat(like == kEmpty ? call : like, Bare(rest));
}

// Recursion follows the nesting of unions.
Expr Expressions::Bare(Expr e) {
  const auto of_end = [this](Expr end) {
    if (nodes_[end].kind == ExprKind::kCall) {
      const Expr less = Rules(SourceOfRule(end))->Bare(Rule(end));
      return less == kEmpty ? end : less;
    }
    if (nodes_[end].kind != ExprKind::kUnion) return end;
    std::vector<Expr> parts(Members(end), Members(end) + NumMembers(end));
    for (Expr& part : parts) part = Bare(part);
    return Union(std::move(parts));
  };
  const auto of_head = [this](Expr head) { return nodes_[head].kind == ExprKind::kConcat ? head : Bare(head); };
  const auto stops = [this](Expr at, size_t) { return !IsPushDown(at); };
  return AlongSpine(this, e, &bare_, stops, of_end, of_head);
}

// Recursion follows the nesting of unions and repetitions, which may be of calls here.
Expr Expressions::Approximate(Expr e, Side side) {
  const auto of_end = [this, side](Expr end) {
    const Node n = nodes_[end];
    if (n.kind == ExprKind::kCall) {
      RuleSource* const rules = Rules(SourceOfRule(end));
      return rules->MayRemember() ? rules->Approximate(Rule(end), side) : end;
    }
    if (n.kind == ExprKind::kRepeat) return Repeat(Approximate(n.a, side), n.b, n.c);
    if (n.kind != ExprKind::kUnion) return end;
    std::vector<Expr> parts(Members(end), Members(end) + NumMembers(end));
    for (Expr& part : parts) part = Approximate(part, side);
    return Union(std::move(parts));
  };
  const auto of_head = [this, side](Expr head) { return Approximate(head, side); };
  const auto stops = [this](Expr at, size_t) { return !IsPushDown(at); };
  return AlongSpine(this, e, &approximations_[static_cast<int>(side)], stops, of_end, of_head);
}

struct Expressions::EndSearch {
  const ByteSet* bytes;  // null: all
  FlatMap<Expr, bool>* known;
  std::unordered_set<Expr> tried;
};

bool Expressions::SurelyEnds(Expr e, const ByteSet& bytes) {
  const bool all = bytes == ByteSet::All();
  if (all && !nodes_[e].push_down) return e != kEmpty;
  if (!all && !(bytes == ends_of_)) {
    ends_[1].Clear();
    ends_of_ = bytes;
  }
  EndSearch search{all ? nullptr : &bytes, &ends_[!all], {}};
  if (const bool* const known = search.known->Find(e)) return *known;
  const bool ends = FindEnd(e, &search, 0);
  return (*search.known)[e] = ends;
}

// Each rule is looked into once, the shortest alternatives first; so an end may be missed, where rules call each other.
bool Expressions::FindEnd(Expr e, EndSearch* search, int depth) {
  constexpr int kMostDepth = 500;
  constexpr size_t kMostRules = 1000;
  const ByteSet* const bytes = search->bytes;
  for (;;) {
    const Node n = nodes_[e];
    if (bytes ? n.nullable || e == kEmpty : !n.push_down) return e != kEmpty;
    if (const bool* const known = search->known->Find(e); known && *known) return true;
    if (depth > kMostDepth || search->tried.size() > kMostRules) return false;
    if (n.kind == ExprKind::kConcat) {
      if (!FindEnd(n.a, search, depth + 1)) return false;
      e = n.b;
      continue;
    }
    bool ends = !bytes;
    switch (n.kind) {
      case ExprKind::kBytes: ends = n.first.Intersects(*bytes); break;
      case ExprKind::kRepeat: ends = n.b == 0 || FindEnd(n.a, search, depth + 1); break;
      case ExprKind::kUnion: {
        std::vector<Expr> parts(Members(e), Members(e) + NumMembers(e));
        std::stable_sort(parts.begin(), parts.end(), [this](Expr a, Expr b) { return LeastLength(a) < LeastLength(b); });
        ends = std::any_of(parts.begin(), parts.end(), [&](Expr part) { return FindEnd(part, search, depth + 1); });
        break;
      }
      case ExprKind::kCall:
        if (bytes || Rules(n.a)->MayBeEmpty(n.b))
          ends = search->tried.insert(e).second && FindEnd(Expand(e), search, depth + 1);
        break;
      default:
        if (bytes && !n.push_down) ends = !IsEmpty(Intersect({e, Repeat(Bytes(*bytes), 0, kUnbounded)}));
    }
    if (ends) (*search->known)[e] = true;
    return ends;
  }
}

// Members of a union that are no calls take a step of their own.
bool Expressions::StepByte(Expr e, uint8_t b, Expr* left) {
  Expr call, rest, after;
  if (nodes_[e].kind != ExprKind::kUnion) {
    if (!SplitCall(e, &call, &rest)) return false;
    if (!Rules(SourceOfRule(call))->Step(Rule(call), b, &after)) return false;
    *left = Concat(after, rest);
    if (Nullable(call) && rest != kEpsilonExpr) *left = Union(*left, AfterByte(rest, b));
    return true;
  }
  if (nodes_[e].extended && !Remembers(e)) return false;
  const std::vector<Expr> members(Members(e), Members(e) + NumMembers(e));
  const bool remembers = Remembers(e);
  std::vector<Expr> parts;
  for (Expr member : members) {
    if (!nodes_[member].first.Has(b)) continue;
    if (!remembers && !StepByte(member, b, left)) return false;
    parts.push_back(remembers ? AfterByte(member, b) : *left);
  }
  *left = Union(std::move(parts));
  return true;
}

Expr Expressions::AfterByte(Expr e, uint8_t b) {
  Expr left = kEmpty;
  if (StepByte(e, b, &left)) return left;
  std::vector<Term> steps;
  Step(e, &steps);
  for (const Term& t : steps)
    if (t.bytes.Has(b)) left = t.target;
  return left;
}

}  // namespace tokamata
