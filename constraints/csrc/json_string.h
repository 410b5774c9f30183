// Contents of JSON string literals (RFC 8259, section 7) as expressions: what stands between the quotes.
//
// Every set here is closed under spelling: it contains all spellings of a text or none, so that sets compose by the
// pool's union, intersection and difference and stay exact on the decoded texts.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/late.h"
#include "constraints/csrc/character_spelling.h"

namespace tokamata {

// How texts are written. JSON, canonical: raw, and \" \\ \b \f \n \r \t and \u00xx (lower case) for what must be
// escaped, as Python's json.dumps(ensure_ascii=False) writes. JSON otherwise: raw, or any escape, \u in either case,
// surrogate pairs. Bare: the text itself, in UTF-8. The styles of YAML, from kYamlDouble on, are described in
// yaml_string.h; the last two of them cannot write every character. Lone surrogates belong to none.
enum class StringStyle : uint8_t { kJson, kJsonCanonical, kBare, kYamlDouble, kYamlSingle, kYamlPlain };
constexpr size_t kStringStyles = 6;

//
// Everything is made on first use, once; an instance belongs to its pool and is no more thread-safe than it.
class JsonStrings final : public CharacterSpelling {
 public:
  JsonStrings(Expressions* pool, StringStyle style)
      : pool_(*pool), style_(style), canonical_(style == StringStyle::kJsonCanonical) {}
  JsonStrings(Expressions* pool, bool canonical)
      : JsonStrings(pool, canonical ? StringStyle::kJsonCanonical : StringStyle::kJson) {}
  JsonStrings(const JsonStrings&) = delete;
  JsonStrings& operator=(const JsonStrings&) = delete;

  // In a pool that began with another one's: the characters that were made there.
  void Begin(const JsonStrings& prepared);

  Expressions& pool() { return pool_; }
  StringStyle style() const { return style_; }

  // All contents; the star of AnyCharacter().
  Expr Any();
  Expr AnyCharacter();
  // Texts of low to high characters (code points); high may be kUnbounded.
  Expr Length(uint32_t low, uint32_t high);
  // One text, any of many (thousands share a trie). A text that is not UTF-8 has no spelling: kEmpty.
  Expr Literal(std::string_view text);
  Expr Choice(std::vector<std::string> texts) override;
  // The texts that are greater than *low and less than *high, by code points; null: no bound.
  Expr Between(const std::u32string_view* low, const std::u32string_view* high);
  // The texts that are less than some of those that begin with `begin` and go on with `circle` any number of times.
  Expr BelowLimit(std::u32string_view begin, std::u32string_view circle);
  // Texts in which the ECMA-262 pattern matches somewhere. With the u flag; where that is a syntax error, by the laxer
  // rules of Annex B. Throws what CompileRegex throws. Cached by its source.
  Expr Pattern(std::string_view ecma);
  // Both, where a and b are contents. Lengths go into the counters of the other operand where that is exact:
  // [a-z]+ of at most 9 characters is [a-z]{1,9}. One of several lengths is each of them in turn.
  Expr Intersect(Expr a, Expr b);
  // The contents of a that are none of b, likewise.
  Expr Difference(Expr a, Expr b);
  // ---- the parts of spelled characters; kJson
  // Raw: of a set of ASCII characters, or from U+0080.
  Expr RawCharacters(const ByteSet& ascii);
  // What follows \\u for one character of normalized ranges; of all from U+0080.
  Expr Numbers(const CodePointRanges& ranges);
  Expr NonAsciiNumbers();

  // The contents that x does not contain; shorter and longer ones where x is a length.
  Expr Complement(Expr x);
  struct Lengths {
    uint64_t low = 0, high = 0;  // characters; high may be kUnbounded
  };
  // What the expression does not tell, as of rules and of what another pool made.
  void SetLengths(Expr e, const Lengths& lengths) { lengths_->insert_or_assign(e, lengths); }

  Expr Characters(const CodePointRanges& ranges) override;
  Expr Character(uint32_t code_point) override;
  Expr AnyText() override { return Any(); }
  const CodePointRanges& Alphabet() const override;
  std::string Spell(uint32_t code_point) const override;  // the canonical one
  // Appends the canonical spelling of a text; false, and nothing useful, if it has none.
  bool Spell(std::string_view text, std::string* out) const;

 private:
  bool IsSpelledOnce() const { return canonical_ || style_ == StringStyle::kBare; }
  bool IsLength(Expr e, Lengths* lengths) const;
  std::vector<Lengths> AllOfLengths(Expr e) const;
  Expr OfLengths(const std::vector<Lengths>& lengths);
  std::optional<CodePointRanges> ClassOf(Expr character) const;
  Expr StarOfOthers(Expr x);
  struct Counted {
    CodePointRanges characters;
    Lengths lengths;
  };
  std::optional<Counted> AsCounted(Expr e) const;
  bool OnlyHas(Expr e, const CodePointRanges& characters) const;
  std::optional<Lengths> LengthsOf(Expr e);
  std::optional<Lengths> FindLengths(Expr e);
  std::optional<Expr> Shortest(Expr e);
  std::optional<Expr> WithLengths(Expr e, const Lengths& bounds, int depth);
  std::optional<Expr> WithBeginnings(Expr a, Expr b, int* steps);
  bool EndsFreely(Expr e);
  Expr Onward(Expr e);

  struct HexLevel;
  Expr Above(std::u32string_view low);
  Expr AboveBegun(std::u32string_view low, Expr rest);
  Expr Longer();
  class AboveRules;
  Expr Below(std::u32string_view high);
  Expr CharacterBetween(uint32_t low, uint32_t high);  // both excluded
  Expr Build(const CodePointRanges& ranges);
  Expr BuildAscii(uint32_t c);
  Expr BuildYaml(const CodePointRanges& ranges);  // yaml_string.cc
  Expr HexDigits(const CodePointRanges& ranges, bool astral, int level);

  Expressions& pool_;
  const StringStyle style_;
  const bool canonical_;
  Expr any_character_ = kEmpty, any_ = kEmpty;
  Expr ascii_[128] = {};
  Expr hex_full_[2][7] = {};
  std::unordered_map<Expr, Expr> raw_;  // by the ASCII characters
  Expr non_ascii_ = kEmpty, non_ascii_numbers_ = kEmpty;
  Expr low_surrogate_ = kEmpty;  // what precedes the last three digits of a surrogate pair
  std::map<CodePointRanges, Expr> classes_;
  std::unordered_set<Expr> characters_;  // the values of classes_ and ascii_: one character
  Late<std::unordered_map<Expr, std::optional<Lengths>>> lengths_;
  Late<std::unordered_map<Expr, std::vector<Lengths>>> unions_of_lengths_;
  Late<std::unordered_map<Expr, Expr>> opposites_;  // of what, by what Complement made
  Late<std::map<std::string, Expr, std::less<>>> patterns_;
};

// The letter after a backslash that stands for a character; 0: there is none.
char JsonShortEscape(uint32_t code_point);
bool JsonMustEscape(uint32_t code_point);
void AddHexDigit(uint32_t value, ByteSet* set);  // in both cases
// The code points of a text; false if it is not UTF-8.
bool DecodeText(std::string_view text, std::u32string* out);
// Appends a text as the contents of a literal in canonical spelling; false, and nothing useful, if it is not UTF-8.
bool AppendJsonString(std::string_view text, std::string* out);

}  // namespace tokamata
