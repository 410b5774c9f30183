#include "tokenizer_fst/csrc/suffix_spelling.h"

#include <algorithm>

namespace tokamata {

SuffixSpelling::SuffixSpelling(const Trie& trie) : from_(trie.Size(), 0), through_(trie.Size(), 0) {
  std::vector<uint32_t> path{0};                             // nodes from the root to the current one
  std::vector<uint32_t> least(trie.max_depth + 1);           // by place in the token: tokens that its rest takes
  const auto ends = [&](uint32_t n) { return trie.TokensBegin(n) != trie.TokensEnd(n); };
  for (uint32_t n = 1; n < trie.Size(); ++n) {
    const uint32_t depth = trie.nodes[n].depth;
    path.resize(depth);
    path.push_back(n);
    if (!ends(n)) continue;
    least[depth] = 0;
    for (uint32_t i = depth; i-- > 1;) {
      least[i] = kMost;
      for (uint32_t j = i, at = 0; j < depth && least[i] > 1; ++j) {
        at = trie.Child(at, trie.nodes[path[j + 1]].byte);
        if (at == kNoIndex) break;
        if (ends(at)) least[i] = std::min(least[i], least[j + 1] + 1);
      }
      const uint8_t count = static_cast<uint8_t>(std::min(least[i], kMost));
      from_[path[i]] = std::max(from_[path[i]], count);
      through_[path[i + 1]] = std::max(through_[path[i + 1]], count);
      uint8_t& most = beginning_[trie.nodes[path[i + 1]].byte];
      most = std::max(most, count);
    }
  }
}

uint32_t SuffixSpelling::Beginning(const ByteSet& first) const {
  uint8_t most = 0;
  first.ForEach([&](uint8_t b) { most = std::max(most, beginning_[b]); });
  return most;
}

}  // namespace tokamata
