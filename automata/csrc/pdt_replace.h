// pdt_replace: machines that call each other (recursive transition networks) as one push-down transducer.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "automata/csrc/pdt.h"

namespace tokamata {

struct PdtReplaceOptions {
  int64_t first_paren = 0;  // the first opening label; 0: above all labels and names in use
  std::string open_prefix = "(_";
  std::string close_prefix = ")_";
  int64_t max_states = kDefaultMaxStates;
  int64_t max_arcs = kPdtMaxArcs;
};

struct PdtReplaceResult {
  Fst fst;
  ParenPairs parens;
};

// The machine of the root label and those it calls, each once. An arc whose output label has a machine becomes an
// opening arc to that machine's start; from its final states closing arcs lead back. Calls of one machine that return
// to one state share a pair of parentheses, and calls of different machines use the same pairs. Where there are symbol
// tables, the pairs get names: prefix and number. O(states + arcs + final states times places of return).
PdtReplaceResult PdtReplace(const std::vector<std::pair<Label, const Fst*>>& pairs, Label root,
                            const PdtReplaceOptions& options = {});

}  // namespace tokamata
