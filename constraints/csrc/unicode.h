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

// The ranges, and every character that a literal of low..high matches when case is ignored.
void AppendOrbits(uint32_t low, uint32_t high, CodePointRanges* out);

}  // namespace tokamata
