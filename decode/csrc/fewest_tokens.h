// FewestTokens: how many tokens spell a text.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {

// By place in the text, its end included: the fewest tokens that spell the rest from there; 0xffffffff where none do.
std::vector<uint32_t> FewestTokens(const Trie& trie, std::string_view text);

}  // namespace tokamata
