// Builds the tables of a vocabulary.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/utf8.h"
#include "tokenizer_fst/csrc/for_each_factored.h"
#include "tokenizer_fst/csrc/tables.h"

namespace tokamata {
namespace {

constexpr uint32_t kBig = 48;     // tokens below a node from which it has factors of its own
constexpr uint32_t kRare = 8000;   // tokens up to which an ASCII byte is indexed
constexpr uint32_t kByteRow = 300; // tokens from which those with an ASCII byte get a row

// O(nodes): the children of each are looked at for each of the few bytes of a character.
Owned<uint16_t> FindInsideBelow(const Trie& trie) {
  uint16_t ascii[128] = {}, non_ascii = 0;
  for (int c = 0; c < kNumClasses; ++c) {
    if (c == kHan) continue;
    const CharacterClass& k = CharacterClasses()[static_cast<size_t>(c)];
    const uint16_t bit = static_cast<uint16_t>(1u << c);
    k.ascii.ForEach([&](uint8_t b) { ascii[b] |= bit; });
    if (k.non_ascii) non_ascii |= bit;
  }
  Owned<uint16_t> below(trie.Size(), 0xffff);
  struct Cut {  // a node inside of a character
    uint32_t node;
    uint8_t phase;
  };
  std::vector<Cut> cuts;
  for (uint32_t n = trie.Size(); n-- > 0;) {
    if (trie.nodes[n].end == n + 1) continue;
    uint16_t classes = 0xffff;
    trie.ForEachChild(n, [&](uint32_t child) {
      const uint8_t byte = trie.nodes[child].byte;
      if (byte < 0x80) {
        classes &= ascii[byte] & below[child];
      } else {
        classes &= non_ascii;
        if (classes) cuts.push_back({child, Utf8LeadPhase(byte)});
      }
    });
    while (!cuts.empty()) {
      const Cut at = cuts.back();
      cuts.pop_back();
      if (!at.phase) classes = 0;  // begins no character
      if (!classes) continue;
      const Utf8Phase& phase = kUtf8Phases[at.phase];
      trie.ForEachChild(at.node, [&](uint32_t child) {
        const uint8_t byte = trie.nodes[child].byte;
        if (byte < phase.low || byte > phase.high)
          classes = 0;
        else if (phase.next)
          cuts.push_back({child, phase.next});
        else
          classes &= below[child];
      });
    }
    below[n] = classes;
  }
  return below;
}

class TablesBuilder {
 public:
  explicit TablesBuilder(const Vocabulary& vocabulary)
      : v_(vocabulary), words_(vocabulary.Words()), dense_(std::max<uint32_t>(512, vocabulary.Words() / 3)) {}

  Tables<Owned> Build() {
    t_.summary.resize(1);
    Summary().trie = BuildMainTrie();
    CountBytes();
    MakeFactors();
    for (size_t c = 0; c <= kNotNewline; ++c) MakeSuffixes(t_.factors[c], &Summary().suffixes[c]);
    MakeByteRecords();
    for (uint8_t b = 0; b < 128; ++b)
      Summary().byte_rows[b] = Summary().with_byte[b] > kByteRow ? AddRow(kNoIndex, t_.ids, 0, 0) : kNoIndex;  // filled below
    MakeRows();
    FillByteRows();
    t_.inside_below = FindInsideBelow(Main());
    return std::move(t_);
  }

 private:
  struct Row {  // to be made: a copy of another one, if not kNoIndex, and the tokens of a list
    uint32_t copy;
    const Owned<uint32_t>* list;
    uint32_t at, count;
  };

  TablesSummary& Summary() { return t_.summary[0]; }
  Trie Main() const { return t_.summary[0].trie.View(t_.tries); }
  uint32_t AddRow(uint32_t copy, const Owned<uint32_t>& list, uint32_t at, uint32_t count) {
    rows_.push_back({copy, &list, at, count});
    return static_cast<uint32_t>(rows_.size() - 1);
  }
  template <class T, class A>
  static uint32_t End(const std::vector<T, A>& array) {
    return static_cast<uint32_t>(array.size());
  }

  TrieRecord BuildMainTrie();
  void CountBytes();
  void MakeFactors();
  void MakeFactor(uint32_t node, const CharacterClass& c, size_t first_of_node);
  void MakeSuffixes(const FactorRecord& root, SuffixRecord* out);
  void MakeByteRecords();
  void MakeRows();
  void FillByteRows();

