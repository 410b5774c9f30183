#include "constraints/csrc/json_schema_keywords.h"

#include <iterator>

namespace tokamata {
namespace {

enum class Vocabulary : uint8_t { kCore, kApplicator, kUnevaluated, kValidation, kFormat };

struct Entry {
  char name[22] = {};
  uint8_t size = 0;
  Keyword keyword;
  SchemaShape shape;
  SchemaDraft first, last;
  Vocabulary vocabulary;

  constexpr Entry(std::string_view text, Keyword k, SchemaShape s, SchemaDraft f, SchemaDraft l, Vocabulary v)
      : keyword(k), shape(s), first(f), last(l), vocabulary(v) {
    for (const char c : text) name[size++] = c;
  }
  constexpr std::string_view Name() const { return {name, size}; }
  bool IsKnown(const SchemaDialect& dialect) const {
    const bool listed = keyword == Keyword::kAdditionalItems && dialect.HasListedItems();
    if (dialect.draft < first || (dialect.draft > last && !listed)) return false;
    switch (vocabulary) {
      case Vocabulary::kCore: return true;
      case Vocabulary::kApplicator: return dialect.applicator;
      case Vocabulary::kUnevaluated: return dialect.unevaluated;
      case Vocabulary::kValidation: return dialect.validation;
      case Vocabulary::kFormat: return dialect.format;
    }
    return false;
  }
};

using K = Keyword;
using S = SchemaShape;
using D = SchemaDraft;
using V = Vocabulary;
constexpr Entry kEntries[] = {
    {"$ref", K::kRef, S::kAnything, D::k4, D::k2020, V::kCore},
    {"$dynamicRef", K::kDynamicRef, S::kAnything, D::k2020, D::k2020, V::kCore},
    {"$recursiveRef", K::kRecursiveRef, S::kAnything, D::k2019, D::k2019, V::kCore},
    {"allOf", K::kAllOf, S::kSchemas, D::k4, D::k2020, V::kApplicator},
    {"anyOf", K::kAnyOf, S::kSchemas, D::k4, D::k2020, V::kApplicator},
    {"oneOf", K::kOneOf, S::kSchemas, D::k4, D::k2020, V::kApplicator},
    {"not", K::kNot, S::kSchema, D::k4, D::k2020, V::kApplicator},
    {"if", K::kIf, S::kSchema, D::k7, D::k2020, V::kApplicator},
    {"then", K::kThen, S::kSchema, D::k7, D::k2020, V::kApplicator},
    {"else", K::kElse, S::kSchema, D::k7, D::k2020, V::kApplicator},
    {"dependentSchemas", K::kDependentSchemas, S::kSchemaMap, D::k2019, D::k2020, V::kApplicator},
    {"dependencies", K::kDependencies, S::kDependencies, D::k4, D::k7, V::kApplicator},
    {"type", K::kType, S::kTypes, D::k4, D::k2020, V::kValidation},
    {"enum", K::kEnum, S::kArray, D::k4, D::k2020, V::kValidation},
    {"const", K::kConst, S::kAnything, D::k6, D::k2020, V::kValidation},
    {"minLength", K::kMinLength, S::kCount, D::k4, D::k2020, V::kValidation},
    {"maxLength", K::kMaxLength, S::kCount, D::k4, D::k2020, V::kValidation},
    {"pattern", K::kPattern, S::kString, D::k4, D::k2020, V::kValidation},
    {"format", K::kFormat, S::kString, D::k4, D::k2020, V::kFormat},
    {"minimum", K::kMinimum, S::kNumber, D::k4, D::k2020, V::kValidation},
    {"maximum", K::kMaximum, S::kNumber, D::k4, D::k2020, V::kValidation},
    {"exclusiveMinimum", K::kExclusiveMinimum, S::kLimit, D::k4, D::k2020, V::kValidation},
    {"exclusiveMaximum", K::kExclusiveMaximum, S::kLimit, D::k4, D::k2020, V::kValidation},
    {"multipleOf", K::kMultipleOf, S::kPositiveNumber, D::k4, D::k2020, V::kValidation},
    {"properties", K::kProperties, S::kSchemaMap, D::k4, D::k2020, V::kApplicator},
    {"patternProperties", K::kPatternProperties, S::kSchemaMap, D::k4, D::k2020, V::kApplicator},
    {"additionalProperties", K::kAdditionalProperties, S::kSchema, D::k4, D::k2020, V::kApplicator},
    {"propertyNames", K::kPropertyNames, S::kSchema, D::k6, D::k2020, V::kApplicator},
    {"required", K::kRequired, S::kNames, D::k4, D::k2020, V::kValidation},
    {"dependentRequired", K::kDependentRequired, S::kRequiredMap, D::k2019, D::k2020, V::kValidation},
    {"minProperties", K::kMinProperties, S::kCount, D::k4, D::k2020, V::kValidation},
    {"maxProperties", K::kMaxProperties, S::kCount, D::k4, D::k2020, V::kValidation},
    {"unevaluatedProperties", K::kUnevaluatedProperties, S::kSchema, D::k2019, D::k2020, V::kUnevaluated},
    {"prefixItems", K::kPrefixItems, S::kSchemas, D::k2020, D::k2020, V::kApplicator},
    {"items", K::kItems, S::kItems, D::k4, D::k2020, V::kApplicator},
    {"additionalItems", K::kAdditionalItems, S::kSchema, D::k4, D::k2019, V::kApplicator},
    {"contains", K::kContains, S::kSchema, D::k6, D::k2020, V::kApplicator},
    {"minContains", K::kMinContains, S::kCount, D::k2019, D::k2020, V::kValidation},
    {"maxContains", K::kMaxContains, S::kCount, D::k2019, D::k2020, V::kValidation},
    {"minItems", K::kMinItems, S::kCount, D::k4, D::k2020, V::kValidation},
    {"maxItems", K::kMaxItems, S::kCount, D::k4, D::k2020, V::kValidation},
    {"uniqueItems", K::kUniqueItems, S::kBoolean, D::k4, D::k2020, V::kValidation},
    {"unevaluatedItems", K::kUnevaluatedItems, S::kSchema, D::k2019, D::k2020, V::kUnevaluated},
    {"$defs", K::kNone, S::kSchemaMap, D::k4, D::k2020, V::kCore},
    {"definitions", K::kNone, S::kSchemaMap, D::k4, D::k2020, V::kCore},
    {"contentSchema", K::kNone, S::kSchema, D::k2020, D::k4, V::kCore},  // no draft asserts it
};

// Open addressing, laid out by the compiler: a keyword is looked for in every schema of a document.
constexpr size_t kSlots = 128;

constexpr size_t SlotOf(std::string_view name) {
  const auto at = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(name[i])); };
  return (3 * name.size() + 9 * at(0) + at(name.size() / 2) + 4 * at(name.size() - 1)) % kSlots;
}

