// LineLengths: with how little rules can be ended, by their states, where newlines and columns count.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "constraints/csrc/line_summaries.h"

namespace tokamata {

// By state of the rule automata, for StackLengths: the most, over all that may come before, of the least that the rest of
// the rule costs. Blocks are opened only where they have to be, one inside a rule at most, so wherever there is a text
// there are columns for that. `of_terminal`: at most StackLengths::kFar each, kFar where one must not be read. nullopt
// where a rule needs more blocks or some state may be reached from which it cannot be ended.
std::optional<std::vector<uint32_t>> LineLengths(const LexedRules& rules, const LineSummaries& lines,
                                                 const std::vector<uint32_t>& of_terminal);

}  // namespace tokamata
