// A set of bytes: 256 bits.
#pragma once
#include <cstdint>

namespace tokamata {

// The number of bits that are set. Without the processor's instruction the compiler would call a function.
inline uint32_t PopCount(uint64_t w) {
#ifdef __POPCNT__
  return static_cast<uint32_t>(__builtin_popcountll(w));
#else
  w -= w >> 1 & 0x5555555555555555u;
  w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
  return static_cast<uint32_t>(((w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

struct ByteSet {
  uint64_t words[4] = {0, 0, 0, 0};

  static ByteSet All() {
    ByteSet s;
    for (uint64_t& w : s.words) w = ~uint64_t{0};
    return s;
  }
  static ByteSet Range(int low, int high) {  // both are in it
    ByteSet s;
    for (int i = 0; i < 4; ++i) {
      const int from = low > 64 * i ? low - 64 * i : 0, to = high < 64 * i + 63 ? high - 64 * i : 63;
      if (from <= to) s.words[i] = ~uint64_t{0} >> (63 - (to - from)) << from;
    }
    return s;
  }
  static ByteSet Of(uint8_t b) {
    ByteSet s;
    s.Add(b);
    return s;
  }
  bool Has(uint8_t b) const { return words[b >> 6] >> (b & 63) & 1; }
  void Add(uint8_t b) { words[b >> 6] |= uint64_t{1} << (b & 63); }
  void Remove(uint8_t b) { words[b >> 6] &= ~(uint64_t{1} << (b & 63)); }
  bool Any() const { return (words[0] | words[1] | words[2] | words[3]) != 0; }
  int Count() const {
    uint32_t n = 0;
    for (uint64_t w : words) n += PopCount(w);
    return static_cast<int>(n);
  }
  // The members below b.
  uint32_t Rank(uint8_t b) const {
    uint32_t n = 0;
    for (int i = 0; i < b >> 6; ++i) n += PopCount(words[i]);
    return n + PopCount(words[b >> 6] & ((uint64_t{1} << (b & 63)) - 1));
  }
  // The lowest member; the set must not be empty.
  uint8_t First() const {
    for (int i = 0; i < 4; ++i)
      if (words[i]) return static_cast<uint8_t>(i * 64 + __builtin_ctzll(words[i]));
    return 0;
  }
  bool SubsetOf(const ByteSet& o) const { return !(*this - o).Any(); }
  bool Intersects(const ByteSet& o) const { return (*this & o).Any(); }
  template <class F>
  void ForEach(F f) const {
    for (int i = 0; i < 4; ++i)
      for (uint64_t w = words[i]; w; w &= w - 1) f(static_cast<uint8_t>(i * 64 + __builtin_ctzll(w)));
  }
  // Calls f(first, last) for members that follow one another, as many at a time as there are.
  template <class F>
  void ForEachRun(F f) const {
    int first = -1;  // of the run that the word before ended with
    for (int i = 0; i < 4; ++i) {
      uint64_t w = words[i];
      int at = 0;  // what lies below was seen to
      if (first >= 0) {
        if (w == ~uint64_t{0}) continue;
        at = __builtin_ctzll(~w);
        f(first, i * 64 + at - 1);
        first = -1;
        w = w >> at << at;
      }
      while (w) {
        at = __builtin_ctzll(w);
        const uint64_t ends = ~(w >> at);  // its lowest bit is 0
        const int length = ends ? __builtin_ctzll(ends) : 64;
        if (at + length >= 64) {
          first = i * 64 + at;
          break;
        }
        f(i * 64 + at, i * 64 + at + length - 1);
        w = w >> (at + length) << (at + length);
      }
    }
    if (first >= 0) f(first, 255);
  }
  friend ByteSet operator&(ByteSet a, const ByteSet& b) {
    for (int i = 0; i < 4; ++i) a.words[i] &= b.words[i];
    return a;
  }
  friend ByteSet operator|(ByteSet a, const ByteSet& b) {
    for (int i = 0; i < 4; ++i) a.words[i] |= b.words[i];
    return a;
  }
  friend ByteSet operator-(ByteSet a, const ByteSet& b) {
    for (int i = 0; i < 4; ++i) a.words[i] &= ~b.words[i];
    return a;
  }
  friend ByteSet operator~(ByteSet a) {
    for (uint64_t& w : a.words) w = ~w;
    return a;
  }
  friend bool operator==(const ByteSet& a, const ByteSet& b) {
    return a.words[0] == b.words[0] && a.words[1] == b.words[1] && a.words[2] == b.words[2] && a.words[3] == b.words[3];
  }
  friend bool operator!=(const ByteSet& a, const ByteSet& b) { return !(a == b); }
};

}  // namespace tokamata
