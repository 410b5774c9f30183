// The values of YAML as yaml_schema writes it, strings in one line each: what tells elements apart that must be
// distinct.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tokamata {

// The value of a text as JSON, which yaml_schema allows behind the dash of an element or, in flow style, as one. A line
// of its own begins at a column.
std::string YamlAsJson(std::string_view text, size_t column);

}  // namespace tokamata
