#include "automata/csrc/text_list.h"

#include <algorithm>

namespace tokamata {

namespace {

struct Item {
  uint64_t head;  // the first 8 bytes as a big-endian number: decides nearly every comparison
  std::string_view text;
};

// By their heads: least significant bytes first, those in which no two of them differ left out.
void SortByHead(std::vector<Item>* items) {
  constexpr size_t kMany = 64;  // from which counting bytes is quicker than comparing
  if (items->size() < kMany) {
    std::sort(items->begin(), items->end(), [](const Item& a, const Item& b) { return a.head < b.head; });
    return;
  }
  uint64_t same = ~uint64_t{0};
  for (const Item& i : *items) same &= ~(i.head ^ items->front().head);
  std::vector<Item> sorted(items->size());
  for (int shift = 0; shift < 64; shift += 8) {
    if ((same >> shift & 0xFF) == 0xFF) continue;
    uint32_t places[256] = {};
    for (const Item& i : *items) ++places[i.head >> shift & 0xFF];
    uint32_t sum = 0;
    for (uint32_t& place : places) {
      const uint32_t count = place;
      place = sum;
      sum += count;
    }
    for (const Item& i : *items) sorted[places[i.head >> shift & 0xFF]++] = i;
    items->swap(sorted);
  }
}

}  // namespace

TextList::TextList(const std::vector<std::string_view>& texts) {
  std::vector<Item> items;
  items.reserve(texts.size());
  size_t bytes = 0;
  for (const std::string_view t : texts) {
    uint64_t head = 0;
    for (size_t k = 0; k < 8; ++k) head = head << 8 | (k < t.size() ? static_cast<uint8_t>(t[k]) : 0);
    items.push_back({head, t});
    bytes += t.size();
  }
  SortByHead(&items);
  for (size_t i = 0, end; i < items.size(); i = end) {  // those with one head by all they have
    for (end = i + 1; end < items.size() && items[end].head == items[i].head;) ++end;
    if (end - i > 1)
      std::sort(items.begin() + static_cast<ptrdiff_t>(i), items.begin() + static_cast<ptrdiff_t>(end),
                [](const Item& a, const Item& b) { return a.text < b.text; });
  }
  bytes_.reserve(bytes);
  begins_.reserve(items.size() + 1);
  const Item* last = nullptr;
  for (const Item& i : items) {
    if (last && last->head == i.head && last->text == i.text) continue;
    begins_.push_back(static_cast<uint32_t>(bytes_.size()));
    bytes_ += i.text;
    last = &i;
  }
  begins_.push_back(static_cast<uint32_t>(bytes_.size()));
}

TextList::Node TextList::At(uint32_t low, uint32_t depth) const {
  uint32_t high = Size();
  const std::string_view prefix = Text(low).substr(0, depth);
  for (uint32_t same = low; high - same > 1;) {
    const uint32_t middle = same + (high - same) / 2;
    if (Text(middle).substr(0, depth) == prefix)
      same = middle;
    else
      high = middle;
  }
  return {low, high, depth};
}

uint32_t TextList::CommonLength(const Node& n) const {
  const std::string_view first = Text(n.low), last = Text(n.high - 1);
  size_t k = n.depth;
  while (k < first.size() && k < last.size() && first[k] == last[k]) ++k;
  return static_cast<uint32_t>(k);
}

void TextList::Lengths(const Node& n, uint32_t* least, uint32_t* most) const {
  *least = 0xffffffff;
  *most = 0;
  for (uint32_t i = n.low; i < n.high; ++i) {
    const uint32_t left = begins_[i + 1] - begins_[i] - n.depth;
    *least = std::min(*least, left);
    *most = std::max(*most, left);
  }
}

}  // namespace tokamata
