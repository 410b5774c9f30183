// RuleSummaries: in which contexts rules can be left, by the state that is begun in and the context there.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "automata/csrc/summary_graph.h"
#include "constraints/csrc/rule_automata.h"

namespace tokamata {

// What a context is, is the caller's: something that terminals change.
class RuleSummaries {
 public:
  RuleSummaries(const RuleAutomata& automata, uint32_t num_terminals) : automata_(automata), num_terminals_(num_terminals) {}

  // The contexts in which a rule can end from one of its states on. after(terminal, context): a vector of the contexts
  // after a terminal; it and spend(steps) may throw.
  template <class After, class Spend>
  const std::vector<uint32_t>& Out(uint32_t state, uint32_t context, After after, Spend spend) {
    const SummaryGraph::Node root = graph_.NodeOf(state, context);
    graph_.Solve(
        [&](SummaryGraph::Node node) {
          const RuleAutomata::State& s = automata_.states[graph_.Place(node)];
          const uint32_t from = graph_.From(node);
          spend(s.arcs.size());
          if (s.final) graph_.AddOut(node, from);
          for (const RuleAutomata::Arc& arc : s.arcs) {
            if (arc.letter >= num_terminals_) {
              const uint32_t callee = automata_.start_of[arc.letter - num_terminals_];
              graph_.AddFollow(graph_.NodeOf(callee, from), arc.state, node);
              continue;
            }
            const std::vector<uint32_t>& contexts = after(arc.letter, from);
            for (const uint32_t to : contexts) graph_.AddCopy(graph_.NodeOf(arc.state, to), node);
          }
          return true;
        },
        spend);
    return graph_.Out(root);
  }
  size_t Size() const { return graph_.Size(); }

 private:
  const RuleAutomata& automata_;
  const uint32_t num_terminals_;
  SummaryGraph graph_;
};

}  // namespace tokamata
