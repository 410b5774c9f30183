// equivalent: whether two deterministic acceptors give every string the same weight.
#pragma once
#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct EquivalentOptions {
  float delta = kDelta;  // weights this close, after pushing toward the start, are equal
  int64_t max_visits = kDefaultMaxVisits;
};

// Hopcroft and Karp, "A linear algorithm for testing equivalence of finite automata" (1971), on pushed copies. Throws
// FstError unless both are deterministic, epsilon-free acceptors over one semiring.
bool Equivalent(const Fst& a, const Fst& b, const EquivalentOptions& options = {});

}  // namespace tokamata
