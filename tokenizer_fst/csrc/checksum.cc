#include "tokenizer_fst/csrc/checksum.h"

#include <algorithm>
#include <cstring>

namespace tokamata {

void Checksum::MixBlocks(const char* from, size_t blocks, uint64_t* lanes) {
  uint64_t sum[kLanes];  // in registers, not in memory
  std::copy(lanes, lanes + kLanes, sum);
  for (; blocks; --blocks, from += kBlock)
    for (size_t i = 0; i < kLanes; ++i) sum[i] = Mix(sum[i], LittleEndian(from + 8 * i));
  std::copy(sum, sum + kLanes, lanes);
}

void Checksum::Add(std::string_view bytes) {
  const size_t held = total_ % kBlock;
  total_ += bytes.size();
  if (held) {
    const size_t n = std::min(kBlock - held, bytes.size());
    std::memcpy(held_ + held, bytes.data(), n);
    bytes.remove_prefix(n);
    if (held + n < kBlock) return;
    MixBlocks(held_, 1, lanes_);
  }
  MixBlocks(bytes.data(), bytes.size() / kBlock, lanes_);
  bytes.remove_prefix(bytes.size() / kBlock * kBlock);
  if (!bytes.empty()) std::memcpy(held_, bytes.data(), bytes.size());
}

uint64_t Checksum::Value() const {
  uint64_t lanes[kLanes];
  std::copy(lanes_, lanes_ + kLanes, lanes);
  char rest[kBlock] = {};
  std::memcpy(rest, held_, total_ % kBlock);
  MixBlocks(rest, 1, lanes);
  uint64_t sum = total_;
  for (const uint64_t lane : lanes) sum = Mix(sum, lane);
  return sum;
}

}  // namespace tokamata
