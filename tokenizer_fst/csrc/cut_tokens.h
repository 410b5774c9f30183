// CutTokens: the tokens of a class of characters that end inside a character.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer_fst/csrc/character_class.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

struct Factor;

struct CutTokens {
  struct Group {
    uint32_t chars;    // the cut one included
    std::string tail;  // the bytes of the cut one
    std::vector<uint32_t> ids;
  };
  std::vector<Group> groups;
  std::vector<uint8_t> whole;  // by number of characters: whether some token inside the class ends with a whole one

  // `inside` is the factor of the class at the root. O(tokens).
  CutTokens(const Vocabulary& vocabulary, const CharacterClass& c, const Factor& inside);
};

}  // namespace tokamata
