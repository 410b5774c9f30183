#include "constraints/csrc/json_string.h"

#include <algorithm>
#include <iterator>

#include "automata/csrc/hex_digits.h"
#include "automata/csrc/recall.h"
#include "automata/csrc/utf8.h"
#include "constraints/csrc/regex.h"
#include "constraints/csrc/yaml_string.h"

namespace tokamata {

char JsonShortEscape(uint32_t c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

bool JsonMustEscape(uint32_t c) { return c < 0x20 || c == '"' || c == '\\'; }

void AddHexDigit(uint32_t value, ByteSet* set) {
  for (const auto& digits : kHexDigits) set->Add(static_cast<uint8_t>(digits[value]));
}

namespace {

constexpr uint32_t kMaxCodePoint = 0x10FFFF;

void AppendCharacter(uint32_t c, std::string* out) {
  if (!JsonMustEscape(c)) return AppendUtf8(c, out);
  *out += '\\';
  if (const char letter = JsonShortEscape(c)) {
    *out += letter;
    return;
  }
  *out += 'u';
  AppendHex(c, 4, out);
}

}  // namespace

bool DecodeText(std::string_view s, std::u32string* out) {
  while (!s.empty()) {
    const size_t length = CharacterLength(s);
    if (!length) return false;
    out->push_back(CodePointOf(s.substr(0, length)));
    s.remove_prefix(length);
  }
  return true;
}

void JsonStrings::Begin(const JsonStrings& prepared) {
  any_character_ = prepared.any_character_;
  any_ = prepared.any_;
  std::copy(std::begin(prepared.ascii_), std::end(prepared.ascii_), std::begin(ascii_));
  std::copy(&prepared.hex_full_[0][0], &prepared.hex_full_[0][0] + 2 * 7, &hex_full_[0][0]);
  non_ascii_ = prepared.non_ascii_;
  non_ascii_numbers_ = prepared.non_ascii_numbers_;
  low_surrogate_ = prepared.low_surrogate_;
  classes_ = prepared.classes_;
  characters_ = prepared.characters_;
}

// The hexadecimal digits that number a character: \uhhhh, or \ud[89ab]hh\ud[c-f]hh for the 20 bits above U+FFFF.
struct JsonStrings::HexLevel {
  uint32_t from, radix;
};

// Digits from `level` on whose number is in the ranges, relative to their block. At most six levels deep.
Expr JsonStrings::HexDigits(const CodePointRanges& ranges, bool astral, int level) {
  static constexpr HexLevel kBasic[] = {{0, 16}, {0, 16}, {0, 16}, {0, 16}};
  static constexpr HexLevel kAstral[] = {{8, 4}, {0, 16}, {0, 16}, {12, 4}, {0, 16}, {0, 16}};
  const HexLevel* levels = astral ? kAstral : kBasic;
  const int count = astral ? 6 : 4;
  if (level == count) return kEpsilonExpr;
  uint32_t inner = 1;
  for (int i = level + 1; i < count; ++i) inner *= levels[i].radix;
  const bool full = ranges.size() == 1 && ranges[0].first == 0 && ranges[0].second == inner * levels[level].radix - 1;
  if (full && hex_full_[astral][level]) return hex_full_[astral][level];
  std::vector<Expressions::Term> branches;
  size_t next = 0;
  CodePointRanges part;
  for (uint32_t i = 0; i < levels[level].radix; ++i) {
    const uint32_t low = i * inner, high = low + inner - 1;
    while (next < ranges.size() && ranges[next].second < low) ++next;
    part.clear();
    for (size_t k = next; k < ranges.size() && ranges[k].first <= high; ++k)
      part.emplace_back(std::max(ranges[k].first, low) - low, std::min(ranges[k].second, high) - low);
    if (part.empty()) continue;
    const Expr tail = HexDigits(part, astral, level + 1);
    auto known = std::find_if(branches.begin(), branches.end(), [&](const auto& t) { return t.target == tail; });
    if (known == branches.end()) known = branches.insert(known, {ByteSet(), tail});
    AddHexDigit(levels[level].from + i, &known->bytes);
  }
  std::vector<Expr> parts;
  for (const auto& t : branches) parts.push_back(pool_.Concat(pool_.Bytes(t.bytes), t.target));
  Expr e = pool_.Union(std::move(parts));
  if (astral && level == 3) {
    if (low_surrogate_ == kEmpty) {
      ByteSet d;
      AddHexDigit(13, &d);
      low_surrogate_ = pool_.Concat(pool_.Literal("\\u"), pool_.Bytes(d));
    }
    e = pool_.Concat(low_surrogate_, e);
  }
  if (full) hex_full_[astral][level] = e;
  return e;
}

Expr JsonStrings::Numbers(const CodePointRanges& ranges) {
  std::vector<Expr> numbers;
  const CodePointRanges basic = Clip(ranges, 0, 0xFFFF);
  CodePointRanges astral = Clip(ranges, 0x10000, kMaxCodePoint);
  for (auto& [low, high] : astral) low -= 0x10000, high -= 0x10000;
  if (!basic.empty()) numbers.push_back(HexDigits(basic, false, 0));
  if (!astral.empty()) {
    ByteSet d;
    AddHexDigit(13, &d);
    numbers.push_back(pool_.Concat(pool_.Bytes(d), HexDigits(astral, true, 0)));
  }
  return pool_.Union(std::move(numbers));
}

Expr JsonStrings::NonAsciiNumbers() {
  if (non_ascii_numbers_ == kEmpty) non_ascii_numbers_ = Numbers({{0x80, 0xD7FF}, {0xE000, kMaxCodePoint}});
  return non_ascii_numbers_;
}

Expr JsonStrings::RawCharacters(const ByteSet& ascii) {
  if (non_ascii_ == kEmpty) non_ascii_ = pool_.Characters({{0x80, kMaxCodePoint}});
  const Expr bytes = pool_.Bytes(ascii);
  return Recall(&raw_, bytes, [&] { return pool_.Union(bytes, non_ascii_); });
}

// Of normalized ranges.
Expr JsonStrings::Build(const CodePointRanges& ranges) {
  if (style_ >= StringStyle::kYamlDouble) return BuildYaml(ranges);
  if (style_ == StringStyle::kBare) return pool_.Characters(ranges);
  CodePointRanges raw;
  for (const auto& [low, high] : ranges) {
    uint32_t from = std::max<uint32_t>(low, 0x20);
    for (uint32_t c : {uint32_t{'"'}, uint32_t{'\\'}})
      if (from <= c && c <= high) {
        if (from < c) raw.emplace_back(from, c - 1);
        from = c + 1;
      }
    if (from <= high) raw.emplace_back(from, high);
  }
  ByteSet letters, controls[2];
  for (uint32_t c : {'"', '\\', '/', '\b', '\f', '\n', '\r', '\t'})
    for (const auto& [low, high] : ranges)
      if (low <= c && c <= high && (!canonical_ || JsonMustEscape(c))) letters.Add(static_cast<uint8_t>(JsonShortEscape(c)));
  std::vector<Expr> escapes{pool_.Bytes(letters)};
  if (canonical_) {
    for (const auto& [low, high] : ranges)
      for (uint32_t c = low; c <= high && c < 0x20; ++c)
        if (!JsonShortEscape(c)) controls[c >> 4].Add(static_cast<uint8_t>(kHexDigits[0][c & 15]));
    const Expr digits = pool_.Union(pool_.Concat(pool_.Byte('0'), pool_.Bytes(controls[0])),
                                    pool_.Concat(pool_.Byte('1'), pool_.Bytes(controls[1])));
    if (digits != kEmpty) escapes.push_back(pool_.Concat(pool_.Literal("u00"), digits));
  } else {
    escapes.push_back(pool_.Concat(pool_.Byte('u'), Numbers(ranges)));
  }
  return pool_.Union(pool_.Characters(raw), pool_.Concat(pool_.Byte('\\'), pool_.Union(std::move(escapes))));
}

// Build for one ASCII character without a short escape: itself (no control character) or \u00hh.
Expr JsonStrings::BuildAscii(uint32_t c) {
  ByteSet high, low;
  AddHexDigit(c >> 4, &high);
  AddHexDigit(c & 15, &low);
  const Expr zero = pool_.Byte('0');
  Expr e = pool_.Concat(pool_.Bytes(high), pool_.Bytes(low));
  e = pool_.Concat(pool_.Byte('u'), pool_.Concat(zero, pool_.Concat(zero, e)));
  e = pool_.Concat(pool_.Byte('\\'), e);
  return c < 0x20 ? e : pool_.Union(pool_.Byte(static_cast<uint8_t>(c)), e);
}

Expr JsonStrings::Characters(const CodePointRanges& given) {
  CodePointRanges ranges = NormalizeRanges(given);
  if (ranges.empty()) return kEmpty;
  return Recall(&classes_, ranges, [&] {
    const Expr built = Build(ranges);
    characters_.insert(built);
    return built;
  });
}

Expr JsonStrings::Character(uint32_t c) {
  if (c >= 128) return Characters({{c, c}});
  if (ascii_[c] == kEmpty) characters_.insert(ascii_[c] = style_ != StringStyle::kJson || JsonShortEscape(c) ? Build({{c, c}}) : BuildAscii(c));
  return ascii_[c];
}

const CodePointRanges& JsonStrings::Alphabet() const {
  const bool some = style_ == StringStyle::kYamlSingle || style_ == StringStyle::kYamlPlain;
  return some ? YamlRawCharacters() : CharacterSpelling::Alphabet();
}

std::string JsonStrings::Spell(uint32_t c) const {
  std::string out;
  if (style_ >= StringStyle::kYamlDouble)
    AppendYamlCharacter(c, style_, &out);
  else if (style_ == StringStyle::kBare)
    AppendUtf8(c, &out);
  else
    AppendCharacter(c, &out);
  return out;
}

bool JsonStrings::Spell(std::string_view text, std::string* out) const {
  std::u32string characters;
  if (!DecodeText(text, &characters)) return false;
  const CodePointRanges& alphabet = Alphabet();
  for (const uint32_t c : characters) {
    const bool known = std::any_of(alphabet.begin(), alphabet.end(),
                                   [c](const auto& range) { return range.first <= c && c <= range.second; });
    if (!known) return false;
    *out += Spell(c);
  }
  return true;
}

Expr JsonStrings::AnyCharacter() {
  if (any_character_ == kEmpty) any_character_ = Characters({{0, kMaxCodePoint}});
  return any_character_;
}

Expr JsonStrings::Any() {
  if (any_ == kEmpty) any_ = pool_.Star(AnyCharacter());
  return any_;
}

Expr JsonStrings::Length(uint32_t low, uint32_t high) {
  return low > high ? kEmpty : pool_.Repeat(AnyCharacter(), low, high);
}

Expr JsonStrings::Literal(std::string_view text) {
  std::string spelled;
  if (IsSpelledOnce()) return Spell(text, &spelled) ? pool_.Literal(spelled) : kEmpty;
  std::u32string characters;
  if (!DecodeText(text, &characters)) return kEmpty;
  Expr e = kEpsilonExpr;
  for (size_t i = characters.size(); i-- > 0;) e = pool_.Concat(Character(characters[i]), e);
  return e;
}

Expr JsonStrings::Choice(std::vector<std::string> texts) {
  if (IsSpelledOnce()) {
    std::vector<std::string> spelled;
    for (const std::string& text : texts) {
      spelled.emplace_back();
      if (!Spell(text, &spelled.back())) spelled.pop_back();
    }
    return pool_.Choice(spelled);
  }
  std::vector<std::u32string> words;
  for (const std::string& text : texts) {
    words.emplace_back();
    if (!DecodeText(text, &words.back())) words.pop_back();
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  struct Frame {
    size_t low, high, depth, end;  // [low, high) share `depth` characters; children are built up to `end`
    bool ends;                     // one of them is the shared part itself
    std::map<Expr, CodePointRanges> children;  // characters by what follows them
  };
  std::vector<Frame> stack;
  Expr result = kEmpty;
  bool have = false;
  if (!words.empty()) stack.push_back({0, words.size(), 0, 0, false, {}});
  while (!stack.empty()) {
    Frame& f = stack.back();
    if (have) {
      const uint32_t c = words[f.low][f.depth];
      f.children[result].emplace_back(c, c);
      f.low = f.end;
      have = false;
    }
    if (f.low < f.high && words[f.low].size() == f.depth) {
      f.ends = true;
      ++f.low;
    }
    if (f.low == f.high) {
      std::vector<Expr> parts;
      if (f.ends) parts.push_back(kEpsilonExpr);
      for (const auto& [rest, ranges] : f.children)
        parts.push_back(pool_.Concat(
            ranges.size() == 1 ? Character(ranges[0].first) : Characters(ranges), rest));
      result = pool_.Union(std::move(parts));
      have = true;
      stack.pop_back();
      continue;
    }
    const char32_t c = words[f.low][f.depth];
    f.end = f.low;
    while (f.end < f.high && words[f.end][f.depth] == c) ++f.end;
    if (f.end - f.low == 1) {  // a single text: its rest is a literal
      const std::u32string& word = words[f.low];
      result = kEpsilonExpr;
      for (size_t i = word.size(); i-- > f.depth + 1;) result = pool_.Concat(Character(word[i]), result);
      have = true;
      continue;
    }
    const Frame child{f.low, f.end, f.depth + 1, f.low, false, {}};
    stack.push_back(child);
  }
  return result;
}

Expr JsonStrings::CharacterBetween(uint32_t low, uint32_t high) {
  return low + 1 < high ? Characters({{low + 1, high - 1}}) : kEmpty;
}

// What is above the rest of a long text: a rule for each piece of it, as each character is one level of nesting.
class JsonStrings::AboveRules final : public RuleSource {
 public:
  static constexpr size_t kPiece = 200;  // characters

  AboveRules(Expressions* pool, StringStyle style, std::u32string text)
      : strings_(pool, style), text_(std::move(text)), source_(static_cast<uint32_t>(pool->NumRuleSources())) {}

  Expr Expand(uint32_t rule) override {
    const std::u32string_view rest = std::u32string_view(text_).substr(rule * kPiece);
    if (rest.size() <= kPiece) return strings_.AboveBegun(rest, strings_.Longer());
    const Expr next = strings_.pool_.Call(source_, rule + 1, false, strings_.pool_.First(strings_.AnyCharacter()));
    return strings_.AboveBegun(rest.substr(0, kPiece), next);
  }
  bool IsRegular() const override { return true; }
  uint32_t LeastLength(uint32_t /*rule*/) override { return 1; }
  Expr Outline(uint32_t /*rule*/, uint32_t* slack) override {
    constexpr size_t kLongest = 12;  // bytes of a character that is spelled out
    *slack = static_cast<uint32_t>(kLongest * (text_.size() + 1));
    return strings_.Longer();
  }
  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    return std::make_shared<AboveRules>(pool, strings_.style(), text_);
  }
  size_t MemoryBytes() const override { return text_.size() * sizeof(char32_t); }

 private:
  JsonStrings strings_;
  const std::u32string text_;
  const uint32_t source_;
};

Expr JsonStrings::Longer() { return pool_.Concat(AnyCharacter(), Any()); }

// What is above some characters, or follows them and is one of `rest`.
Expr JsonStrings::AboveBegun(std::u32string_view low, Expr rest) {
  for (size_t i = low.size(); i-- > 0;)
    rest = pool_.Union(pool_.Concat(Character(low[i]), rest), pool_.Concat(CharacterBetween(low[i], kMaxCodePoint + 1), Any()));
  return rest;
}

Expr JsonStrings::Above(std::u32string_view low) {
  if (low.size() <= AboveRules::kPiece) return AboveBegun(low, Longer());
  auto rules = std::make_shared<AboveRules>(&pool_, style(), std::u32string(low));
  pool_.AddRules(rules);
  return rules->Expand(0);
}

Expr JsonStrings::Below(std::u32string_view high) {
  Expr e = kEmpty;
  for (size_t i = high.size(); i-- > 0;) {
    const Expr less = high[i] ? Characters({{0, high[i] - 1}}) : kEmpty;
    e = pool_.Union({kEpsilonExpr, pool_.Concat(less, Any()), pool_.Concat(Character(high[i]), e)});
  }
  return e;
}

Expr JsonStrings::BelowLimit(std::u32string_view begin, std::u32string_view circle) {
  const auto less = [this](char32_t c) {
    return pool_.Union(kEpsilonExpr, pool_.Concat(c ? Characters({{0, c - 1}}) : kEmpty, Any()));
  };
  Expr turn = kEpsilonExpr, ends = kEmpty;
  for (size_t i = circle.size(); i-- > 0;) {
    turn = pool_.Concat(Character(circle[i]), turn);
    ends = pool_.Union(less(circle[i]), pool_.Concat(Character(circle[i]), ends));
  }
  Expr e = pool_.Concat(pool_.Star(turn), ends);
  for (size_t i = begin.size(); i-- > 0;) e = pool_.Union(less(begin[i]), pool_.Concat(Character(begin[i]), e));
  return e;
}

Expr JsonStrings::Between(const std::u32string_view* low, const std::u32string_view* high) {
  if (low && high && *low >= *high) return kEmpty;
  if (!high) return low ? Above(*low) : Any();
  if (!low) return Below(*high);
  const size_t common = static_cast<size_t>(std::mismatch(low->begin(), low->end(), high->begin(), high->end()).first - low->begin());
  const std::u32string_view above = *low, below = *high;
  Expr e = kEmpty;
  if (common == low->size()) {  // longer than *low
    const Expr less = below[common] ? Characters({{0, below[common] - 1}}) : kEmpty;
    e = pool_.Union(pool_.Concat(less, Any()), pool_.Concat(Character(below[common]), Below(below.substr(common + 1))));
  } else {
    e = pool_.Union({pool_.Concat(Character(above[common]), Above(above.substr(common + 1))),
                     pool_.Concat(CharacterBetween(above[common], below[common]), Any()),
                     pool_.Concat(Character(below[common]), Below(below.substr(common + 1)))});
  }
  for (size_t i = common; i-- > 0;) e = pool_.Concat(Character(above[i]), e);
  return e;
}

Expr JsonStrings::Pattern(std::string_view ecma) {
  const auto known = patterns_->find(ecma);
  if (known != patterns_->end()) return known->second;
  RegexOptions options;
  options.syntax = RegexSyntax::kEcmaLenient;
  options.search = true;
  const Expr e = CompileRegex(&pool_, ecma, options, this);
  patterns_->emplace(ecma, e);
  return e;
}

bool AppendJsonString(std::string_view text, std::string* out) {
  std::u32string characters;
  if (!DecodeText(text, &characters)) return false;
  for (uint32_t c : characters) AppendCharacter(c, out);
  return true;
}

}  // namespace tokamata
