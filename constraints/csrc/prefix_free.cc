#include "constraints/csrc/prefix_free.h"

#include <algorithm>
#include <unordered_set>

#include "automata/csrc/time_limit.h"

namespace tokamata {

// The greatest set of rules that confirm each other. Right: in a shortest counterexample the two texts part in front of
// a call, after at least one byte, where two texts of that rule are a shorter one; or else where one text ends and the
// other goes on, which is looked for.
bool PrefixFree::Holds(Expr call) {
  constexpr size_t kMostExpressions = 20'000;
  if (const auto known = known_.find(call); known != known_.end()) return known->second;
  size_t left = kMostExpressions;
  std::vector<Expr> assumed{call};
  for (size_t i = 0; i < assumed.size(); ++i) {
    if (known_.count(assumed[i]) || Explore(assumed[i], &assumed, &left)) continue;
    known_[assumed[i]] = false;
    if (assumed[i] == call) return false;
    assumed.assign(1, call);  // others may have relied on it
    i = static_cast<size_t>(-1);
  }
  for (const Expr e : assumed) known_[e] = true;
  return true;
}

bool PrefixFree::Explore(Expr call, std::vector<Expr>* assumed, size_t* left) {
  std::vector<Expr> work{call};
  std::unordered_set<Expr> seen{call};
  std::vector<Expressions::Term> steps;
  for (size_t i = 0; i < work.size(); ++i) {
    const Expr e = work[i];
    TimeLimit::Spend();
    if (*left == 0) return false;
    --*left;
    if (pool_->Nullable(e)) {
      if (e == call || pool_->First(e).Any()) return false;
      continue;
    }
    const auto add = [&](Expr to) {
      if (seen.insert(to).second) work.push_back(to);
    };
    Expr head, rest;
    if (i && pool_->SplitCall(e, &head, &rest)) {
      const auto known = known_.find(head);
      if (known == known_.end() || known->second) {
        if (known == known_.end() && std::find(assumed->begin(), assumed->end(), head) == assumed->end())
          assumed->push_back(head);
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
