// Scalars of YAML 1.1 as PyYAML reads them: the styles of strings, and numbers.
//
// Double-quoted: any character, raw or by an escape: \0 \a \b \t \n \v \f \r \e \" \/ \\ \N \_ \L \P, and but for
// printable ASCII \xhh, \uhhhh, and \Uhhhhhhhh above U+FFFF (pairs of surrogates are no escape of one character).
// Single-quoted: characters that may stand in a line, ' as ''. Plain: such characters as themselves; whether a text may
// be a plain scalar is said of the whole. Every scalar is one line.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "automata/csrc/byte_table.h"
#include "automata/csrc/expression.h"
#include "constraints/csrc/json_string.h"

namespace tokamata {

// What may stand in a line as itself: no control character, no line break of YAML (U+0085, U+2028 and U+2029 are such),
// no byte order mark, no tab.
const CodePointRanges& YamlRawCharacters();
// What of the ranges is between low and high.
CodePointRanges Clip(const CodePointRanges& ranges, uint32_t low, uint32_t high);
// The letter that stands for a character after a backslash, 0: there is none; and the characters that have one.
char YamlShortEscape(uint32_t code_point);
const std::vector<uint32_t>& YamlShortEscaped();
// The canonical spelling of a character that the style can write.
void AppendYamlCharacter(uint32_t code_point, StringStyle style, std::string* out);

// The plain scalars in block context, keys among them, that are read as strings: no indicator in front, no ": " or " #"
// inside, no ':' or space at the end, nothing that YAML 1.1 resolves to null, a boolean, a number (also binary, octal,
// hexadecimal and sexagesimal), a timestamp, a merge key or a default value, and no document marker in front. Times
// with a leap second need quotes, too: so the formats of times stay simple here.
Expr YamlPlainStrings(Expressions* pool);
// The same as a table, and its start.
const ByteTable& YamlPlainTable(uint32_t* start);
// What may stand in a further line of a plain scalar, whatever it alone would be read as; not what looks like an
// element of an array.
Expr YamlPlainLines(Expressions* pool);

// Numbers of which nothing is asked, with exponents that Python's floats know.
Expr YamlNumber(Expressions* pool);
// Canonical texts of JSON numbers as texts of the same numbers in YAML, whose exponents stand after a fraction only:
// 1e+20 becomes 1.0e+20.
Expr YamlNumbers(Expressions* pool, Expr json);

}  // namespace tokamata
