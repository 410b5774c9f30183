// Classes of tokens that a language describes.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/language.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// The tokens of text whose bytes are a member of the language, rising. O(total bytes).
std::vector<uint32_t> TokensIn(const Language& language, const Vocabulary& vocabulary);

}  // namespace tokamata
