#include "tokenizer_fst/csrc/trie.h"

#include <algorithm>
#include <string>

namespace tokamata {
namespace {

constexpr uint32_t kWide = 8;  // children from which a node gets a bit set of their bytes

// By bytes, then by value. The 8 leading bytes as one big-endian number decide nearly every comparison.
void SortKeys(std::vector<TrieKey>* keys) {
  struct Item {
    uint64_t head;
    uint32_t index;
  };
  std::vector<Item> items(keys->size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    const std::string_view s = (*keys)[i].bytes;
    uint64_t head = 0;
    for (size_t k = 0; k < 8; ++k) head = head << 8 | (k < s.size() ? static_cast<uint8_t>(s[k]) : 0);
    items[i] = {head, i};
  }
  std::sort(items.begin(), items.end(), [keys](const Item& a, const Item& b) {
    if (a.head != b.head) return a.head < b.head;
    const TrieKey &x = (*keys)[a.index], &y = (*keys)[b.index];
    const int c = x.bytes.compare(y.bytes);  // compares as unsigned char
    return c ? c < 0 : x.value < y.value;
  });
  std::vector<TrieKey> sorted(keys->size());
  for (size_t i = 0; i < items.size(); ++i) sorted[i] = (*keys)[items[i].index];
  keys->swap(sorted);
}

}  // namespace

TrieRecord BuildTrie(std::vector<TrieKey> keys, TrieArrays<Owned>* out) {
  SortKeys(&keys);
  Owned<Trie::Node>& nodes = out->nodes;
  const size_t base = nodes.size();
  TrieRecord r{};
  r.nodes_at = static_cast<uint32_t>(base);
  r.order_at = static_cast<uint32_t>(out->order.size());
  r.order = static_cast<uint32_t>(keys.size());
  r.wides_at = static_cast<uint32_t>(out->wides.size());
  r.children_at = static_cast<uint32_t>(out->wide_children.size());
  nodes.push_back({0, 0, 0, 0, 0});
  const auto next = [&] { return static_cast<uint32_t>(nodes.size() - base); };
  std::vector<uint32_t> path{0};  // nodes of the previous token, by depth
  std::string_view previous;
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const std::string_view token = keys[i].bytes;
    out->order.push_back(keys[i].value);
    size_t common = 0;
    const size_t shorter = std::min(previous.size(), token.size());
    while (common < shorter && previous[common] == token[common]) ++common;
    for (size_t d = path.size() - 1; d > common; --d) nodes[base + path[d]].end = next();
    path.resize(common + 1);
    for (size_t d = common; d < token.size(); ++d) {
      path.push_back(next());
      nodes.push_back({0, i, static_cast<uint32_t>(d + 1), 0, static_cast<uint8_t>(token[d])});
    }
    previous = token;
    r.max_depth = std::max(r.max_depth, static_cast<uint32_t>(token.size()));
  }
  for (uint32_t n : path) nodes[base + n].end = next();
  nodes.push_back({0, r.order, 0, 0, 0});
  r.nodes = next();
  const Trie trie = r.View(*out);
  for (uint32_t n = 0; n < trie.Size(); ++n) {
    uint32_t children = 0;
    trie.ForEachChild(n, [&](uint32_t) { ++children; });
    if (children < kWide || r.wides == 0xffff) continue;
    Trie::Wide w{{}, r.children, n};
    trie.ForEachChild(n, [&](uint32_t c) {
      w.bytes.Add(trie.nodes[c].byte);
      out->wide_children.push_back(c);
    });
    r.children += children;
    out->wides.push_back(w);
    nodes[base + n].wide = static_cast<uint16_t>(++r.wides);
  }
  std::vector<uint32_t> height(trie.Size(), 0);
  for (uint32_t n = trie.Size(); n-- > 0;) {
    trie.ForEachChild(n, [&](uint32_t c) { height[n] = std::max(height[n], height[c] + 1); });
    nodes[base + n].height = static_cast<uint8_t>(height[n] > Trie::kMostHeight ? 0 : height[n] + 1);
  }
  return r;
}

uint32_t Trie::Child(uint32_t node, uint8_t byte) const {
  if (nodes[node].wide) {
    const Wide& w = wides[nodes[node].wide - 1];
    if (!w.bytes.Has(byte)) return kNoIndex;
    return wide_children[w.first + w.bytes.Rank(byte)];
  }
  for (uint32_t c = node + 1; c < nodes[node].end; c = nodes[c].end)
    if (nodes[c].byte == byte) return c;
  return kNoIndex;
}

}  // namespace tokamata
