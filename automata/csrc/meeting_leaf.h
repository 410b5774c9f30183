// MeetingLeaf: a leaf automaton that may know a text which a regular language has, too.
#pragma once
#include <cstdint>

namespace tokamata {

class RegularOperand;

class MeetingLeaf {
 public:
  static constexpr uint32_t kNotKnown = 0x7fffffff;
  struct Text {
    uint32_t bytes = kNotKnown;  // of a text of both; kNotKnown: none was found
    int separator = -1;          // a byte that it may end with any number of times more, in both; -1: none is known
  };
  virtual ~MeetingLeaf() = default;
  // Looks for a text that is accepted from a state and leads from `from` to a final state of the operand; not far.
  virtual Text FindText(uint32_t state, RegularOperand* operand, uint32_t from) = 0;
  // No string of fewer characters is accepted from a state: bytes that go on with a character are none.
  virtual uint32_t LeastCharacters(uint32_t state) = 0;
};

}  // namespace tokamata
