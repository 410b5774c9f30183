// Python binding of JSON documents, for schemas inside of other JSON and for the tests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "automata/csrc/errors.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/json_document.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

struct Document {
  std::shared_ptr<const JsonDocument> document;

  const JsonValue& At(const std::string& pointer) const {
    const JsonValue* found = FindJsonPointer(document->Root(), pointer);
    if (found == nullptr) throw ConstraintError("JsonDocument: nothing is at the JSON Pointer \"" + pointer + "\"");
    return *found;
  }
};

}  // namespace

void BindJson(nb::module_& m) {
  nb::class_<Document>(m, "JsonDocument", "A parsed JSON text; nodes are named by JSON Pointers.")
      .def_static(
          "parse",
          [](const nb::bytes& text, const std::string& name, uint32_t depth) {
            std::string copy(text.c_str(), text.size());
            nb::gil_scoped_release release;
            JsonLimits limits;
            limits.depth = depth;
            return Document{JsonDocument::Parse(std::move(copy), name, limits)};
          },
          "text"_a, "name"_a = "json", "depth"_a = JsonLimits{}.depth)
      .def("__len__", [](const Document& d) { return d.document->size(); })
      .def(
          "text",
          [](const Document& d, const std::string& pointer) {
            std::string out;
            WriteJson(d.At(pointer), &out);
            return nb::bytes(out.data(), out.size());
          },
          "pointer"_a = "", "The node as compact canonical text.")
      .def(
          "place", [](const Document& d, const std::string& pointer) { return d.document->Place(d.At(pointer).offset); },
          "pointer"_a = "", "Line and column of a node.")
      .def(
          "pointers",
          [](const Document& d) {
            std::vector<const JsonValue*> nodes{&d.document->Root()};
            std::vector<std::string> pointers;
            while (!nodes.empty()) {
              const JsonValue* node = nodes.back();
              nodes.pop_back();
              pointers.push_back(JsonPointer(*node));
              for (uint32_t i = node->size; i-- > 0;) nodes.push_back(node->elements + i);
            }
            return pointers;
          },
          "The JSON Pointers of all nodes, in document order.")
      .def(
          "hash", [](const Document& d, const std::string& pointer) { return JsonHash(d.At(pointer)); },
          "pointer"_a = "")
      .def(
          "equal",
          [](const Document& d, const Document& other, const std::string& pointer, const std::string& other_pointer) {
            return JsonEqual(d.At(pointer), other.At(other_pointer));
          },
          "other"_a, "pointer"_a = "", "other_pointer"_a = "", "Equality as JSON values.");
}

}  // namespace tokamata
