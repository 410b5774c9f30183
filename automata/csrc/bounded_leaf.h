// BoundedLeaf: a leaf automaton that cannot tell where its texts lead in a regular language, but where they cannot.
#pragma once
#include <cstdint>
#include <vector>

namespace tokamata {

class RegularOperand;

class BoundedLeaf {
 public:
  virtual ~BoundedLeaf() = default;
  // Adds the states that strings accepted from a state lead to from `from`, and maybe others. False where nothing is
  // known.
  virtual bool EndsAtMost(uint32_t state, RegularOperand* operand, uint32_t from, std::vector<uint32_t>* ends) = 0;
};

}  // namespace tokamata
