#include "constraints/csrc/yaml_string.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "automata/csrc/byte_table.h"
#include "automata/csrc/expression_acceptor.h"
#include "automata/csrc/hex_digits.h"
#include "automata/csrc/utf8.h"
#include "constraints/csrc/regex.h"

namespace tokamata {

char YamlShortEscape(uint32_t c) {
  switch (c) {
    case 0x00: return '0';
    case 0x07: return 'a';
    case 0x08: return 'b';
    case 0x09: return 't';
    case 0x0A: return 'n';
    case 0x0B: return 'v';
    case 0x0C: return 'f';
    case 0x0D: return 'r';
    case 0x1B: return 'e';
    case '"': return '"';
    case '/': return '/';
    case '\\': return '\\';
    case 0x85: return 'N';
    case 0xA0: return '_';
    case 0x2028: return 'L';
    case 0x2029: return 'P';
    default: return 0;
  }
}

const std::vector<uint32_t>& YamlShortEscaped() {
  static const std::vector<uint32_t> escaped{0x00, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D,
                                             0x1B, '"',  '/',  '\\', 0x85, 0xA0, 0x2028, 0x2029};
  return escaped;
}

CodePointRanges Clip(const CodePointRanges& ranges, uint32_t low, uint32_t high) {
  CodePointRanges out;
  for (const auto& [a, b] : ranges)
    if (a <= high && b >= low) out.emplace_back(std::max(a, low), std::min(b, high));
  return out;
}

namespace {

bool Has(const CodePointRanges& ranges, uint32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](const auto& r) { return r.first <= c && c <= r.second; });
}

// Ranges without one character.
CodePointRanges Without(const CodePointRanges& ranges, uint32_t c) {
  CodePointRanges out;
  for (const auto& [a, b] : ranges) {
    if (c < a || c > b) {
      out.emplace_back(a, b);
      continue;
    }
    if (a < c) out.emplace_back(a, c - 1);
    if (c < b) out.emplace_back(c + 1, b);
  }
  return out;
}

