// Factoring: what masks can know about a vocabulary before any constraint is seen.
//
// For a few classes W of characters, every token is w·s with w the longest prefix in W*. Where a constraint loops over
// W, all tokens with an empty s are allowed by one precomputed row, and only the suffixes s that begin with a byte
// outside of W remain to be walked: a handful of trie nodes instead of hundreds of thousands. The same holds below
// every trie node with many tokens.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/once.h"
#include "automata/csrc/utf8.h"
#include "tokenizer_fst/csrc/character_class.h"
#include "tokenizer_fst/csrc/cut_tokens.h"
#include "tokenizer_fst/csrc/for_each_factored.h"
#include "tokenizer_fst/csrc/learned_class.h"
#include "tokenizer_fst/csrc/tables.h"
#include "tokenizer_fst/csrc/trie.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// The tokens below a trie node with respect to one class, their remainders after the node factored as w·s.
struct Factor {
  using Exit = FactorExit;
  // Tokens whose remainder lies in W*, the last character maybe cut off (it counts), by the number of characters:
  // those of l are inside[offsets[l]] … inside[offsets[l + 1] - 1].
  Span<const uint32_t> inside;
  const uint32_t* offsets;
  uint32_t max_chars;
  uint32_t row;                  // all of `inside` as a row, where they are many
  ByteSet exit_bytes;            // the first bytes of s
  const Exit* exits;             // by first byte of s
  const uint32_t* exit_offsets;  // by rank of that byte

  // Those of a byte among exit_bytes.
  Span<const Exit> ExitsBy(uint8_t b) const {
    const uint32_t* at = exit_offsets + exit_bytes.Rank(b);
    return {exits + at[0], at[1] - at[0]};
  }
};

// The suffixes s of all tokens with respect to one class, equal ones merged.
struct SuffixTrie {
  Trie trie;                  // trie.order holds token ids
  const uint16_t* chars;      // characters of w, aligned with trie.order
  const uint32_t* max_chars;  // the largest by first byte of s
};

// The tokens that contain one ASCII byte, for loops over all characters but that one.
struct ByteIndex {
  Span<const uint32_t> ids;
  // Suffixes from the first occurrence of the byte on, of the tokens that are UTF-8 text before it.
  SuffixTrie suffixes;
  const std::array<uint64_t, 2>* before;  // ASCII bytes before it, aligned with suffixes.trie.order
};

class BegunTokens;

class Factoring {
 public:
  ~Factoring();
  static std::unique_ptr<const Factoring> Build(const Vocabulary& vocabulary);
  // Over the image of tables that belongs to `owner`; it is copied where it does not begin at a multiple of 8. Null and
  // VocabularyError as for ParseTables.
  static std::unique_ptr<const Factoring> FromImage(std::string_view image, std::shared_ptr<const void> owner,
                                                    const Vocabulary& vocabulary);
  std::string Serialize(const Vocabulary& vocabulary) const { return SerializeTables(tables_, vocabulary); }

