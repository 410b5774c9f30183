// Wildcard classes of characters.
#pragma once
#include <array>
#include <cstdint>

#include "automata/csrc/byte_set.h"

namespace tokamata {

// A set of characters: some of ASCII, and all or none from U+0080 on (but for kHan).
struct CharacterClass {
  const char* name;
  ByteSet ascii;
  bool non_ascii;
  ByteSet first;  // first bytes of the UTF-8 encodings
};

// kHan: U+4000 to U+9FFF, of which Chinese is written; UTF-8 that begins with E4 to E9.
enum ClassId {
  kJsonText, kAny, kNotNewline, kAlnum, kAlpha, kWord, kLower, kUpper, kDigit, kSpace, kVisible, kHan, kNonAscii,
  kNumClasses
};
const std::array<CharacterClass, kNumClasses>& CharacterClasses();

}  // namespace tokamata
