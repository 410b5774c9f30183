// BytePairs: which tokens a byte-pair encoder writes next to each other.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/id_table.h"

namespace tokamata {

// A merge of neighbouring parts; the one of the least rank comes first, of equal ones the leftmost.
struct Merge {
  uint32_t left, right, made;
  int32_t rank;
};

// A text's tokens are those of the encoder exactly when every two neighbours are (Vieira et al., "Language models over
// canonical byte-pair encodings", 2025): merges on both sides of a boundary happen in the order of their ranks until
// one across it does, and what lies further away changes nothing about that. For merges in any order. Immutable but for
// a cache; safe to share between threads.
class BytePairs {
 public:
  // Tokens 0..size-1; `units` are what texts are made of before any merge. Throws VocabularyError for ids out of range.
  BytePairs(uint32_t size, std::vector<Merge> merges, const std::vector<uint32_t>& units, bool whole_pieces);
  // Of a list of tokens whose ids are the ranks of what they are made of (tiktoken): every two that together are a
  // token are a merge. Empty strings are no tokens.
  static std::vector<Merge> RankedMerges(const std::vector<std::string_view>& tokens);

  uint32_t Size() const { return size_; }
  uint32_t Words() const { return (size_ + 31) / 32; }
  // Whether the encoder writes the token for the token's text.
  bool Written(uint32_t token) const { return token < size_ && written_[token]; }
  // Whether a piece that is a token as a whole is that token, even if no merges make it.
  bool WholePieces() const { return whole_pieces_; }
  // Whether the encoder writes the two tokens for the text of both.
  bool Neighbours(uint32_t left, uint32_t right) const;
  // The parts of a token that merges across one of its boundaries can find.
  class Edge;
  void FindRightEdge(uint32_t token, Edge* edge) const;
  void FindLeftEdge(uint32_t token, Edge* edge) const;
  // Neighbours, of written tokens.
  bool Fit(const Edge& left, const Edge& right) const;
  // How many merges have a part of a written token's left edge on their right side.
  size_t LeftMerges(uint32_t token) const;
  // Which tokens may follow one, Words() words.
  using Bits = std::shared_ptr<const std::vector<uint32_t>>;
  Bits After(uint32_t token) const;
  // What the encoder writes for the units of these tokens, one after another.
  std::vector<uint32_t> Encode(const std::vector<uint32_t>& units) const;

 private:
  static constexpr int32_t kNever = 0x7fffffff;
  struct Part {
    uint32_t token;
    int32_t most;    // the highest rank among the merges after it was made that end in hiding it
    int32_t hidden;  // made_by_ of what hides it
    int32_t made;    // made_by_ of the part
  };
  struct Known {  // a merge, by its pair
    int32_t rank;
    uint32_t made;
  };
  struct Follower {
    uint32_t token;
    int32_t rank;
  };
  const Known* Find(uint32_t a, uint32_t b) const { return merges_.Find(PairKey(a, b)); }
  void RightSpine(uint32_t token, std::vector<Part>* spine) const;
  void LeftSpine(uint32_t token, std::vector<Part>* spine) const;
  Part RightPart(uint32_t whole) const;
  Part LeftPart(uint32_t whole) const;
  bool Conflict(const std::vector<Part>& lefts, const std::vector<Part>& rights, bool but_whole) const;
  void MakeForest();

  uint32_t size_;
  bool whole_pieces_;
  std::vector<uint8_t> written_;
  std::vector<uint32_t> written_bits_;
  std::vector<int32_t> left_, right_;  // parts of written tokens that merges make; -1
  std::vector<int32_t> rank_;          // of the merge that makes it; -1
  std::vector<int32_t> made_by_;       // the highest rank of the merges that make it
  FlatMap<uint64_t, Known> merges_;
  std::vector<uint32_t> by_left_at_, with_right_;
  std::vector<Follower> by_left_;  // by left token, in the order of ranks
  // Written tokens in preorder below the token that is their left part.
  std::vector<uint32_t> place_, end_, at_place_;
  std::vector<uint32_t> children_at_, children_;

  static constexpr size_t kCacheBytes = size_t{64} << 20;
  mutable std::mutex mutex_;
  mutable std::unordered_map<uint32_t, Bits> after_;
};

class BytePairs::Edge {
  friend class BytePairs;
  std::vector<Part> parts_;
};

}  // namespace tokamata
