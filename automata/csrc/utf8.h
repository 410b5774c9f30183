// UTF-8, without overlong forms and surrogates, as an automaton over bytes; and characters as bytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tokamata {

// Steps of a decoder that only knows whether a byte may come next. Phase 0 is between characters.
struct Utf8Phase {
  static constexpr int kNumPhases = 8;
  uint8_t low, high;  // the bytes that may come (phases from 1 on)
  uint8_t next;
};
extern const Utf8Phase kUtf8Phases[Utf8Phase::kNumPhases];
// The phase after the lead byte of a character of two or more bytes; 0 for bytes that begin none.
uint8_t Utf8LeadPhase(uint8_t lead);
// Reads a byte in a phase; false where no text goes on with it, and the phase says nothing then.
inline bool Utf8Step(uint8_t byte, uint8_t* phase) {
  if (!*phase) {
    *phase = Utf8LeadPhase(byte);
    return byte < 0x80 || *phase;
  }
  const Utf8Phase& p = kUtf8Phases[*phase];
  *phase = p.next;
  return byte >= p.low && byte <= p.high;
}
// Bytes of the form 10xxxxxx, which go on with a character.
inline bool IsContinuationByte(uint8_t b) { return (b & 0xC0) == 0x80; }

// Bytes of the character that a text begins with; 0 where it begins with none, or a part of one.
size_t CharacterLength(std::string_view text);
// The code point of a character, given all of its bytes.
uint32_t CodePointOf(std::string_view character);
// Appends any code point up to U+10FFFF (of a surrogate, what its bytes would be).
void AppendUtf8(uint32_t code_point, std::string* out);

}  // namespace tokamata
