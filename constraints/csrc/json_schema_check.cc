#include "constraints/csrc/json_schema_check.h"

#include <algorithm>

#include "automata/csrc/errors.h"
#include "constraints/csrc/json_schema_keywords.h"

namespace tokamata {
namespace {

bool IsSchema(const JsonValue& value) { return value.IsObject() || value.IsBoolean(); }

bool IsTypeName(const JsonValue& value) {
  static constexpr std::string_view kTypes[] = {"array", "boolean", "integer", "null", "number", "object", "string"};
  return value.IsString() && std::find(std::begin(kTypes), std::end(kTypes), value.text) != std::end(kTypes);
}

bool IsNames(const JsonValue& value) {
  return value.IsArray() && std::all_of(value.begin(), value.end(), [](const JsonValue& v) { return v.IsString(); });
}

std::string Shown(const JsonValue& value) {
  if (value.size > 8) return value.IsArray() ? "a longer array" : "a larger object";
  std::string text;
  WriteJson(value, &text);
  if (text.size() <= 60) return text;
  return value.IsArray() ? "another array" : value.IsObject() ? "another object" : "a longer value";
}

// Finds the part of the value that breaks the rule, and the rule; null where all is well.
struct Finding {
  const JsonValue* at = nullptr;
  const char* expected = "";
};

Finding Check(SchemaShape shape, const JsonValue& value, const JsonValue& schema, const SchemaDialect& dialect) {
  const auto demand = [&](bool holds, const char* expected) { return Finding{holds ? nullptr : &value, expected}; };
  const auto each = [&](auto holds, const char* expected) {
    for (const JsonValue& part : value) {
      if (!holds(part)) return Finding{&part, expected};
    }
    return Finding{};
  };
  constexpr const char* kASchema = "a schema, an object or a boolean";
  switch (shape) {
    case SchemaShape::kAnything:
      return {};
    case SchemaShape::kSchema:
      return demand(IsSchema(value), kASchema);
    case SchemaShape::kSchemas:
      if (!value.IsArray() || value.size == 0) return demand(false, "an array of schemas that is not empty");
      return each(IsSchema, kASchema);
    case SchemaShape::kSchemaMap:
      if (!value.IsObject()) return demand(false, "an object of schemas");
      return each(IsSchema, kASchema);
    case SchemaShape::kItems:
      if (!value.IsArray()) return demand(IsSchema(value), kASchema);
      if (!dialect.HasListedItems())
        return demand(false, "a schema (an array of them is prefixItems in draft 2020-12, which $schema names)");
      if (dialect.draft == SchemaDraft::k2020 && schema.Find("prefixItems"))
        return demand(false, "a schema, as prefixItems stands beside it");
      return each(IsSchema, kASchema);
    case SchemaShape::kDependencies:
      if (!value.IsObject()) return demand(false, "an object of schemas or arrays of names");
      return each([](const JsonValue& v) { return IsSchema(v) || IsNames(v); }, "a schema or an array of names");
    case SchemaShape::kRequiredMap:
      if (!value.IsObject()) return demand(false, "an object of arrays of names");
      return each(IsNames, "an array of names");
    case SchemaShape::kNames:
      return demand(IsNames(value), "an array of names, strings");
    case SchemaShape::kTypes: {
      constexpr const char* kATypes =
          "one of \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\", \"string\", or an array of them";
      if (!value.IsArray()) return demand(IsTypeName(value), kATypes);
      if (value.size == 0) return demand(false, kATypes);
      return each(IsTypeName, kATypes);
    }
    case SchemaShape::kArray:
      return demand(value.IsArray(), "an array");
    case SchemaShape::kString:
      return demand(value.IsString(), "a string");
    case SchemaShape::kBoolean:
      return demand(value.IsBoolean(), "true or false");
    case SchemaShape::kLimit:
      if (dialect.draft == SchemaDraft::k4) return demand(value.IsBoolean(), "true or false in draft 4");
      if (value.IsBoolean() && dialect.HasBooleanLimits()) return {};
      return demand(value.IsNumber(), value.IsBoolean() ? "a number (only draft 4 has booleans)" : "a number");
    case SchemaShape::kNumber:
      return demand(value.IsNumber(), "a number");
    case SchemaShape::kPositiveNumber: {
      const JsonNumber number = value.IsNumber() ? ParseJsonNumber(value.text) : JsonNumber();
      return demand(!number.negative && !number.digits.empty(), "a number greater than 0");
    }
    case SchemaShape::kCount: {
      const JsonNumber number = value.IsNumber() ? ParseJsonNumber(value.text) : JsonNumber();
      return demand(value.IsNumber() && !number.negative && number.IsInteger(), "an integer of at least 0");
    }
  }
  return {};
}

}  // namespace

void CheckSchemaKeywords(const JsonValue& schema, const SchemaDialect& dialect,
                         const std::function<std::string(const JsonValue&)>& place) {
  if (!schema.IsObject()) return;
  const bool only_reference = dialect.draft <= SchemaDraft::k7 && schema.Find("$ref") != nullptr;
  for (uint32_t i = 0; i < schema.size; ++i) {
    if (only_reference && schema.keys[i] != "definitions" && schema.keys[i] != "$defs") continue;
    const SchemaShape shape = ShapeOf(schema.keys[i], dialect);
    const Finding finding = Check(shape, schema.elements[i], schema, dialect);
    if (finding.at == nullptr) continue;
    std::string where;
    WriteJsonString(place(*finding.at), &where);
    throw ConstraintError("json_schema: at " + where + ": expected " + finding.expected + ", got " + Shown(*finding.at) +
                          "; mend the schema there");
  }
}

}  // namespace tokamata
