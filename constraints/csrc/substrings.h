// Substrings: the pieces of one text, made of whole units of it, as a delayed automaton.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/csrc/leaf_automaton.h"

namespace tokamata {

// What the pieces of a text are made of.
enum class TextUnit : uint8_t {
  kCharacters,
  kWords,  // runs of anything but ASCII white space; a piece begins and ends with one, as the text separates them
  kLines,  // with their newlines; a piece may leave out its last one
};

// The suffix automaton of a text over its units: a path from node 0 for each piece, and no others. At most 2n nodes and
// 3n edges for n units. O(total bytes), but for hashing and sorting the different units.
// Source: Blumer et al., "The smallest automaton recognizing the subwords of a text" (1985).
class SuffixAutomaton {
 public:
  struct Edge {
    uint32_t unit, target;
  };
  // Edges, the next `depth` bytes of whose units were read; in order of their bytes.
  struct Range {
    uint32_t low, high, depth;
    bool operator==(const Range& o) const { return low == o.low && high == o.high && depth == o.depth; }
  };
  // The text is UTF-8. LimitError past kMostUnits.
  SuffixAutomaton(std::string text, TextUnit unit);
  static constexpr size_t kMostUnits = size_t{1} << 28;

  uint32_t NumNodes() const { return static_cast<uint32_t>(begin_.size() - 1); }
  size_t NumEdges() const { return edges_.size(); }
  std::string_view Unit(uint32_t unit) const {
    return std::string_view(text_).substr(units_[unit].first, units_[unit].second);
  }
  // The edges with which a piece may begin.
  Range First() const { return {0, first_edges_, 0}; }
  // Adds what is left of a range after a byte to *out; whether a piece may end there.
  bool Step(const Range& range, uint8_t byte, std::vector<Range>* out) const;
  // The bytes that may come next.
  ByteSet Bytes(const Range& range) const;
  // The one byte that may come next in a range of one edge.
  uint8_t OnlyByte(const Range& range) const {
    return static_cast<uint8_t>(text_[units_[edges_[range.low].unit].first + range.depth]);
  }
  // From every place, a piece may end after at most so many bytes.
  uint32_t Most() const { return most_; }
  size_t MemoryBytes() const;

 private:
  void Build(const std::vector<uint32_t>& symbols);
  uint32_t Length(uint32_t edge) const { return units_[edges_[edge].unit].second; }
  uint32_t ByteAt(uint32_t edge, uint32_t depth) const {
    return static_cast<uint8_t>(text_[units_[edges_[edge].unit].first + depth]);
  }
  // The edges of a range with a byte at its depth; all are longer than that.
  Range Narrow(const Range& range, uint32_t byte) const;

  std::string text_;
  TextUnit unit_;
  // Place and length in the text, words first, then in order of bytes.
  std::vector<std::pair<uint32_t, uint32_t>> units_;
  uint32_t num_words_ = 0;
  std::vector<uint32_t> begin_;  // of a node's edges
  std::vector<Edge> edges_;
  uint32_t first_edges_ = 0, most_ = 0;
};

// A state is a set of ranges: more than one only where a unit begins another one.
class Substrings final : public LeafAutomaton {
 public:
  explicit Substrings(std::shared_ptr<const SuffixAutomaton> automaton);

  static constexpr uint32_t kStart = 0;
  void Arcs(uint32_t state, std::vector<Arc>* out) override;
  bool IsFinal(uint32_t state) override { return states_[state].final; }
  uint32_t Most(uint32_t) override { return automaton_->Most(); }
  std::shared_ptr<LeafAutomaton> Clone() const override { return std::make_shared<Substrings>(automaton_); }
  const void* Origin() const override { return automaton_.get(); }
  void Adopt(const LeafAutomaton& other, std::vector<uint32_t>* states) override;
  size_t MemoryBytes() const override;

  const SuffixAutomaton& Automaton() const { return *automaton_; }
  using Ranges = std::vector<SuffixAutomaton::Range>;
  const Ranges& RangesOf(uint32_t state) const { return states_[state].ranges; }

 private:
  struct State {
    Ranges ranges;  // sorted
    bool final = false;
  };
  uint32_t Intern(State state);

  std::shared_ptr<const SuffixAutomaton> automaton_;
  std::vector<State> states_;
  std::unordered_multimap<uint64_t, uint32_t> index_;
};

}  // namespace tokamata
