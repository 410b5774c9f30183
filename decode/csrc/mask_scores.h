// Packed masks applied to rows of scores in memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tokamata {

// Rows of items of `item` bytes; strides count items.
struct ScoreRows {
  void* data;
  int64_t row_stride, column_stride;
};

// Writes for each of `rows` rows the scores where the mask has a 1, and `minus_infinity` (the item's bits) where it has
// a 0 or has no bit. Masks have `words` words each, mask_stride words apart. `from` and `to` may be the same memory;
// they do not overlap otherwise. `item` is 2, 4 or 8.
void MaskScores(const ScoreRows& from, const ScoreRows& to, size_t rows, size_t width, size_t item, uint64_t minus_infinity,
                const uint32_t* masks, size_t words, size_t mask_stride);

}  // namespace tokamata
