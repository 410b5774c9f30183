// The characters of kWideSpaces as bytes.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/byte_set.h"

namespace tokamata {

// Their beginnings and the whole characters, as big-endian numbers, sorted; and the first bytes.
struct WideSpaceBytes {
  std::vector<uint32_t> begun, whole;
  ByteSet first;
  bool Begins(uint32_t bytes) const;
  bool Is(uint32_t bytes) const;
};
const WideSpaceBytes& WideSpaces();

}  // namespace tokamata
