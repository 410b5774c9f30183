// Python binding of the regex front end.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/regex.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

constexpr uint32_t kNoCharacter = 0xffffffff;

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

namespace {

constexpr uint32_t kContexts = 200;

RegexOptions OptionsOf(bool ecma, const std::string& flags, uint32_t max_depth, uint32_t contexts = kContexts) {
  RegexOptions options;
  options.syntax = ecma ? RegexSyntax::kEcma : RegexSyntax::kPython;
  options.flags = flags;
  options.depth = max_depth;
  options.contexts = contexts;
  options.lookup_name = LookupName;
  return options;
}

// A pattern in UTF-8, lone surrogates encoded too.
class PatternText {
 public:
  explicit PatternText(const nb::str& pattern) {
    Py_ssize_t size;
    if (const char* text = PyUnicode_AsUTF8AndSize(pattern.ptr(), &size)) {
      view_ = {text, static_cast<size_t>(size)};
      return;
    }
    PyErr_Clear();
    encoded_ = nb::steal<nb::bytes>(PyUnicode_AsEncodedString(pattern.ptr(), "utf-8", "surrogatepass"));
    if (!encoded_.is_valid()) nb::raise_python_error();
    view_ = {encoded_.c_str(), encoded_.size()};
  }
  std::string_view View() const { return view_; }

 private:
  nb::bytes encoded_ = nb::steal<nb::bytes>(nb::handle());
  std::string_view view_;
};

Language Compile(const nb::str& pattern, bool ecma, const std::string& flags, uint32_t max_depth, uint32_t contexts,
                 const Limits* limits) {
  const RegexOptions options = OptionsOf(ecma, flags, max_depth, contexts);
  const PatternText text(pattern);
  nb::gil_scoped_release release;
  return Language::Build([&](Expressions* pool) { return CompileRegex(pool, text.View(), options); },
                         limits ? *limits : Limits());
}

Language CompileWithGroups(const nb::str& pattern, const std::string& flags, uint32_t max_depth, uint32_t contexts,
                           const Limits* limits, const std::vector<std::string>& named,
                           const std::vector<const Language*>& languages) {
  RegexOptions options = OptionsOf(false, flags, max_depth, contexts);
  options.named = named;
  const PatternText text(pattern);
  nb::gil_scoped_release release;
  return Language::Build(
      [&](Expressions* pool) {
        pool->forgets = true;  // lookaround intersects
        for (const Language* language : languages) options.languages.push_back(language->In(pool));
        return CompileRegex(pool, text.View(), options);
      },
      limits ? *limits : Limits());
}

// Name, position, flags and alternatives (pattern, and its text if it matches just one) of each named group.
nb::list FindNamed(const nb::bytes& pattern, const std::string& flags, uint32_t max_depth,
                   const std::vector<std::string>& named) {
  RegexOptions options = OptionsOf(false, flags, max_depth);
  options.named = named;
  const std::string_view view(pattern.c_str(), pattern.size());
  const RegexTree tree = [&] {
    nb::gil_scoped_release release;
    return ParseRegex(view, options);
  }();
  nb::list out;
  const auto bytes = [](const std::string& s) { return nb::bytes(s.data(), s.size()); };
  for (const NamedGroup& g : tree.named) {
    nb::list alternatives;
    for (const auto& a : g.alternatives)
      alternatives.append(nb::make_tuple(bytes(a.pattern), a.is_text ? nb::object(bytes(a.text)) : nb::none()));
    out.append(nb::make_tuple(g.name, g.position, g.flags, alternatives));
  }
  return out;
}

}  // namespace

void BindRegex(nb::module_& m) {
  m.def("regex", &Compile, "pattern"_a, "ecma"_a = false, "flags"_a = "", "max_depth"_a = 250,
        "contexts"_a = kContexts, "limits"_a = nb::none(),
        nb::sig("def regex(pattern: str, ecma: bool = False, flags: str = \"\", max_depth: int = 250, contexts: int = 200, "
                "limits: Limits | None = None) -> Language"),
        "The language of a pattern; flags of \"aimsx\".");
  m.def("regex_with_groups", &CompileWithGroups, "pattern"_a, "flags"_a, "max_depth"_a, "contexts"_a, "limits"_a.none(),
        "named"_a, "languages"_a,
        nb::sig("def regex_with_groups(pattern: str, flags: str, max_depth: int, contexts: int, limits: Limits | None, "
                "named: collections.abc.Sequence[str], languages: collections.abc.Sequence[Language]) -> Language"),
        "The same, with languages for the groups whose names stand for them, in order.");
  m.def("regex_named", &FindNamed, "pattern"_a, "flags"_a, "max_depth"_a, "named"_a,
        nb::sig("def regex_named(pattern: bytes, flags: str, max_depth: int, named: collections.abc.Sequence[str]) "
                "-> list[tuple[str, int, str, list[tuple[bytes, bytes | None]]]]"),
        "The groups whose names stand for languages.");
}

}  // namespace tokamata
