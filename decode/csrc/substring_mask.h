// The tokens inside a piece of a text, found without states for what they pass.
#pragma once
#include <cstdint>
#include <vector>

#include "constraints/csrc/substrings.h"
#include "tokenizer_fst/csrc/trie.h"

namespace tokamata {

// Walks a trie beside a suffix automaton, from a state of Substrings with these ranges; `final`: a piece may end there.
// Calls inside(node) for each node that is reached, the root left out, and ends(node) where a piece may end.
template <class Inside, class Ends>
void WalkSubstrings(const SuffixAutomaton& automaton, const Substrings::Ranges& start, bool final, const Trie& trie,
                    Inside inside, Ends ends) {
  struct At {
    uint32_t node, first, last;  // its ranges in `ranges`
  };
  if (final) ends(0u);
  Substrings::Ranges ranges = start;
  std::vector<At> open{{0, 0, static_cast<uint32_t>(start.size())}};
  while (!open.empty()) {
    const At at = open.back();
    open.pop_back();
    ranges.resize(at.last);  // what was pushed later is done
    const auto visit = [&](uint32_t child, uint8_t byte) {
      const uint32_t first = static_cast<uint32_t>(ranges.size());
      bool ended = false;
      for (uint32_t i = at.first; i < at.last; ++i) {
        const SuffixAutomaton::Range range = ranges[i];
        ended = automaton.Step(range, byte, &ranges) || ended;
      }
      const uint32_t last = static_cast<uint32_t>(ranges.size());
      if (!ended && first == last) return;
      inside(child);
      if (ended) ends(child);
      if (first < last && trie.nodes[child].end > child + 1) open.push_back({child, first, last});
    };
    if (at.last - at.first == 1 && ranges[at.first].high - ranges[at.first].low == 1) {
      const uint8_t byte = automaton.OnlyByte(ranges[at.first]);
      if (const uint32_t child = trie.Child(at.node, byte); child != kNoIndex) visit(child, byte);
    } else {
      trie.ForEachChild(at.node, [&](uint32_t child) { visit(child, trie.nodes[child].byte); });
    }
  }
}

}  // namespace tokamata
