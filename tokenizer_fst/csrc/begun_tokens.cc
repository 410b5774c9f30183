#include "tokenizer_fst/csrc/begun_tokens.h"

#include <algorithm>
#include <utility>

#include "automata/csrc/utf8.h"
#include "tokenizer_fst/csrc/for_each_factored.h"

namespace tokamata {

BegunTokens::BegunTokens(const Trie& trie, const CharacterClass& c, uint8_t phase) {
  std::vector<std::pair<uint32_t, uint32_t>> found;  // characters, token
  const auto inside = [&](uint32_t node, uint32_t chars, uint32_t) {
    for (uint32_t i = trie.TokensBegin(node); i < trie.TokensEnd(node); ++i) found.emplace_back(chars, trie.order[i]);
  };
  const auto exit = [&](uint32_t node, uint32_t chars) { exits_.push_back({node, chars}); };
  std::vector<Utf8Phase> lacks;  // by depth - 1
  for (uint8_t p = phase; p; p = kUtf8Phases[p].next) lacks.push_back(kUtf8Phases[p]);
  for (uint32_t n = 1; n < trie.Size();) {
    const Trie::Node& node = trie.nodes[n];
    const Utf8Phase& lack = lacks[node.depth - 1];
    const bool goes_on = node.byte >= lack.low && node.byte <= lack.high;
    if (goes_on) inside(n, 0, 0);
    if (goes_on && !lack.next) ForEachFactored(trie, n, c.first, inside, exit);
    n = goes_on && lack.next ? n + 1 : node.end;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  factor_.max_chars = found.empty() ? 0 : found.back().first;
  offsets_.resize(factor_.max_chars + 2);
  for (const auto& [chars, token] : found) {
    ++offsets_[chars + 1];
    inside_.push_back(token);
  }
  for (uint32_t l = 0; l <= factor_.max_chars; ++l) offsets_[l + 1] += offsets_[l];
  std::stable_sort(exits_.begin(), exits_.end(), [&](const FactorExit& a, const FactorExit& b) {
    return trie.nodes[a.node].byte < trie.nodes[b.node].byte;
  });
  for (uint32_t i = 0; i < exits_.size(); ++i) {
    const uint8_t byte = trie.nodes[exits_[i].node].byte;
    if (!factor_.exit_bytes.Has(byte)) exit_offsets_.push_back(i);
    factor_.exit_bytes.Add(byte);
  }
  exit_offsets_.push_back(static_cast<uint32_t>(exits_.size()));
  factor_.inside = {inside_.data(), inside_.size()};
  factor_.offsets = offsets_.data();
  factor_.row = kNoIndex;
  factor_.exits = exits_.data();
  factor_.exit_offsets = exit_offsets_.data();
}

}  // namespace tokamata
