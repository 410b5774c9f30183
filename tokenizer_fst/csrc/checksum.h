// Checksum: 64 bits that tell damaged data from whole data; no protection against those who mean to deceive.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tokamata {

// Eight bytes, the least significant one first.
inline uint64_t LittleEndian(const char* p) {
  uint64_t n = 0;
  for (int i = 7; i >= 0; --i) n = n << 8 | static_cast<uint8_t>(p[i]);
  return n;
}

// Bytes may come in pieces, cut anywhere. Eight lanes take eight words of each 64-byte block; each step is one-to-one
// in the lane and in the word, so no change of a single word goes unnoticed. About as fast as memory is read.
class Checksum {
 public:
  void Add(std::string_view bytes);
  uint64_t Value() const;

 private:
  static constexpr size_t kLanes = 8, kBlock = kLanes * 8;
  static uint64_t Mix(uint64_t sum, uint64_t word) {
    sum ^= word;
    return (sum << 29 | sum >> 35) * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  }
  static void MixBlocks(const char* from, size_t blocks, uint64_t* lanes);

  uint64_t lanes_[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint64_t total_ = 0;
  char held_[kBlock] = {};  // the last total_ % kBlock bytes
};

}  // namespace tokamata