CodePointRanges Raw(const CodePointRanges& ranges) {
  CodePointRanges out;
  for (const auto& [low, high] : YamlRawCharacters()) {
    const CodePointRanges part = Clip(ranges, low, high);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

// `digits` hexadecimal digits whose number, above `base`, is in the ranges. At most eight levels deep.
Expr NumberedBy(Expressions* pool, const CodePointRanges& ranges, uint32_t base, int digits) {
  if (ranges.empty()) return kEmpty;
  if (digits == 0) return kEpsilonExpr;
  const uint32_t inner = 1u << 4 * (digits - 1);
  ByteSet any;
  for (uint32_t d = 0; d < 16; ++d) AddHexDigit(d, &any);
  if (ranges.size() == 1 && ranges[0].first == base && ranges[0].second - base == 16 * (inner - 1) + 15) {
    Expr e = kEpsilonExpr;
    for (int i = 0; i < digits; ++i) e = pool->Concat(pool->Bytes(any), e);
    return e;
  }
  std::vector<Expressions::Term> branches;
  for (uint32_t d = 0; d < 16; ++d) {
    const uint32_t low = base + d * inner;
    const Expr tail = NumberedBy(pool, Clip(ranges, low, low + (inner - 1)), low, digits - 1);
    if (tail == kEmpty) continue;
    auto known = std::find_if(branches.begin(), branches.end(), [&](const auto& t) { return t.target == tail; });
    if (known == branches.end()) known = branches.insert(known, {ByteSet(), tail});
    AddHexDigit(d, &known->bytes);
  }
  std::vector<Expr> parts;
  for (const auto& t : branches) parts.push_back(pool->Concat(pool->Bytes(t.bytes), t.target));
  return pool->Union(std::move(parts));
}

}  // namespace

const CodePointRanges& YamlRawCharacters() {
  static const CodePointRanges raw{{0x20, 0x7E},     {0xA0, 0x2027},   {0x202A, 0xD7FF},
                                   {0xE000, 0xFEFE}, {0xFF00, 0xFFFD}, {0x10000, 0x10FFFF}};
  return raw;
}

void AppendYamlCharacter(uint32_t c, StringStyle style, std::string* out) {
  if (style == StringStyle::kYamlSingle && c == '\'') {
    *out += "''";
    return;
  }
  const bool quoted = style == StringStyle::kYamlDouble;
  if (Has(YamlRawCharacters(), c) && !(quoted && (c == '"' || c == '\\'))) return AppendUtf8(c, out);
  *out += '\\';
  if (const char letter = YamlShortEscape(c)) {
    *out += letter;
    return;
  }
  *out += c < 0x100 ? 'x' : 'u';
  AppendHex(c, c < 0x100 ? 2 : 4, out);
}

Expr JsonStrings::BuildYaml(const CodePointRanges& ranges) {
  CodePointRanges raw = Raw(ranges);
  if (style_ == StringStyle::kYamlPlain) return pool_.Characters(raw);
  if (style_ == StringStyle::kYamlSingle) {
    const Expr quote = Has(raw, '\'') ? pool_.Literal("''") : kEmpty;
    return pool_.Union(pool_.Characters(Without(raw, '\'')), quote);
  }
  raw = Without(Without(raw, '"'), '\\');
  ByteSet letters;
  for (uint32_t c : YamlShortEscaped())
    if (Has(ranges, c)) letters.Add(static_cast<uint8_t>(YamlShortEscape(c)));
  const auto numbers = [&](char letter, uint32_t low, uint32_t high, int digits) {
    CodePointRanges numbered = Clip(ranges, low, std::min<uint32_t>(high, 0x1F));
    for (const auto& range : Clip(ranges, std::max<uint32_t>(low, 0x7F), high)) numbered.push_back(range);
    const Expr number = NumberedBy(&pool_, numbered, 0, digits);
    return pool_.Concat(pool_.Byte(static_cast<uint8_t>(letter)), number);
  };
  const Expr escapes = pool_.Union({pool_.Bytes(letters), numbers('x', 0, 0xFF, 2), numbers('u', 0, 0xFFFF, 4),
                                    numbers('U', 0x10000, 0x10FFFF, 8)});
  return pool_.Union(pool_.Characters(raw), pool_.Concat(pool_.Byte('\\'), escapes));
}

namespace {

Expr PlainScalars(Expressions* pool, bool strings) {
  CodePointRanges word = YamlRawCharacters();
  word.front().first = 0x21;  // not a space
  const auto without = [&](const char* more) {
    CodePointRanges ranges = word;
    for (; *more; ++more) ranges = Without(ranges, static_cast<uint8_t>(*more));
    return pool->Characters(ranges);
  };
  const Expr inside = pool->Star(pool->Characters(word)), last = without(":");
  const auto begun_by = [&](const char* not_first, const char* not_alone) {
    return pool->Union(without(not_alone), pool->Concat({without(not_first), inside, last}));
  };
  const Expr first = strings ? begun_by(",[]{}#&*!|>'\"%@`", ",[]{}#&*!|>'\"%@`-?:") : begun_by("#", "#-?:");
  const Expr next = begun_by("#", "#:");
  const Expr spaces = pool->Repeat(pool->Byte(' '), 1, kUnbounded);
  const Expr shape = pool->Concat(first, pool->Star(pool->Concat(spaces, next)));
  const Expr marker = pool->Concat(pool->Union(pool->Literal("---"), pool->Literal("...")), pool->AnyBytes());
  if (!strings) return shape;
  // YAML 1.1's types of plain scalars, as PyYAML's resolver has them.
  static constexpr char kOther[] =
      "yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"
      "|~|null|Null|NULL|<<|="
      "|[-+]?[0-9][0-9_]*\\.[0-9_]*([eE][-+][0-9]+)?|\\.[0-9][0-9_]*([eE][-+][0-9]+)?"
      "|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)"
      "|[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+"
      "|[0-9]{4}-[0-9]{2}-[0-9]{2}"
      "|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \\t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\\.[0-9]*)?"
      "([ \\t]*(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?"
      "|([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt])?[0-9]{2}:[0-9]{2}:60(\\.[0-9]+)?([Zz]|[-+][0-9]{2}:[0-9]{2})";
  return pool->Difference(shape, pool->Union(CompileRegex(pool, kOther, RegexSyntax::kPython), marker));
}

struct PlainTable {
  std::shared_ptr<ByteTable> table = std::make_shared<ByteTable>();
  uint32_t start = 0;
  explicit PlainTable(bool strings) {
    auto pool = std::make_unique<Expressions>();
    const Expr e = PlainScalars(pool.get(), strings);
    ExpressionAcceptor acceptor(std::move(pool), e);
    start = MinimalTable(&acceptor, table.get());
  }
};

}  // namespace

namespace {

const PlainTable& PlainStrings() {
  static const PlainTable plain(true);
  return plain;
}

}  // namespace

Expr YamlPlainStrings(Expressions* pool) { return pool->Automaton(PlainStrings().table, PlainStrings().start); }

const ByteTable& YamlPlainTable(uint32_t* start) {
  *start = PlainStrings().start;
  return *PlainStrings().table;
}

Expr YamlPlainLines(Expressions* pool) {
  static const PlainTable plain(false);
  return pool->Automaton(plain.table, plain.start);
}

Expr YamlNumber(Expressions* pool) {
  static constexpr char kPattern[] = "-?(0|[1-9][0-9]*)(\\.[0-9]+([eE][-+]([0-9]{1,2}|[12][0-9]{2}|30[0-7]))?)?";
  return CompileRegex(pool, kPattern, RegexSyntax::kPython);
}

Expr YamlNumbers(Expressions* pool, Expr json) {
  if (json == kEmpty) return kEmpty;
  const auto after = [pool](Expr e, char byte) {
    std::vector<Expressions::Term> steps;
    pool->Step(e, &steps);
    for (const Expressions::Term& t : steps)
      if (t.bytes.Has(static_cast<uint8_t>(byte))) return t.target;
    return kEmpty;
  };
  std::vector<Expr> pointed;
  for (const Expr sign : {json, after(json, '-')})
    for (char d = '1'; d <= '9'; ++d) {
      const Expr exponent = after(after(sign, d), 'e');
      if (exponent == kEmpty) continue;
      pointed.push_back(pool->Concat(pool->Literal(std::string(sign == json ? "" : "-") + d + ".0e"), exponent));
    }
  if (pointed.empty()) return json;
  pointed.push_back(pool->Difference(json, CompileRegex(pool, "-?[0-9]e[-+0-9]*", RegexSyntax::kPython)));
  return pool->Union(std::move(pointed));
}

}  // namespace tokamata
