#include "decode/csrc/rows.h"

#include <algorithm>
#include <cstring>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace tokamata {

namespace {

#if defined(__x86_64__) && defined(__GNUC__)

// For processors that have registers of 256 bits, whatever the rest is compiled for.
#define TOKAMATA_WIDE __attribute__((target("avx2")))
using Block = uint32_t __attribute__((vector_size(32), aligned(4), may_alias));
constexpr uint32_t kBlock = 8, kBlocks = 4;  // words, and blocks at a time

const Block* Blocks(const uint32_t* row) { return reinterpret_cast<const Block*>(row); }
Block* Blocks(uint32_t* row) { return reinterpret_cast<Block*>(row); }

// Words up to where a block begins in memory: blocks that lie across two lines of the cache are written slowly.
uint32_t WordsBefore(const uint32_t* row, uint32_t words) {
  const uintptr_t past = reinterpret_cast<uintptr_t>(row) % sizeof(Block) / sizeof(uint32_t);
  return past ? std::min(words, static_cast<uint32_t>(kBlock - past)) : 0;
}

TOKAMATA_WIDE void CopyWide(const uint32_t* __restrict from, uint32_t words, uint32_t* __restrict to) {
  uint32_t i = 0;
  for (const uint32_t before = WordsBefore(to, words); i < before; ++i) to[i] = from[i];
  for (; i + kBlocks * kBlock <= words; i += kBlocks * kBlock) {
    const Block *const a = Blocks(from + i), b0 = a[0], b1 = a[1], b2 = a[2], b3 = a[3];
    Block* const b = Blocks(to + i);
    b[0] = b0;
    b[1] = b1;
    b[2] = b2;
    b[3] = b3;
  }
  for (; i < words; ++i) to[i] = from[i];
}

TOKAMATA_WIDE void OrWide(const uint32_t* __restrict from, uint32_t words, uint32_t* __restrict to) {
  uint32_t i = 0;
  for (const uint32_t before = WordsBefore(to, words); i < before; ++i) to[i] |= from[i];
  for (; i + kBlocks * kBlock <= words; i += kBlocks * kBlock)
    for (uint32_t k = 0; k < kBlocks; ++k) Blocks(to + i)[k] |= Blocks(from + i)[k];
  for (; i < words; ++i) to[i] |= from[i];
}

// From word *i on, as far as there are whole blocks.
TOKAMATA_WIDE uint32_t ListWide(const uint32_t* a, const uint32_t* b, uint32_t words, uint32_t most, uint32_t* i,
                                uint32_t* places) {
  uint32_t n = 0;
  for (; n <= most && *i + kBlocks * kBlock <= words; *i += kBlocks * kBlock) {
    Block differs[kBlocks];
    for (uint32_t k = 0; k < kBlocks; ++k)
      differs[k] = b ? Blocks(a + *i)[k] ^ Blocks(b + *i)[k] : Blocks(a + *i)[k];
    const __m256i any = reinterpret_cast<__m256i>((differs[0] | differs[1]) | (differs[2] | differs[3]));
    if (_mm256_testz_si256(any, any)) continue;
    uint32_t alike = 0;
    for (uint32_t k = 0; k < kBlocks; ++k) {
      const __m256i zero = _mm256_cmpeq_epi32(reinterpret_cast<__m256i>(differs[k]), _mm256_setzero_si256());
      alike |= static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(zero))) << (k * kBlock);
    }
    for (uint32_t bits = ~alike; bits; bits &= bits - 1) places[n++] = *i + static_cast<uint32_t>(__builtin_ctz(bits));
  }
  return n;
}

const bool kHasWide = (__builtin_cpu_init(), __builtin_cpu_supports("avx2"));

#else

constexpr bool kHasWide = false;
void CopyWide(const uint32_t*, uint32_t, uint32_t*) {}
void OrWide(const uint32_t*, uint32_t, uint32_t*) {}
uint32_t ListWide(const uint32_t*, const uint32_t*, uint32_t, uint32_t, uint32_t*, uint32_t*) { return 0; }

#endif

}  // namespace

void CopyRow(const uint32_t* from, uint32_t words, uint32_t* to) {
  if (kHasWide) return CopyWide(from, words, to);
  std::memcpy(to, from, size_t{words} * sizeof(uint32_t));
}

uint32_t ListDifferent(const uint32_t* a, const uint32_t* b, uint32_t words, uint32_t most, uint32_t* places) {
  uint32_t i = 0, n = kHasWide ? ListWide(a, b, words, most, &i, places) : 0;
  while (n <= most && i < words) {
    const uint32_t end = std::min(words, i + kMorePlaces);
    uint32_t any = 0;
    for (uint32_t k = i; k < end; ++k) any |= a[k] ^ (b ? b[k] : 0);
    for (; any && i < end; ++i)
      if (a[i] != (b ? b[i] : 0)) places[n++] = i;
    i = end;
  }
  return n;
}

void OrRow(const uint32_t* from, uint32_t words, uint32_t* to) {
  if (kHasWide) return OrWide(from, words, to);
  for (uint32_t i = 0; i < words; ++i) to[i] |= from[i];
}

}  // namespace tokamata