struct Table {
  uint8_t entry[kSlots] = {};  // 1 + its index
  constexpr Table() {
    for (size_t i = 0; i < std::size(kEntries); ++i) {
      size_t slot = SlotOf(kEntries[i].Name());
      while (entry[slot]) slot = (slot + 1) % kSlots;
      entry[slot] = static_cast<uint8_t>(i + 1);
    }
  }
};
constexpr Table kTable;

const Entry* Find(std::string_view name) {
  if (name.empty()) return nullptr;
  for (size_t slot = SlotOf(name); const uint8_t found = kTable.entry[slot]; slot = (slot + 1) % kSlots)
    if (kEntries[found - 1].Name() == name) return &kEntries[found - 1];
  return nullptr;
}

}  // namespace

bool SaysNothingOfStrings(Keyword keyword) {
  switch (keyword) {
    case Keyword::kNone:
    case Keyword::kMinimum:
    case Keyword::kMaximum:
    case Keyword::kProperties:
    case Keyword::kAdditionalProperties:
    case Keyword::kRequired:
    case Keyword::kItems:
    case Keyword::kMinItems:
    case Keyword::kMaxItems:
    case Keyword::kUniqueItems: return true;
    default: return false;
  }
}

Keyword KeywordOf(std::string_view name, const SchemaDialect& dialect) {
  const Entry* const entry = Find(name);
  return entry && entry->IsKnown(dialect) ? entry->keyword : Keyword::kNone;
}

SchemaShape ShapeOf(std::string_view name, const SchemaDialect& dialect) {
  const Entry* const entry = Find(name);
  return entry && entry->IsKnown(dialect) ? entry->shape : SchemaShape::kAnything;
}

SchemaShape ShapeInAnyDraft(std::string_view name) {
  const Entry* const entry = Find(name);
  return entry ? entry->shape : SchemaShape::kAnything;
}

}  // namespace tokamata
