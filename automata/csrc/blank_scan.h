// BlankScan: reads a text byte by byte, and tells where white space comes after something else.
#pragma once
#include <cstdint>

namespace tokamata {

// What a text means is not known: white space may be written as it is, or escaped as in JSON, so that it is told too
// often rather than too seldom. A part of a text that does not begin inside of a character tells nothing that the whole
// text does not tell at the same bytes.
class BlankScan {
 public:
  // Whether white space ends with the byte, or what may be white space, or an escape that may stand for it is known.
  bool Step(uint8_t byte);
  // Of places that go on alike.
  uint32_t Key() const { return last_ << 8 | uint32_t{escapes_} << 2 | uint32_t{before_} << 1 | begun_; }

 private:
  bool begun_ = false;    // something else has come since there was white space
  bool escapes_ = false;  // a backslash was read last
  bool before_ = false;   // with last_: begun_ before that character
  uint32_t last_ = 0;     // what was read of a character that may be white space
};

}  // namespace tokamata
