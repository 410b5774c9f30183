// Contents of strings in which some phrases do not occur, made once for all schemas that leave out the same ones.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "automata/csrc/byte_table.h"
#include "automata/csrc/expression.h"
#include "constraints/csrc/json_string.h"

namespace tokamata {

// Texts that a reader may take for JSON where a string stands without quotes, and empty ones, as they are spelled.
Expr ReadAsJson(Expressions* pool, CharacterSpelling* spelling);

// The contents, in every spelling, of texts in which no phrase (in UTF-8) occurs; with `no_json`, and that are not
// ReadAsJson. O(states · 256) the first time, where the phrases are not very long: then the result is kept as a table.
Expr StringsWithout(const std::vector<std::string>& phrases, JsonStrings* strings, bool no_json = false);

}  // namespace tokamata
