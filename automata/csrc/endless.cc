#include "automata/csrc/endless.h"

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "automata/csrc/completion.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr size_t kSteps = 5000;  // in all
constexpr size_t kEach = 400;    // expressions that are looked at from one

// Goes through what is left of e after short texts, until `found` says so: the text that leads there.
template <typename Found>
std::optional<std::string> Search(Expressions* pool, Expr e, size_t* steps, const Found& found) {
  std::vector<Expr> queue{e};
  std::vector<Reached> how{{0, 0}};
  std::unordered_set<Expr> seen{e};
  std::vector<Expressions::Term> terms;
  for (size_t i = 0; i < queue.size() && queue.size() < kEach && *steps; ++i, --*steps) {
    TimeLimit::Spend(4);
    pool->Step(queue[i], &terms);
    for (const Expressions::Term& t : terms) {
      if (!seen.insert(t.target).second) continue;
      queue.push_back(t.target);
      how.push_back({i, t.bytes.First()});
      if (found(t.target)) return PathTo(how, queue.size() - 1);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Nesting> EndlessNesting(Expressions* pool, Expr root) try {
  size_t steps = kSteps;
  std::unordered_set<Expr> heads;
  std::optional<std::string> again;
  const auto returns = [&](Expr e) {
    const Expr head = pool->FirstPart(e);
    if (!pool->IsPushDown(head) || !heads.insert(head).second) return false;
    const auto nested = [&](Expr left) {
      return pool->Kind(left) == ExprKind::kConcat && pool->Head(left) == head && pool->LeastLength(pool->Tail(left)) > 0;
    };
    again = Search(pool, head, &steps, nested);
    return again.has_value();
  };
  if (returns(root)) return Nesting{"", *again};
  const auto before = Search(pool, root, &steps, returns);
  if (!before) return std::nullopt;
  return Nesting{*before, *again};
} catch (const LimitError&) {
  return std::nullopt;
}

}  // namespace tokamata
