// How characters are written in the texts that a pattern describes.
//
// Decoding maps spellings to texts and is a homomorphism on characters, so the spellings of a language commute with
// union, concatenation, repetition, intersection and complement (relative to all spellings). A compiler that asks for
// its character classes here is therefore exact over the spelled alphabet.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// The spellings of different characters are different, and no spelling is a proper prefix of another.
class CharacterSpelling {
 public:
  virtual ~CharacterSpelling() = default;
  // One character of the ranges, in every spelling; kEmpty where none can be written.
  virtual Expr Characters(const CodePointRanges& ranges) = 0;
  // kEmpty for surrogates.
  virtual Expr Character(uint32_t code_point) = 0;
  // Any of the texts (UTF-8), in every spelling.
  virtual Expr Choice(std::vector<std::string> texts) = 0;
  // Any text, in every spelling.
  virtual Expr AnyText() = 0;
  // The characters that can be written at all, normalized.
  virtual const CodePointRanges& Alphabet() const {
    static const CodePointRanges all{{0, 0xD7FF}, {0xE000, 0x10FFFF}};
    return all;
  }
  // One of the spellings of a character of the alphabet.
  virtual std::string Spell(uint32_t code_point) const = 0;
};

}  // namespace tokamata
