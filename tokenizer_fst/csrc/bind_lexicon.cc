// Python bindings of Lexicon, and of the files that carry it.
#include <nanobind/nanobind.h>

#include "tokenizer_fst/csrc/artifact.h"
#include "tokenizer_fst/csrc/bind.h"
#include "tokenizer_fst/csrc/checksum.h"
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

// The checksum, and name, offset and length of each section.
nb::tuple Index(const nb::bytes& tail, uint64_t size) {
  const Artifact artifact = Artifact::Parse(View(tail), size);
  nb::list sections;
  for (const Artifact::Section& s : artifact.sections) {
    sections.append(nb::make_tuple(nb::bytes(s.name.data(), s.name.size()), s.offset, s.length));
  }
  return nb::make_tuple(artifact.checksum, sections);
}

void AddBytes(Checksum& sum, nb::handle piece) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(piece.ptr(), &buffer, PyBUF_SIMPLE)) throw nb::python_error();
  {
    nb::gil_scoped_release release;
    sum.Add({static_cast<const char*>(buffer.buf), static_cast<size_t>(buffer.len)});
  }
  PyBuffer_Release(&buffer);
}

}  // namespace

void BindLexicon(nb::module_& m) {
  m.def("lexicon", &Lexicon, "vocabulary"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def("artifact_tail", &Tail, "fst"_a, "sections"_a,
        nb::sig("def artifact_tail(fst: bytes, sections: dict[str, bytes]) -> bytes"));
  m.attr("ARTIFACT_FOOTER") = Artifact::kFooter;
  m.attr("ARTIFACT_UNSUMMED") = Artifact::kUnsummed;
  m.def("artifact_index_offset", [](const nb::bytes& footer, uint64_t size) {
    return Artifact::IndexOffset(View(footer), size);
  }, "footer"_a, "size"_a);
  m.def("artifact_index", &Index, "tail"_a, "size"_a,
        nb::sig("def artifact_index(tail: bytes, size: int) -> tuple[int, list[tuple[bytes, int, int]]]"));
  nb::class_<Checksum>(m, "Checksum")
      .def(nb::init<>())
      .def("add", &AddBytes, "piece"_a, nb::sig("def add(self, piece: object) -> None"))
      .def("require", [](const Checksum& sum, uint64_t expected) {
        if (sum.Value() != expected) Artifact::RefuseChecksum();
      }, "expected"_a);
}

}  // namespace tokamata
