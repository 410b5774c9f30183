// LineSummaries: how rules end where each lexeme is followed by a separator, but for newlines.
#pragma once
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/id_table.h"
#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/rule_summaries.h"

namespace tokamata {

// With the line separator of LexedRules: newlines are followed by what can come at once.
class LineSummaries {
 public:
  // What came last. kInLine: something that a newline ends; kBegun: a newline, what it asks for having been read.
  enum Before : uint32_t { kSeparated, kInLine, kBegun, kBeforeBlock, kAfterBlock };
  // Terminals that are left out, and those that can come at once after a newline.
  LineSummaries(const LexedRules& rules, uint32_t num_terminals, Lexer::Terminals excluded, Lexer::Terminals at_once)
      : rules_(rules),
        excluded_(std::move(excluded)),
        at_once_(std::move(at_once)),
        summaries_(*rules.automata, num_terminals) {}

  // What comes last where a rule ends from one of its states on; spend(steps) may throw.
  template <class Spend>
  const std::vector<uint32_t>& Out(uint32_t state, uint32_t before, Spend spend) {
    return summaries_.Out(
        state, before, [this](uint32_t t, uint32_t b) -> const std::vector<uint32_t>& { return After(t, b); }, spend);
  }
  // Whether stacks can be emptied.
  template <class Spend>
  bool CanEnd(StackSets::Set stacks, const StackSets& sets, Before before, Spend spend) {
    std::vector<std::pair<StackSets::Set, uint32_t>> work{{stacks, before}};
    std::unordered_set<uint64_t> seen;
    while (!work.empty()) {
      const auto [p, context] = work.back();
      work.pop_back();
      if (!seen.insert(PairKey(p, context)).second) continue;
      spend(1);
      if (sets.HasBottom(p)) return true;
      sets.ForEachTop(p, [&, from = context](uint32_t state, StackSets::Set below) {
        for (const uint32_t out : Out(state, from, spend)) work.emplace_back(below, out);
      });
    }
    return false;
  }

  // What may come last behind a terminal: one at most.
  const std::vector<uint32_t>& After(uint32_t terminal, uint32_t before) const;

 private:
  const LexedRules& rules_;
  const Lexer::Terminals excluded_, at_once_;
  RuleSummaries summaries_;
};

}  // namespace tokamata
