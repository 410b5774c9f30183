#include "decode/csrc/canonical_tokens.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "automata/csrc/errors.h"
#include "automata/csrc/utf8.h"

namespace tokamata {

constexpr uint32_t kNoToken = 0xffffffff;

namespace {

bool GoesOnInside(char c) { return IsContinuationByte(static_cast<uint8_t>(c)); }

}  // namespace

CanonicalTokens::CanonicalTokens(std::shared_ptr<const Vocabulary> vocabulary, std::shared_ptr<const BytePairs> pairs,
                                 std::shared_ptr<const SplitPatterns> patterns, bool cuts)
    : vocabulary_(std::move(vocabulary)), pairs_(std::move(pairs)), patterns_(std::move(patterns)),
      written_(vocabulary_->Size()), whole_only_(vocabulary_->Size()), begins_spelling_(vocabulary_->Size()),
      spells_whole_(2), goes_on_with_(2),
      loops_(std::make_unique<CanonicalLoops>(*vocabulary_, *patterns_)) {
  std::fill(unit_of_, unit_of_ + 256, kNoToken);
  for (uint32_t t = 0; t < vocabulary_->Size(); ++t) {
    const std::string_view text = vocabulary_->Token(t);
    if (text.empty() || !pairs_->Written(t)) continue;
    written_[t] = 1;
    if (text.size() == 1) unit_of_[static_cast<uint8_t>(text[0])] = t;
  }
  for (uint32_t b = 0; b < 0xF5 && cuts; ++b)
    if (unit_of_[b] == kNoToken && b != 0xC0 && b != 0xC1)
      throw UnsupportedError("canonical: the byte " + std::to_string(b) +
                             " is no token, so some texts cannot be written; with a pretokenizer every byte has to be");
  if (pairs_->WholePieces()) FindSpellings();
  DropUnfinished();
  FindInner();
  loops_->InClasses();
}

void CanonicalTokens::FindSpellings() {
  std::unordered_map<std::string_view, uint32_t> characters;  // tokens of one
  for (uint32_t t = 0; t < vocabulary_->Size(); ++t) {
    const std::string_view text = vocabulary_->Token(t);
    if (written_[t] && CharacterLength(text) == text.size()) characters.emplace(text, t);
  }
  std::vector<uint32_t> units;
  std::unordered_set<std::string_view> texts;
  for (uint32_t t = 0; t < std::min(vocabulary_->Size(), pairs_->Size()); ++t) {
    const std::string_view text = vocabulary_->Token(t);
    if (text.empty() || written_[t]) continue;
    units.clear();
    bool in_texts = true;
    for (size_t i = 0, size = 1; i < text.size() && in_texts; i += size) {
      size = 1;
      uint32_t unit = unit_of_[static_cast<uint8_t>(text[i])];
      if (unit == kNoToken) {  // units may be characters
        size = CharacterLength(text.substr(i));
        in_texts = size > 0;
        const auto at = characters.find(text.substr(i, size));
        if (at != characters.end()) unit = at->second;
      }
      units.push_back(unit);
    }
    if (!in_texts) continue;
    if (std::find(units.begin(), units.end(), kNoToken) != units.end())
      throw UnsupportedError("canonical: token " + std::to_string(t) +
                             " has characters that are no tokens, so only as a whole piece it is written; pass a "
                             "tokenizer that has them, or one without ignore_merges");
    const std::vector<uint32_t> spelled = pairs_->Encode(units);
    // Of tokens with the same text the first one is the encoder's.
    if (spelled.size() == 1 || !texts.insert(text).second) continue;
    whole_only_[t] = 1;
    uint32_t node = kPieceStart;
    begins_spelling_[spelled[0]] = 1;
    for (const uint32_t part : spelled) {
      const auto [at, fresh] = spellings_.emplace(PairKey(node, part), static_cast<uint32_t>(spells_whole_.size()));
      if (fresh) {
        spells_whole_.push_back(0);
        goes_on_with_.emplace_back();
        if (node != kPieceStart) goes_on_with_[node].push_back(part);
      }
      node = at->second;
    }
    spells_whole_[node] = 1;
  }
}

void CanonicalTokens::FindInner() {
  std::vector<std::pair<size_t, uint32_t>> found;  // merges and tokens
  for (uint32_t t = 0; t < vocabulary_->Size(); ++t) {
    const std::string_view text = vocabulary_->Token(t);
    if (written_[t] && std::all_of(text.begin(), text.end(), GoesOnInside)) found.emplace_back(pairs_->LeftMerges(t), t);
  }
  std::sort(found.begin(), found.end());
  for (const auto& [merges, token] : found) inner_.push_back(token);
}

// Many tokens that end inside of a character can never be followed by the rest of it, because that would have been
// merged with them.
void CanonicalTokens::DropUnfinished() {
  const auto read = [&](uint32_t node, std::string_view text) {
    for (size_t i = 0; i < text.size() && node != SplitPatterns::kBad; ++i) {
      node = patterns_->Read(node, static_cast<uint8_t>(text[i]));
      if (node != SplitPatterns::kBad && node & SplitPatterns::kWhole) node = 0;
    }
    return node;
  };
  std::vector<uint32_t> inner;  // tokens that begin inside of a character
  std::vector<std::pair<uint32_t, uint32_t>> unfinished;  // tokens, and where they stop
  for (uint32_t t = 0; t < vocabulary_->Size(); ++t) {
    if (!written_[t]) continue;
    const std::string_view text = vocabulary_->Token(t);
    size_t skip = 0;
    while (skip < text.size() && GoesOnInside(text[skip])) ++skip;
    if (skip) inner.push_back(t);
    const uint32_t node = read(0, text.substr(skip));
    if (node == SplitPatterns::kBad || skip > 3)
      written_[t] = 0;  // in no text
    else if (node)
      unfinished.emplace_back(t, node);
  }
  std::unordered_map<uint64_t, bool> finishes;
  struct Frame {
    uint32_t token, node;
    size_t next;
  };
  for (const auto& [token, node] : unfinished) {
    std::vector<Frame> stack{{token, node, 0}};
    std::unordered_set<uint64_t> seen{PairKey(token, node)};
    bool found = false;
    while (!stack.empty() && !found) {
      Frame& frame = stack.back();
      if (frame.next == inner.size()) {
        stack.pop_back();
        continue;
      }
      const uint32_t other = inner[frame.next++];
      const uint32_t to = read(frame.node, vocabulary_->Token(other));
      if (to == SplitPatterns::kBad || !pairs_->Neighbours(frame.token, other)) continue;
      const uint64_t key = PairKey(other, to);
      const auto known = finishes.find(key);
      if (to == 0 || (known != finishes.end() && known->second))
        found = true;
      else if (known == finishes.end() && seen.insert(key).second)
        stack.push_back({other, to, 0});
    }
    if (found)
      for (const Frame& frame : stack) finishes[PairKey(frame.token, frame.node)] = true;
    else
      for (const uint64_t key : seen) finishes[key] = false;
    if (!found) written_[token] = 0;
  }
}

}  // namespace tokamata
