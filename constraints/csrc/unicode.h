// Character classes, case and identifiers as the running Python has them, and Unicode scripts and properties.
//
// The tables are written when the extension is built (generate_unicode.py).
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// Python's \w, \d and \s for str patterns.
CodePointRanges UnicodeWord();
CodePointRanges UnicodeDigit();
CodePointRanges UnicodeSpace();

// Whether the running Python's \B matches in the empty text (it does since 3.14).
bool EmptyHasNonBoundary();

// str.isidentifier() of a name's first and of its other characters.
bool IsIdentifierStart(uint32_t c);
bool IsIdentifierContinue(uint32_t c);

// \p{name} or \p{name=value}: general categories, scripts (sc, scx) and binary properties. Loose: names are compared
// without case, spaces, hyphens and underscores, and \p{Greek} is a script; strict: ECMA-262's spelling only.
// False: no such property. Surrogates (Cs) are left out.
bool UnicodeProperty(std::string_view name, std::string_view value, bool strict, CodePointRanges* out);

// Simple case of one character.
uint32_t SimpleLower(uint32_t c);
uint32_t SimpleUpper(uint32_t c);
inline bool IsCased(uint32_t c) { return SimpleLower(c) != c || SimpleUpper(c) != c; }
// Pairs (character, its lower case) for the characters that differ from it, sorted.
const uint32_t* LowerPairs(size_t* pairs);
// Pairs (character, its upper case) likewise.
const uint32_t* UpperPairs(size_t* pairs);

// The characters that the literal c matches when case is ignored.
void AppendOrbit(uint32_t c, CodePointRanges* out);
// The same for every c in low..high; the range itself is appended too.
void AppendOrbits(uint32_t low, uint32_t high, CodePointRanges* out);

}  // namespace tokamata
