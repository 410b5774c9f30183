#include "constraints/csrc/json_schema_keywords.h"

#include <unordered_map>

namespace tokamata {
namespace {

struct Entry {
  Keyword keyword;
  SchemaDraft first, last;
};

const std::unordered_map<std::string_view, Entry>& Table() {
  constexpr SchemaDraft k4 = SchemaDraft::k4, k6 = SchemaDraft::k6, k7 = SchemaDraft::k7, k2019 = SchemaDraft::k2019,
                        k2020 = SchemaDraft::k2020;
  static const std::unordered_map<std::string_view, Entry> table = {
      {"$ref", {Keyword::kRef, k4, k2020}},
      {"$dynamicRef", {Keyword::kDynamicRef, k2020, k2020}},
      {"$recursiveRef", {Keyword::kRecursiveRef, k2019, k2019}},
      {"allOf", {Keyword::kAllOf, k4, k2020}},
      {"anyOf", {Keyword::kAnyOf, k4, k2020}},
      {"oneOf", {Keyword::kOneOf, k4, k2020}},
      {"not", {Keyword::kNot, k4, k2020}},
      {"if", {Keyword::kIf, k7, k2020}},
      {"then", {Keyword::kThen, k7, k2020}},
      {"else", {Keyword::kElse, k7, k2020}},
      {"dependentSchemas", {Keyword::kDependentSchemas, k2019, k2020}},
      {"dependencies", {Keyword::kDependencies, k4, k7}},
      {"type", {Keyword::kType, k4, k2020}},
      {"enum", {Keyword::kEnum, k4, k2020}},
      {"const", {Keyword::kConst, k6, k2020}},
      {"minLength", {Keyword::kMinLength, k4, k2020}},
      {"maxLength", {Keyword::kMaxLength, k4, k2020}},
      {"pattern", {Keyword::kPattern, k4, k2020}},
      {"format", {Keyword::kFormat, k4, k2020}},
      {"minimum", {Keyword::kMinimum, k4, k2020}},
      {"maximum", {Keyword::kMaximum, k4, k2020}},
      {"exclusiveMinimum", {Keyword::kExclusiveMinimum, k4, k2020}},
      {"exclusiveMaximum", {Keyword::kExclusiveMaximum, k4, k2020}},
      {"multipleOf", {Keyword::kMultipleOf, k4, k2020}},
      {"properties", {Keyword::kProperties, k4, k2020}},
      {"patternProperties", {Keyword::kPatternProperties, k4, k2020}},
      {"additionalProperties", {Keyword::kAdditionalProperties, k4, k2020}},
      {"propertyNames", {Keyword::kPropertyNames, k6, k2020}},
      {"required", {Keyword::kRequired, k4, k2020}},
      {"dependentRequired", {Keyword::kDependentRequired, k2019, k2020}},
      {"minProperties", {Keyword::kMinProperties, k4, k2020}},
      {"maxProperties", {Keyword::kMaxProperties, k4, k2020}},
      {"unevaluatedProperties", {Keyword::kUnevaluatedProperties, k2019, k2020}},
      {"prefixItems", {Keyword::kPrefixItems, k2020, k2020}},
      {"items", {Keyword::kItems, k4, k2020}},
      {"additionalItems", {Keyword::kAdditionalItems, k4, k2019}},
      {"contains", {Keyword::kContains, k6, k2020}},
      {"minContains", {Keyword::kMinContains, k2019, k2020}},
      {"maxContains", {Keyword::kMaxContains, k2019, k2020}},
      {"minItems", {Keyword::kMinItems, k4, k2020}},
      {"maxItems", {Keyword::kMaxItems, k4, k2020}},
      {"uniqueItems", {Keyword::kUniqueItems, k4, k2020}},
      {"unevaluatedItems", {Keyword::kUnevaluatedItems, k2019, k2020}},
  };
  return table;
}

}  // namespace

Keyword KeywordOf(std::string_view name, const SchemaDialect& dialect) {
  const auto it = Table().find(name);
  if (it == Table().end() || dialect.draft < it->second.first || dialect.draft > it->second.last) return Keyword::kNone;
  const Keyword keyword = it->second.keyword;
  switch (keyword) {  // by vocabulary
    case Keyword::kRef:
    case Keyword::kDynamicRef:
    case Keyword::kRecursiveRef: return keyword;
    case Keyword::kUnevaluatedItems:
    case Keyword::kUnevaluatedProperties: return dialect.unevaluated ? keyword : Keyword::kNone;
    case Keyword::kFormat: return dialect.format ? keyword : Keyword::kNone;
    case Keyword::kAllOf:
    case Keyword::kAnyOf:
    case Keyword::kOneOf:
    case Keyword::kNot:
    case Keyword::kIf:
    case Keyword::kThen:
    case Keyword::kElse:
    case Keyword::kDependentSchemas:
    case Keyword::kDependencies:
    case Keyword::kProperties:
    case Keyword::kPatternProperties:
    case Keyword::kAdditionalProperties:
    case Keyword::kPropertyNames:
    case Keyword::kPrefixItems:
    case Keyword::kItems:
    case Keyword::kAdditionalItems:
    case Keyword::kContains: return dialect.applicator ? keyword : Keyword::kNone;
    default: return dialect.validation ? keyword : Keyword::kNone;
  }
}

}  // namespace tokamata
