// intersect: the strings that both acceptors accept, with the product of their weights.
#pragma once
#include <memory>

#include "automata/csrc/compose.h"

namespace tokamata {

// Delayed, with the operation's preconditions checked at once. The operands must outlive it.
std::unique_ptr<DelayedFst> MakeIntersectFst(const Fst& a, const Fst& b, const ComposeOptions& options = {},
                                             const char* operation = "intersect");

// Throws FstError unless both operands are acceptors and one of them is sorted.
Fst Intersect(const Fst& a, const Fst& b, const ComposeOptions& options = {});

}  // namespace tokamata
