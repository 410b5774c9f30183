// Whether the keywords of a schema have the values that the specification asks for.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "constraints/csrc/json_schema_documents.h"

namespace tokamata {

// What the specification asks of a keyword's value.
enum class SchemaShape : uint8_t {
  kAnything,
  kSchema,
  kSchemas,         // a non-empty array
  kSchemaMap,       // an object
  kItems,           // a schema, or an array of them
  kDependencies,    // an object of schemas or arrays of names
  kRequiredMap,     // an object of arrays of names
  kNames,           // an array of strings
  kTypes,
  kArray,
  kString,
  kBoolean,
  kNumber,
  kPositiveNumber,
  kCount,
  kLimit,  // a number; in draft 4 a boolean
};

// kAnything for what the dialect does not know.
SchemaShape ShapeOf(std::string_view keyword, const SchemaDialect& dialect);

// Checks the keywords of one schema, not those of the schemas inside it. ConstraintError with the place (by `place`),
// what is expected and what is there.
void CheckSchemaKeywords(const JsonValue& schema, const SchemaDialect& dialect,
                         const std::function<std::string(const JsonValue&)>& place);

}  // namespace tokamata
