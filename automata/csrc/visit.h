// Searches over the states of an Fst: reachability and strongly connected components. O(states + arcs), no recursion.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/fst.h"

namespace tokamata {

// The predecessors of every state, one entry per arc: those of s are states[first[s]..first[s + 1]].
struct Predecessors {
  explicit Predecessors(const Fst& fst);
  std::vector<size_t> first;
  std::vector<StateId> states;
};

// 1 for every state that the start state reaches.
std::vector<uint8_t> AccessibleStates(const Fst& fst);
// 1 for every state that reaches a final state.
std::vector<uint8_t> CoaccessibleStates(const Fst& fst);

// Tarjan's strongly connected components (SIAM J. Comput. 1972), numbered in topological order: an arc never leads to a
// component of a lower number.
struct Components {
  std::vector<StateId> of;      // the component of each state
  std::vector<uint8_t> cyclic;  // 1 for each component that has a cycle
};
Components StronglyConnected(const Fst& fst);

}  // namespace tokamata
