#include "tokenizer_fst/csrc/factoring.h"

#include <algorithm>

namespace tokamata {

const Utf8Phase kUtf8Phases[Utf8Phase::kNumPhases] = {
    {0, 0, 0},           // between characters
    {0x80, 0xBF, 0},     // one more byte
    {0x80, 0xBF, 1},     // two more
    {0xA0, 0xBF, 1},     // after E0: no overlong forms
    {0x80, 0x9F, 1},     // after ED: no surrogates
    {0x80, 0xBF, 2},     // three more
    {0x90, 0xBF, 2},     // after F0
    {0x80, 0x8F, 2},     // after F4: nothing above U+10FFFF
};

uint8_t Utf8LeadPhase(uint8_t b) {
  if (b < 0xC2 || b > 0xF4) return 0;
  if (b < 0xE0) return 1;
  if (b < 0xF0) return b == 0xE0 ? 3 : b == 0xED ? 4 : 2;
  return b == 0xF0 ? 6 : b == 0xF4 ? 7 : 5;
}

const std::array<CharacterClass, kNumClasses>& CharacterClasses() {
  static const std::array<CharacterClass, kNumClasses> classes = [] {
    const ByteSet lower = ByteSet::Range('a', 'z'), upper = ByteSet::Range('A', 'Z'), digit = ByteSet::Range('0', '9');
    const ByteSet ascii = ByteSet::Range(0, 0x7F);
    const ByteSet json = ByteSet::Range(0x20, 0x7F) - ByteSet::Of('"') - ByteSet::Of('\\');
    const ByteSet space = ByteSet::Range('\t', '\r') | ByteSet::Of(' ');
    std::array<CharacterClass, kNumClasses> c = {{{"json text", json, true, {}},
                                                  {"any", ascii, true, {}},
                                                  {"not newline", ascii - ByteSet::Of('\n'), true, {}},
                                                  {"alnum", lower | upper | digit, false, {}},
                                                  {"alpha", lower | upper, false, {}},
                                                  {"word", lower | upper | digit | ByteSet::Of('_'), false, {}},
                                                  {"lower", lower, false, {}},
                                                  {"upper", upper, false, {}},
                                                  {"digit", digit, false, {}},
                                                  {"space", space, false, {}}}};
    for (CharacterClass& k : c) k.first = k.non_ascii ? k.ascii | ByteSet::Range(0xC2, 0xF4) : k.ascii;
    return c;
  }();
  return classes;
}

Factoring::Factoring(const Vocabulary& v) : words_(v.Words()), trie_(v) {
  for (uint32_t id : trie_.order) {
    ByteSet bytes;
    const std::string_view token = v.Token(id);
    for (char c : token) bytes.Add(static_cast<uint8_t>(c));
    bytes.ForEach([this](uint8_t b) { ++with_byte_[b]; });
    with_non_ascii_ += bytes.words[2] || bytes.words[3];
    ++from_byte_[static_cast<uint8_t>(token[0])];
  }
  uint32_t bigs = 1;  // the root is the first, wide or not
  for (const Trie::Wide& w : trie_.wides)
    big_.push_back(w.node == 0 ? 0 : trie_.CountBelow(w.node) >= kBig ? bigs++ : kNoIndex);
  factors_.resize(size_t{bigs} * kNumClasses);
  const auto& classes = CharacterClasses();
  for (int c = 0; c < kNumClasses; ++c) factors_[static_cast<size_t>(c)] = MakeFactor(0, classes[static_cast<size_t>(c)]);
  for (size_t w = 0; w < trie_.wides.size(); ++w)
    if (big_[w] != kNoIndex && big_[w] != 0)
      for (size_t c = 0; c < kNumClasses; ++c) factors_[big_[w] * kNumClasses + c] = MakeFactor(trie_.wides[w].node, classes[c]);
  for (int c = 0; c <= kNotNewline; ++c) MakeSuffixes(v, factors_[static_cast<size_t>(c)], &suffixes_[c]);
  for (size_t c = 0; c < kNumClasses; ++c) {
    Factor& f = factors_[c];
    const uint32_t lengths = std::min(f.max_chars, kRowLengths);
    for (uint32_t l = 0; l <= lengths; ++l) {  // tokens of at most l characters; 0 characters: none
      const uint32_t row = AddRow();
      length_rows_[c][l] = row;
      uint32_t* words = rows_.data() + size_t{row} * words_;
      for (uint32_t i = 0; i < f.offsets[l + 1]; ++i) words[f.inside[i] >> 5] |= 1u << (f.inside[i] & 31);
    }
    if (f.row == kNoIndex) {
      f.row = AddRow();
      uint32_t* words = rows_.data() + size_t{f.row} * words_;
      for (uint32_t id : f.inside) words[id >> 5] |= 1u << (id & 31);
    }
  }
  MakeByteIndices(v);
  rows_.shrink_to_fit();
}

void Factoring::MakeByteIndices(const Vocabulary& v) {
  struct Entry {
    uint32_t id;
    uint16_t chars;
    std::array<uint64_t, 2> before;
  };
  std::array<std::vector<Entry>, 128> entries;
  std::array<std::vector<Trie::Key>, 128> keys;
  for (size_t b = 0; b < 128; ++b)
    if (with_byte_[b] && with_byte_[b] <= kRare) {
      by_byte_[b] = std::make_unique<ByteIndex>();
      by_byte_[b]->ids.reserve(with_byte_[b]);
    }
  for (uint32_t id : trie_.order) {
    const std::string_view token = v.Token(id);
    std::array<uint64_t, 2> seen{};
    uint32_t phase = 0, chars = 0;
    bool text = true;  // UTF-8 so far
    for (size_t i = 0; i < token.size(); ++i) {
      const uint8_t b = static_cast<uint8_t>(token[i]);
      if (b < 0x80) {
        const bool again = seen[b >> 6] >> (b & 63) & 1;
        if (!again && by_byte_[b]) {
          by_byte_[b]->ids.push_back(id);
          if (text && phase == 0) {
            keys[b].push_back({token.substr(i), static_cast<uint32_t>(entries[b].size())});
            entries[b].push_back({id, static_cast<uint16_t>(chars), seen});
          }
        }
        seen[b >> 6] |= uint64_t{1} << (b & 63);
      }
      if (!text) continue;
      if (phase) {
        text = b >= kUtf8Phases[phase].low && b <= kUtf8Phases[phase].high;
        phase = kUtf8Phases[phase].next;
      } else {
        phase = Utf8LeadPhase(b);
        text = b < 0x80 || phase;
        ++chars;
      }
    }
  }
  for (size_t b = 0; b < 128; ++b) {
    if (!by_byte_[b]) continue;
    ByteIndex& index = *by_byte_[b];
    if (index.ids.size() > kByteRow) {
      index.row = AddRow();
      uint32_t* row = rows_.data() + size_t{index.row} * words_;
      for (uint32_t id : index.ids) row[id >> 5] |= 1u << (id & 31);
    }
    index.suffixes.trie = Trie(std::move(keys[b]));
    uint32_t& most = index.suffixes.max_chars[b];
    for (uint32_t& value : index.suffixes.trie.order) {
      const Entry& e = entries[b][value];
      index.suffixes.chars.push_back(e.chars);
      index.before.push_back(e.before);
      most = std::max<uint32_t>(most, e.chars);
      value = e.id;
    }
  }
}

uint32_t Factoring::AddRow() {
  rows_.resize(rows_.size() + words_, 0);
  return static_cast<uint32_t>(rows_.size() / words_ - 1);
}

Factor Factoring::MakeFactor(uint32_t root, const CharacterClass& c) {
  Factor f;
  std::vector<std::pair<uint32_t, uint32_t>> found;  // (characters, token)
  std::vector<std::pair<uint8_t, Factor::Exit>> exits;
  const auto take = [&](uint32_t n, uint32_t chars, uint32_t) {
    for (uint32_t i = trie_.TokensBegin(n); i < trie_.TokensEnd(n); ++i) found.emplace_back(chars, trie_.order[i]);
  };
  take(root, 0, 0);
  ForEachFactored(trie_, root, c.first, take,
                  [&](uint32_t n, uint32_t chars) { exits.push_back({trie_.nodes[n].byte, {n, chars}}); });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  f.max_chars = found.empty() ? 0 : found.back().first;
  f.offsets.assign(f.max_chars + 2, 0);
  f.inside.reserve(found.size());
  for (const auto& [chars, id] : found) {
    f.inside.push_back(id);
    ++f.offsets[chars + 1];
  }
  for (uint32_t l = 0; l <= f.max_chars; ++l) f.offsets[l + 1] += f.offsets[l];
  if (f.inside.size() >= kDense) {
    f.row = AddRow();
    uint32_t* row = rows_.data() + size_t{f.row} * words_;
    for (uint32_t id : f.inside) row[id >> 5] |= 1u << (id & 31);
  }
  std::stable_sort(exits.begin(), exits.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [byte, exit] : exits) {
    f.exits.push_back(exit);
    ++f.exits_at[size_t{byte} + 1];
  }
  for (size_t b = 0; b < 256; ++b) f.exits_at[b + 1] += f.exits_at[b];
  return f;
}

void Factoring::MakeSuffixes(const Vocabulary& v, const Factor& root, SuffixTrie* out) const {
  std::vector<Trie::Key> keys;
  std::vector<std::pair<uint32_t, uint16_t>> entries;  // (token, characters)
  for (const Factor::Exit& exit : root.exits) {
    const uint32_t skip = trie_.nodes[exit.node].depth - 1u;
    for (uint32_t i = trie_.TokensBegin(exit.node); i < trie_.nodes[trie_.nodes[exit.node].end].tokens; ++i) {
      keys.push_back({v.Token(trie_.order[i]).substr(skip), static_cast<uint32_t>(entries.size())});
      entries.emplace_back(trie_.order[i], static_cast<uint16_t>(std::min<uint32_t>(exit.chars, 0xffff)));
    }
    uint32_t& most = out->max_chars[trie_.nodes[exit.node].byte];
    most = std::max(most, exit.chars);
  }
  out->trie = Trie(std::move(keys));
  out->chars.reserve(entries.size());
  for (uint32_t& value : out->trie.order) {
    out->chars.push_back(entries[value].second);
    value = entries[value].first;
  }
}

Factoring::Base Factoring::InsideAtMost(int class_id, uint32_t chars) const {
  const Factor& f = factors_[static_cast<size_t>(class_id)];
  const uint32_t* ids = f.inside.data();
  if (chars >= f.max_chars) return {Row(f.row), ids, ids};
  const uint32_t l = std::min(chars, kRowLengths);
  return {Row(length_rows_[static_cast<size_t>(class_id)][l]), ids + f.offsets[l + 1], ids + f.offsets[chars + 1]};
}

size_t Factoring::MemoryBytes() const {
  size_t bytes = trie_.MemoryBytes() + rows_.capacity() * sizeof(uint32_t);
  for (const Factor& f : factors_)
    bytes += sizeof(Factor) + (f.inside.capacity() + f.offsets.capacity()) * sizeof(uint32_t) +
             f.exits.capacity() * sizeof(Factor::Exit);
  const auto size_of = [](const SuffixTrie& s) { return s.trie.MemoryBytes() + s.chars.capacity() * sizeof(uint16_t); };
  for (const SuffixTrie& s : suffixes_) bytes += size_of(s);
  for (const auto& index : by_byte_)
    if (index)
      bytes += sizeof(ByteIndex) + size_of(index->suffixes) + index->ids.capacity() * sizeof(uint32_t) +
               index->before.capacity() * sizeof(index->before[0]);
  return bytes;
}

}  // namespace tokamata
