// Push-down transducers: expansions, depths, best paths, reversals and compositions agree; damaged ones are refused.
#include <cmath>

#include "automata/csrc/pdt_compose.h"
#include "automata/csrc/pdt_connect.h"
#include "automata/csrc/pdt_depth.h"
#include "automata/csrc/pdt_expand.h"
#include "automata/csrc/pdt_is_empty.h"
#include "automata/csrc/pdt_replace.h"
#include "automata/csrc/pdt_reverse.h"
#include "automata/csrc/pdt_shortestdistance.h"
#include "automata/csrc/pdt_shortestpath.h"
#include "automata/csrc/text.h"
#include "tests/native/fuzz.h"

namespace tokamata {
namespace {

constexpr int64_t kStates = 5000;  // that an expansion may have
constexpr int64_t kItems = 2'000'000;  // that a search may look at

StateId State(Random* r, const Fst& fst) { return static_cast<StateId>(r->Below(fst.NumStates())); }

Fst RandomMachine(Random* r, SemiringKind semiring, uint32_t labels, uint32_t parens) {
  Fst fst(semiring);
  fst.AddStates(1 + r->Below(r->OneIn(8) ? 40 : 7));
  if (!r->OneIn(20)) fst.SetStart(State(r, fst));
  const auto weight = [&] {
    if (semiring == SemiringKind::kBoolean) return 1.0f;
    return r->OneIn(60) ? kInfinity : static_cast<float>(r->Below(8)) / 4;
  };
  const uint32_t arcs = r->Below(3 * static_cast<uint32_t>(fst.NumStates()) + 1);
  for (uint32_t n = 0; n < arcs; ++n) {
    const Label label = static_cast<Label>(parens && r->OneIn(2) ? 100 + r->Below(parens) : r->Below(labels));
    const bool paren = label >= 100 && !r->OneIn(500);
    fst.AddArc(State(r, fst), {label, paren ? label : static_cast<Label>(r->Below(labels)), weight(), State(r, fst)});
  }
  for (uint32_t n = r->Below(3); n-- > 0;) fst.SetFinal(State(r, fst), weight());
  return fst;
}

SemiringKind RandomSemiring(Random* r) {
  return r->OneIn(3) ? SemiringKind::kLog : r->OneIn(4) ? SemiringKind::kBoolean : SemiringKind::kTropical;
}

void Check(Random* r, const Fst& fst, const ParenPairs& pairs) {
  const Parens parens("fuzz", pairs);
  const bool empty = PdtIsEmpty(fst, parens);
  const int64_t depth = PdtDepth(fst, parens).depth;
  Require(!empty || depth == 0, "an empty machine has no depth");
  const Fst reversed = PdtReverse(fst, parens);
  Require(PdtDepth(reversed, parens).depth == depth, "reversal keeps the depth");
  Require(PdtIsEmpty(reversed, parens) == empty, "reversal keeps emptiness");
  PdtExpandOptions options;
  options.keep_parentheses = r->OneIn(2);
  options.max_states = options.max_arcs = kStates;
  if (r->OneIn(3)) {
    options.max_depth = r->Below(4);
    options.truncate = r->OneIn(2);
  }
  Tolerate([&] {
    const Fst expanded = PdtExpand(fst, parens, options);
    Require(options.truncate || (expanded.NumStates() == 0) == empty, "an expansion is empty where there is no path");
    Require(options.truncate || depth != kUnboundedDepth, "an expansion exists where the depth is bounded");
    Require(options.truncate || options.max_depth < 0 || depth <= options.max_depth, "an expansion keeps its depth");
  });
  Tolerate([&] {
    PdtExpandOptions pruned;
    pruned.weight = static_cast<float>(r->Below(6)) / 2;
    pruned.max_states = pruned.max_arcs = kStates;
    Require((PdtExpand(fst, parens, pruned).NumStates() == 0) == empty, "pruning keeps a best path");
  });
  Tolerate([&] {
    const Fst path = PdtShortestPath(fst, parens);
    Require((path.NumStates() == 0) == empty, "there is a best path where there is a path");
    if (empty || fst.Semiring() != SemiringKind::kTropical) return;
    double weight = path.Final(path.NumStates() - 1);
    for (StateId s = 0; s + 1 < path.NumStates(); ++s) weight += path.Arcs(s)[0].weight;
    Require(std::fabs(weight - PdtShortestDistance(fst, parens)) < 1e-3, "the best path has the shortest distance");
  });
  Tolerate([&] { PdtShortestDistance(fst, parens, {1e-4f, 200}); });
  const Fst other = RandomMachine(r, fst.Semiring(), 4, 0);
  const bool left_pdt = r->OneIn(2);
  Tolerate([&] {
    const Fst composed = PdtCompose(left_pdt ? fst : other, left_pdt ? other : fst, parens, left_pdt);
    const bool nothing = PdtIsEmpty(composed, parens, {kItems, kItems});
    Require(!empty || nothing, "a composition has no path where an operand has none");
    const int64_t deep = PdtDepth(composed, parens, {kItems, kItems}).depth;
    Require(depth == kUnboundedDepth || (deep != kUnboundedDepth && deep <= depth), "nor is it deeper");
    const Fst connected = PdtConnect(composed, parens, {kItems, kItems});
    Require(PdtDepth(connected, parens, {kItems, kItems}).depth == deep, "connecting keeps the depth");
    Require((connected.NumStates() == 0) == nothing, "and what is empty");
  });
}

void One(Random* r) {
  const SemiringKind semiring = RandomSemiring(r);
  if (r->OneIn(3)) {
    std::vector<Fst> machines;
    for (uint32_t n = 1 + r->Below(4); n > 0; --n) {
      Fst fst = RandomMachine(r, semiring, 4, 0);
      for (uint32_t calls = r->Below(4); calls > 0; --calls) {
        const Label rule = static_cast<Label>(50 + r->Below(5));
        fst.AddArc(State(r, fst), {r->OneIn(2) ? rule : kEpsilon, rule, fst.One(), State(r, fst)});
      }
      machines.push_back(std::move(fst));
    }
    std::vector<std::pair<Label, const Fst*>> rules;
    for (const Fst& fst : machines) rules.emplace_back(static_cast<Label>(50 + rules.size()), &fst);
    const PdtReplaceResult result = PdtReplace(rules, 50);
    return Check(r, result.fst, result.parens);
  }
  const uint32_t pairs = r->Below(4);
  const Fst fst = RandomMachine(r, semiring, 4, 2 * pairs);
  Input(ToText(fst, TextOptions()));
  ParenPairs parens;
  for (uint32_t i = 0; i < pairs; ++i) parens.emplace_back(100 + 2 * i, r->OneIn(500) ? 100 : 101 + 2 * i);
  Tolerate([&] { Check(r, fst, parens); });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_pdt", argc, argv, tokamata::One); }
