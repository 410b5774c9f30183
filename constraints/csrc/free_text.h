// Texts in which some phrases do not occur, as a table of bytes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "automata/csrc/byte_table.h"

namespace tokamata {

// kWithout: texts in which no phrase occurs. kUpTo: texts that end with the first occurrence of any phrase, which is one
// of `ends`. kBefore: what texts of kUpTo have before the phrase that ends them.
enum class FreeTextKind : uint8_t { kWithout, kUpTo, kBefore };

// The phrases are texts in UTF-8, none of them empty, and `ends` some of them (by index); of several that end at once,
// each is the one that ends the text. A state for each place in a phrase that no other phrase has ended before, at most
// eight for places within characters and one for the end. Returns the start state; 0 where there is no such text.
// O(1 KB · total length); kBefore multiplies by the length of the ends.
// Source: Aho and Corasick, "Efficient string matching: an aid to bibliographic search" (1975).
uint32_t FreeTextTable(const std::vector<std::string>& phrases, const std::vector<uint32_t>& ends, FreeTextKind kind,
                       ByteTable* table);

}  // namespace tokamata