  const Trie& trie() const { return trie_; }
  uint32_t Words() const { return words_; }
  // Null for nodes without factors. Node 0 has them.
  const Factor* At(uint32_t node, int class_id) const {
    const uint32_t wide = trie_.nodes[node].wide;
    if (!wide || tables_.big[wide - 1] == kNoIndex) return node ? nullptr : &factors_[static_cast<size_t>(class_id)];
    return &factors_[tables_.big[wide - 1] * kNumClasses + static_cast<size_t>(class_id)];
  }
  // The suffix trie of a class at the root; null for classes whose complement is most of the vocabulary.
  const SuffixTrie* Suffixes(int class_id) const { return class_id <= kNotNewline ? &suffixes_[class_id] : nullptr; }
  // Null for bytes that are not ASCII, in no token, or in too many.
  const ByteIndex* Containing(uint8_t b) const { return b < 128 && by_byte_[b].before ? &by_byte_[b] : nullptr; }
  // The tokens that contain an ASCII byte as a row; null where they are few, which Containing has then.
  const uint32_t* RowContaining(uint8_t b) const {
    return b < 128 && summary_->byte_rows[b] != kNoIndex ? Row(summary_->byte_rows[b]) : nullptr;
  }
  const uint32_t* Row(uint32_t index) const { return tables_.rows.data + size_t{index} * words_; }
  // The tokens inside W* of at most `chars` characters: a row to start from and the tokens to add to it.
  struct Base {
    const uint32_t* row;
    const uint32_t *more, *more_end;
  };
  Base InsideAtMost(int class_id, uint32_t chars) const;
  // How many have more than `least` characters, and at most `most`.
  uint32_t CountInside(int class_id, uint32_t least, uint32_t most) const {
    const Factor& f = factors_[static_cast<size_t>(class_id)];
    return f.offsets[std::min(most, f.max_chars) + 1] - f.offsets[std::min(least, f.max_chars) + 1];
  }
  // The tokens of a class that end inside a character; made when first asked for. `vocabulary` is the tables' own.
  const CutTokens& Cuts(int class_id, const Vocabulary& vocabulary) const;
  // The nodes of the trie that an ASCII byte leads to, in order; listed when first asked for.
  const std::vector<uint32_t>& NodesWith(uint8_t b) const;
  // The tokens with a byte beyond ASCII, as a row; made when first asked for.
  const uint32_t* RowBeyondAscii() const;
  // The tokens that begin inside a character, in this phase of UTF-8 (from 1 on); made when first asked for.
  const Factor& Begun(int class_id, uint8_t phase) const;
  // A row of the tables and the tokens of suffixes that are one of the exits; null where nobody asked for it before, or
  // where kMostEnded others were asked for. Threads may share it.
  const uint32_t* EndedBy(const SuffixTrie& suffixes, const ByteSet& exits, const uint32_t* row) const;
  static constexpr size_t kMostEnded = 64;
  // What is known below a node of a class that constraints brought along; made where it is not among those asked for
  // last.
  std::shared_ptr<const LearnedClass> Learned(uint32_t node, const ByteSet& ascii,
                                              const std::shared_ptr<const WideCharacters>& wide, const ByteSet& exits) const;
  // Whether one of ASCII is known at the root, or was asked for here as many times before.
  bool AskLearned(const ByteSet& ascii, const ByteSet& exits, uint32_t times_before) const;
  static constexpr size_t kMostLearned = 16;
  uint32_t TokensWithByte(uint8_t b) const { return summary_->with_byte[b]; }
  uint32_t TokensWithNonAscii() const { return summary_->with_non_ascii; }
  uint32_t TokensFrom(uint8_t b) const { return summary_->from_byte[b]; }
  // Bit c: all texts on the way down from a node are made of characters of class c (but kHan), the last one maybe cut
  // off.
  uint16_t InsideBelow(uint32_t node) const { return tables_.inside_below[node]; }
  // The bytes that are tokens by themselves.
  const ByteSet& SingleBytes() const { return single_bytes_; }
  uint32_t NumTokens() const { return static_cast<uint32_t>(trie_.order.size()); }
  size_t MemoryBytes() const;

 private:
  Factoring(Tables<Stored> tables, std::shared_ptr<const void> owner, uint32_t words);

  uint32_t words_;
  std::shared_ptr<const void> owner_;  // of what tables_ shows
  Tables<Stored> tables_;
  const TablesSummary* summary_;
  Trie trie_;
  std::vector<Factor> factors_;
  SuffixTrie suffixes_[kNotNewline + 1];
  std::array<ByteIndex, 128> by_byte_{};
  ByteSet single_bytes_;
  mutable Once cuts_once_[kNumClasses];
  mutable std::unique_ptr<const CutTokens> cuts_[kNumClasses];
  mutable Once begun_once_[kNumClasses][Utf8Phase::kNumPhases];
  mutable std::unique_ptr<const BegunTokens> begun_[kNumClasses][Utf8Phase::kNumPhases];
  mutable Once with_once_[128];
  mutable std::vector<uint32_t> with_[128];
  mutable Once beyond_ascii_once_;
  mutable std::vector<uint32_t> beyond_ascii_;
  struct Ended {  // see EndedBy
    const SuffixTrie* suffixes;
    const uint32_t* from;
    ByteSet exits;
    std::vector<uint32_t> row;
  };
  mutable std::mutex ended_mutex_;
  mutable std::deque<Ended> ended_;  // rows stay where they are
  mutable std::mutex learned_mutex_;
  mutable std::deque<std::shared_ptr<const LearnedClass>> learned_;  // the one asked for last first
  struct Asked {
    ByteSet ascii, exits;
    uint32_t times;
  };
  mutable std::deque<Asked> asked_;  // the newest first
};

}  // namespace tokamata
