// ForEachFactored: a trie's tokens factored by a loop over characters.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/utf8.h"
#include "tokenizer_fst/csrc/character_class.h"
#include "tokenizer_fst/csrc/trie.h"

namespace tokamata {

// Sweeps over a subtree with respect to loops over characters that begin with the bytes `first`. Calls
// inside(node, characters, phase) for the nodes below where tokens end and whose bytes after `root` are such
// characters, the last one maybe cut off (phase > 0; it counts), and exit(node, characters) for those entered by
// another byte between characters. What is no UTF-8 is skipped: it is dead in any loop over characters. O(subtree).
template <class Inside, class Exit>
void ForEachFactored(const Trie& trie, uint32_t root, const ByteSet& first, Inside inside, Exit exit) {
  struct Mark {
    uint32_t phase, chars;
  };
  std::vector<Mark> path(trie.max_depth + 2);  // by depth
  const uint32_t base = trie.nodes[root].depth;
  path[0] = {0, 0};
  for (uint32_t n = root + 1; n < trie.nodes[root].end;) {
    const Trie::Node& node = trie.nodes[n];
    const uint32_t depth = node.depth - base;
    Mark m = path[depth - 1];
    if (m.phase) {
      const Utf8Phase& p = kUtf8Phases[m.phase];
      if (node.byte < p.low || node.byte > p.high) {
        n = node.end;
        continue;
      }
      m.phase = p.next;
    } else if (!first.Has(node.byte)) {
      exit(n, m.chars);
      n = node.end;
      continue;
    } else {
      m.phase = Utf8LeadPhase(node.byte);
      ++m.chars;
    }
    path[depth] = m;
    if (trie.TokensBegin(n) != trie.TokensEnd(n)) inside(n, m.chars, m.phase);
    ++n;
  }
}

}  // namespace tokamata
