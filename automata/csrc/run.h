// RunEnd: where a run of neighbours ends, in time logarithmic in its length.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tokamata {

// The first of low+1..high that is not like `low`, where all that are like it stand together. By steps that double, then
// by halves.
template <class Like>
uint32_t RunEnd(uint32_t low, uint32_t high, Like like) {
  uint32_t same = low, step = 1;
  while (high - same > step && like(same + step)) {
    same += step;
    step *= 2;
  }
  for (uint32_t other = std::min(same + step, high); other - same > 1;) {
    const uint32_t middle = same + (other - same) / 2;
    (like(middle) ? same : other) = middle;
  }
  return same + 1;
}

}  // namespace tokamata
