// difference: the strings of the first acceptor, with their weights, that the second does not accept.
#pragma once
#include <memory>

#include "automata/csrc/compose.h"

namespace tokamata {

// Delayed, with the operations' preconditions checked at once. The operands must outlive it.
std::unique_ptr<DelayedFst> MakeDifferenceFst(const Fst& a, const Fst& b, const ComposeOptions& options = {},
                                              const char* operation = "difference");

// The second operand must be an unweighted, epsilon-free, deterministic acceptor sorted by input label, the first an
// acceptor; else FstError. States are pairs of a state of each, or of a state of a and "b can no longer accept".
Fst Difference(const Fst& a, const Fst& b, const ComposeOptions& options = {});

}  // namespace tokamata
