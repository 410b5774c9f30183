#include "tokenizer_fst/csrc/tables.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "automata/csrc/errors.h"
#include "tokenizer_fst/csrc/checksum.h"

namespace tokamata {
namespace {

constexpr uint64_t kVersion = 3;  // of what the tables mean, beyond what Kind() tells by itself
constexpr size_t kNumArrays = 17;

struct Header {
  uint64_t kind;    // read backwards on a machine of the other byte order, so it does not match there
  uint64_t tokens;  // checksum of the tokens
  uint64_t counts[kNumArrays];
};

template <class T>
std::string_view BytesOf(const T* data, size_t count) {
  return {reinterpret_cast<const char*>(data), count * sizeof(T)};
}

// What tables can be used by this code: the version and everything that the tables' meaning depends on.
uint64_t Kind() {
  Checksum sum;
  const uint64_t numbers[] = {kVersion, kNumArrays, kNumClasses, kRowLengths, sizeof(FactorRecord), sizeof(ByteRecord),
                              sizeof(TablesSummary), sizeof(Trie::Node), sizeof(Trie::Wide)};
  sum.Add(BytesOf(numbers, std::size(numbers)));
  for (const CharacterClass& c : CharacterClasses()) sum.Add(BytesOf(c.first.words, 4));
  return sum.Value();
}

uint64_t SumOfTokens(const Vocabulary& v) {
  const TokenTable& t = v.Table();
  Checksum sum;
  sum.Add(t.bytes);
  sum.Add(BytesOf(t.offsets.data(), t.offsets.size()));
  return sum.Value();
}

size_t Padded(size_t n) { return (n + 7) / 8 * 8; }

void Check(bool holds) {
  if (!holds) throw VocabularyError("vocabulary: the saved mask tables are damaged; save the vocabulary again");
}

// Checks all that walking relies on: every index within its array, and every step from a node into its own subtree.
class Checker {
 public:
  Checker(const Tables<Stored>& tables, const Vocabulary& vocabulary)
      : t_(tables), size_(vocabulary.Size()), words_(vocabulary.Words()), longest_(vocabulary.MaxTokenBytes()) {}

  void CheckAll() {
    Check(t_.summary.size() == 1 && t_.rows.size() % words_ == 0);
    num_rows_ = t_.rows.size() / words_;
    const uint32_t padding = size_ % 32 ? ~uint32_t{0} << (size_ % 32) : 0;
    for (size_t r = 1; r <= num_rows_; ++r) Check((t_.rows[r * words_ - 1] & padding) == 0);
    CheckIds(t_.tries.order);
    CheckIds(t_.inside);
    CheckIds(t_.ids);
    const TablesSummary& s = t_.summary[0];
    CheckTrie(s.trie);
    Check(t_.inside_below.size() == s.trie.View(t_.tries).Size());
    for (const SuffixRecord& r : s.suffixes) CheckSuffixes(r);
    for (const uint32_t row : s.byte_rows) CheckRow(row);
    CheckFactors(s);
    for (size_t i = 0; i < t_.bytes.size(); ++i) {
      const ByteRecord& r = t_.bytes[i];
      Check(r.byte < 128 && (i == 0 || r.byte > t_.bytes[i - 1].byte));
      CheckSuffixes(r.suffixes);
      CheckPart(t_.ids, r.ids_at, r.ids);
      CheckPart(t_.before, r.before_at, r.suffixes.trie.order);
    }
  }

 private:
  template <class T>
  static void CheckPart(const Span<T>& array, uint32_t at, uint64_t count) {
    Check(at <= array.size() && count <= array.size() - at);
  }
  void CheckIds(const Span<const uint32_t>& ids) const {
    uint32_t greatest = 0;
    for (const uint32_t id : ids) greatest = std::max(greatest, id);
    Check(greatest < size_);
  }
  void CheckRow(uint32_t row) const { Check(row == kNoIndex || row < num_rows_); }
  // Offsets of lists that lie one behind another: from 0 to count, none before the last.
  static void CheckOffsets(const uint32_t* offsets, uint64_t lists, uint32_t count) {
    bool rising = offsets[0] == 0 && offsets[lists] == count;
    for (uint64_t i = 0; i < lists; ++i) rising &= offsets[i] <= offsets[i + 1];
    Check(rising);
  }

  void CheckTrie(const TrieRecord& r) {
    CheckPart(t_.tries.nodes, r.nodes_at, r.nodes);
    CheckPart(t_.tries.order, r.order_at, r.order);
    CheckPart(t_.tries.wides, r.wides_at, r.wides);
    CheckPart(t_.tries.wide_children, r.children_at, r.children);
    Check(r.nodes >= 2 && r.max_depth <= longest_);
    const Trie trie = r.View(t_.tries);
    const uint32_t size = trie.Size();
    const Trie::Node *nodes = trie.nodes.data, &last = nodes[size];
    Check(nodes[0].end == size && nodes[0].depth == 0 && nodes[0].tokens == 0 && last.tokens == r.order);
    ends_.resize(size_t{longest_} + 2);
    ends_[0] = size;
    uint32_t depth = 0;  // of the node before
    bool right = true;
    for (uint32_t n = 1; n < size; ++n) {
      const Trie::Node& node = nodes[n];
      while (depth > 0 && ends_[depth] == n) --depth;
      right &= node.depth == depth + 1 && node.depth <= r.max_depth;
      if (!right) break;
      right &= node.end > n && node.end <= ends_[depth] && node.tokens >= nodes[n - 1].tokens && node.wide <= r.wides;
      ends_[++depth] = node.end;
    }
    Check(right && nodes[0].wide <= r.wides && last.tokens >= nodes[size - 1].tokens);
    for (uint32_t w = 0; w < r.wides; ++w) {
      const Trie::Wide& wide = trie.wides[w];
      Check(wide.node < size && nodes[wide.node].wide == w + 1);
      const uint32_t count = static_cast<uint32_t>(wide.bytes.Count());
      CheckPart(trie.wide_children, wide.first, count);
      for (uint32_t i = wide.first; i < wide.first + count; ++i) {
        const uint32_t child = trie.wide_children[i];
        Check(child > wide.node && child < nodes[wide.node].end && nodes[child].depth == nodes[wide.node].depth + 1);
      }
    }
    uint32_t wide_nodes = 0;
    for (uint32_t n = 0; n < size; ++n) wide_nodes += nodes[n].wide != 0;
    Check(wide_nodes == r.wides);  // so no two nodes share an entry
  }

