// Python bindings of the leaves of JSON: strings, formats and numbers as languages, for tests and tools.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>

#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/json_format.h"
#include "constraints/csrc/json_number.h"
#include "constraints/csrc/json_string.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

std::string_view View(const nb::bytes& b) { return {b.c_str(), b.size()}; }

Language StringLanguage(const std::string& what, const nb::bytes& text, bool canonical, bool complement) {
  const std::string_view source = View(text);
  nb::gil_scoped_release release;
  return Language::Build([&](Expressions* pool) {
    JsonStrings strings(pool, canonical);
    Expr e = strings.Any();
    if (what == "literal") e = strings.Literal(source);
    if (what == "pattern") e = strings.Pattern(source);
    return complement ? strings.Complement(e) : e;
  });
}

Language StringLength(uint32_t low, uint32_t high, bool canonical) {
  return Language::Build([&](Expressions* pool) { return JsonStrings(pool, canonical).Length(low, high); });
}

Language StringPattern(const nb::bytes& pattern, uint32_t low, uint32_t high, bool canonical) {
  const std::string_view source = View(pattern);
  nb::gil_scoped_release release;
  return Language::Build([&](Expressions* pool) {
    JsonStrings strings(pool, canonical);
    return strings.Intersect(strings.Length(low, high), strings.Pattern(source));
  });
}

Language StringChoice(const std::vector<nb::bytes>& texts, bool canonical) {
  std::vector<std::string> words;
  for (const nb::bytes& t : texts) words.emplace_back(View(t));
  return Language::Build([&](Expressions* pool) { return JsonStrings(pool, canonical).Choice(std::move(words)); });
}

Language NumberLanguage(const std::string& what, const std::string& text, bool canonical, bool integers) {
  nb::gil_scoped_release release;
  return Language::Build([&](Expressions* pool) {
    JsonNumbers numbers(pool, canonical);
    if (what == "grammar") return numbers.Grammar();
    if (what == "integer") return numbers.Integer();
    if (what == "multiple") {
      NumberSet set;
      set.integers = integers;
      set.Meet(NumberSet::MultiplesOf(text));
      return numbers.Of(set);
    }
    if (what == "value") return numbers.Value(text);
    if (what == "text") return numbers.Text(text);
    return numbers.Number();
  });
}

Language NumberRange(const std::string& low, const std::string& high, bool low_exclusive, bool high_exclusive,
                     bool canonical, bool integers, const std::string& multiple) {
  nb::gil_scoped_release release;
  return Language::Build([&](Expressions* pool) {
    NumberSet set = NumberSet::Between(low, high, low_exclusive, high_exclusive);
    set.integers = integers;
    if (!multiple.empty()) set.Meet(NumberSet::MultiplesOf(multiple));
    return JsonNumbers(pool, canonical).Of(set);
  });
}

// Empty for a format that is not known.
std::optional<std::tuple<Language, bool, std::string>> FormatLanguage(const std::string& name, bool canonical) {
  if (!JsonFormats::Known(name)) return std::nullopt;
  nb::gil_scoped_release release;
  JsonFormat format;
  Language language = Language::Build([&](Expressions* pool) {
    JsonStrings strings(pool, canonical);
    format = *JsonFormats(&strings).Format(name);
    return format.language;
  });
  return std::make_tuple(std::move(language), format.exact, std::string(format.note));
}

}  // namespace

void BindJsonLeaves(nb::module_& m) {
  m.def("json_string", &StringLanguage, "what"_a, "text"_a, "canonical"_a, "complement"_a = false,
        "Contents of JSON strings: \"any\", the \"literal\" text, or those that the \"pattern\" matches.");
  m.def("json_number", &NumberLanguage, "what"_a, "text"_a, "canonical"_a, "integers"_a = false,
        "JSON numbers: the \"grammar\", the universe \"number\", \"integer\", the \"multiple\"s, the \"value\" or "
        "the one \"text\" of a number.");
  m.def("json_number_range", &NumberRange, "low"_a, "high"_a, "low_exclusive"_a, "high_exclusive"_a, "canonical"_a,
        "integers"_a = false, "multiple"_a = "",
        "JSON numbers between two (\"\": no bound), multiples of a number if one is given.");
  m.def(
      "json_number_compare",
      [](const std::string& a, const std::string& b) {
        return CompareJsonNumbers(ParseJsonNumber(a), ParseJsonNumber(b));
      },
      "a"_a, "b"_a, "Negative, zero or positive.");
  m.def(
      "json_number_is_multiple",
      [](const std::string& a, const std::string& q) { return IsJsonMultiple(ParseJsonNumber(a), ParseJsonNumber(q)); },
      "a"_a, "q"_a, "Whether a is an integer times q.");
  m.def("json_format", &FormatLanguage, "name"_a, "canonical"_a,
        "A format as contents of JSON strings, whether it is exact, and a note where it is not; None if not known.");
  m.def("json_string_length", &StringLength, "low"_a, "high"_a, "canonical"_a,
        "Contents of JSON strings of low to high characters.");
  m.def("json_string_pattern", &StringPattern, "pattern"_a, "low"_a, "high"_a, "canonical"_a,
        "Contents of JSON strings of low to high characters that the pattern matches.");
  m.def("json_string_choice", &StringChoice, "texts"_a, "canonical"_a, "Contents of JSON strings: any of the texts.");
}

}  // namespace tokamata
