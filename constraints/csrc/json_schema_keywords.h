// The keywords of schemas: what they restrict, what their values must look like, and the drafts that know them.
#pragma once
#include <cstdint>
#include <string_view>

#include "constraints/csrc/json_schema_documents.h"

namespace tokamata {

enum class Keyword : uint8_t {
  kNone,  // an annotation, or not known to the draft
  // in place
  kRef, kDynamicRef, kRecursiveRef, kAllOf, kAnyOf, kOneOf, kNot, kIf, kThen, kElse, kDependentSchemas, kDependencies,
  // any type
  kType, kEnum, kConst,
  // strings
  kMinLength, kMaxLength, kPattern, kFormat,
  // numbers
  kMinimum, kMaximum, kExclusiveMinimum, kExclusiveMaximum, kMultipleOf,
  // objects
  kProperties, kPatternProperties, kAdditionalProperties, kPropertyNames, kRequired, kDependentRequired, kMinProperties,
  kMaxProperties, kUnevaluatedProperties,
  // arrays
  kPrefixItems, kItems, kAdditionalItems, kContains, kMinContains, kMaxContains, kMinItems, kMaxItems, kUniqueItems,
  kUnevaluatedItems,
};

// Whether a keyword asks nothing of strings, whatever its value is, nor of what stands beside it.
bool SaysNothingOfStrings(Keyword keyword);

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

// kNone and kAnything for what the dialect does not know.
Keyword KeywordOf(std::string_view name, const SchemaDialect& dialect);
SchemaShape ShapeOf(std::string_view name, const SchemaDialect& dialect);

// Of a keyword of any draft, where one has it: schemas that a draft does not know may have identifiers all the same.
SchemaShape ShapeInAnyDraft(std::string_view name);

}  // namespace tokamata
