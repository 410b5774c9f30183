// replace: expands the arcs of machines that stand for other machines (recursive transition networks).
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "automata/csrc/delayed.h"
#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct ReplaceOptions {
  bool call_input = true;    // the arc that enters a machine keeps its input label, else epsilon
  bool call_output = false;  // the same for its output label
  int64_t max_states = kDefaultMaxStates;
  int64_t max_arcs = kDefaultMaxArcs;
};

// Delayed, with the arguments checked at once. The machines must outlive it.
std::unique_ptr<DelayedFst> MakeReplaceFst(const std::vector<std::pair<Label, const Fst*>>& pairs, Label root,
                                           const ReplaceOptions& options = {}, const char* operation = "replace");

// The machine of the root label, in which every arc whose output label has a machine is replaced by that machine.
// States are triples (machine, state, stack of states to return to); recursion makes infinitely many, which max_states
// ends. Machines that nothing calls are not looked at.
Fst Replace(const std::vector<std::pair<Label, const Fst*>>& pairs, Label root, const ReplaceOptions& options = {});

}  // namespace tokamata