  void CheckSuffixes(const SuffixRecord& r) {
    CheckTrie(r.trie);
    CheckPart(t_.chars, r.chars_at, r.trie.order);
    for (const uint32_t chars : r.max_chars) Check(chars <= longest_);
  }

  void CheckFactors(const TablesSummary& s) const {
    const Trie trie = s.trie.View(t_.tries);
    Check(t_.big.size() == trie.wides.size() && t_.factors.size() % kNumClasses == 0 && !t_.factors.empty());
    std::vector<uint32_t> nodes(t_.factors.size() / kNumClasses, kNoIndex);  // whose factors they are
    nodes[0] = 0;
    for (uint32_t w = 0; w < t_.big.size(); ++w) {
      const uint32_t big = t_.big[w], node = trie.wides[w].node;
      if (big == kNoIndex) continue;
      Check(big < nodes.size() && (big == 0 ? node == 0 : nodes[big] == kNoIndex));
      nodes[big] = node;
    }
    for (size_t i = 0; i < t_.factors.size(); ++i) {
      const FactorRecord& f = t_.factors[i];
      const uint32_t node = nodes[i / kNumClasses];
      Check(node != kNoIndex && f.max_chars <= longest_);
      CheckPart(t_.inside, f.inside_at, f.inside);
      CheckPart(t_.offsets, f.offsets_at, uint64_t{f.max_chars} + 2);
      CheckOffsets(&t_.offsets[f.offsets_at], uint64_t{f.max_chars} + 1, f.inside);
      CheckRow(f.row);
      const uint64_t groups = static_cast<uint64_t>(f.exit_bytes.Count());
      CheckPart(t_.exit_offsets, f.exit_offsets_at, groups + 1);
      const uint32_t* exit_offsets = &t_.exit_offsets[f.exit_offsets_at];
      CheckPart(t_.exits, f.exits_at, exit_offsets[groups]);
      CheckOffsets(exit_offsets, groups, exit_offsets[groups]);
      for (uint32_t e = f.exits_at; e < f.exits_at + exit_offsets[groups]; ++e) {
        const FactorExit& exit = t_.exits[e];
        Check(exit.node > node && exit.node < trie.nodes[node].end && exit.chars <= longest_);
      }
    }
    for (size_t c = 0; c < kNumClasses; ++c) {
      Check(t_.factors[c].row != kNoIndex);
      const uint32_t lengths = std::min(t_.factors[c].max_chars, kRowLengths);
      for (uint32_t l = 0; l <= lengths; ++l) Check(s.length_rows[c][l] < num_rows_);
    }
  }

  const Tables<Stored>& t_;
  const uint32_t size_, words_, longest_;
  size_t num_rows_ = 0;
  std::vector<uint32_t> ends_;  // of the nodes on the path, by depth
};

}  // namespace

std::string SerializeTables(Tables<Stored> tables, const Vocabulary& vocabulary) {
  Header header{Kind(), SumOfTokens(vocabulary), {}};
  size_t size = sizeof(header), i = 0;
  tables.ForEach([&](const auto& array) {
    header.counts[i++] = array.size();
    size += Padded(array.size() * sizeof(array[0]));
  });
  std::string image;
  image.reserve(size);
  image.append(BytesOf(&header, 1));
  tables.ForEach([&](const auto& array) {
    if (!array.empty()) image.append(BytesOf(array.data, array.size()));
    image.resize(Padded(image.size()));
  });
  return image;
}

std::optional<Tables<Stored>> ParseTables(std::string_view image, const Vocabulary& vocabulary) {
  Header header{};
  Check(image.size() >= sizeof(header));
  std::memcpy(&header, image.data(), sizeof(header));
  if (header.kind != Kind()) return std::nullopt;
  if (header.tokens != SumOfTokens(vocabulary)) {
    throw VocabularyError("vocabulary: the saved mask tables belong to other tokens; save the vocabulary again");
  }
  std::string_view left = image.substr(sizeof(header));
  Tables<Stored> tables{};
  size_t i = 0;
  tables.ForEach([&](auto& array) {
    using Item = std::remove_reference_t<decltype(array[0])>;
    const uint64_t count = header.counts[i++];
    Check(count <= left.size() / sizeof(Item) && Padded(count * sizeof(Item)) <= left.size());
    array = {reinterpret_cast<const Item*>(left.data()), count};
    left.remove_prefix(Padded(count * sizeof(Item)));
  });
  Check(left.empty());
  Checker(tables, vocabulary).CheckAll();
  return tables;
}

}  // namespace tokamata
