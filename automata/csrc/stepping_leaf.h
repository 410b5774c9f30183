// SteppingLeaf: a leaf automaton that finds one successor without making all arcs of a state.
#pragma once
#include <cstdint>

namespace tokamata {

class SteppingLeaf {
 public:
  static constexpr uint32_t kNowhere = 0xffffffff;
  virtual ~SteppingLeaf() = default;
  // The state after a byte, or kNowhere. False where Arcs has to be asked.
  virtual bool Step(uint32_t state, uint8_t byte, uint32_t* next) = 0;
};

}  // namespace tokamata
