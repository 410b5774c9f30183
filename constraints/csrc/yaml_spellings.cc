#include "constraints/csrc/yaml_spellings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "constraints/csrc/regex_syntax.h"
#include "constraints/csrc/yaml_string.h"

namespace tokamata {
namespace {

constexpr char kHexDigits[2][17] = {"0123456789abcdef", "0123456789ABCDEF"};

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

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
    const int value = HexValue(digit);
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
    std::vector<size_t> letters;  // digits that may be written in two ways
    for (size_t i = digits; i-- > 0;) {
      const uint32_t digit = c >> 4 * i & 15;
      if (digit >= 10) letters.push_back(number.size());
      number += kHexDigits[0][digit];
    }
    for (uint32_t choice = 0; choice < 1u << letters.size(); ++choice) {
      text = number;
      for (size_t i = 0; i < letters.size(); ++i)
        if (choice >> i & 1) text[letters[i]] = static_cast<char>(text[letters[i]] - 'a' + 'A');
      visit(text);
    }
  }
}

}  // namespace tokamata
