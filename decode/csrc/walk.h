// Walking a trie of tokens beside an acceptor.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"
#include "tokenizer_fst/csrc/trie.h"

namespace tokamata {

// Sweeps over the subtree of a node that was entered with state q; calls visit(node, state) where tokens end in a live
// state, the node itself left out. *path has room for the trie's depth + 2. O(nodes of the subtree that are live).
template <class F>
void ForEachLiveToken(const Trie& trie, uint32_t root, DelayedAcceptor* acceptor, DelayedAcceptor::State q,
                      std::vector<StateRow>* path, F visit) {
  const Trie::Node* nodes = trie.nodes.data;
  const uint32_t base = nodes[root].depth, end = nodes[root].end;
  if (end == root + 1) return;
  StateRow* const rows = path->data();  // by depth
  rows[0] = acceptor->Row(q);
  for (uint32_t n = root + 1; n < end;) {
    const Trie::Node& node = nodes[n];
    const uint32_t depth = node.depth - base;
    const DelayedAcceptor::State next = rows[depth - 1][node.byte];
    if (!next) {
      n = node.end;
      continue;
    }
    if (trie.TokensBegin(n) != trie.TokensEnd(n)) visit(n, next);
    if (node.end > n + 1) rows[depth] = acceptor->Row(next);
    ++n;
  }
}

}  // namespace tokamata
