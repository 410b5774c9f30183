// MeetingLeaf: a leaf automaton that may know a text which a regular language has, too.
#pragma once
#include <cstdint>

namespace tokamata {

class RegularOperand;

class MeetingLeaf {
 public:
  static constexpr uint32_t kNotKnown = 0x7fffffff;
  static constexpr uint32_t kOfAnyLength = kNotKnown - 1;  // there is a text, of whatever length
  struct Text {
    uint32_t bytes = kNotKnown;  // of a text of both; kNotKnown: none was found
    int separator = -1;          // a byte that it may end with any number of times more, in both; -1: none is known
  };
  virtual ~MeetingLeaf() = default;
  // Looks for a text that is accepted from a state and leads from `from` to a final state of the operand; not far.
  virtual Text FindText(uint32_t state, RegularOperand* operand, uint32_t from) = 0;
  // Whether, wherever bytes lead that a state and `from` both allow, there is a text of both. False where
  // that is not found out.
  virtual bool MeetsWherever(uint32_t state, RegularOperand* operand, uint32_t from) = 0;
  // No string of fewer characters is accepted from a state: bytes that go on with a character are none.
  virtual uint32_t LeastCharacters(uint32_t state) = 0;
};

}  // namespace tokamata
