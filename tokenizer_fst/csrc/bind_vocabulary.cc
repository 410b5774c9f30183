// Python bindings of Vocabulary.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "automata/csrc/bind_arguments.h"
#include "automata/csrc/errors.h"
#include "tokenizer_fst/csrc/bind.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using TokenList = nb::typed<nb::list, std::optional<nb::bytes>>;

std::shared_ptr<const Vocabulary> FromList(const TokenList& tokens, const std::vector<int64_t>& eos_token_ids) {
  TokenTable table;
  Py_ssize_t size = PyList_GET_SIZE(tokens.ptr());
  table.Reserve(static_cast<size_t>(size), static_cast<size_t>(size) * 8);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* token = PyList_GET_ITEM(tokens.ptr(), i);
    if (token == Py_None) {
      table.AddSpecial();
    } else if (PyBytes_Check(token)) {
      table.Add({PyBytes_AS_STRING(token), static_cast<size_t>(PyBytes_GET_SIZE(token))});
    } else {
      throw VocabularyError("vocabulary: token " + std::to_string(i) + " is " + Py_TYPE(token)->tp_name +
                            ", expected bytes, or None for a special token; encode text with .encode()");
    }
  }
  return Vocabulary::Make(std::move(table), eos_token_ids);
}

nb::bytes ToBytes(const std::string& image) { return nb::bytes(image.data(), image.size()); }

// The tables are not copied: the vocabulary keeps the object that holds them.
std::shared_ptr<const Vocabulary> FromBytes(const nb::bytes& image, nb::handle tables) {
  std::string_view view;
  std::shared_ptr<const void> owner;
  if (!tables.is_none()) {
    Py_buffer* buffer = new Py_buffer{};
    owner = std::shared_ptr<const void>(buffer, [buffer](const void*) {
      nb::gil_scoped_acquire acquire;
      PyBuffer_Release(buffer);
      delete buffer;
    });
    if (PyObject_GetBuffer(tables.ptr(), buffer, PyBUF_SIMPLE)) throw nb::python_error();
    view = {static_cast<const char*>(buffer->buf), static_cast<size_t>(buffer->len)};
  }
  const std::string_view tokens{image.c_str(), image.size()};
  nb::gil_scoped_release release;
  return Vocabulary::Deserialize(tokens, view, std::move(owner));
}

nb::object TokenBytes(const Vocabulary& v, nb::handle token_id) {
  const int64_t id = WholeNumber(token_id, "token_bytes", "a token id");
  if (id < 0 || id >= static_cast<int64_t>(v.Size())) {
    throw nb::index_error(
        ("token_bytes: token id " + std::to_string(id) + " is outside 0.." + std::to_string(v.Size() - 1)).c_str());
  }
  if (v.IsSpecial(static_cast<uint32_t>(id))) return nb::none();
  std::string_view token = v.Token(static_cast<uint32_t>(id));
  return nb::bytes(token.data(), token.size());
}

}  // namespace

void BindVocabulary(nb::module_& m) {
  nb::class_<Vocabulary>(m, "Vocabulary", "The bytes of every token (native side of tokamata.Vocabulary).")
      .def(nb::new_(&FromList), "tokens"_a, "eos_token_ids"_a)
      .def("__len__", &Vocabulary::Size)
      .def("token_bytes", &TokenBytes, nb::arg("token_id").none(),
           nb::sig("def token_bytes(self, token_id: int) -> bytes | None"))
      .def_prop_ro("eos_token_ids", [](const Vocabulary& v) { return v.EosIds(); })
      .def("with_markers", &Vocabulary::WithMarkers, "names"_a, "classes"_a = std::vector<Vocabulary::TokenClass>(),
           nb::sig("def with_markers(self, names: collections.abc.Sequence[tuple[int, str]], "
                   "classes: collections.abc.Sequence[tuple[str, collections.abc.Sequence[int]]] = ()) -> Vocabulary"),
           nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("model_size", &Vocabulary::ModelSize)
      .def("to_bytes", [](const Vocabulary& v) { return ToBytes(v.Serialize()); })
      .def("tables_to_bytes", [](const Vocabulary& v) { return ToBytes(v.SerializeTables()); })
      .def_static("from_bytes", &FromBytes, "image"_a, nb::arg("tables").none() = nb::none(),
                  nb::sig("def from_bytes(image: bytes, tables: object | None = None) -> Vocabulary"))
      .def(
          "overlaps",
          [](const Vocabulary& v, nb::bytes text) { return v.Overlaps({text.c_str(), text.size()}); }, "text"_a,
          "The lengths of the text's endings that some token begins with and goes on beyond, ascending.")
      .def_prop_ro("max_token_bytes", &Vocabulary::MaxTokenBytes)
      .def_prop_ro("memory_bytes", &Vocabulary::MemoryBytes);
}

}  // namespace tokamata
