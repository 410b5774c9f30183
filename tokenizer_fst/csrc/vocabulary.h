// Vocabulary: the bytes of every token, immutable and shared by everything that is built over it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/once.h"
#include "tokenizer_fst/csrc/large_pages.h"

namespace tokamata {

class Factoring;
class SuffixSpelling;

// Collects tokens in id order; Vocabulary::Make takes it over.
struct TokenTable {
  LargeString bytes;                   // all tokens, one after another
  LargeVector<uint32_t> offsets{0};    // token t is bytes[offsets[t], offsets[t + 1])
  std::vector<uint64_t> special;       // bit t: token t is never produced by text

  uint32_t Size() const { return static_cast<uint32_t>(offsets.size() - 1); }
  void Reserve(size_t tokens, size_t total_bytes);
  // Throws VocabularyError past 2^31 - 1 tokens or 4 GiB of bytes.
  void Add(std::string_view token);
  void AddSpecial();
};

// Token ids are 0..Size()-1, padding included. EOS ids count as special: their text is never produced by a constraint.
class Vocabulary : public std::enable_shared_from_this<Vocabulary> {
 public:
  ~Vocabulary();
  // Throws VocabularyError: no token at all, no token with bytes, no EOS id, an EOS id out of range,
  // a token of more than kMaxTokenBytes.
  static std::shared_ptr<const Vocabulary> Make(TokenTable table, const std::vector<int64_t>& eos_ids);

  // Stands before and after the name of a special token in texts; no UTF-8 text contains it.
  static constexpr uint8_t kMarkerByte = 0xff;
  // The same tokens, but the ids listed have kMarkerByte, the name and kMarkerByte as their bytes, so that constraints
  // can read them, and tokens of text with kMarkerByte are special, so that nothing else spells a marker. Throws
  // VocabularyError for ids out of range and EOS. O(total bytes), and what Masks() takes, which is built here.
  //
  // A constraint may ask for exactly one token of a class, however its text is cut: such a class is one more token,
  // with the class's name in markers as its bytes, behind those of the model. Throws VocabularyError for an empty
  // class.
  using TokenClass = std::pair<std::string, std::vector<int64_t>>;  // its name and its tokens
  std::shared_ptr<const Vocabulary> WithMarkers(const std::vector<std::pair<int64_t, std::string>>& names,
                                                const std::vector<TokenClass>& classes = {}) const;
  bool HasMarkers() const { return has_markers_; }
  // Tokens of the model: ids from there on are classes.
  uint32_t ModelSize() const { return Size() - NumClasses(); }
  uint32_t ModelWords() const { return (ModelSize() + 31) / 32; }
  uint32_t NumClasses() const { return static_cast<uint32_t>(classes_.size()); }
  // The tokens of a class, ModelWords() words.
  const std::vector<uint32_t>& Class(uint32_t i) const { return classes_[i]; }
  // Whether any text can be spelled, as all of its bytes are tokens by themselves.
  bool SpellsAnyText() const;

  uint32_t Size() const { return table_.Size(); }
  uint32_t Words() const { return (Size() + 31) / 32; }
  // The bytes of a token; empty for special, padding and empty tokens. id < Size().
  std::string_view Token(uint32_t id) const {
    return std::string_view(table_.bytes).substr(table_.offsets[id], table_.offsets[id + 1] - table_.offsets[id]);
  }
  // Special, padding and EOS tokens: they have no bytes and only EOS can ever be allowed. id < Size().
  bool IsSpecial(uint32_t id) const { return table_.special[id / 64] >> (id % 64) & 1; }
  const std::vector<uint32_t>& EosIds() const { return eos_ids_; }  // sorted, unique, never empty
  uint32_t MaxTokenBytes() const { return max_token_bytes_; }
  // The lengths of the endings of a text that some token begins with and goes on beyond, ascending. O(length of the
  // longest token, squared).
  std::vector<uint32_t> Overlaps(std::string_view text) const;
  size_t MemoryBytes() const;
  const TokenTable& Table() const { return table_; }
  // A little-endian image: version, sizes, EOS ids, special bits, offsets, bytes.
  std::string Serialize() const;
  // The tables of Masks().
  std::string SerializeTables() const;
  // Throws VocabularyError on bytes that are no such images, or tables of other tokens. Allocates no more than the
  // first image's size; the tables stay where they are (see Factoring::FromImage), `owner` keeps them. Without tables,
  // or with those of another version, they are built anew when they are asked for.
  static std::shared_ptr<const Vocabulary> Deserialize(std::string_view image, std::string_view tables = {},
                                                       std::shared_ptr<const void> owner = {});
  // The prefix tree and what masks know in advance. Make builds them; after Deserialize without tables the first call.
  const Factoring& Masks() const;
  // Tokens that contain one of the characters kWideSpaces.
  const std::vector<uint32_t>& WithWideSpaces() const;
  // Tokens that contain, maybe cut off, a character of U+4000 to U+9FFF that is not of kUsualHan.
  const std::vector<uint32_t>& WithRareHan() const;
  // Tokens with a comma and a whole JSON string that may be a key or an element of an array: alone they may write one
  // that came before.
  const std::vector<uint32_t>& WithWholeKeys() const;
  // Where keys stand in lines, tokens that go on in the next line may do so, and those that begin with white space and
  // a whole key.
  const std::vector<uint32_t>& WithNextLines() const;
  const std::vector<uint32_t>& WithKeysInLines() const;
  // Others with a quote, a comma, a quote and more: alone they may end a key or an element and begin another.
  const std::vector<uint32_t>& WithEndsOfKeys() const;
  // Tokens with a comma and the beginning of a JSON value after it, by what stands up to the comma, once for each such
  // comma: alone they may end a value and write one that came before.
  struct Continued {
    std::string begin;
    std::vector<uint32_t> ids;
  };
  const std::vector<Continued>& WithNextValues() const;
  // Tokens of more than so many bytes, as a range of ids.
  std::pair<const uint32_t*, const uint32_t*> LongerThan(uint32_t bytes) const;
  // How often a byte occurs in one token at most.
  uint32_t MostOf(uint8_t byte) const;
  // How often white space comes after something else in one token at most (see BlankScan).
  uint32_t MostBlanks() const;
  // What the rests of tokens take; made when it is first asked for.
  const SuffixSpelling& Spelling() const;
  static constexpr uint32_t kMaxTokenBytes = 0xffff;

 private:
  Vocabulary();
  static std::shared_ptr<Vocabulary> MakeBare(TokenTable table, const std::vector<int64_t>& eos_ids);
  TokenTable table_;
  std::vector<uint32_t> eos_ids_;
  uint32_t max_token_bytes_ = 0;
  bool has_markers_ = false;
  std::vector<std::vector<uint32_t>> classes_;
  void IndexTokens() const;
  mutable Once indexed_once_;
  mutable std::vector<uint32_t> spaced_, rare_han_, keyed_, ending_, lined_, broken_;
  mutable std::vector<uint32_t> by_length_, lengths_from_;  // by_length_: the longest first
  mutable std::array<uint32_t, 256> most_of_{};             // times in one token, by byte
  mutable uint32_t most_blanks_ = 0;
  mutable Once continued_once_;
  mutable std::vector<Continued> continued_;
  mutable Once spelling_once_;
  mutable std::unique_ptr<const SuffixSpelling> spelling_;
  mutable Once masks_once_;
  mutable std::unique_ptr<const Factoring> masks_;
};

}  // namespace tokamata
