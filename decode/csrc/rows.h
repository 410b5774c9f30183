// Rows of bits, one for each token.
#pragma once
#include <cstdint>

namespace tokamata {

inline bool HasToken(const uint32_t* row, uint32_t id) { return row[id >> 5] >> (id & 31) & 1; }
inline void SetToken(uint32_t id, uint32_t* row) { row[id >> 5] |= 1u << (id & 31); }
inline void ClearToken(uint32_t id, uint32_t* row) { row[id >> 5] &= ~(1u << (id & 31)); }
inline void FlipToken(uint32_t id, uint32_t* row) { row[id >> 5] ^= 1u << (id & 31); }

// Where rows do not overlap. CopyRow is not memcpy, which takes half as long again, and on some processors twenty times
// as long where `to` begins a few bytes further into a page than `from`.
void CopyRow(const uint32_t* from, uint32_t words, uint32_t* to);
void OrRow(const uint32_t* from, uint32_t words, uint32_t* to);
// The places of words that differ, and their number; b null: from zeros. Where there are more than `most`, some of them
// and a number above it: there has to be room for kMorePlaces more.
constexpr uint32_t kMorePlaces = 32;
uint32_t ListDifferent(const uint32_t* a, const uint32_t* b, uint32_t words, uint32_t most, uint32_t* places);

// Calls f(id) for each token of a row, in ascending order.
template <class F>
void ForEachTokenIn(const uint32_t* row, uint32_t words, F f) {
  for (uint32_t i = 0; i < words; ++i)
    for (uint32_t left = row[i]; left; left &= left - 1) f(i * 32 + static_cast<uint32_t>(__builtin_ctz(left)));
}
inline void AndRow(const uint32_t* __restrict with, uint32_t words, uint32_t* __restrict to) {
  for (uint32_t i = 0; i < words; ++i) to[i] &= with[i];
}
// Adds what two rows have in common.
inline void OrMeet(const uint32_t* __restrict a, const uint32_t* __restrict b, uint32_t words,
                   uint32_t* __restrict to) {
  for (uint32_t i = 0; i < words; ++i) to[i] |= a[i] & b[i];
}

}  // namespace tokamata
