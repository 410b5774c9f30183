// TextList: many literal texts in order, and the trie they form, which is never written down.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/run.h"

namespace tokamata {

// Immutable. A node of the trie is a range of neighbours in the order whose first `depth` bytes are the same.
class TextList {
 public:
  struct Node {
    uint32_t low, high, depth;
  };

  TextList() : begins_(1, 0) {}
  // Sorts the texts and drops repeated ones.
  explicit TextList(const std::vector<std::string_view>& texts);
  explicit TextList(const std::vector<std::string>& texts)
      : TextList(std::vector<std::string_view>(texts.begin(), texts.end())) {}

  uint32_t Size() const { return static_cast<uint32_t>(begins_.size()) - 1; }
  std::string_view Text(uint32_t i) const { return {bytes_.data() + begins_[i], begins_[i + 1] - begins_[i]}; }
  // What is left of a text at depth.
  std::string_view Rest(uint32_t i, uint32_t depth) const { return Text(i).substr(depth); }
  Node Root() const { return {0, Size(), 0}; }
  // The node of this depth whose texts begin with text `low`.
  Node At(uint32_t low, uint32_t depth) const;
  // Whether a text ends at the node.
  bool IsFinal(const Node& n) const { return Text(n.low).size() == n.depth; }
  // Calls f(byte, child) for every byte that goes on from the node, in order.
  template <class F>
  void ForEachChild(const Node& n, F f) const {
    for (uint32_t i = n.low + IsFinal(n); i < n.high;) {
      const uint32_t end = EndOf(i, n.high, n.depth);
      f(static_cast<uint8_t>(Text(i)[n.depth]), Node{i, end, n.depth + 1});
      i = end;
    }
  }
  // The first text from `low` on, before `high`, with another byte at `depth` than text `low`; they share what is before.
  uint32_t EndOf(uint32_t low, uint32_t high, uint32_t depth) const {
    const char byte = Text(low)[depth];
    return RunEnd(low, high, [&](uint32_t i) { return Text(i)[depth] == byte; });
  }
  // How many bytes all texts of a node begin with.
  uint32_t CommonLength(const Node& n) const;
  // The bytes left of the shortest and of the longest text of a node.
  void Lengths(const Node& n, uint32_t* least, uint32_t* most) const;
  size_t MemoryBytes() const { return bytes_.capacity() + begins_.capacity() * sizeof(uint32_t); }
  bool operator==(const TextList& o) const { return begins_ == o.begins_ && bytes_ == o.bytes_; }

 private:
  std::string bytes_;
  std::vector<uint32_t> begins_;  // one more than texts
};

}  // namespace tokamata
