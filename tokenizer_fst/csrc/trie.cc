#include "tokenizer_fst/csrc/trie.h"

#include <algorithm>
#include <string>

namespace tokamata {
namespace {

constexpr uint32_t kWide = 8;  // children from which a node gets a bit set of their bytes

std::vector<Trie::Key> KeysOf(const Vocabulary& v) {
  std::vector<Trie::Key> keys;
  keys.reserve(v.Size());
  for (uint32_t t = 0; t < v.Size(); ++t)
    if (!v.Token(t).empty()) keys.push_back({v.Token(t), t});
  return keys;
}

// By bytes, then by value. The 8 leading bytes as one big-endian number decide nearly every comparison.
void SortKeys(std::vector<Trie::Key>* keys) {
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
    const Trie::Key &x = (*keys)[a.index], &y = (*keys)[b.index];
    const int c = x.bytes.compare(y.bytes);  // compares as unsigned char
    return c ? c < 0 : x.value < y.value;
  });
  std::vector<Trie::Key> sorted(keys->size());
  for (size_t i = 0; i < items.size(); ++i) sorted[i] = (*keys)[items[i].index];
  keys->swap(sorted);
}

}  // namespace

Trie::Trie(const Vocabulary& v) : Trie(KeysOf(v)) {}

Trie::Trie(std::vector<Key> keys) {
  SortKeys(&keys);
  order.reserve(keys.size());
  nodes.reserve(keys.size() * 5 / 2 + 2);
  nodes.push_back({0, 0, 0, 0, 0});
  std::vector<uint32_t> path{0};  // nodes of the previous token, by depth
  std::string_view previous;
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const std::string_view token = keys[i].bytes;
    order.push_back(keys[i].value);
    size_t common = 0;
    const size_t shorter = std::min(previous.size(), token.size());
    while (common < shorter && previous[common] == token[common]) ++common;
    for (size_t d = path.size() - 1; d > common; --d) nodes[path[d]].end = static_cast<uint32_t>(nodes.size());
    path.resize(common + 1);
    for (size_t d = common; d < token.size(); ++d) {
      path.push_back(static_cast<uint32_t>(nodes.size()));
      nodes.push_back({0, i, static_cast<uint32_t>(d + 1), 0, static_cast<uint8_t>(token[d])});
    }
    previous = token;
    max_depth = std::max(max_depth, static_cast<uint32_t>(token.size()));
  }
  for (uint32_t n : path) nodes[n].end = static_cast<uint32_t>(nodes.size());
  nodes.push_back({0, static_cast<uint32_t>(order.size()), 0, 0, 0});
  for (uint32_t n = 0; n < Size(); ++n) {
    uint32_t children = 0;
    ForEachChild(n, [&](uint32_t) { ++children; });
    if (children < kWide || wides.size() == 0xffff) continue;
    Wide w;
    w.first = static_cast<uint32_t>(wide_children.size());
    w.node = n;
    ForEachChild(n, [&](uint32_t c) {
      w.bytes.Add(nodes[c].byte);
      wide_children.push_back(c);
    });
    wides.push_back(w);
    nodes[n].wide = static_cast<uint16_t>(wides.size());
  }
}

uint32_t Trie::Child(uint32_t node, uint8_t byte) const {
  if (nodes[node].wide) {
    const Wide& w = wides[nodes[node].wide - 1];
    if (!w.bytes.Has(byte)) return kNoIndex;
    uint32_t rank = 0;
    for (int i = 0; i < byte >> 6; ++i) rank += static_cast<uint32_t>(__builtin_popcountll(w.bytes.words[i]));
    rank += static_cast<uint32_t>(__builtin_popcountll(w.bytes.words[byte >> 6] & ((uint64_t{1} << (byte & 63)) - 1)));
    return wide_children[w.first + rank];
  }
  for (uint32_t c = node + 1; c < nodes[node].end; c = nodes[c].end)
    if (nodes[c].byte == byte) return c;
  return kNoIndex;
}

size_t Trie::MemoryBytes() const {
  return nodes.capacity() * sizeof(Node) + order.capacity() * sizeof(uint32_t) + wides.capacity() * sizeof(Wide) +
         wide_children.capacity() * sizeof(uint32_t);
}

}  // namespace tokamata
