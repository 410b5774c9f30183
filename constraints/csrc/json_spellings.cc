#include "constraints/csrc/json_spellings.h"

#include "automata/csrc/hex_digits.h"
#include "automata/csrc/utf8.h"
#include "constraints/csrc/json_string.h"

namespace tokamata {
namespace {

// Calls visit(text) for every spelling of a character with a backslash.
template <class F>
void ForEachEscape(uint32_t c, F visit) {
  std::string text;
  if (const char letter = JsonShortEscape(c)) {
    text = {'\\', letter};
    visit(text);
  }
  uint32_t units[2] = {c, 0};
  const size_t count = c < 0x10000 ? 1 : 2;
  if (count == 2) units[0] = 0xD800 + ((c - 0x10000) >> 10), units[1] = 0xDC00 + ((c - 0x10000) & 0x3FF);
  text.clear();
  for (size_t unit = 0; unit < count; ++unit) {
    text += "\\u";
    AppendHex(units[unit], 4, &text);
  }
  ForEachCase(text, visit);
}

}  // namespace

Spelling ReadSpelling(std::string_view text, uint32_t* code_point) {
  const uint8_t lead = static_cast<uint8_t>(text[0]);
  if (lead >= 0x80) {
    uint8_t phase = Utf8LeadPhase(lead);
    if (!phase) return Spelling::kNone;
    for (const char c : text.substr(1)) {
      const uint8_t b = static_cast<uint8_t>(c);
      if (b < kUtf8Phases[phase].low || b > kUtf8Phases[phase].high) return Spelling::kNone;
      phase = kUtf8Phases[phase].next;
    }
    if (phase) return Spelling::kBegun;
    *code_point = CodePointOf(text);
    return Spelling::kWhole;
  }
  if (lead != '\\') {
    *code_point = lead;
    return IsRawAscii(lead) ? Spelling::kWhole : Spelling::kNone;
  }
  if (text.size() == 1) return Spelling::kBegun;
  if (text[1] != 'u') {
    for (char c : {'"', '\\', '/', '\b', '\f', '\n', '\r', '\t'})
      if (JsonShortEscape(static_cast<uint8_t>(c)) == text[1]) {
        *code_point = static_cast<uint8_t>(c);
        return Spelling::kWhole;
      }
    return Spelling::kNone;
  }
  uint32_t units[2] = {0, 0};
  for (size_t i = 2; i < text.size(); ++i) {
    const size_t unit = i / 6, at = i % 6;
    if (at < 2) {  // of the second unit
      if (text[i] != "\\u"[at]) return Spelling::kNone;
      continue;
    }
    const int digit = HexValue(static_cast<uint8_t>(text[i]));
    if (digit < 0) return Spelling::kNone;
    units[unit] = units[unit] << 4 | static_cast<uint32_t>(digit);
    // U+DC00 to U+DFFF may not come first, and nothing else after U+D800 to U+DBFF.
    if (at == 2 && unit == 1 && digit != 13) return Spelling::kNone;
    if (at == 3 && (units[unit] >= 0xDC && units[unit] <= 0xDF) != (unit == 1)) return Spelling::kNone;
  }
  if (text.size() < 6) return Spelling::kBegun;
  *code_point = units[0];
  if (units[0] < 0xD800 || units[0] > 0xDFFF) return Spelling::kWhole;
  *code_point = 0x10000 + ((units[0] - 0xD800) << 10) + (units[1] - 0xDC00);
  return text.size() == 12 ? Spelling::kWhole : Spelling::kBegun;
}

void VisitSpellings(uint32_t c, std::string_view begun, const ByteSet& first, const RuleSource::TextVisitor& visit,
                    const RuleText& below) {
  if (begun.empty() && c < 0x80 && IsRawAscii(static_cast<uint8_t>(c)) && !first.Has('\\')) {  // most, by far
    const char raw = static_cast<char>(c);
    if (first.Has(static_cast<uint8_t>(c))) visit({&raw, 1}, &below, kEmpty);
    return;
  }
  const auto spelled = [&](std::string_view text) {
    if (text.size() <= begun.size() || text.compare(0, begun.size(), begun)) return;
    if (first.Has(static_cast<uint8_t>(text[begun.size()]))) visit(text.substr(begun.size()), &below, kEmpty);
  };
  if (!JsonMustEscape(c)) {
    std::string text;
    AppendUtf8(c, &text);
    spelled(text);
  }
  if (begun.empty() ? first.Has('\\') : begun[0] == '\\') ForEachEscape(c, spelled);
}

std::string Unspelled(std::string_view spelled) {
  std::string text;
  for (size_t i = 0; i < spelled.size();) {
    uint32_t c = 0;
    size_t n = 1;
    while (ReadSpelling(spelled.substr(i, n), &c) == Spelling::kBegun) ++n;
    AppendUtf8(c, &text);
    i += n;
  }
  return text;
}

}  // namespace tokamata
