#include "tokenizer_fst/csrc/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_map>

#include "automata/csrc/blank_scan.h"
#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/errors.h"
#include "tokenizer_fst/csrc/factoring.h"
#include "tokenizer_fst/csrc/suffix_spelling.h"

namespace tokamata {
namespace {

constexpr size_t kMaxTokens = std::numeric_limits<int32_t>::max();
constexpr size_t kMaxBytes = std::numeric_limits<uint32_t>::max();

// The image's header.
struct Header {
  uint32_t version;
  uint32_t size;
  uint32_t eos_count;
  uint32_t byte_count;
};
constexpr uint32_t kVersion = 1;

template <class T>
void Put(std::string* out, const T* data, size_t count) {
  out->append(reinterpret_cast<const char*>(data), count * sizeof(T));
}

template <class T>
void Take(std::string_view* in, T* data, size_t count) {
  std::memcpy(data, in->data(), count * sizeof(T));
  in->remove_prefix(count * sizeof(T));
}

// Whether a comma, a whole JSON string and then nothing or what follows a key or an element occurs in a token, with
// white space in between.
bool WritesKey(std::string_view token) {
  constexpr std::string_view kSpaces = " \t\n\r";
  for (size_t comma = token.find(','); comma != token.npos; comma = token.find(',', comma + 1)) {
    size_t at = token.find_first_not_of(kSpaces, comma + 1);
    if (at == token.npos || token[at] != '"') continue;
    for (++at; at < token.size() && token[at] != '"'; ++at) at += token[at] == '\\';
    if (at >= token.size()) continue;
    at = token.find_first_not_of(kSpaces, at + 1);
    if (at == token.npos || token[at] == ':' || token[at] == ',' || token[at] == ']') return true;
  }
  return false;
}

// Whether a JSON value begins, behind white space, of which more than a quote is there.
bool BeginsValue(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\n\r");
  if (at == text.npos) return false;
  if (text[at] == '"') return at + 1 < text.size();
  return std::string_view("-0123456789tfn[{").find(text[at]) != std::string_view::npos;
}

// Whether more than white space comes after a line break.
bool GoesOnInNextLine(std::string_view token) {
  const size_t line = token.find('\n');
  return line != token.npos && token.find_first_not_of(" \t\n\r", line) != token.npos;
}

// Whether white space, and then what may be a whole key of YAML, begin a token: something with a colon and white space
// behind it, or in quotes.
bool WritesKeyInLine(std::string_view token) {
  const size_t at = token.find_first_not_of(" \n");
  if (at == 0 || at == token.npos) return false;
  for (size_t i = at + 1; i < token.size(); ++i) {
    const bool last = i + 1 == token.size();
    if (token[i] == ':' && !last && (token[i + 1] == ' ' || token[i + 1] == '\n')) return true;
    if (token[i] == token[at] && (token[at] == '"' || token[at] == '\'') && (last || token[i + 1] == ':')) return true;
  }
  return false;
}

// Whether a quote, a comma, a quote and something more occur in a token in this order.
bool EndsAndBeginsKey(std::string_view token) {
  size_t at = 0;
  for (const char c : std::string_view("\",\"")) {
    at = token.find(c, at);
    if (at == token.npos) return false;
    ++at;
  }
  return at < token.size();
}

}  // namespace

void TokenTable::Reserve(size_t tokens, size_t total_bytes) {
  bytes.reserve(std::min(total_bytes, kMaxBytes));
  offsets.reserve(std::min(tokens, kMaxTokens) + 1);
  special.reserve(std::min(tokens, kMaxTokens) / 64 + 1);
}

void TokenTable::Add(std::string_view token) {
  size_t id = offsets.size() - 1;
  if (id >= kMaxTokens) throw VocabularyError("vocabulary: more than 2^31 - 1 tokens; a label must fit 32 bits");
  if (token.size() > kMaxBytes - bytes.size()) {
    throw VocabularyError("vocabulary: the tokens hold more than 4 GiB of bytes together; check the token list");
  }
  if (id % 64 == 0) special.push_back(0);
  bytes.append(token);
  offsets.push_back(static_cast<uint32_t>(bytes.size()));
}

void TokenTable::AddSpecial() {
  Add({});
  size_t id = offsets.size() - 2;
  special[id / 64] |= uint64_t{1} << (id % 64);
}

Vocabulary::Vocabulary() = default;
Vocabulary::~Vocabulary() = default;

std::shared_ptr<Vocabulary> Vocabulary::MakeBare(TokenTable table, const std::vector<int64_t>& eos_ids) {
  uint32_t size = table.Size();
  if (size == 0) {
    throw VocabularyError(
        "vocabulary: expected at least one token, got none; pass the bytes of every token in id order");
  }
  if (eos_ids.empty()) {
    throw VocabularyError(
        "vocabulary: expected at least one end-of-sequence id, got none; pass eos_token_ids=[...] with the ids that "
        "end a text for this model");
  }
  std::vector<uint32_t> eos;
  for (int64_t id : eos_ids) {
    if (id < 0 || id >= static_cast<int64_t>(size)) {
      throw VocabularyError("vocabulary: end-of-sequence id " + std::to_string(id) + " is outside 0.." +
                            std::to_string(size - 1) + "; pass an id of this vocabulary, or a larger size=");
    }
    eos.push_back(static_cast<uint32_t>(id));
  }
  std::sort(eos.begin(), eos.end());
  eos.erase(std::unique(eos.begin(), eos.end()), eos.end());

  bool has_text = false;
  for (uint32_t id : eos) has_text |= table.offsets[id] != table.offsets[id + 1];
  if (has_text) {  // an EOS token loses its text: copy the rest
    TokenTable rest;
    rest.Reserve(size, table.bytes.size());
    size_t next = 0;
    for (uint32_t id = 0; id < size; ++id) {
      bool is_eos = next < eos.size() && eos[next] == id;
      next += is_eos;
      if (is_eos || (table.special[id / 64] >> (id % 64) & 1)) {
        rest.AddSpecial();
      } else {
        rest.Add(std::string_view(table.bytes).substr(table.offsets[id], table.offsets[id + 1] - table.offsets[id]));
      }
    }
    table = std::move(rest);
  }
  for (uint32_t id : eos) table.special[id / 64] |= uint64_t{1} << (id % 64);
  if (table.bytes.empty()) {
    throw VocabularyError("vocabulary: no token has any bytes, so no text can be written; check the token list");
  }

  std::shared_ptr<Vocabulary> v(new Vocabulary);
  for (uint32_t id = 0; id < size; ++id) {
    const uint32_t length = table.offsets[id + 1] - table.offsets[id];
    if (length > kMaxTokenBytes) {
      throw VocabularyError("vocabulary: token " + std::to_string(id) + " has " + std::to_string(length) +
                            " bytes, expected at most " + std::to_string(kMaxTokenBytes) + "; check the token list");
    }
    v->max_token_bytes_ = std::max(v->max_token_bytes_, length);
  }
  v->table_ = std::move(table);
  v->eos_ids_ = std::move(eos);
  return v;
}

std::shared_ptr<const Vocabulary> Vocabulary::Make(TokenTable table, const std::vector<int64_t>& eos_ids) {
  std::shared_ptr<const Vocabulary> v = MakeBare(std::move(table), eos_ids);
  v->Masks();
  return v;
}

std::shared_ptr<const Vocabulary> Vocabulary::WithMarkers(
    const std::vector<std::pair<int64_t, std::string>>& names, const std::vector<TokenClass>& classes) const {
  std::unordered_map<uint32_t, const std::string*> name_of;
  for (const auto& [id, name] : names) {
    if (id < 0 || id >= static_cast<int64_t>(Size()) ||
        std::binary_search(eos_ids_.begin(), eos_ids_.end(), static_cast<uint32_t>(id))) {
      throw VocabularyError("vocabulary: special token '" + name + "' has id " + std::to_string(id) +
                            ", which ends a text or is outside 0.." + std::to_string(Size() - 1));
    }
    name_of[static_cast<uint32_t>(id)] = &name;
  }
  const char marker = static_cast<char>(kMarkerByte);
  TokenTable table;
  table.Reserve(Size(), table_.bytes.size() + 16 * names.size());
  for (uint32_t id = 0; id < Size(); ++id) {
    const auto named = name_of.find(id);
    if (named != name_of.end()) {
      table.Add(marker + *named->second + marker);
    } else if (IsSpecial(id) || Token(id).find(marker) != std::string_view::npos) {
      table.AddSpecial();
    } else {
      table.Add(Token(id));
    }
  }
  std::vector<std::vector<uint32_t>> rows;
  for (const auto& [name, ids] : classes) {
    if (ids.empty()) throw VocabularyError("vocabulary: the class of tokens '" + name + "' has no tokens");
    rows.emplace_back(Words(), 0);
    for (const int64_t id : ids) {
      if (id < 0 || id >= static_cast<int64_t>(Size()) ||
          std::binary_search(eos_ids_.begin(), eos_ids_.end(), static_cast<uint32_t>(id)))
        throw VocabularyError("vocabulary: the class of tokens '" + name + "' has id " + std::to_string(id) +
                              ", which ends a text or is outside 0.." + std::to_string(Size() - 1));
      rows.back()[static_cast<size_t>(id) / 32] |= 1u << (id % 32);
    }
    table.Add(marker + name + marker);
  }
  const std::shared_ptr<Vocabulary> v = MakeBare(std::move(table), {eos_ids_.begin(), eos_ids_.end()});
  v->has_markers_ = true;
  v->classes_ = std::move(rows);
  v->Masks();
  return v;
}

bool Vocabulary::SpellsAnyText() const {
  ByteSet bytes = Masks().SingleBytes();
  if (has_markers_) bytes.Add(kMarkerByte);  // stands in markers only, and these are tokens
  return bytes == ByteSet::All();
}

const Factoring& Vocabulary::Masks() const {
  masks_once_.Do([this] {
    if (!masks_) masks_ = Factoring::Build(*this);
    indexed_once_.Do([this] { IndexTokens(); });
  });
  return *masks_;
}

// O(bytes of the vocabulary), once.
void Vocabulary::IndexTokens() const {
  std::vector<uint32_t> counts(max_token_bytes_ + 2, 0);
  uint32_t times[256] = {};
  for (uint32_t id = 0; id < Size(); ++id) {
    const std::string_view token = Token(id);
    ++counts[max_token_bytes_ - token.size() + 1];
    for (const char c : token) {
      uint32_t& most = most_of_[static_cast<uint8_t>(c)];
      most = std::max(most, ++times[static_cast<uint8_t>(c)]);
    }
    for (const char c : token) times[static_cast<uint8_t>(c)] = 0;
    if (WritesKey(token))
      keyed_.push_back(id);
    else if (EndsAndBeginsKey(token))
      ending_.push_back(id);
    if (WritesKeyInLine(token)) lined_.push_back(id);
    if (GoesOnInNextLine(token)) broken_.push_back(id);
    BlankScan scan;
    uint32_t blanks = 0;
    for (const char c : token) blanks += scan.Step(static_cast<uint8_t>(c));
    most_blanks_ = std::max(most_blanks_, blanks);
    bool spaced = false, rare = false;
    for (size_t i = 0; i < token.size(); ++i) {
      const auto byte = [&](size_t k) { return i + k < token.size() ? static_cast<uint8_t>(token[i + k]) : 0u; };
      const uint32_t lead = byte(0);
      if (lead != 0xC2 && (lead < 0xE1 || lead > 0xEF)) continue;
      const uint32_t c = lead == 0xC2 ? (lead & 31) << 6 | (byte(1) & 63)
                                      : (lead & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
      spaced = spaced || std::any_of(std::begin(kWideSpaces), std::end(kWideSpaces),
                                     [c](const auto& range) { return range.first <= c && c <= range.second; });
      rare = rare || (lead >= 0xE4 && lead <= 0xE9 && (c < kUsualHan.first || c > kUsualHan.second));
    }
    if (spaced) spaced_.push_back(id);
    if (rare) rare_han_.push_back(id);
  }
  for (size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
  lengths_from_ = counts;  // tokens of n bytes: from lengths_from_[longest - n] on
  by_length_.resize(Size());
  for (uint32_t id = 0; id < Size(); ++id) by_length_[counts[max_token_bytes_ - Token(id).size()]++] = id;
}

const std::vector<uint32_t>& Vocabulary::WithWideSpaces() const {
  indexed_once_.Do([this] { IndexTokens(); });
  return spaced_;
}

const std::vector<uint32_t>& Vocabulary::WithRareHan() const {
  indexed_once_.Do([this] { IndexTokens(); });
  return rare_han_;
}

const std::vector<uint32_t>& Vocabulary::WithWholeKeys() const {
  indexed_once_.Do([this] { IndexTokens(); });
  return keyed_;
}

const std::vector<uint32_t>& Vocabulary::WithNextLines() const {
  indexed_once_.Do([this] { IndexTokens(); });
  return broken_;
}

const std::vector<uint32_t>& Vocabulary::WithKeysInLines() const {
  indexed_once_.Do([this] { IndexTokens(); });
  return lined_;
}

const std::vector<uint32_t>& Vocabulary::WithEndsOfKeys() const {
  indexed_once_.Do([this] { IndexTokens(); });
  return ending_;
}

const std::vector<Vocabulary::Continued>& Vocabulary::WithNextValues() const {
  continued_once_.Do([this] {
    std::map<std::string, std::vector<uint32_t>> found;
    for (uint32_t id = 0; id < Size(); ++id) {
      const std::string_view token = Token(id);
      for (size_t comma = token.find(','); comma != token.npos; comma = token.find(',', comma + 1))
        if (BeginsValue(token.substr(comma + 1))) found[std::string(token.substr(0, comma + 1))].push_back(id);
    }
    for (auto& [begin, ids] : found) continued_.push_back({begin, std::move(ids)});
  });
  return continued_;
}

std::pair<const uint32_t*, const uint32_t*> Vocabulary::LongerThan(uint32_t bytes) const {
  if (bytes >= max_token_bytes_) return {nullptr, nullptr};
  indexed_once_.Do([this] { IndexTokens(); });
  return {by_length_.data(), by_length_.data() + lengths_from_[max_token_bytes_ - bytes]};
}

uint32_t Vocabulary::MostOf(uint8_t byte) const {
  indexed_once_.Do([this] { IndexTokens(); });
  return most_of_[byte];
}

uint32_t Vocabulary::MostBlanks() const {
  indexed_once_.Do([this] { IndexTokens(); });
  return most_blanks_;
}

const SuffixSpelling& Vocabulary::Spelling() const {
  spelling_once_.Do([this] { spelling_ = std::make_unique<SuffixSpelling>(Masks().trie()); });
  return *spelling_;
}

std::string Vocabulary::Serialize() const {
  const Header header{kVersion, Size(), static_cast<uint32_t>(eos_ids_.size()),
                      static_cast<uint32_t>(table_.bytes.size())};
  std::string image;
  image.reserve(sizeof(header) + 4 * (eos_ids_.size() + table_.offsets.size()) + 8 * table_.special.size() +
                table_.bytes.size());
  Put(&image, &header, 1);
  Put(&image, eos_ids_.data(), eos_ids_.size());
  Put(&image, table_.special.data(), table_.special.size());
  Put(&image, table_.offsets.data(), table_.offsets.size());
  image += table_.bytes;
  return image;
}

std::string Vocabulary::SerializeTables() const { return Masks().Serialize(*this); }

std::shared_ptr<const Vocabulary> Vocabulary::Deserialize(std::string_view image, std::string_view tables,
                                                          std::shared_ptr<const void> owner) {
  const auto check = [](bool holds) {
    if (!holds) throw VocabularyError("vocabulary: the saved tokens are damaged; save the vocabulary again");
  };
  Header h{};
  check(image.size() >= sizeof(h));
  Take(&image, &h, 1);
  check(h.version == kVersion && h.size <= kMaxTokens);
  const uint64_t words = (uint64_t{h.size} + 63) / 64;
  check(image.size() == 4 * uint64_t{h.eos_count} + 8 * words + 4 * (uint64_t{h.size} + 1) + h.byte_count);
  std::vector<uint32_t> eos(h.eos_count);
  Take(&image, eos.data(), eos.size());
  TokenTable table;
  table.special.resize(words);
  Take(&image, table.special.data(), words);
  table.offsets.resize(uint64_t{h.size} + 1);
  Take(&image, table.offsets.data(), table.offsets.size());
  table.bytes = image;
  check(table.offsets.front() == 0 && table.offsets.back() == h.byte_count);
  for (uint32_t id = 0; id < h.size; ++id) {
    check(table.offsets[id] <= table.offsets[id + 1]);
    const bool special = table.special[id / 64] >> (id % 64) & 1;
    check(!special || table.offsets[id] == table.offsets[id + 1]);
  }
  std::shared_ptr<Vocabulary> v = MakeBare(std::move(table), {eos.begin(), eos.end()});
  if (!tables.empty()) v->masks_ = Factoring::FromImage(tables, std::move(owner), *v);
  return v;
}

std::vector<uint32_t> Vocabulary::Overlaps(std::string_view text) const {
  const Trie& trie = Masks().trie();
  std::vector<uint32_t> lengths;
  const size_t longest = std::min<size_t>(text.size(), max_token_bytes_);
  for (size_t length = 1; length <= longest; ++length) {
    uint32_t node = 0;
    for (size_t i = text.size() - length; i < text.size() && node != kNoIndex; ++i)
      node = trie.Child(node, static_cast<uint8_t>(text[i]));
    if (node != kNoIndex && trie.nodes[node].end > node + 1) lengths.push_back(static_cast<uint32_t>(length));
  }
  return lengths;
}

size_t Vocabulary::MemoryBytes() const {
  return sizeof(*this) + table_.bytes.capacity() + table_.offsets.capacity() * sizeof(uint32_t) +
         table_.special.capacity() * sizeof(uint64_t) + eos_ids_.capacity() * sizeof(uint32_t) +
         Masks().MemoryBytes();
}

}  // namespace tokamata
