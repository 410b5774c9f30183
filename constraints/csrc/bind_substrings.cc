// Python binding of the pieces of a text.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "automata/csrc/language.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/substrings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

void BindSubstrings(nb::module_& m) {
  m.def(
      "substrings",
      [](const nb::bytes& text, const std::string& by, const Limits* limits) {
        const TextUnit unit = by == "words" ? TextUnit::kWords : by == "lines" ? TextUnit::kLines : TextUnit::kCharacters;
        std::string copy(text.c_str(), text.size());
        nb::gil_scoped_release release;
        const Limits own = limits ? *limits : Limits();
        const auto automaton = [&] {
          const TimeLimit time("substring_of", "search_seconds", own.search_seconds);
          return std::make_shared<const SuffixAutomaton>(std::move(copy), unit);
        }();
        return Language::Build(
            [&](Expressions* pool) {
              return pool->Leaf(pool->AddLeaf(std::make_shared<Substrings>(automaton)), Substrings::kStart);
            },
            own);
      },
      "text"_a, "by"_a, "limits"_a = nb::none(), "The pieces of a text, by \"characters\", \"words\" or \"lines\".");
}

}  // namespace tokamata
