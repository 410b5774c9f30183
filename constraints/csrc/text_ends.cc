#include "constraints/csrc/text_ends.h"

#include <unordered_set>

#include "automata/csrc/time_limit.h"

namespace tokamata {

bool TextEnds::AreSure(Expr call, Expr rest) { return AreSure(FactsOf(call), rest); }

bool TextEnds::RuleEnds(Expr call) const {
  return pool_->Rules(pool_->SourceOfRule(call))->EndsByItself(pool_->Rule(call));
}

TextEnds::Answer TextEnds::AreUnique(Expr e) {
  if (!pool_->IsPushDown(e)) return SearchLonger(e);
  Expr call, rest;
  while (e != kEpsilonExpr && pool_->SplitCall(e, &call, &rest) && AreSure(call, rest)) e = rest;
  if (e == kEpsilonExpr) return Answer::kYes;
  const Facts& facts = FactsOf(e);
  return facts.failed ? Answer::kUnknown : facts.longer.Any() ? Answer::kNo : Answer::kYes;
}

TextEnds::Answer TextEnds::SearchLonger(Expr e) {
  constexpr size_t kMostExpressions = 2000;
  std::vector<Expr> work{e};
  std::unordered_set<Expr> seen{e};
  std::vector<Expressions::Term> steps;
  for (size_t i = 0; i < work.size(); ++i) {
    const Expr at = work[i];
    if (pool_->Nullable(at) && pool_->First(at).Any()) return Answer::kNo;
    if (i == kMostExpressions) return Answer::kUnknown;
    TimeLimit::Spend();
    pool_->Step(at, &steps);
    for (const Expressions::Term& step : steps)
      if (seen.insert(step.target).second) work.push_back(step.target);
  }
  return Answer::kYes;
}

bool TextEnds::AreSure(const Facts& facts, Expr rest) const {
  if (facts.failed) return false;
  return !facts.longer.Any() || (!pool_->Nullable(rest) && !facts.longer.Intersects(pool_->First(rest)));
}

// The least sets of bytes that confirm each other. Right: take a shortest text w of a call with a byte b after it that
// is missing. Where the ways through w and through the longer text part, a call that was gone past has ended in one of
// them and not in the other, at least one byte after the beginning; the byte that comes there is one of what follows it
// and goes on with a text of it, so it is missing there, too, after a shorter text.
const TextEnds::Facts& TextEnds::FactsOf(Expr call) {
  constexpr size_t kMostExpressions = 20'000;
  if (const auto known = facts_.find(call); known != facts_.end() && known->second.known) return known->second;
  size_t left = kMostExpressions;
  std::vector<Expr> assumed{call};
  facts_[call] = Facts();
  if (pool_->Kind(call) == ExprKind::kCall && RuleEnds(call)) {
    facts_[call].known = true;
    return facts_[call];
  }
  bool found = true;
  try {
    for (bool changed = true; changed && found;) {
      changed = false;
      for (size_t i = 0; i < assumed.size() && found; ++i) {
        ByteSet longer;
        found = Explore(assumed[i], &assumed, &left, &longer);
        changed = changed || longer != facts_[assumed[i]].longer;
        facts_[assumed[i]].longer = longer;
      }
    }
  } catch (...) {
    for (const Expr e : assumed) facts_.erase(e);
    throw;
  }
  for (const Expr e : assumed) {
    if (found || e == call)
      facts_[e].known = true;
    else
      facts_.erase(e);
  }
  facts_[call].failed = !found;
  return facts_[call];
}

bool TextEnds::Explore(Expr call, std::vector<Expr>* assumed, size_t* left, ByteSet* longer) {
  std::vector<Expr> work{call};
  std::unordered_set<Expr> seen{call};
  std::vector<Expressions::Term> steps;
  for (size_t i = 0; i < work.size(); ++i) {
    const Expr e = work[i];
    TimeLimit::Spend();
    if (*left == 0) return false;
    --*left;
    if (pool_->Nullable(e)) *longer = *longer | pool_->First(e);
    const auto add = [&](Expr to) {
      if (seen.insert(to).second) work.push_back(to);
    };
    Expr head, rest;
    if (i && pool_->SplitCall(e, &head, &rest)) {
      if (facts_.find(head) == facts_.end()) {
        const bool ends = RuleEnds(head);
        if (!ends) assumed->push_back(head);
        facts_[head].known = ends;
      }
      if (AreSure(facts_[head], rest)) {
        add(rest);
        continue;
      }
    }
    pool_->Step(e, &steps);
    for (const Expressions::Term& step : steps) add(step.target);
  }
  return true;
}

}  // namespace tokamata
