// Spellings of characters in the styles of YAML's strings: as they are, or with an escape.
#pragma once
#include <functional>
#include <string_view>

#include "constraints/csrc/json_spellings.h"
#include "constraints/csrc/json_string.h"

namespace tokamata {

// Whether text is, or begins, the spelling of a character in a style; fills *code_point. Takes more spellings than the
// style has: which characters it has, and which of them may be escaped, its expressions say.
Spelling ReadYamlSpelling(std::string_view text, StringStyle style, uint32_t* code_point);
// Visits the spellings of a character, maybe more than the style has.
void ForEachYamlSpelling(uint32_t c, StringStyle style, const std::function<void(std::string_view)>& visit);

}  // namespace tokamata
