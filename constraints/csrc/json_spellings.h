// Spellings of characters in JSON strings: as they are, with a short escape, or with a number.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// Whether a byte is a character that may stand in a string as itself.
inline bool IsRawAscii(uint8_t byte) { return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\'; }

enum class Spelling : uint8_t { kNone, kBegun, kWhole };
// Whether text is, or begins, the spelling of a character in a string; fills *code_point.
Spelling ReadSpelling(std::string_view text, uint32_t* code_point);
// Calls visit(text) for every way to write the hexadecimal digits of an escaped character.
template <class F>
void ForEachCase(std::string text, F visit) {
  std::vector<size_t> letters;  // digits that may be written in two ways
  for (size_t i = 2; i < text.size(); ++i)
    if (text[i] >= 'a' && text[i] <= 'f') letters.push_back(i);
  for (uint32_t choice = 0; choice < 1u << letters.size(); ++choice) {
    for (size_t i = 0; i < letters.size(); ++i) {
      char& letter = text[letters[i]];
      letter = static_cast<char>(choice >> i & 1 ? letter & ~32 : letter | 32);
    }
    visit(text);
  }
}
// The text of a spelling.
std::string Unspelled(std::string_view spelled);
// Visits the spellings of a character that begin with `begun`, without that, if one of `first` comes next.
void VisitSpellings(uint32_t c, std::string_view begun, const ByteSet& first, const RuleSource::TextVisitor& visit,
                    const RuleText& below);

}  // namespace tokamata
