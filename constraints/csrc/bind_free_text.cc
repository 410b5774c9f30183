// Python binding of texts without phrases.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "automata/csrc/language.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/free_text.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

void BindFreeText(nb::module_& m) {
  m.def(
      "free_text",
      [](const std::vector<nb::bytes>& given, const std::vector<uint32_t>& ends, const std::string& kind, const Limits* limits) {
        std::vector<std::string> phrases;
        for (const nb::bytes& phrase : given) phrases.emplace_back(phrase.c_str(), phrase.size());
        const nb::gil_scoped_release release;
        const FreeTextKind what = kind == "without"  ? FreeTextKind::kWithout
                                  : kind == "up to" ? FreeTextKind::kUpTo
                                                    : FreeTextKind::kBefore;
        const auto table = std::make_shared<ByteTable>();
        const uint32_t start = FreeTextTable(phrases, ends, what, table.get());
        return Language::Build([&](Expressions* pool) { return pool->Automaton(table, start); },
                               limits ? *limits : Limits());
      },
      "phrases"_a, "ends"_a, "kind"_a, "limits"_a = nb::none(),
      "Texts \"without\" the phrases, \"up to\" the first occurrence of some, by index, or \"before\" it.");
}

}  // namespace tokamata
