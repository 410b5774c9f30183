// Python binding of the regex front end.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/regex.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

constexpr uint32_t kNoCharacter = 0xffffffff;

// The character of a Unicode name, asked of Python's unicodedata; not a character: the names of sequences.
uint32_t LookupName(std::string_view name) {
  nb::gil_scoped_acquire acquire;
  try {
    const nb::object found = nb::module_::import_("unicodedata").attr("lookup")(nb::str(name.data(), name.size()));
    return PyUnicode_GetLength(found.ptr()) == 1 ? PyUnicode_ReadChar(found.ptr(), 0) : kNoCharacter;
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_KeyError) && !e.matches(PyExc_UnicodeDecodeError)) throw;
    return kNoCharacter;
  }
}

Language CompileLanguage(const nb::bytes& pattern, const std::string& syntax, const std::string& flags,
                         uint32_t max_depth, const Limits* limits) {
  RegexOptions options;
  options.syntax = syntax == "ecma" ? RegexSyntax::kEcma : RegexSyntax::kPython;
  options.flags = flags;
  options.depth = max_depth;
  options.lookup_name = LookupName;
  const std::string_view view(pattern.c_str(), pattern.size());
  nb::gil_scoped_release release;
  return Language::Build([&](Expressions* pool) { return CompileRegex(pool, view, options); },
                         limits ? *limits : Limits());
}

}  // namespace

void BindRegex(nb::module_& m) {
  m.def("regex", &CompileLanguage, "pattern"_a, "syntax"_a, "flags"_a, "max_depth"_a,
        "limits"_a = nb::none(),
        "The language of a pattern (UTF-8, lone surrogates encoded too); flags of \"aimsx\".");
}

}  // namespace tokamata
