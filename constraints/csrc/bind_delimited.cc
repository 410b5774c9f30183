// Python binding of lists in a given order.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/delimited.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

void BindDelimited(nb::module_& m) {
  m.def(
      "delimited_subsequence",
      [](const std::vector<const Language*>& items, const Language& delimiter, const Limits* limits) {
        return Language::Build(
            [&](Expressions* pool) {
              pool->forgets = true;  // items are read by one automaton
              std::vector<Expr> roots;
              for (const Language* item : items) roots.push_back(item->In(pool));
              return DelimitedSubsequence(pool, roots, delimiter.In(pool));
            },
            limits ? *limits : Limits());
      },
      "items"_a, "delimiter"_a, "limits"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
      "Some of the items, at least one, in order, with delimiters between them.");
}

}  // namespace tokamata
