// OpenFst's verbs from union to randgen, and properties. Each releases the GIL: no other thread may change the
// operands.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "automata/csrc/arcsort.h"
#include "automata/csrc/bind.h"
#include "automata/csrc/bind_arguments.h"
#include "automata/csrc/closure.h"
#include "automata/csrc/concat.h"
#include "automata/csrc/connect.h"
#include "automata/csrc/invert.h"
#include "automata/csrc/project.h"
#include "automata/csrc/properties.h"
#include "automata/csrc/randgen.h"
#include "automata/csrc/reverse.h"
#include "automata/csrc/topsort.h"
#include "automata/csrc/union.h"

namespace nb = nanobind;

namespace tokamata {

using Release = nb::call_guard<nb::gil_scoped_release>;

void BindOperations(nb::module_& m) {
  m.def("union_all", &Union, nb::arg("fsts"), Release());
  m.def("concat", &Concat, nb::arg("fsts"), Release());
  m.def("closure", [](const Fst& f, bool plus) { return Closure(f, plus ? ClosureKind::kPlus : ClosureKind::kStar); },
        nb::arg("fst"), nb::arg("plus"), Release());
  m.def("reverse", &Reverse, nb::arg("fst"), Release());
  m.def("invert", &Invert, nb::arg("fst"), Release());
  m.def("project",
        [](const Fst& f, bool output) { return Project(f, output ? ProjectSide::kOutput : ProjectSide::kInput); },
        nb::arg("fst"), nb::arg("output"), Release());
  m.def("connect", &Connect, nb::arg("fst"), Release());
  m.def("arcsort", [](const Fst& f, bool output) { return ArcSort(f, output ? SortSide::kOutput : SortSide::kInput); },
        nb::arg("fst"), nb::arg("output"), Release());
  m.def("topsort", &TopSort, nb::arg("fst"), Release());
  m.def("randgen",
        [](const Fst& f, nb::handle n, nb::handle seed, bool log_prob, nb::handle max_length) {
          RandGenOptions options;
          options.paths = WholeNumber(n, "randgen", "n");
          options.seed = static_cast<uint64_t>(WholeNumber(seed, "randgen", "seed"));
          options.select = log_prob ? RandSelect::kLogProb : RandSelect::kUniform;
          options.max_length = WholeNumber(max_length, "randgen", "max_length");
          nb::gil_scoped_release release;
          return RandGen(f, options);
        },
        nb::arg("fst"), nb::arg("n").none(), nb::arg("seed").none(), nb::arg("log_prob"), nb::arg("max_length").none(),
        nb::sig("def randgen(fst: Fst, n: int, seed: int, log_prob: bool, max_length: int) -> Fst"));
  m.def("properties",
        [](Fst& f, uint64_t asked, bool compute) {
          if (!compute) return f.KnownProperties() & asked;
          uint64_t found;
          {
            nb::gil_scoped_release release;
            found = ComputeProperties(f, asked);
          }
          f.SetKnownProperties(f.KnownProperties() | found);
          return found;
        },
        nb::arg("fst"), nb::arg("asked"), nb::arg("compute"));
}

}  // namespace tokamata
