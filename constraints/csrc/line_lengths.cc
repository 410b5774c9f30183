#include "constraints/csrc/line_lengths.h"

#include <algorithm>
#include <array>

#include "automata/csrc/time_limit.h"
#include "constraints/csrc/stack_lengths.h"

namespace tokamata {
namespace {

constexpr uint32_t kFar = StackLengths::kFar;
constexpr uint32_t kBlock = 1 << 20;  // of an indent: more than all else
constexpr size_t kContexts = LineSummaries::kAfterBlock + 1;
using Costs = std::array<uint32_t, kContexts>;  // by what comes last where the rule ends
using State = RuleAutomata::State;
using Arc = RuleAutomata::Arc;

class Solver {
 public:
  Solver(const LexedRules& rules, const LineSummaries& lines, const std::vector<uint32_t>& of_terminal)
      : states_(rules.automata->states),
        automata_(*rules.automata),
        lines_(lines),
        of_terminal_(of_terminal),
        num_terminals_(static_cast<uint32_t>(of_terminal.size())),
        least_(states_.size()) {
    Costs far;
    far.fill(kFar);
    for (auto& costs : least_) costs.fill(far);
  }

  // The least solution (Knuth 1977).
  void Solve() {
    for (size_t q = 0; q < states_.size(); ++q)
      for (uint32_t c = 0; c < kContexts && states_[q].final; ++c) least_[q][c][c] = 0;
    for (bool again = true; again;) {
      again = false;
      for (size_t q = states_.size(); q-- > 0;)
        for (const Arc& arc : states_[q].arcs) again = Improve(q, arc) || again;
    }
  }

  std::optional<std::vector<uint32_t>> MostOfAll() const {
    std::vector<uint32_t> most(states_.size(), 0);
    std::vector<std::array<bool, kContexts>> seen(states_.size());
    std::vector<std::pair<uint32_t, uint32_t>> work;
    const auto add = [&](uint32_t q, uint32_t context) {
      if (!std::exchange(seen[q][context], true)) work.emplace_back(q, context);
    };
    for (const uint32_t before : {LineSummaries::kSeparated, LineSummaries::kBegun}) add(automata_.start, before);
    while (!work.empty()) {
      const auto [q, context] = work.back();
      work.pop_back();
      TimeLimit::Spend(static_cast<int64_t>(1 + states_[q].arcs.size()));
      const Costs& costs = least_[q][context];
      const uint32_t least = *std::min_element(costs.begin(), costs.end());
      if (least >= 2 * kBlock) return std::nullopt;
      most[q] = std::max(most[q], least % kBlock);
      for (const Arc& arc : states_[q].arcs)
        ForEachAfter(arc, context, [&, to = arc.state](uint32_t after, uint32_t) { add(to, after); });
      for (const Arc& arc : states_[q].arcs)
        if (arc.letter >= num_terminals_) add(Callee(arc), context);
    }
    return most;
  }

 private:
  uint32_t Callee(const Arc& arc) const { return automata_.start_of[arc.letter - num_terminals_]; }
  // f(what comes last behind an arc, the cost).
  template <class F>
  void ForEachAfter(const Arc& arc, uint32_t context, F f) const {
    if (arc.letter < num_terminals_) {
      for (const uint32_t after : lines_.After(arc.letter, context)) f(after, of_terminal_[arc.letter]);
      return;
    }
    const Costs& of_callee = least_[Callee(arc)][context];
    for (uint32_t after = 0; after < kContexts; ++after)
      if (of_callee[after] != kFar) f(after, of_callee[after]);
  }
  bool Improve(size_t q, const Arc& arc) {
    bool improved = false;
    TimeLimit::Spend(kContexts);
    for (uint32_t context = 0; context < kContexts; ++context)
      ForEachAfter(arc, context, [&](uint32_t after, uint32_t cost) {
        const Costs& rest = least_[arc.state][after];
        for (uint32_t end = 0; end < kContexts; ++end) {
          const uint32_t sum = StackLengths::Sum(cost, rest[end]);
          if (sum >= least_[q][context][end]) continue;
          least_[q][context][end] = sum;
          improved = true;
        }
      });
    return improved;
  }

  const std::vector<State>& states_;
  const RuleAutomata& automata_;
  const LineSummaries& lines_;
  const std::vector<uint32_t>& of_terminal_;
  const uint32_t num_terminals_;
  std::vector<std::array<Costs, kContexts>> least_;  // by state and what comes before
};

}  // namespace

std::optional<std::vector<uint32_t>> LineLengths(const LexedRules& rules, const LineSummaries& lines,
                                                 const std::vector<uint32_t>& of_terminal) {
  if (rules.automata->start == RuleAutomata::kNone) return std::nullopt;
  std::vector<uint32_t> cost = of_terminal;
  cost[rules.indentation->indent] = kBlock;
  cost[rules.indentation->dedent] = 0;
  Solver solver(rules, lines, cost);
  solver.Solve();
  return solver.MostOfAll();
}

}  // namespace tokamata
