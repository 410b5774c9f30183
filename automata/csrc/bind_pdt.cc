// Push-down transducers in Python: automata/pdt.py holds the Fst and the pairs of parentheses.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "automata/csrc/bind.h"
#include "automata/csrc/pdt.h"
#include "automata/csrc/pdt_compose.h"
#include "automata/csrc/pdt_connect.h"
#include "automata/csrc/pdt_depth.h"
#include "automata/csrc/pdt_expand.h"
#include "automata/csrc/pdt_is_empty.h"
#include "automata/csrc/pdt_replace.h"
#include "automata/csrc/pdt_reverse.h"
#include "automata/csrc/pdt_shortestdistance.h"
#include "automata/csrc/pdt_shortestpath.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

using Release = nb::call_guard<nb::gil_scoped_release>;

void BindPdt(nb::module_& m) {
  m.def("pdt_check", [](const Fst& fst, const ParenPairs& parens) { RequirePdt("Pdt", fst, Parens("Pdt", parens)); },
        "fst"_a, "parens"_a, Release());
  m.def("pdt_expand",
        [](const Fst& fst, const ParenPairs& parens, bool keep_parentheses, int64_t max_depth, bool truncate,
           float weight, int64_t max_states, int64_t max_arcs) {
          PdtExpandOptions options;
          options.keep_parentheses = keep_parentheses;
          options.max_depth = max_depth;
          options.truncate = truncate;
          options.weight = weight;
          options.max_states = max_states;
          options.max_arcs = max_arcs;
          return PdtExpand(fst, Parens("Pdt.expand", parens), options);
        },
        "fst"_a, "parens"_a, "keep_parentheses"_a, "max_depth"_a, "truncate"_a, "weight"_a, "max_states"_a,
        "max_arcs"_a, Release());
  m.def("pdt_compose",
        [](const Fst& a, const Fst& b, const ParenPairs& parens, bool left_pdt, bool connect, int64_t max_states,
           int64_t max_arcs) {
          return PdtCompose(a, b, Parens("Pdt.compose", parens), left_pdt,
                            ComposeOptions{connect, max_states, max_arcs});
        },
        "a"_a, "b"_a, "parens"_a, "left_pdt"_a, "connect"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("pdt_reverse",
        [](const Fst& fst, const ParenPairs& parens) { return PdtReverse(fst, Parens("Pdt.reverse", parens)); },
        "fst"_a, "parens"_a, Release());
  m.def("pdt_shortestpath",
        [](const Fst& fst, const ParenPairs& parens, bool keep_parentheses, int64_t max_states, int64_t max_arcs) {
          return PdtShortestPath(fst, Parens("Pdt.shortestpath", parens),
                                 PdtShortestPathOptions{keep_parentheses, max_states, max_arcs});
        },
        "fst"_a, "parens"_a, "keep_parentheses"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("pdt_shortestdistance",
        [](const Fst& fst, const ParenPairs& parens, float delta, int64_t max_visits, int64_t max_states,
           int64_t max_arcs) {
          return PdtShortestDistance(fst, Parens("Pdt.shortestdistance", parens),
                                     PdtShortestDistanceOptions{delta, max_visits, max_states, max_arcs});
        },
        "fst"_a, "parens"_a, "delta"_a, "max_visits"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("pdt_depth",
        [](const Fst& fst, const ParenPairs& parens, int64_t max_states, int64_t max_arcs) {
          return PdtDepth(fst, Parens("Pdt.depth", parens), PdtDepthOptions{max_states, max_arcs, "Pdt.depth"}).depth;
        },
        "fst"_a, "parens"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("pdt_connect",
        [](const Fst& fst, const ParenPairs& parens, int64_t max_states, int64_t max_arcs) {
          return PdtConnect(fst, Parens("Pdt.connect", parens), PdtConnectOptions{max_states, max_arcs});
        },
        "fst"_a, "parens"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("pdt_is_empty",
        [](const Fst& fst, const ParenPairs& parens, int64_t max_states, int64_t max_arcs) {
          return PdtIsEmpty(fst, Parens("Pdt.is_empty", parens), PdtIsEmptyOptions{max_states, max_arcs});
        },
        "fst"_a, "parens"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("pdt_replace",
        [](const std::vector<std::pair<int32_t, const Fst*>>& pairs, int32_t root, int64_t first_paren,
           const std::string& open_prefix, const std::string& close_prefix, int64_t max_states, int64_t max_arcs) {
          PdtReplaceOptions options{first_paren, open_prefix, close_prefix, max_states, max_arcs};
          nb::gil_scoped_release release;
          PdtReplaceResult result = PdtReplace(pairs, root, options);
          return std::make_pair(std::move(result.fst), std::move(result.parens));
        },
        "pairs"_a, "root"_a, "first_paren"_a, "open_prefix"_a, "close_prefix"_a, "max_states"_a, "max_arcs"_a);
}

}  // namespace tokamata
