// SteppingLeaf: a leaf automaton that finds one successor without making all arcs of a state.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/leaf_automaton.h"

namespace tokamata {

class SteppingLeaf {
 public:
  static constexpr uint32_t kNowhere = 0xffffffff;
  struct After {
    uint32_t state;  // or kNowhere
    // As with LeafAutomaton::Arc: what the nested language has left after the bytes from `begin` on, if any, comes
    // before.
    uint32_t nested = LeafAutomaton::kNotNested;
    size_t begin = 0;
    std::vector<std::pair<uint32_t, uint32_t>> others{};
  };
  virtual ~SteppingLeaf() = default;
  // What comes after some bytes, at least one. False where Arcs has to be asked.
  virtual bool Step(uint32_t state, std::string_view bytes, After* next) = 0;
};

}  // namespace tokamata
