// Trie: the vocabulary as a prefix tree, laid out for walking it together with an automaton.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/fst.h"
#include "tokenizer_fst/csrc/large_pages.h"

namespace tokamata {

constexpr uint32_t kNoIndex = 0xffffffff;

// Nodes are in depth-first preorder: the subtree of node i is [i, nodes[i].end), its first child is i + 1, and skipping
// a subtree is one assignment. Node 0 is the root. Tokens with equal bytes share a node. A trie is a view of arrays
// that belong to somebody else (see TrieArrays).
struct Trie {
  struct Node {
    uint32_t end;        // one past the subtree
    uint32_t tokens;     // index of the node's first token in `order`; those of the subtree end at nodes[end].tokens
    uint32_t depth;
    uint16_t wide;       // index + 1 into `wides`, 0 for nodes with few children
    uint8_t byte;        // on the arc into the node
    uint8_t height = 0;  // 1 + the longest way down; 0 where that is longer than kMostHeight or not known
  };
  static constexpr uint32_t kMostHeight = 254;
  struct Wide {  // children of a node with many of them: those whose byte is live are found by bits
    ByteSet bytes;
    uint32_t first;      // into wide_children; in order of bytes
    uint32_t node;
  };
  Span<const Node> nodes;            // one sentinel at the end
  Span<const uint32_t> order;        // token ids (or values of keys) in order of their nodes
  Span<const Wide> wides;
  Span<const uint32_t> wide_children;
  uint32_t max_depth;

  // Nodes without the sentinel.
  uint32_t Size() const { return static_cast<uint32_t>(nodes.size() - 1); }
  // The number of tokens that end in the node's subtree, the node included.
  uint32_t CountBelow(uint32_t node) const { return nodes[nodes[node].end].tokens - nodes[node].tokens; }
  // Tokens that end at the node: order[TokensBegin(n)] … order[TokensEnd(n) - 1].
  uint32_t TokensBegin(uint32_t node) const { return nodes[node].tokens; }
  uint32_t TokensEnd(uint32_t node) const { return nodes[node + 1].tokens; }
  // Calls f(child) for each child, in order of bytes.
  template <class F>
  void ForEachChild(uint32_t node, F f) const {
    for (uint32_t c = node + 1; c < nodes[node].end; c = nodes[c].end) f(c);
  }
  // Calls f(child, byte) for each child of a wide node (see Node::wide) whose byte is live, in order of bytes.
  template <class F>
  void ForEachLiveChild(uint32_t node, const ByteSet& live, F f) const {
    const Wide& w = wides[nodes[node].wide - 1];
    const uint32_t* child = wide_children.data + w.first;
    int counted = 0;  // words that `child` is past
    for (int k = 0; k < 4; ++k) {
      const uint64_t there = w.bytes.words[k];
      uint64_t both = there & live.words[k];
      if (!both) continue;
      for (; counted < k; ++counted) child += PopCount(w.bytes.words[counted]);
      for (; both; both &= both - 1) {
        const int bit = __builtin_ctzll(both);
        f(child[PopCount(there & ((uint64_t{1} << bit) - 1))], static_cast<uint8_t>(k * 64 + bit));
      }
    }
  }
  // The number of children of a wide node.
  uint32_t NumChildren(const Wide& w) const {
    return (&w + 1 == wides.end() ? static_cast<uint32_t>(wide_children.size()) : (&w + 1)->first) - w.first;
  }
  // Bytes of the longest way down from a node, or kNoIndex where that is not known.
  uint32_t Height(uint32_t node) const { return uint32_t{nodes[node].height} - 1; }
  // The child by a byte, or kNoIndex.
  uint32_t Child(uint32_t node, uint8_t byte) const;
};

// The arrays of several tries, one trie behind another; Array is Owned or Stored.
template <template <class> class Array>
struct TrieArrays {
  Array<Trie::Node> nodes;
  Array<uint32_t> order;
  Array<Trie::Wide> wides;
  Array<uint32_t> wide_children;
};
template <class T>
using Owned = LargeVector<T>;
template <class T>
using Stored = Span<const T>;

// Where one trie lies in the arrays.
struct TrieRecord {
  uint32_t nodes_at, nodes;
  uint32_t order_at, order;
  uint32_t wides_at, wides;
  uint32_t children_at, children;
  uint32_t max_depth;

  template <template <class> class Array>
  Trie View(const TrieArrays<Array>& in) const {
    return {Part(in.nodes, nodes_at, nodes), Part(in.order, order_at, order), Part(in.wides, wides_at, wides),
            Part(in.wide_children, children_at, children), max_depth};
  }

 private:
  template <class A>
  static auto Part(const A& array, uint32_t at, uint32_t count) -> Span<std::remove_reference_t<decltype(array[0])>> {
    return {array.begin() + at == array.end() ? nullptr : &array[at], count};
  }
};

// Any non-empty byte strings with what they stand for.
struct TrieKey {
  std::string_view bytes;
  uint32_t value;
};
// Appends the trie of the keys (in any order) to the arrays. O(n log n + total bytes).
TrieRecord BuildTrie(std::vector<TrieKey> keys, TrieArrays<Owned>* out);

}  // namespace tokamata
