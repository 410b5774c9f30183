// The keywords that restrict values, and the drafts that know them.
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

Keyword KeywordOf(std::string_view name, const SchemaDialect& dialect);

}  // namespace tokamata
