// Language: the native side of every regular constraint.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "automata/csrc/bind.h"
#include "automata/csrc/language.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Released = nb::call_guard<nb::gil_scoped_release>;

std::string_view View(const nb::bytes& b) { return {b.c_str(), b.size()}; }
nb::bytes ToBytes(const std::string& s) { return nb::bytes(s.data(), s.size()); }

std::vector<Language> Copy(const std::vector<const Language*>& parts) {
  std::vector<Language> out;
  for (const Language* p : parts) out.push_back(*p);
  return out;
}

}  // namespace

void BindExpressions(nb::module_& m) {
  nb::class_<Limits>(m, "Limits", "Named limits of one constraint; see tokamata.Limits.")
      .def(
          "__init__",
          [](Limits* self, size_t expression_nodes, uint32_t expression_depth, size_t expression_width,
             size_t emptiness, uint32_t states, double seconds, double search_seconds, size_t count_bytes,
             size_t cache_bytes) {
            new (self) Limits{{expression_nodes, expression_depth, expression_width, emptiness},
                              states, seconds, search_seconds, count_bytes, cache_bytes};
          },
          "expression_nodes"_a, "expression_depth"_a, "expression_width"_a, "emptiness"_a, "states"_a, "seconds"_a,
          "search_seconds"_a, "count_bytes"_a, "cache_bytes"_a);

  nb::class_<Language>(m, "Language", "A set of byte strings; immutable, safe to share between threads.")
      .def_static(
          "literal",
          [](const nb::bytes& text, const Limits* limits) {
            constexpr size_t kShort = 256;  // which no limit stops: a pool of its own is made when somebody asks
            const std::string_view view = View(text);
            if (!limits && view.size() <= kShort) {
              const auto build = [kept = std::string(view)](Expressions* p, const std::vector<Expr>&) { return p->Literal(kept); };
              return Language::CombineLater({}, build);
            }
            return Language::Build([view](Expressions* p) { return p->Literal(view); }, limits ? *limits : Limits());
          },
          "text"_a, "limits"_a = nb::none())
      .def_static(
          "choice",
          [](const nb::list& options, const Limits* limits) {
            std::vector<std::string> texts;
            texts.reserve(options.size());
            for (nb::handle h : options) texts.emplace_back(View(nb::cast<nb::bytes>(h)));
            nb::gil_scoped_release release;
            return Language::Build([&](Expressions* p) { return p->Choice(texts); },
                                   limits ? *limits : Limits());
          },
          "options"_a, "limits"_a = nb::none(),
          nb::sig("def choice(options: list[bytes], limits: Limits | None = None) -> Language"))
      .def_static(
          "characters",
          [](const CodePointRanges& ranges) {
            return Language::Build([&](Expressions* p) { return p->Characters(ranges); });
          },
          "ranges"_a, "One character out of inclusive ranges of code points.")
      .def_static(
          "union_", [](const std::vector<const Language*>& parts) { return Language::Union(Copy(parts)); }, "parts"_a, Released())
      .def_static(
          "concat", [](const std::vector<const Language*>& parts) { return Language::Concat(Copy(parts)); }, "parts"_a,
          Released())
      .def_static(
          "intersect", [](const std::vector<const Language*>& parts) { return Language::Intersect(Copy(parts)); },
          "parts"_a, Released())
      .def_static("difference", &Language::Difference, "a"_a, "b"_a, "texts"_a = false, Released())
      .def_static("complement", &Language::Complement, "x"_a, Released())
      .def_static("from_fst", &Language::FromFst, "fst"_a, "limits"_a, Released())
      .def(
          "repeat",
          [](const Language& self, uint32_t low, int64_t high) {
            return Language::Repeat(self, low, high < 0 ? kUnbounded : static_cast<uint32_t>(high));
          },
          "low"_a, "high"_a, Released())
      .def("with_limits", &Language::WithLimits, "limits"_a, Released())
      .def(
          "accepts",
          [](const Language& self, const nb::bytes& text) {
            const std::string_view view = View(text);
            nb::gil_scoped_release release;
            return self.Accepts(view);
          },
          "text"_a)
      .def(
          "viable_prefix",
          [](const Language& self, const nb::bytes& text) {
            const std::string_view view = View(text);
            nb::gil_scoped_release release;
            return self.ViablePrefix(view);
          },
          "text"_a, "Length of the longest prefix that can be extended to a member; -1 for the empty language.")
      .def("is_empty", &Language::IsEmpty, Released())
      .def_static(
          "counterexample",
          [](const Language& a, const Language& b) -> nb::object {
            std::optional<std::string> text;
            {
              nb::gil_scoped_release release;
              text = Language::Counterexample(a, b);
            }
            return text ? nb::object(ToBytes(*text)) : nb::none();
          },
          "a"_a, "b"_a, nb::sig("def counterexample(a: Language, b: Language) -> bytes | None"))
      .def(
          "examples",
          [](const Language& self, size_t n, uint64_t seed) {
            std::vector<std::string> texts;
            {
              nb::gil_scoped_release release;
              texts = self.Examples(n, seed);
            }
            nb::list out;
            for (const std::string& t : texts) out.append(ToBytes(t));
            return out;
          },
          "n"_a, "seed"_a, nb::sig("def examples(self, n: int, seed: int) -> list[bytes]"))
      .def(
          "count",
          [](const Language& self, size_t length) {
            std::vector<uint64_t> limbs;
            {
              nb::gil_scoped_release release;
              limbs = self.Count(length);
            }
            std::string digits;  // little-endian bytes
            for (uint64_t limb : limbs)
              for (int i = 0; i < 8; ++i) digits.push_back(static_cast<char>(limb >> (8 * i)));
            return ToBytes(digits);
          },
          "length"_a, "The number of members of exactly that many bytes, as little-endian bytes.")
      .def(
          "sample",
          [](const Language& self, size_t n, size_t low, size_t high, uint64_t seed) {
            std::vector<std::string> texts;
            {
              nb::gil_scoped_release release;
              texts = self.Sample(n, low, high, seed);
            }
            nb::list out;
            for (const std::string& t : texts) out.append(ToBytes(t));
            return out;
          },
          "n"_a, "low"_a, "high"_a, "seed"_a,
          nb::sig("def sample(self, n: int, low: int, high: int, seed: int) -> list[bytes]"),
          "Uniformly random members of low..high bytes.")
      .def("minimize", &Language::Minimize, Released())
      .def(
          "live_bytes",
          [](const Language& self, const nb::bytes& text) {
            std::string out;
            {
              const std::string_view begun = View(text);
              const nb::gil_scoped_release release;
              DelayedAcceptor& a = *self.Acceptor();
              const DelayedAcceptor::State q = a.Run(a.Start(), begun);
              if (q) a.Live(q).ForEach([&](uint8_t b) { out.push_back(static_cast<char>(b)); });
            }
            return ToBytes(out);
          },
          "text"_a, "The bytes that may follow a text, in order.")
      .def("to_fst", &Language::ToFst, "most_states"_a, Released())
      .def("describe", &Language::Describe, "limit"_a, Released())
      .def("num_states", [](const Language& self) { return self.Acceptor()->NumStates(); }, Released())
      .def_prop_ro("count_bytes", [](const Language& self) { return self.OwnLimits().count_bytes; })
      .def_prop_ro("search_seconds", [](const Language& self) { return self.OwnLimits().search_seconds; })
      .def("memory_bytes", [](const Language& self) { return self.Acceptor()->MemoryBytes(); }, Released());
}

}  // namespace tokamata
