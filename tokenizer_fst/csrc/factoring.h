// Factoring: what masks can know about a vocabulary before any constraint is seen.
//
// For a few classes W of characters, every token is w·s with w the longest prefix in W*. Where a constraint loops over
// W, all tokens with an empty s are allowed by one precomputed row, and only the suffixes s that begin with a byte
// outside of W remain to be walked: a handful of trie nodes instead of hundreds of thousands. The same holds below
// every trie node with many tokens.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "tokenizer_fst/csrc/trie.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// A set of characters: some of ASCII, and all or none from U+0080 on.
struct CharacterClass {
  const char* name;
  ByteSet ascii;
  bool non_ascii;
  ByteSet first;  // first bytes of the UTF-8 encodings
};

enum ClassId { kJsonText, kAny, kNotNewline, kAlnum, kAlpha, kWord, kLower, kUpper, kDigit, kSpace, kNumClasses };
const std::array<CharacterClass, kNumClasses>& CharacterClasses();

// Steps of a UTF-8 decoder that only knows whether a byte may come next. Phase 0 is between characters.
struct Utf8Phase {
  static constexpr int kNumPhases = 8;
  uint8_t low, high;  // the bytes that may come (phases from 1 on)
  uint8_t next;
};
extern const Utf8Phase kUtf8Phases[Utf8Phase::kNumPhases];
// The phase after the lead byte of a character of two or more bytes; 0 for bytes that begin none.
uint8_t Utf8LeadPhase(uint8_t lead);

// Sweeps over a subtree with respect to loops over characters that begin with the bytes `first`. Calls
// inside(node, characters, phase) for the nodes below where tokens end and whose bytes after `root` are such characters,
// the last one maybe cut off (phase > 0; it counts), and exit(node, characters) for those entered by another byte
// between characters. What is no UTF-8 is skipped: it is dead in any loop over characters. O(subtree).
template <class Inside, class Exit>
void ForEachFactored(const Trie& trie, uint32_t root, const ByteSet& first, Inside inside, Exit exit) {
  struct Mark {
    uint32_t phase, chars;
  };
  std::vector<Mark> path(trie.max_depth + 2);  // by depth
  const uint32_t base = trie.nodes[root].depth;
  path[0] = {0, 0};
  for (uint32_t n = root + 1; n < trie.nodes[root].end;) {
    const Trie::Node& node = trie.nodes[n];
    const uint32_t depth = node.depth - base;
    Mark m = path[depth - 1];
    if (m.phase) {
      const Utf8Phase& p = kUtf8Phases[m.phase];
      if (node.byte < p.low || node.byte > p.high) {
        n = node.end;
        continue;
      }
      m.phase = p.next;
    } else if (!first.Has(node.byte)) {
      exit(n, m.chars);
      n = node.end;
      continue;
    } else {
      m.phase = Utf8LeadPhase(node.byte);
      ++m.chars;
    }
    path[depth] = m;
    if (trie.TokensBegin(n) != trie.TokensEnd(n)) inside(n, m.chars, m.phase);
    ++n;
  }
}

// The tokens below a trie node with respect to one class, their remainders after the node factored as w·s.
struct Factor {
  struct Exit {
    uint32_t node;   // of the main trie: entered by the first byte of s
    uint32_t chars;  // characters of w
  };
  // Tokens whose remainder lies in W*, the last character maybe cut off (it counts), by the number of characters:
  // those of l are inside[offsets[l]] … inside[offsets[l + 1] - 1].
  std::vector<uint32_t> inside;
  std::vector<uint32_t> offsets;
  uint32_t max_chars = 0;
  uint32_t row = kNoIndex;              // all of `inside` as a row, where they are many
  std::vector<Exit> exits;              // by first byte of s
  std::array<uint32_t, 257> exits_at{};  // those of byte b: exits[exits_at[b]] … exits[exits_at[b + 1] - 1]
};

// The suffixes s of all tokens with respect to one class, equal ones merged.
struct SuffixTrie {
  Trie trie;                    // trie.order holds token ids
  std::vector<uint16_t> chars;  // characters of w, aligned with trie.order
  std::array<uint32_t, 256> max_chars{};  // the largest by first byte of s
};

// The tokens that contain one ASCII byte, for loops over all characters but that one.
struct ByteIndex {
  std::vector<uint32_t> ids;
  uint32_t row = kNoIndex;  // where they are many
  // Suffixes from the first occurrence of the byte on, of the tokens that are UTF-8 text before it.
  SuffixTrie suffixes;
  std::vector<std::array<uint64_t, 2>> before;  // ASCII bytes before it, aligned with suffixes.trie.order
};

class Factoring {
 public:
  explicit Factoring(const Vocabulary& vocabulary);

  static constexpr uint32_t kBig = 256;       // tokens below a node from which it has factors of its own
  static constexpr uint32_t kDense = 512;     // tokens from which a list gets a row
  static constexpr uint32_t kRowLengths = 24;  // root rows by number of characters
  static constexpr uint32_t kRare = 6000;     // tokens up to which an ASCII byte is indexed
  static constexpr uint32_t kByteRow = 300;   // tokens from which that index gets a row

  const Trie& trie() const { return trie_; }
  uint32_t Words() const { return words_; }
  // Null for nodes without factors. Node 0 has them.
  const Factor* At(uint32_t node, int class_id) const {
    const uint32_t wide = trie_.nodes[node].wide;
    if (!wide || big_[wide - 1] == kNoIndex) return node ? nullptr : &factors_[static_cast<size_t>(class_id)];
    return &factors_[big_[wide - 1] * kNumClasses + static_cast<size_t>(class_id)];
  }
  // The suffix trie of a class at the root; null for classes whose complement is most of the vocabulary.
  const SuffixTrie* Suffixes(int class_id) const { return class_id <= kNotNewline ? &suffixes_[class_id] : nullptr; }
  // Null for bytes that are not ASCII, in no token, or in too many.
  const ByteIndex* Containing(uint8_t b) const { return b < 128 ? by_byte_[b].get() : nullptr; }
  const uint32_t* Row(uint32_t index) const { return rows_.data() + size_t{index} * words_; }
  // The tokens inside W* of at most `chars` characters: a row to start from and the tokens to add to it.
  struct Base {
    const uint32_t* row;
    const uint32_t *more, *more_end;
  };
  Base InsideAtMost(int class_id, uint32_t chars) const;
  uint32_t TokensWithByte(uint8_t b) const { return with_byte_[b]; }
  uint32_t TokensWithNonAscii() const { return with_non_ascii_; }
  uint32_t TokensFrom(uint8_t b) const { return from_byte_[b]; }
  uint32_t NumTokens() const { return static_cast<uint32_t>(trie_.order.size()); }
  size_t MemoryBytes() const;

 private:
  Factor MakeFactor(uint32_t node, const CharacterClass& c);
  void MakeSuffixes(const Vocabulary& v, const Factor& root, SuffixTrie* out) const;
  void MakeByteIndices(const Vocabulary& v);
  uint32_t AddRow();

  uint32_t words_;
  Trie trie_;
  std::vector<uint32_t> big_;  // by wide node: index of its factors
  std::vector<Factor> factors_;
  SuffixTrie suffixes_[kNotNewline + 1];
  std::array<std::unique_ptr<ByteIndex>, 128> by_byte_;
  std::vector<uint32_t> rows_;
  std::array<std::array<uint32_t, kRowLengths + 1>, kNumClasses> length_rows_{};
  std::array<uint32_t, 256> with_byte_{}, from_byte_{};
  uint32_t with_non_ascii_ = 0;
};

}  // namespace tokamata
