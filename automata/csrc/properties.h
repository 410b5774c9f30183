// What is true of an Fst, as three-valued bits with OpenFst's values (they go into file headers): each property has a
// bit for yes and one for no; neither set means unknown.
#pragma once
#include <cstdint>

#include "automata/csrc/fst.h"

namespace tokamata {

constexpr uint64_t kExpanded = 0x1;
constexpr uint64_t kMutable = 0x2;
constexpr uint64_t kAcceptor = 0x10000;  // ilabel = olabel on every arc
constexpr uint64_t kNotAcceptor = 0x20000;
constexpr uint64_t kIDeterministic = 0x40000;  // the ilabels of a state differ (one may be epsilon)
constexpr uint64_t kNonIDeterministic = 0x80000;
constexpr uint64_t kODeterministic = 0x100000;
constexpr uint64_t kNonODeterministic = 0x200000;
constexpr uint64_t kEpsilons = 0x400000;  // an arc is epsilon on both sides
constexpr uint64_t kNoEpsilons = 0x800000;
constexpr uint64_t kIEpsilons = 0x1000000;
constexpr uint64_t kNoIEpsilons = 0x2000000;
constexpr uint64_t kOEpsilons = 0x4000000;
constexpr uint64_t kNoOEpsilons = 0x8000000;
constexpr uint64_t kILabelSorted = 0x10000000;  // the ilabels of a state never decrease
constexpr uint64_t kNotILabelSorted = 0x20000000;
constexpr uint64_t kOLabelSorted = 0x40000000;
constexpr uint64_t kNotOLabelSorted = 0x80000000;
constexpr uint64_t kWeighted = 0x100000000;  // a weight is neither one nor zero
constexpr uint64_t kUnweighted = 0x200000000;
constexpr uint64_t kCyclic = 0x400000000;
constexpr uint64_t kAcyclic = 0x800000000;
constexpr uint64_t kInitialCyclic = 0x1000000000;  // a cycle contains the start state
constexpr uint64_t kInitialAcyclic = 0x2000000000;
constexpr uint64_t kTopSorted = 0x4000000000;  // every arc leads to a higher state
constexpr uint64_t kNotTopSorted = 0x8000000000;
constexpr uint64_t kAccessible = 0x10000000000;  // every state is reached from the start state
constexpr uint64_t kNotAccessible = 0x20000000000;
constexpr uint64_t kCoAccessible = 0x40000000000;  // every state reaches a final state
constexpr uint64_t kNotCoAccessible = 0x80000000000;
constexpr uint64_t kString = 0x100000000000;  // one path through states 0, 1, 2, …, final at its end only
constexpr uint64_t kNotString = 0x200000000000;
constexpr uint64_t kWeightedCycles = 0x400000000000;  // an arc inside a strongly connected component is weighted
constexpr uint64_t kUnweightedCycles = 0x800000000000;
constexpr uint64_t kAllProperties = 0xffffffff0000;

// Both bits of each property in `bits`.
constexpr uint64_t BothBits(uint64_t bits) {
  return bits | (bits & 0x555555550000) << 1 | (bits & 0xaaaaaaaa0000) >> 1;
}

// The true ones among the asked bits, each property decided. Costs O(states + arcs), plus O(d log d) for determinism at
// states of d unsorted arcs; what is known already costs nothing.
uint64_t ComputeProperties(const Fst& fst, uint64_t asked = kAllProperties);

}  // namespace tokamata