  const Vocabulary& v_;
  const uint32_t words_;
  const uint32_t dense_;  // tokens from which a list gets a row
  Tables<Owned> t_;
  std::vector<Row> rows_;
  // Scratch of MakeFactor.
  struct Found {
    uint32_t chars, token;
  };
  struct Exit {
    uint8_t byte;
    FactorExit exit;
  };
  std::vector<Found> found_;
  std::vector<Exit> exits_;
};

TrieRecord TablesBuilder::BuildMainTrie() {
  std::vector<TrieKey> keys;
  keys.reserve(v_.Size());
  for (uint32_t id = 0; id < v_.Size(); ++id)
    if (!v_.Token(id).empty()) keys.push_back({v_.Token(id), id});
  t_.tries.nodes.reserve(keys.size() * 3 + 2);
  t_.tries.order.reserve(keys.size() * 2);
  return BuildTrie(std::move(keys), &t_.tries);
}

void TablesBuilder::CountBytes() {
  const Trie trie = Main();
  for (uint32_t id : trie.order) {
    ByteSet bytes;
    const std::string_view token = v_.Token(id);
    for (char c : token) bytes.Add(static_cast<uint8_t>(c));
    bytes.ForEach([this](uint8_t b) { ++Summary().with_byte[b]; });
    Summary().with_non_ascii += bytes.words[2] || bytes.words[3];
    ++Summary().from_byte[static_cast<uint8_t>(token[0])];
  }
}

// The root is the first node with factors, wide or not.
void TablesBuilder::MakeFactors() {
  const Trie trie = Main();
  std::vector<uint32_t> nodes{0};
  for (const Trie::Wide& w : trie.wides) {
    const bool big = w.node != 0 && trie.CountBelow(w.node) >= kBig;
    t_.big.push_back(w.node == 0 ? 0 : big ? End(nodes) : kNoIndex);
    if (big) nodes.push_back(w.node);
  }
  t_.factors.reserve(nodes.size() * kNumClasses);
  for (const uint32_t node : nodes) {
    const size_t first = t_.factors.size();
    for (const CharacterClass& c : CharacterClasses()) MakeFactor(node, c, first);
  }
  for (size_t c = 0; c < kNumClasses; ++c) {
    FactorRecord& f = t_.factors[c];
    const uint32_t* offsets = &t_.offsets[f.offsets_at];
    auto& by_length = Summary().length_rows[c];
    std::fill(std::begin(by_length), std::end(by_length), kNoIndex);
    for (uint32_t l = 0; l <= std::min(f.max_chars, kRowLengths); ++l)  // tokens of at most l characters; of 0: none
      by_length[l] = AddRow(l ? by_length[l - 1] : kNoIndex, t_.inside, f.inside_at + offsets[l],
                            offsets[l + 1] - offsets[l]);
    if (f.row == kNoIndex) f.row = AddRow(kNoIndex, t_.inside, f.inside_at, f.inside);
  }
}

void TablesBuilder::MakeFactor(uint32_t root, const CharacterClass& c, size_t first_of_node) {
  const Trie trie = Main();
  FactorRecord f{};
  found_.clear();
  exits_.clear();
  const auto inside = [&](uint32_t node, uint32_t chars, uint32_t) {
    for (uint32_t i = trie.TokensBegin(node); i < trie.TokensEnd(node); ++i) found_.push_back({chars, trie.order[i]});
    f.max_chars = std::max(f.max_chars, chars);
  };
  inside(root, 0, 0);
  ForEachFactored(trie, root, c.first, inside,
                  [&](uint32_t node, uint32_t chars) { exits_.push_back({trie.nodes[node].byte, {node, chars}}); });

  f.offsets_at = End(t_.offsets);
  t_.offsets.resize(f.offsets_at + f.max_chars + 2);
  uint32_t* offsets = &t_.offsets[f.offsets_at];
  for (const Found& x : found_) ++offsets[x.chars + 1];
  for (uint32_t l = 0; l <= f.max_chars; ++l) offsets[l + 1] += offsets[l];
  f.inside_at = End(t_.inside);
  f.inside = End(found_);
  t_.inside.resize(f.inside_at + f.inside);
  for (const Found& x : found_) t_.inside[f.inside_at + offsets[x.chars]++] = x.token;
  std::copy_backward(offsets, offsets + f.max_chars + 1, offsets + f.max_chars + 2);
  offsets[0] = 0;

  f.row = kNoIndex;
  bool known = false;
  for (size_t i = first_of_node; i < t_.factors.size() && !known; ++i) {  // another class may have the same tokens
    const FactorRecord& o = t_.factors[i];
    known = o.inside == f.inside && o.max_chars == f.max_chars &&
            std::equal(offsets, offsets + f.max_chars + 2, &t_.offsets[o.offsets_at]) &&
            std::equal(t_.inside.begin() + f.inside_at, t_.inside.end(), t_.inside.begin() + o.inside_at);
    if (!known) continue;
    t_.inside.resize(f.inside_at);
    t_.offsets.resize(f.offsets_at);
    f.inside_at = o.inside_at;
    f.offsets_at = o.offsets_at;
    f.row = o.row;
  }
  if (!known && f.inside >= dense_) f.row = AddRow(kNoIndex, t_.inside, f.inside_at, f.inside);

  std::stable_sort(exits_.begin(), exits_.end(), [](const Exit& a, const Exit& b) { return a.byte < b.byte; });
  f.exits_at = End(t_.exits);
  f.exit_offsets_at = End(t_.exit_offsets);
  for (const Exit& e : exits_) {
    if (!f.exit_bytes.Has(e.byte)) t_.exit_offsets.push_back(End(t_.exits) - f.exits_at);
    f.exit_bytes.Add(e.byte);
    t_.exits.push_back(e.exit);
  }
  t_.exit_offsets.push_back(End(t_.exits) - f.exits_at);
  t_.factors.push_back(f);
}

void TablesBuilder::MakeSuffixes(const FactorRecord& root, SuffixRecord* out) {
  const Trie trie = Main();
  std::vector<TrieKey> keys;
  std::vector<std::pair<uint32_t, uint16_t>> entries;  // (token, characters)
  const uint32_t* offsets = &t_.exit_offsets[root.exit_offsets_at];
  const uint32_t exits = offsets[root.exit_bytes.Count()];
  for (uint32_t e = root.exits_at; e < root.exits_at + exits; ++e) {
    const FactorExit& exit = t_.exits[e];
    const Trie::Node& node = trie.nodes[exit.node];
    for (uint32_t i = node.tokens; i < trie.nodes[node.end].tokens; ++i) {
      keys.push_back({v_.Token(trie.order[i]).substr(node.depth - 1u), End(entries)});
      entries.emplace_back(trie.order[i], static_cast<uint16_t>(exit.chars));
    }
    uint32_t& most = out->max_chars[node.byte];
    most = std::max(most, exit.chars);
  }
  out->trie = BuildTrie(std::move(keys), &t_.tries);
  out->chars_at = End(t_.chars);
  for (uint32_t i = out->trie.order_at; i < End(t_.tries.order); ++i) {
    uint32_t& value = t_.tries.order[i];
    t_.chars.push_back(entries[value].second);
    value = entries[value].first;
  }
}

void TablesBuilder::MakeByteRecords() {
  struct Entry {
    uint32_t id;
    uint16_t chars;
    std::array<uint64_t, 2> before;
  };
  struct Found {
    std::vector<uint32_t> ids;
    std::vector<Entry> entries;
    std::vector<TrieKey> keys;
  };
  std::vector<Found> found(128);
  ByteSet indexed;
  for (uint8_t b = 0; b < 128; ++b)
    if (Summary().with_byte[b] && Summary().with_byte[b] <= kRare) indexed.Add(b);
  for (uint32_t id : Main().order) {
    const std::string_view token = v_.Token(id);
    std::array<uint64_t, 2> seen{};
    uint8_t phase = 0;
    uint32_t chars = 0;
    bool text = true;  // UTF-8 so far
    for (size_t i = 0; i < token.size(); ++i) {
      const uint8_t b = static_cast<uint8_t>(token[i]);
      if (b < 0x80) {
        const bool again = seen[b >> 6] >> (b & 63) & 1;
        if (!again && indexed.Has(b)) {
          Found& f = found[b];
          f.ids.push_back(id);
          if (text && phase == 0) {
            f.keys.push_back({token.substr(i), End(f.entries)});
            f.entries.push_back({id, static_cast<uint16_t>(chars), seen});
          }
        }
        seen[b >> 6] |= uint64_t{1} << (b & 63);
      }
      if (!text) continue;
      chars += phase == 0;
      text = Utf8Step(b, &phase);
    }
  }
  indexed.ForEach([&](uint8_t b) {
    const Found& f = found[b];
    ByteRecord r{};
    r.byte = b;
    r.ids_at = End(t_.ids);
    r.ids = End(f.ids);
    t_.ids.insert(t_.ids.end(), f.ids.begin(), f.ids.end());
    r.suffixes.chars_at = End(t_.chars);
    r.before_at = End(t_.before);
    r.suffixes.trie = BuildTrie(f.keys, &t_.tries);
    for (uint32_t i = r.suffixes.trie.order_at; i < End(t_.tries.order); ++i) {
      uint32_t& value = t_.tries.order[i];
      const Entry& e = f.entries[value];
      t_.chars.push_back(e.chars);
      t_.before.push_back(e.before);
      r.suffixes.max_chars[b] = std::max<uint32_t>(r.suffixes.max_chars[b], e.chars);
      value = e.id;
    }
    t_.bytes.push_back(r);
  });
}

void TablesBuilder::MakeRows() {
  t_.rows.resize(rows_.size() * words_);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& r = rows_[i];
    uint32_t* to = t_.rows.data() + i * words_;
    if (r.copy != kNoIndex) std::copy_n(t_.rows.data() + size_t{r.copy} * words_, words_, to);
    for (uint32_t k = r.at; k < r.at + r.count; ++k) to[(*r.list)[k] >> 5] |= 1u << ((*r.list)[k] & 31);
  }
}

void TablesBuilder::FillByteRows() {
  for (const uint32_t id : Main().order) {
    const uint32_t word = id >> 5, bit = 1u << (id & 31);
    for (const char c : v_.Token(id)) {
      const uint8_t b = static_cast<uint8_t>(c);
      if (b < 128 && Summary().byte_rows[b] != kNoIndex) t_.rows[size_t{Summary().byte_rows[b]} * words_ + word] |= bit;
    }
  }
}

}  // namespace

Tables<Owned> BuildTables(const Vocabulary& vocabulary) { return TablesBuilder(vocabulary).Build(); }

}  // namespace tokamata
