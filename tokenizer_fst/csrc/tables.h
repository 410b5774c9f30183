// Tables: everything that masks know about a vocabulary in advance, as flat arrays: the same in memory and in a file.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "automata/csrc/byte_set.h"
#include "tokenizer_fst/csrc/character_class.h"
#include "tokenizer_fst/csrc/trie.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

constexpr uint32_t kRowLengths = 24;  // rows of the root's factors by number of characters

// Records say where things lie in the arrays; numbers of rows are kNoIndex where there is none.
struct FactorExit {
  uint32_t node;   // of the main trie: entered by the first byte of s
  uint32_t chars;  // characters of w
};
struct FactorRecord {
  ByteSet exit_bytes;
  uint32_t exits_at, exit_offsets_at;
  uint32_t inside_at, inside, offsets_at, max_chars;
  uint32_t row;
  uint32_t unused;
};
struct SuffixRecord {
  TrieRecord trie;
  uint32_t chars_at;
  uint32_t max_chars[256];
};
struct ByteRecord {
  SuffixRecord suffixes;
  uint32_t byte, ids_at, ids, before_at;
};
struct TablesSummary {
  TrieRecord trie;
  SuffixRecord suffixes[kNotNewline + 1];
  uint32_t length_rows[kNumClasses][kRowLengths + 1];
  uint32_t with_byte[256], from_byte[256], with_non_ascii;
  uint32_t byte_rows[128];  // the tokens with an ASCII byte, where they are many
};

// See Factoring for what the arrays mean.
template <template <class> class Array>
struct Tables {
  TrieArrays<Array> tries;           // the main one and those of suffixes
  Array<uint32_t> big;               // by wide node: its number among the nodes with factors, or kNoIndex
  Array<FactorRecord> factors;       // kNumClasses for each of those
  Array<uint32_t> inside, offsets;   // of factors; equal lists are kept once
  Array<FactorExit> exits;
  Array<uint32_t> exit_offsets;
  Array<uint16_t> chars;             // of suffixes
  Array<std::array<uint64_t, 2>> before;
  Array<ByteRecord> bytes;           // ascending
  Array<uint32_t> ids;               // of bytes
  Array<uint32_t> rows;
  Array<uint16_t> inside_below;      // by node of the main trie: see Factoring::InsideBelow
  Array<TablesSummary> summary;      // one

  template <class F>
  void ForEach(F f) {
    f(tries.nodes), f(tries.order), f(tries.wides), f(tries.wide_children), f(big), f(factors), f(inside), f(offsets);
    f(exits), f(exit_offsets), f(chars), f(before), f(bytes), f(ids), f(rows), f(inside_below), f(summary);
  }
};

// What masks know about these tokens. O(total bytes · classes), sorting apart.
Tables<Owned> BuildTables(const Vocabulary& vocabulary);

// A little-endian image: header with version, checksum of the tokens and sizes; then the arrays at multiples of 8.
std::string SerializeTables(Tables<Stored> tables, const Vocabulary& vocabulary);

// Views into an image, which must begin at a multiple of 8. No value for an image of another version: build the
// tables anew. Throws VocabularyError for any other image that SerializeTables did not write for these tokens; where
// the bytes are forged with care, still no index in the result leads out of bounds or in circles. O(size of the image).
std::optional<Tables<Stored>> ParseTables(std::string_view image, const Vocabulary& vocabulary);

}  // namespace tokamata
