#include "decode/csrc/rows.h"

#include <algorithm>
#include <cstdlib>
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

// For those that have registers of 512 bits, which are lines of the cache.
#define TOKAMATA_WIDER __attribute__((target("avx512f,popcnt")))
constexpr uint32_t kLine = 16, kLines = 4;  // words, and lines at a time

const Block* Blocks(const uint32_t* row) { return reinterpret_cast<const Block*>(row); }
Block* Blocks(uint32_t* row) { return reinterpret_cast<Block*>(row); }

// Words up to where a block of so many begins in memory: blocks that lie across two lines of the cache are written
// slowly.
uint32_t WordsBefore(const uint32_t* row, uint32_t words, uint32_t block = kBlock) {
  const uint32_t past = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(row) / sizeof(uint32_t)) % block;
  return past ? std::min(words, block - past) : 0;
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

TOKAMATA_WIDER void CopyWider(const uint32_t* __restrict from, uint32_t words, uint32_t* __restrict to) {
  uint32_t i = 0;
  for (const uint32_t before = WordsBefore(to, words, kLine); i < before; ++i) to[i] = from[i];
  for (; i + kLines * kLine <= words; i += kLines * kLine) {
    __m512i lines[kLines];
    for (uint32_t k = 0; k < kLines; ++k) lines[k] = _mm512_loadu_si512(from + i + k * kLine);
    for (uint32_t k = 0; k < kLines; ++k) _mm512_storeu_si512(to + i + k * kLine, lines[k]);
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

// No branch depends on where words differ, which no processor can foresee.
TOKAMATA_WIDER uint32_t ListWider(const uint32_t* a, const uint32_t* b, uint32_t words, uint32_t most, uint32_t* i,
                                  uint32_t* places) {
  constexpr uint32_t kMany = 64;
  const __m512i order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  uint32_t n = 0;
  while (n <= most && *i + kLine <= words) {
    uint32_t firsts[kMany], differs[kMany], some = 0;
    for (uint32_t k = 0; k < kMany && *i + kLine <= words; ++k, *i += kLine) {
      __m512i line = _mm512_loadu_si512(a + *i);
      if (b) line = _mm512_xor_si512(line, _mm512_loadu_si512(b + *i));
      firsts[some] = *i;
      differs[some] = _mm512_test_epi32_mask(line, line);
      some += differs[some] != 0;
    }
    for (uint32_t k = 0; k < some && n <= most; ++k) {
      const __m512i all = _mm512_add_epi32(order, _mm512_set1_epi32(static_cast<int>(firsts[k])));
      _mm512_storeu_si512(places + n, _mm512_maskz_compress_epi32(static_cast<__mmask16>(differs[k]), all));
      n += static_cast<uint32_t>(__builtin_popcount(differs[k]));
    }
  }
  return n;
}

uint32_t WidestBits() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("popcnt")) return 512;
  return __builtin_cpu_supports("avx2") ? 256 : 0;
}

#else

void CopyWide(const uint32_t*, uint32_t, uint32_t*) {}
void CopyWider(const uint32_t*, uint32_t, uint32_t*) {}
void OrWide(const uint32_t*, uint32_t, uint32_t*) {}
uint32_t ListWide(const uint32_t*, const uint32_t*, uint32_t, uint32_t, uint32_t*, uint32_t*) { return 0; }
uint32_t ListWider(const uint32_t*, const uint32_t*, uint32_t, uint32_t, uint32_t*, uint32_t*) { return 0; }
uint32_t WidestBits() { return 0; }

#endif

// TOKAMATA_ROW_BITS says that wider registers than these are not to be used.
uint32_t BitsToUse() {
  const char* const most = std::getenv("TOKAMATA_ROW_BITS");
  return most ? std::min(WidestBits(), static_cast<uint32_t>(std::strtoul(most, nullptr, 10))) : WidestBits();
}
const uint32_t kBits = BitsToUse();
const bool kHasWide = kBits >= 256, kHasWider = kBits >= 512;

}  // namespace

void CopyRow(const uint32_t* from, uint32_t words, uint32_t* to) {
  if (kHasWider) return CopyWider(from, words, to);
  if (kHasWide) return CopyWide(from, words, to);
  std::memcpy(to, from, size_t{words} * sizeof(uint32_t));
}

uint32_t ListDifferent(const uint32_t* a, const uint32_t* b, uint32_t words, uint32_t most, uint32_t* places) {
  uint32_t i = 0;
  uint32_t n = kHasWider ? ListWider(a, b, words, most, &i, places) : kHasWide ? ListWide(a, b, words, most, &i, places) : 0;
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
