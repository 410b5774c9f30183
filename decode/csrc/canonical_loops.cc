#include "decode/csrc/canonical_loops.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "automata/csrc/utf8.h"
#include "decode/csrc/rows.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

// A character that may not be complete yet.
struct Partial {
  uint32_t characters = 0;
  uint8_t phase = 0, size = 0;
  char bytes[4] = {};

  // Reads a byte; false where that is no character of the class.
  bool Read(uint8_t b, const CanonicalLoops::Characters& of) {
    if (!phase && b < 0x80) {
      ++characters;
      return of.ascii.Has(b);
    }
    if (!phase) {
      size = 1;
      bytes[0] = static_cast<char>(b);
      phase = Utf8LeadPhase(b);
      return phase && (of.non_ascii || of.all_but_spaces);
    }
    if (b < kUtf8Phases[phase].low || b > kUtf8Phases[phase].high) return false;
    bytes[size++] = static_cast<char>(b);
    phase = kUtf8Phases[phase].next;
    if (phase) return true;
    ++characters;
    const uint32_t code = CodePointOf({bytes, size});
    return of.non_ascii || std::none_of(std::begin(kWideSpaces), std::end(kWideSpaces), [code](const auto& range) {
             return range.first <= code && code <= range.second;
           });
  }
};

}  // namespace

bool CanonicalLoops::Characters::operator<(const Characters& o) const {
  const auto tie = [](const Characters& c) {
    return std::tie(c.ascii.words[0], c.ascii.words[1], c.non_ascii, c.all_but_spaces);
  };
  return tie(*this) < tie(o);
}

CanonicalLoops::CanonicalLoops(const Vocabulary& vocabulary, const SplitPatterns& patterns)
    : vocabulary_(vocabulary), patterns_(patterns), trie_(vocabulary.Masks().trie()) {}

const Trie& CanonicalLoops::InClasses() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (in_classes_.nodes.data) return in_classes_;
  std::string classes;  // of all tokens, one behind another
  std::vector<std::pair<size_t, size_t>> parts;
  std::vector<uint32_t> tokens;
  for (uint32_t t = 0; t < vocabulary_.Size(); ++t) {
    const size_t begin = classes.size();
    uint32_t node = 0;
    for (const char byte : vocabulary_.Token(t)) {
      node = patterns_.Read(node, static_cast<uint8_t>(byte));
      if (node == SplitPatterns::kBad) break;
      if (!(node & SplitPatterns::kWhole)) continue;
      classes.push_back(static_cast<char>(node & ~SplitPatterns::kWhole));
      node = 0;
    }
    if (node || classes.size() == begin) {
      classes.resize(begin);
      continue;
    }
    parts.emplace_back(begin, classes.size() - begin);
    tokens.push_back(t);
  }
  std::vector<TrieKey> keys;
  for (size_t i = 0; i < tokens.size(); ++i)
    keys.push_back({std::string_view(classes).substr(parts[i].first, parts[i].second), tokens[i]});
  const TrieRecord record = BuildTrie(std::move(keys), &in_classes_arrays_);
  return in_classes_ = record.View(in_classes_arrays_);
}

CanonicalLoops::Class* CanonicalLoops::Find(const Characters& characters, uint32_t few) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = classes_.find(characters);
  if (known != classes_.end()) return known->second.get();
  if (classes_.size() >= kMostClasses) return nullptr;
  uint32_t reach = 0;
  for (uint32_t n = 1; n < trie_.Size(); n = trie_.nodes[n].end)
    if (Partial().Read(trie_.nodes[n].byte, characters)) reach += trie_.CountBelow(n);
  std::unique_ptr<Class> c;
  if (reach >= few) {
    c = std::make_unique<Class>();
    FillInside(characters, c.get());
  }
  return classes_.emplace(characters, std::move(c)).first->second.get();
}

void CanonicalLoops::FillInside(const Characters& characters, Class* c) const {
  c->inside_bits.assign(vocabulary_.Words(), 0);
  std::vector<Partial> at(trie_.max_depth + 1);
  std::vector<std::pair<uint32_t, uint32_t>> found;  // characters and tokens
  uint32_t longest = 0;
  for (uint32_t n = 1; n < trie_.Size();) {
    const Trie::Node& node = trie_.nodes[n];
    Partial& here = at[node.depth] = at[node.depth - 1];
    if (!here.Read(node.byte, characters)) {
      n = node.end;
      continue;
    }
    if (here.phase)
      for (uint32_t i = trie_.TokensBegin(n); i < trie_.TokensEnd(n); ++i)
        c->begun.emplace_back(trie_.order[i], here.characters + 1);
    else
      for (uint32_t i = trie_.TokensBegin(n); i < trie_.TokensEnd(n); ++i) {
        found.emplace_back(here.characters, trie_.order[i]);
        SetToken(trie_.order[i], c->inside_bits.data());
        longest = std::max(longest, here.characters);
      }
    ++n;
  }
  c->not_longer.assign(longest + 1, 0);
  for (const auto& [length, token] : found) ++c->not_longer[length];
  for (uint32_t length = 1; length <= longest; ++length) c->not_longer[length] += c->not_longer[length - 1];
  std::vector<uint32_t> fill(longest + 1, 0);
  std::copy(c->not_longer.begin(), c->not_longer.end() - 1, fill.begin() + 1);
  c->inside.resize(found.size());
  for (const auto& [length, token] : found) c->inside[fill[length]++] = token;
}

// The nodes above tokens that are not inside, in the same order.
void CanonicalLoops::FillOutside(Class* c) const {
  std::vector<uint32_t> before(trie_.order.size() + 1, 0);  // tokens that are not inside, by place in `order`
  for (size_t i = 0; i < trie_.order.size(); ++i) {
    before[i + 1] = before[i] + !HasToken(c->inside_bits.data(), trie_.order[i]);
  }
  std::vector<std::pair<uint32_t, uint32_t>> open;  // nodes that go on: where they end in the old trie, and their place
  const auto close = [&](uint32_t n) {
    for (; !open.empty() && open.back().first <= n; open.pop_back())
      c->nodes[open.back().second].end = static_cast<uint32_t>(c->nodes.size());
  };
  for (uint32_t n = 0; n < trie_.Size();) {
    const Trie::Node& node = trie_.nodes[n];
    if (n && before[trie_.nodes[node.end].tokens] == before[node.tokens]) {
      n = node.end;
      continue;
    }
    close(n);
    open.emplace_back(node.end, static_cast<uint32_t>(c->nodes.size()));
    c->nodes.push_back({0, static_cast<uint32_t>(c->order.size()), node.depth, 0, node.byte});
    for (uint32_t i = trie_.TokensBegin(n); i < trie_.TokensEnd(n); ++i)
      if (before[i + 1] != before[i]) c->order.push_back(trie_.order[i]);
    ++n;
  }
  close(trie_.Size());
  c->nodes.push_back({0, static_cast<uint32_t>(c->order.size()), 0, 0, 0});
  c->outside = {{c->nodes.data(), c->nodes.size()}, {c->order.data(), c->order.size()}, {nullptr, 0}, {nullptr, 0},
                trie_.max_depth};
}

}  // namespace tokamata
