// CanonicalTokens: what canonical tokenizations know of a tokenizer, whatever the constraint.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "automata/csrc/id_table.h"
#include "decode/csrc/byte_pairs.h"
#include "decode/csrc/canonical_loops.h"
#include "decode/csrc/split_patterns.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// Immutable but for caches; shared by the automata over it.
class CanonicalTokens {
 public:
  // Throws UnsupportedError where texts are cut and some byte is no token: then what can be written after a cut is not
  // known from the text alone. O(tokens that end inside of a character * tokens that begin there).
  CanonicalTokens(std::shared_ptr<const Vocabulary> vocabulary, std::shared_ptr<const BytePairs> pairs,
                  std::shared_ptr<const SplitPatterns> patterns, bool cuts);

  const Vocabulary& Vocab() const { return *vocabulary_; }
  const BytePairs& Pairs() const { return *pairs_; }
  const std::shared_ptr<const SplitPatterns>& Patterns() const { return patterns_; }
  CanonicalLoops& Loops() const { return *loops_; }
  // Whether merges make the token and some text goes on after it.
  bool Written(uint32_t token) const { return written_[token]; }
  // The tokens of bytes that go on inside of a character and nothing else; first those that merges seldom hold together
  // with what is before them.
  const std::vector<uint32_t>& Inner() const { return inner_; }
  // Whether the token is written only where it is a whole piece.
  bool WholeOnly(uint32_t token) const { return whole_only_[token]; }

  // How merges would spell tokens that are written as whole pieces only: no such spelling may become a piece. Nodes of
  // a tree of these spellings: kPieceStart before the first token of a piece, kNoSpelling where the piece is no
  // beginning.
  static constexpr uint32_t kNoSpelling = 0, kPieceStart = 1;
  uint32_t Spelled(uint32_t node, uint32_t token) const {
    if (node == kNoSpelling || (node == kPieceStart && !begins_spelling_[token])) return kNoSpelling;
    const auto at = spellings_.find(PairKey(node, token));
    return at == spellings_.end() ? kNoSpelling : at->second;
  }
  bool SpellsWhole(uint32_t node) const { return spells_whole_[node]; }
  // The tokens by which such a spelling goes on at a node, but for kPieceStart.
  const std::vector<uint32_t>& GoesOnWith(uint32_t node) const { return goes_on_with_[node]; }

 private:
  void FindSpellings();
  void DropUnfinished();
  void FindInner();

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const BytePairs> pairs_;
  std::shared_ptr<const SplitPatterns> patterns_;
  std::vector<uint8_t> written_, whole_only_, begins_spelling_;  // by token
  uint32_t unit_of_[256];                                        // the token of a byte, or 0xffffffff
  std::unordered_map<uint64_t, uint32_t> spellings_;
  std::vector<uint8_t> spells_whole_;  // by node
  std::vector<std::vector<uint32_t>> goes_on_with_;
  std::vector<uint32_t> inner_;
  std::unique_ptr<CanonicalLoops> loops_;
};

}  // namespace tokamata
