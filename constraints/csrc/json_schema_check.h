// Whether the keywords of a schema have the values that the specification asks for.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "constraints/csrc/json_schema_documents.h"

namespace tokamata {

// Checks the keywords of one schema, not those of the schemas inside it. ConstraintError with the place (by `place`),
// what is expected and what is there.
void CheckSchemaKeywords(const JsonValue& schema, const SchemaDialect& dialect,
                         const std::function<std::string(const JsonValue&)>& place);

}  // namespace tokamata
