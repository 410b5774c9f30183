// Python binding of the reader of GBNF and EBNF.
#include <nanobind/nanobind.h>

#include "constraints/csrc/bind.h"
#include "constraints/csrc/notation.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

void BindNotation(nb::module_& m) {
  m.def(
      "read_notation",
      [](const nb::str& text, bool gbnf) -> nb::object {
        Py_ssize_t size;
        const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!data) {  // lone surrogates
          PyErr_Clear();
          return nb::none();
        }
        const auto nodes = ReadNotation({data, static_cast<size_t>(size)}, gbnf ? Notation::kGbnf : Notation::kEbnf);
        if (!nodes) return nb::none();
        nb::list all;
        for (const NotationNode& n : *nodes)
          all.append(nb::make_tuple(n.kind, n.begin, n.end, n.line, n.column, n.parts, n.low, n.high));
        return all;
      },
      "text"_a, "gbnf"_a,
      nb::sig("def read_notation(text: str, gbnf: bool) -> list[tuple[str, int, int, int, int, int, int, int]] | None"),
      "The parts of a grammar in GBNF, else EBNF, parts before what they are parts of: (kind, begin, end, line, column, "
      "number of parts, low, high or -1), offsets in characters; a rule's text is its name. None where Lark has to read "
      "it.");
}

}  // namespace tokamata
