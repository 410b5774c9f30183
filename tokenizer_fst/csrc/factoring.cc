#include "tokenizer_fst/csrc/factoring.h"

#include <algorithm>
#include <utility>

#include "tokenizer_fst/csrc/begun_tokens.h"

namespace tokamata {
namespace {

Tables<Stored> ViewOf(const Tables<Owned>& t) {
  const auto view = [](const auto& array) -> Span<std::remove_reference_t<decltype(array[0])>> {
    return {array.data(), array.size()};
  };
  return {{view(t.tries.nodes), view(t.tries.order), view(t.tries.wides), view(t.tries.wide_children)},
          view(t.big), view(t.factors), view(t.inside), view(t.offsets), view(t.exits), view(t.exit_offsets),
          view(t.chars), view(t.before), view(t.bytes), view(t.ids), view(t.rows), view(t.inside_below),
          view(t.summary)};
}

}  // namespace

Factoring::Factoring(Tables<Stored> tables, std::shared_ptr<const void> owner, uint32_t words)
    : words_(words),
      owner_(std::move(owner)),
      tables_(tables),
      summary_(tables.summary.data),
      trie_(summary_->trie.View(tables_.tries)) {
  const auto suffixes = [this](const SuffixRecord& r) {
    return SuffixTrie{r.trie.View(tables_.tries), tables_.chars.data + r.chars_at, r.max_chars};
  };
  factors_.reserve(tables_.factors.size());
  for (const FactorRecord& r : tables_.factors)
    factors_.push_back({{tables_.inside.data + r.inside_at, r.inside}, tables_.offsets.data + r.offsets_at, r.max_chars,
                        r.row, r.exit_bytes, tables_.exits.data + r.exits_at,
                        tables_.exit_offsets.data + r.exit_offsets_at});
  for (int c = 0; c <= kNotNewline; ++c) suffixes_[c] = suffixes(summary_->suffixes[c]);
  trie_.ForEachChild(0, [this](uint32_t child) {
    if (trie_.TokensBegin(child) != trie_.TokensEnd(child)) single_bytes_.Add(trie_.nodes[child].byte);
  });
  for (const ByteRecord& r : tables_.bytes)
    by_byte_[r.byte] = {{tables_.ids.data + r.ids_at, r.ids}, suffixes(r.suffixes),
                        tables_.before.data + r.before_at};
  // Masks of JSON strings begin with this row; asked for twice, it is made.
  const ByteSet exits = ByteSet::Of('"') | ByteSet::Of('\\');
  for (int i = 0; i < 2; ++i) EndedBy(suffixes_[kJsonText], exits, Row(factors_[kJsonText].row));
}

Factoring::~Factoring() = default;

std::unique_ptr<const Factoring> Factoring::Build(const Vocabulary& v) {
  auto tables = std::make_shared<const Tables<Owned>>(BuildTables(v));
  const Tables<Stored> view = ViewOf(*tables);
  return std::unique_ptr<const Factoring>(new Factoring(view, std::move(tables), v.Words()));
}

std::unique_ptr<const Factoring> Factoring::FromImage(std::string_view image, std::shared_ptr<const void> owner,
                                                      const Vocabulary& v) {
  if (reinterpret_cast<uintptr_t>(image.data()) % alignof(uint64_t)) {
    const auto copy = std::make_shared<const std::string>(image);
    image = *copy;
    owner = copy;
  }
  const std::optional<Tables<Stored>> tables = ParseTables(image, v);
  if (!tables) return nullptr;
  return std::unique_ptr<const Factoring>(new Factoring(*tables, std::move(owner), v.Words()));
}

const CutTokens& Factoring::Cuts(int class_id, const Vocabulary& vocabulary) const {
  const size_t c = static_cast<size_t>(class_id);
  cuts_once_[c].Do([&] {
    cuts_[c] = std::make_unique<const CutTokens>(vocabulary, CharacterClasses()[c], factors_[c]);
  });
  return *cuts_[c];
}

const Factor& Factoring::Begun(int class_id, uint8_t phase) const {
  const size_t c = static_cast<size_t>(class_id);
  begun_once_[c][phase].Do([&] {
    begun_[c][phase] = std::make_unique<const BegunTokens>(trie_, CharacterClasses()[c], phase);
  });
  return begun_[c][phase]->Tokens();
}

const std::vector<uint32_t>& Factoring::NodesWith(uint8_t b) const {
  with_once_[b].Do([&] {
    for (uint32_t n = 1; n < trie_.Size(); ++n)
      if (trie_.nodes[n].byte == b) with_[b].push_back(n);
  });
  return with_[b];
}

const uint32_t* Factoring::RowBeyondAscii() const {
  beyond_ascii_once_.Do([&] {
    beyond_ascii_.assign(words_, 0);
    for (uint32_t n = 1; n < trie_.Size();) {
      const Trie::Node& node = trie_.nodes[n++];
      if (node.byte < 0x80) continue;
      n = node.end;
      for (uint32_t i = node.tokens; i < trie_.TokensBegin(n); ++i) {
        const uint32_t id = trie_.order[i];
        beyond_ascii_[id >> 5] |= 1u << (id & 31);
      }
    }
  });
  return beyond_ascii_.data();
}

Factoring::Base Factoring::InsideAtMost(int class_id, uint32_t chars) const {
  const Factor& f = factors_[static_cast<size_t>(class_id)];
  const uint32_t* ids = f.inside.data;
  if (chars >= f.max_chars) return {Row(f.row), ids, ids};
  const uint32_t l = std::min(chars, kRowLengths);
  return {Row(summary_->length_rows[class_id][l]), ids + f.offsets[l + 1], ids + f.offsets[chars + 1]};
}

const uint32_t* Factoring::EndedBy(const SuffixTrie& suffixes, const ByteSet& exits, const uint32_t* row) const {
  const std::lock_guard<std::mutex> lock(ended_mutex_);
  for (Ended& known : ended_) {
    if (known.suffixes != &suffixes || known.from != row || known.exits != exits) continue;
    if (known.row.empty()) {
      known.row.assign(row, row + words_);
      const Trie& trie = suffixes.trie;
      exits.ForEach([&](uint8_t b) {
        const uint32_t child = trie.Child(0, b);
        if (child == kNoIndex) return;
        for (uint32_t i = trie.TokensBegin(child); i < trie.TokensEnd(child); ++i)
          known.row[trie.order[i] >> 5] |= 1u << (trie.order[i] & 31);
      });
    }
    return known.row.data();
  }
  if (ended_.size() < kMostEnded) ended_.push_back({&suffixes, row, exits, {}});
  return nullptr;
}

std::shared_ptr<const LearnedClass> Factoring::Learned(uint32_t node, const ByteSet& ascii,
                                                       const std::shared_ptr<const WideCharacters>& wide,
                                                       const ByteSet& exits) const {
  const auto known = [&]() -> std::shared_ptr<const LearnedClass> {
    const auto is = [&](const auto& c) { return c->Is(node, ascii, *wide, exits); };
    const auto found = std::find_if(learned_.begin(), learned_.end(), is);
    if (found == learned_.end()) return nullptr;
    std::rotate(learned_.begin(), found, found + 1);
    return learned_.front();
  };
  {
    const std::lock_guard<std::mutex> lock(learned_mutex_);
    if (auto found = known()) return found;
  }
  auto made = std::make_shared<const LearnedClass>(*this, node, ascii, wide, exits);  // which others need not wait for
  const std::lock_guard<std::mutex> lock(learned_mutex_);
  if (auto found = known()) return found;
  learned_.push_front(made);
  if (learned_.size() > kMostLearned) learned_.pop_back();
  return made;
}

bool Factoring::AskLearned(const ByteSet& ascii, const ByteSet& exits, uint32_t times_before) const {
  const std::lock_guard<std::mutex> lock(learned_mutex_);
  for (const auto& c : learned_)
    if (c->Is(0, ascii, *WideCharacters::None(), exits)) return true;
  const auto same = [&](const Asked& a) { return a.ascii == ascii && a.exits == exits; };
  const auto known = std::find_if(asked_.begin(), asked_.end(), same);
  if (known != asked_.end()) return ++known->times > times_before;
  asked_.push_front({ascii, exits, 1});
  if (asked_.size() > kMostLearned) asked_.pop_back();
  return false;
}

size_t Factoring::MemoryBytes() const {
  size_t bytes = sizeof(*this) + factors_.capacity() * sizeof(Factor);
  Tables<Stored> tables = tables_;
  tables.ForEach([&](const auto& array) { bytes += array.size() * sizeof(array[0]); });
  {
    const std::lock_guard<std::mutex> lock(ended_mutex_);
    for (const Ended& e : ended_) bytes += sizeof(e) + e.row.capacity() * sizeof(uint32_t);
  }
  const std::lock_guard<std::mutex> lock(learned_mutex_);
  for (const auto& c : learned_) bytes += c->MemoryBytes();
  return bytes;
}

}  // namespace tokamata
