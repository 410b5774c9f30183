// Python bindings of Lexicon, and of the files that carry it.
#include <nanobind/nanobind.h>

#include "tokenizer_fst/csrc/artifact.h"
#include "tokenizer_fst/csrc/bind.h"
#include "tokenizer_fst/csrc/lexicon.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

std::string_view View(const nb::bytes& b) { return {b.c_str(), b.size()}; }

nb::bytes Tail(const nb::bytes& fst, const nb::dict& sections) {
  std::vector<std::pair<std::string_view, std::string_view>> named;
  for (auto [name, bytes] : sections) {
    Py_ssize_t length = 0;
    const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &length);
    if (text == nullptr) throw nb::python_error();
    named.emplace_back(std::string_view(text, static_cast<size_t>(length)), View(nb::cast<nb::bytes>(bytes)));
  }
  const std::string tail = ArtifactTail(View(fst), named);
  return nb::bytes(tail.data(), tail.size());
}

// The length of the FST, and name, offset and length of each section.
nb::tuple Parse(const nb::bytes& file) {
  const std::string_view view = View(file);
  const Artifact artifact = [&] {
    nb::gil_scoped_release release;
    return Artifact::Parse(view);
  }();
  nb::list sections;
  for (const auto& [name, bytes] : artifact.sections) {
    sections.append(nb::make_tuple(nb::bytes(name.data(), name.size()), bytes.data() - view.data(), bytes.size()));
  }
  return nb::make_tuple(artifact.fst.size(), sections);
}

}  // namespace

void BindLexicon(nb::module_& m) {
  m.def("lexicon", &Lexicon, "vocabulary"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def("artifact_tail", &Tail, "fst"_a, "sections"_a,
        nb::sig("def artifact_tail(fst: bytes, sections: dict[str, bytes]) -> bytes"));
  m.def("artifact_parse", &Parse, "file"_a,
        nb::sig("def artifact_parse(file: bytes) -> tuple[int, list[tuple[bytes, int, int]]]"));
}

}  // namespace tokamata
