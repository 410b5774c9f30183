// SteppingLeaf: a leaf automaton that finds one successor without making all arcs of a state.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamata {

class SteppingLeaf {
 public:
  static constexpr uint32_t kNowhere = 0xffffffff;
  virtual ~SteppingLeaf() = default;
  // The state after some bytes, at least one, or kNowhere. False where Arcs has to be asked.
  virtual bool Step(uint32_t state, std::string_view bytes, uint32_t* next) = 0;
};

}  // namespace tokamata
