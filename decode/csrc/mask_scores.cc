#include "decode/csrc/mask_scores.h"

#include <algorithm>
#include <cstring>

namespace tokamata {
namespace {

// For each byte of a mask eight items, all ones where its bit is set: masks as vectors.
template <class T>
struct Lanes {
  T of[256][8];
  Lanes() {
    for (int b = 0; b < 256; ++b)
      for (int i = 0; i < 8; ++i) of[b][i] = b >> i & 1 ? static_cast<T>(~T{0}) : T{0};
  }
};

template <class T>
void MaskRow(const T* from, int64_t from_stride, T* to, int64_t to_stride, size_t width, T minus_infinity,
             const uint32_t* mask, size_t words) {
  const bool close = from_stride == 1 && to_stride == 1;
  const size_t covered = std::min(width, words * 32);
  static const Lanes<T> lanes;
  size_t k = 0;
  for (; close && k + 32 <= covered; k += 32) {
    const uint32_t word = mask[k / 32];
    if (word == 0xffffffff) {
      if (from != to) std::memcpy(to + k, from + k, 32 * sizeof(T));
    } else if (!word) {
      for (size_t i = 0; i < 32; ++i) to[k + i] = minus_infinity;
    } else {
      for (size_t j = 0; j < 4; ++j) {
        const T* lane = lanes.of[word >> (8 * j) & 255];
        T next[8];
        std::memcpy(next, from + k + 8 * j, sizeof next);
        for (size_t i = 0; i < 8; ++i) next[i] = static_cast<T>((next[i] & lane[i]) | (minus_infinity & ~lane[i]));
        std::memcpy(to + k + 8 * j, next, sizeof next);
      }
    }
  }
  for (; k < width; ++k) {
    const bool allowed = k < covered && (mask[k / 32] >> (k % 32) & 1);
    const int64_t at = static_cast<int64_t>(k);
    to[at * to_stride] = allowed ? from[at * from_stride] : minus_infinity;
  }
}

template <class T>
void MaskRows(const ScoreRows& from, const ScoreRows& to, size_t rows, size_t width, uint64_t minus_infinity,
              const uint32_t* masks, size_t words, size_t mask_stride) {
  for (size_t r = 0; r < rows; ++r) {
    const int64_t row = static_cast<int64_t>(r);
    MaskRow(static_cast<const T*>(from.data) + row * from.row_stride, from.column_stride,
            static_cast<T*>(to.data) + row * to.row_stride, to.column_stride, width, static_cast<T>(minus_infinity),
            masks + r * mask_stride, words);
  }
}

}  // namespace

void MaskScores(const ScoreRows& from, const ScoreRows& to, size_t rows, size_t width, size_t item, uint64_t minus_infinity,
                const uint32_t* masks, size_t words, size_t mask_stride) {
  if (item == 2) MaskRows<uint16_t>(from, to, rows, width, minus_infinity, masks, words, mask_stride);
  if (item == 4) MaskRows<uint32_t>(from, to, rows, width, minus_infinity, masks, words, mask_stride);
  if (item == 8) MaskRows<uint64_t>(from, to, rows, width, minus_infinity, masks, words, mask_stride);
}

}  // namespace tokamata
