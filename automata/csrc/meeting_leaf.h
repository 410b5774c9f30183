// MeetingLeaf: a leaf automaton that may know a text which a regular language has, too.
#pragma once
#include <array>
#include <cstdint>

#include "automata/csrc/byte_set.h"

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
  // The bytes of what is left of a text after others, at most: `bytes`, or kOfAnyLength and more, and as many for each
  // other one as it says.
  struct Left {
    uint32_t bytes = 0;
    std::array<uint32_t, 256> per_byte{};
  };
  // Whether, wherever bytes lead that a state and `from` both allow, there is a text of both, and how much is left of
  // one, if that is asked for. False where that is not found out.
  virtual bool MeetsWherever(uint32_t state, RegularOperand* operand, uint32_t from, Left* left) = 0;
  // No string of fewer characters is accepted from a state: bytes that go on with a character are none.
  virtual uint32_t LeastCharacters(uint32_t state) = 0;
  // Whether no string of these bytes only is accepted from a state. False where that is not found out.
  virtual bool CannotEnd(uint32_t state, const ByteSet& bytes) = 0;
};

}  // namespace tokamata
