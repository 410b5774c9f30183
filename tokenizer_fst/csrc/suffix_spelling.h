// SuffixSpelling: how many tokens it takes to spell what is left of a token.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "tokenizer_fst/csrc/trie.h"

namespace tokamata {

// Whoever has read a part of a token could have begun a new one there instead, at the price of spelling the rest anew.
// `of` the vocabulary's trie; a rest that no tokens spell counts as kMost.
class SuffixSpelling {
 public:
  static constexpr uint32_t kMost = 0xff;

  // O(total bytes * the longest match of a rest), once for each vocabulary.
  explicit SuffixSpelling(const Trie& trie);

  // The most tokens that the rest of any token takes from a node on; 0 where none goes on.
  uint32_t From(uint32_t node) const { return from_[node]; }
  // The same where the rest begins with the byte on the arc into a node.
  uint32_t Through(uint32_t node) const { return through_[node]; }
  // The same over all places of all tokens where the rest begins with one of these bytes.
  uint32_t Beginning(const ByteSet& first) const;

 private:
  std::vector<uint8_t> from_, through_;
  std::array<uint8_t, 256> beginning_{};
};

}  // namespace tokamata
