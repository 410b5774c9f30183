#include "automata/csrc/utf8.h"

namespace tokamata {

const Utf8Phase kUtf8Phases[Utf8Phase::kNumPhases] = {
    {0, 0, 0},        // between characters
    {0x80, 0xBF, 0},  // one more byte
    {0x80, 0xBF, 1},  // two more
    {0xA0, 0xBF, 1},  // after E0: no overlong forms
    {0x80, 0x9F, 1},  // after ED: no surrogates
    {0x80, 0xBF, 2},  // three more
    {0x90, 0xBF, 2},  // after F0
    {0x80, 0x8F, 2},  // after F4: nothing above U+10FFFF
};

uint8_t Utf8LeadPhase(uint8_t b) {
  if (b < 0xC2 || b > 0xF4) return 0;
  if (b < 0xE0) return 1;
  if (b < 0xF0) return b == 0xE0 ? 3 : b == 0xED ? 4 : 2;
  return b == 0xF0 ? 6 : b == 0xF4 ? 7 : 5;
}

size_t CharacterLength(std::string_view text) {
  uint8_t phase = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!Utf8Step(static_cast<uint8_t>(text[i]), &phase)) return 0;
    if (!phase) return i + 1;
  }
  return 0;
}

uint32_t CodePointOf(std::string_view character) {
  const size_t more = character.size() - 1;
  uint32_t c = static_cast<uint8_t>(character[0]) & (more ? 0x3F >> more : 0x7F);
  for (const char b : character.substr(1)) c = c << 6 | (static_cast<uint8_t>(b) & 0x3F);
  return c;
}

void AppendUtf8(uint32_t c, std::string* out) {
  static constexpr uint8_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *out += static_cast<char>(kLead[more] | c >> (6 * more));
  for (int i = more; i-- > 0;) *out += static_cast<char>(0x80 | (c >> (6 * i) & 63));
}

}  // namespace tokamata
