// Python binding of schema documents: references, dialects and scopes, as the tests and reports use them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "automata/csrc/errors.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/json_schema_documents.h"
#include "constraints/csrc/uri.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

SchemaDraft DraftOf(const std::string& name) {
  if (name == "4") return SchemaDraft::k4;
  if (name == "6") return SchemaDraft::k6;
  if (name == "7") return SchemaDraft::k7;
  if (name == "2019-09") return SchemaDraft::k2019;
  return SchemaDraft::k2020;
}

const char* NameOf(SchemaDraft draft) {
  switch (draft) {
    case SchemaDraft::k4:
      return "4";
    case SchemaDraft::k6:
      return "6";
    case SchemaDraft::k7:
      return "7";
    case SchemaDraft::k2019:
      return "2019-09";
    default:
      return "2020-12";
  }
}

// A place that a walk over subschemas has reached.
struct Use {
  const JsonValue* schema;
  SchemaScope scope;
};

struct Documents {
  std::unique_ptr<SchemaDocuments> documents;

  Use Child(const Use& use, const std::string& pointer) const {
    const JsonValue* found = FindJsonPointer(*use.schema, pointer);
    if (found == nullptr) throw ConstraintError("SchemaDocuments: nothing is at the JSON Pointer \"" + pointer + "\"");
    return {found, documents->Enter(use.scope, *found)};
  }
  Use Follow(const Use& use, const std::string& keyword) const {
    const SchemaReference reference = keyword == "$ref"          ? SchemaReference::kRef
                                      : keyword == "$dynamicRef" ? SchemaReference::kDynamicRef
                                                                 : SchemaReference::kRecursiveRef;
    if (use.schema->Find(keyword) == nullptr) throw ConstraintError("SchemaDocuments: no " + keyword + " is here");
    const SchemaTarget target = documents->Resolve(*use.schema, reference, use.scope);
    return {target.schema, target.scope};
  }
};

}  // namespace

nb::str SurrogateText(std::string_view text) {
  nb::object made = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
  if (!made.is_valid()) throw nb::python_error();
  return nb::cast<nb::str>(made);
}

std::string SurrogateBytes(const nb::str& text) {
  const nb::object made = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!made.is_valid()) throw nb::python_error();
  const nb::bytes bytes = nb::cast<nb::bytes>(made);
  return {bytes.c_str(), bytes.size()};
}

void BindSchemaDocuments(nb::module_& m) {
  nb::class_<Use>(m, "SchemaUse", "A subschema in a dynamic scope.").def_ro("scope", &Use::scope);
  nb::class_<Documents>(m, "SchemaDocuments", "A schema with the documents it refers to.")
      .def(
          "__init__",
          [](Documents* self, const nb::bytes& text, const std::vector<std::pair<std::string, nb::bytes>>& registry,
             const std::string& draft) {
            SchemaDocuments::Registry copy;
            for (const auto& [uri, document] : registry) {
              copy.emplace_back(uri, std::string(document.c_str(), document.size()));
            }
            new (self) Documents{std::make_unique<SchemaDocuments>(std::string(text.c_str(), text.size()),
                                                                   std::move(copy), SchemaDocuments::Parts(), DraftOf(draft))};
          },
          "text"_a, "registry"_a, "draft"_a = "2020-12")
      .def("root", [](const Documents& d) {
        const SchemaTarget root = d.documents->Root();
        return Use{root.schema, root.scope};
      }, nb::keep_alive<0, 1>())
      .def(
          "child",
          [](const Documents& d, const Use& use, const nb::str& pointer) { return d.Child(use, SurrogateBytes(pointer)); },
          "use"_a, "pointer"_a, nb::keep_alive<0, 1>(), "The subschema at a JSON Pointer below another one.")
      .def("follow", &Documents::Follow, "use"_a, "keyword"_a, nb::keep_alive<0, 1>(),
           "What a reference keyword leads to.")
      .def("place", [](const Documents& d, const Use& use) { return SurrogateText(d.documents->Place(*use.schema)); },
           "use"_a)
      .def("base_uri", [](const Documents& d, const Use& use) { return d.documents->BaseUri(*use.schema); }, "use"_a)
      .def("is_only_reference", [](const Documents& d, const Use& use) {
        return d.documents->IsOnlyReference(*use.schema);
      }, "use"_a)
      .def(
          "dialect",
          [](const Documents& d, const Use& use) {
            const SchemaDialect dialect = d.documents->DialectOf(*use.schema);
            nb::typed<nb::dict, nb::str, nb::object> shown;
            shown["draft"] = NameOf(dialect.draft);
            shown["declared"] = dialect.declared;
            shown["applicator"] = dialect.applicator;
            shown["unevaluated"] = dialect.unevaluated;
            shown["validation"] = dialect.validation;
            shown["format"] = dialect.format;
            shown["format_assertion"] = dialect.format_assertion;
            return shown;
          },
          "use"_a, "The draft and the vocabularies of a subschema.")
      .def(
          "text",
          [](const Documents&, const Use& use) {
            std::string out;
            WriteJson(*use.schema, &out);
            return nb::bytes(out.data(), out.size());
          },
          "use"_a, "The subschema as compact text.");
  m.def("resolve_uri", [](const std::string& base, const std::string& reference) { return ResolveUri(base, reference); },
        "base"_a, "reference"_a, "Reference resolution of RFC 3986.");
}

}  // namespace tokamata
