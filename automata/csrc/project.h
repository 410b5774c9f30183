// Projection: the acceptor of one side of a relation.
#pragma once
#include "automata/csrc/fst.h"

namespace tokamata {

enum class ProjectSide { kInput, kOutput };

// Copies the labels (and the symbol table) of the side over the other. O(states + arcs).
Fst Project(const Fst& fst, ProjectSide side);

}  // namespace tokamata
