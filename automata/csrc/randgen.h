// Random members of a machine.
#pragma once
#include <cstdint>

#include "automata/csrc/fst.h"

namespace tokamata {

enum class RandSelect {
  kUniform,  // every way on (arc or stop) is equally likely
  kLogProb,  // a way on has probability proportional to exp(-weight); over the boolean semiring the same as uniform
};

struct RandGenOptions {
  int64_t paths = 1;
  uint64_t seed = 0;
  RandSelect select = RandSelect::kUniform;
  int64_t max_length = 10000;  // arcs of a path
};

// Random accepting paths, as chains of arcs of weight one out of one start state (which is final where a path is
// empty). Every path is accepting and has at most max_length arcs: a way on is taken only if a final state is near
// enough. Arcs of weight zero are not taken. Where nothing is accepted the result has no states; where every member is
// longer than max_length, LimitError. O(states + arcs + paths * length * arcs of a state).
Fst RandGen(const Fst& fst, const RandGenOptions& options);

}  // namespace tokamata
