// Sorting the arcs of every state.
#pragma once
#include "automata/csrc/fst.h"

namespace tokamata {

enum class SortSide { kInput, kOutput };

// By input label, then output label (or the other way round); arcs with equal labels keep their order. Composition
// needs it. O(states + arcs) where sorted already, else O(d log d) for a state of d arcs.
Fst ArcSort(const Fst& fst, SortSide side);

}  // namespace tokamata
