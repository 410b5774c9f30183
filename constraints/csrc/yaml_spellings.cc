#include "constraints/csrc/yaml_spellings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "automata/csrc/hex_digits.h"
#include "automata/csrc/utf8.h"
#include "constraints/csrc/yaml_string.h"

namespace tokamata {
namespace {

size_t DigitsAfter(char letter) { return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0; }

Spelling ReadEscape(std::string_view text, uint32_t* code_point) {
  if (text.size() == 1) return Spelling::kBegun;
  const size_t digits = DigitsAfter(text[1]);
  if (!digits) {
    for (const uint32_t c : YamlShortEscaped())
      if (YamlShortEscape(c) == text[1]) {
        *code_point = c;
        return Spelling::kWhole;
      }
    return Spelling::kNone;
  }
  uint32_t c = 0;
  for (const char digit : text.substr(2)) {
    const int value = HexValue(static_cast<uint8_t>(digit));
    if (value < 0) return Spelling::kNone;
    c = c << 4 | static_cast<uint32_t>(value);
  }
  *code_point = c;
  return text.size() < 2 + digits ? Spelling::kBegun : Spelling::kWhole;
}

}  // namespace

Spelling ReadYamlSpelling(std::string_view text, StringStyle style, uint32_t* code_point) {
  const uint8_t lead = static_cast<uint8_t>(text[0]);
  if (lead >= 0x80) return ReadSpelling(text, code_point);
  if (style == StringStyle::kYamlDouble && lead == '\\') return ReadEscape(text, code_point);
  *code_point = lead;
  if (style == StringStyle::kYamlSingle && lead == '\'')
    return text.size() == 1 ? Spelling::kBegun : text[1] == '\'' ? Spelling::kWhole : Spelling::kNone;
  return Spelling::kWhole;
}

void ForEachYamlSpelling(uint32_t c, StringStyle style, const std::function<void(std::string_view)>& visit) {
  std::string text;
  if (style != StringStyle::kYamlDouble) {
    const CodePointRanges& raw = YamlRawCharacters();
    if (std::none_of(raw.begin(), raw.end(), [c](const auto& range) { return range.first <= c && c <= range.second; })) return;
    AppendYamlCharacter(c, style, &text);
    return visit(text);
  }
  if (c != '"' && c != '\\') {
    AppendUtf8(c, &text);
    visit(text);
  }
  if (const char letter = YamlShortEscape(c)) {
    const char escaped[] = {'\\', letter};
    visit({escaped, sizeof escaped});
  }
  for (const char letter : {'x', 'u', 'U'}) {
    const size_t digits = DigitsAfter(letter);
    if (digits < 8 && c >> 4 * digits) continue;
    std::string number{'\\', letter};
    AppendHex(c, static_cast<int>(digits), &number);
    ForEachCase(std::move(number), visit);
  }
}

}  // namespace tokamata
