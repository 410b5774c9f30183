// Python binding of the JSON Schema engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/json_schema_rules.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Texts = std::vector<std::pair<std::string, nb::bytes>>;
using Reader = nb::typed<nb::callable, Texts(std::optional<std::string>)>;

std::string TextOf(const nb::bytes& text) { return {text.c_str(), text.size()}; }

SchemaDocuments::Registry RegistryOf(const Texts& texts) {
  SchemaDocuments::Registry copy;
  for (const auto& [uri, text] : texts) copy.emplace_back(uri, TextOf(text));
  return copy;
}

Language CompileJsonSchema(const nb::bytes& text, const Reader& reader, const JsonSchemaOptions& options,
                           const Limits* limits, const std::vector<std::pair<nb::bytes, Texts>>& parts) {
  std::string copy = TextOf(text);
  SchemaDocuments::Parts schemas;
  for (const auto& [schema, registry] : parts) schemas.emplace_back(TextOf(schema), RegistryOf(registry));
  const auto read = [&](const std::string* uri) {
    nb::gil_scoped_acquire acquire;
    return RegistryOf(nb::cast<Texts>(uri ? reader(*uri) : reader(nb::none())));
  };
  nb::gil_scoped_release release;
  auto documents = std::make_shared<SharedDocuments>(std::make_unique<SchemaDocuments>(
      std::move(copy), SchemaDocuments::Registry(), std::move(schemas), SchemaDraft::k2020, JsonLimits(), read));
  return JsonSchemaRules::Build(
      documents, options,
      [&](JsonSchemaRules* rules) {
        const SchemaPlace root = documents->Root();
        rules->Check(root);
        documents->ForgetReader();  // all that references lead to was read
        const SetId set = rules->SetOfRoot(root);
        const Expr texts = rules->Texts(set);
        if (texts == kEmpty)
          throw ConstraintError("json_schema: no JSON value is valid against the schema: it contradicts itself at " +
                                rules->WhyEmpty(set) + "; drop or widen one of these");
        return texts;
      },
      limits ? *limits : Limits());
}

std::pair<std::vector<nb::str>, bool> EmptyJsonSchemas(const nb::bytes& text, const Texts& texts,
                                                       const JsonSchemaOptions& options, const Limits* limits) {
  std::string copy = TextOf(text);
  SchemaDocuments::Registry registry = RegistryOf(texts);
  std::vector<std::string> places;
  bool whole = true;
  {
    nb::gil_scoped_release release;
    auto documents = std::make_shared<SharedDocuments>(
        std::make_unique<SchemaDocuments>(std::move(copy), std::move(registry)));
    JsonSchemaRules::Build(
        documents, options,
        [&](JsonSchemaRules* rules) {
          places = rules->EmptyPlaces(documents->Root(), &whole);
          return kEpsilonExpr;
        },
        limits ? *limits : Limits());
  }
  std::vector<nb::str> shown;
  for (const std::string& place : places) shown.push_back(SurrogateText(place));
  return {std::move(shown), whole};
}

}  // namespace

void BindJsonSchema(nb::module_& m) {
  nb::enum_<JsonWhitespace>(m, "JsonWhitespace")
      .value("FLEXIBLE", JsonWhitespace::kFlexible)
      .value("COMPACT", JsonWhitespace::kCompact)
      .value("PRETTY", JsonWhitespace::kPretty)
      .value("ANY", JsonWhitespace::kAny)
      .value("PATTERN", JsonWhitespace::kPattern);
  nb::enum_<KeyOrder>(m, "KeyOrder")
      .value("SCHEMA", KeyOrder::kSchema)
      .value("ANY", KeyOrder::kAny)
      .value("SORTED", KeyOrder::kSorted);
  nb::enum_<SchemaNotation>(m, "SchemaNotation")
      .value("JSON", SchemaNotation::kJson)
      .value("BARE", SchemaNotation::kBare)
      .value("YAML", SchemaNotation::kYaml);
  nb::enum_<YamlSequences>(m, "YamlSequences")
      .value("ANY", YamlSequences::kAny)
      .value("INDENTED", YamlSequences::kIndented)
      .value("FLUSH", YamlSequences::kFlush);
  nb::class_<JsonSchemaOptions>(m, "JsonSchemaOptions", "How the values of a schema are written, and limits.")
      .def(nb::init<>())
      .def_rw("whitespace", &JsonSchemaOptions::whitespace)
      .def_rw("whitespace_pattern", &JsonSchemaOptions::whitespace_pattern)
      .def_rw("indent", &JsonSchemaOptions::indent)
      .def_rw("key_order", &JsonSchemaOptions::key_order)
      .def_rw("canonical_strings", &JsonSchemaOptions::canonical_strings)
      .def_rw("canonical_numbers", &JsonSchemaOptions::canonical_numbers)
      .def_rw("formats", &JsonSchemaOptions::formats)
      .def_rw("unique_keys", &JsonSchemaOptions::unique_keys)
      .def_rw("lenient", &JsonSchemaOptions::lenient)
      .def_rw("without", &JsonSchemaOptions::without)
      .def_rw("max_cases", &JsonSchemaOptions::max_cases)
      .def_rw("max_nesting", &JsonSchemaOptions::max_nesting)
      .def_rw("notation", &JsonSchemaOptions::notation)
      .def_rw("sequences", &JsonSchemaOptions::sequences)
      .def_rw("max_depth", &JsonSchemaOptions::max_depth)
      .def_rw("max_key", &JsonSchemaOptions::max_key);
  m.def("empty_json_schemas", &EmptyJsonSchemas, "text"_a, "registry"_a, "options"_a, "limits"_a = nb::none(),
        "Pointers of the schemas in a schema, and of the branches of anyOf and oneOf, that no value comes from, and whether "
        "that was decided for all.");
  m.def("json_schema", &CompileJsonSchema, "text"_a, "reader"_a, "options"_a, "limits"_a = nb::none(),
        "parts"_a = nb::list(),
        "The language of the JSON texts that are valid against a schema (a JSON text); reader: the URI and text of the "
        "document at a URI that a reference leads to, or of all documents for None; parts: schemas with registries of "
        "their own, pairs of URI and text, which the schema refers to as urn:tokamata:0 and so on.");
}

}  // namespace tokamata
