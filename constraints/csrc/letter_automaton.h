// LetterAutomaton: finite automata over the letters of a grammar, many and small.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "automata/csrc/fst.h"

namespace tokamata {

struct LetterArc {
  uint32_t letter, state;
  friend bool operator==(const LetterArc& a, const LetterArc& b) { return a.letter == b.letter && a.state == b.state; }
  friend bool operator<(const LetterArc& a, const LetterArc& b) {
    return a.letter != b.letter ? a.letter < b.letter : a.state < b.state;
  }
};

// Without epsilons; the start is state 0, all states are useful.
struct LetterAutomaton {
  std::vector<uint8_t> final;  // by state
  std::vector<uint32_t> first{0};
  std::vector<LetterArc> arcs;  // of state s from first[s] to first[s + 1], sorted

  uint32_t NumStates() const { return static_cast<uint32_t>(final.size()); }
  Span<const LetterArc> Arcs(uint32_t s) const { return {arcs.data() + first[s], first[s + 1] - first[s]}; }
  // Of minimal automata: whether they have the same language.
  friend bool operator==(const LetterAutomaton& a, const LetterAutomaton& b) {
    return a.final == b.final && a.first == b.first && a.arcs == b.arcs;
  }
};

// A net of arcs under construction.
struct LetterNet {
  static constexpr uint32_t kEpsilon = 0xffffffff;
  struct Arc {
    uint32_t from, letter, to;
  };
  uint32_t start = 0;
  std::vector<uint8_t> final;
  std::vector<Arc> arcs;

  uint32_t AddStates(size_t count) {
    final.resize(final.size() + count, 0);
    return static_cast<uint32_t>(final.size() - count);
  }
  void AddArc(uint32_t from, uint32_t letter, uint32_t to) { arcs.push_back({from, letter, to}); }
};

// The minimal automaton of a net's language without the empty text, its states numbered breadth-first (so that equal
// languages have equal automata); where determinization comes to more than so many states, one that is not
// deterministic, and false is returned. O(n log n) after determinization. Source: Valmari and Lehtinen, "Efficient
// minimization of DFAs with partial transition functions" (2008).
bool Reduce(const LetterNet& net, size_t most_states, LetterAutomaton* out);

}  // namespace tokamata
