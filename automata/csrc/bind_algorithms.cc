// The algorithms of OpenFst in Python: one function per operation, called by the Python file of the same name.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "automata/csrc/bind.h"
#include "automata/csrc/bind_arguments.h"
#include "automata/csrc/bind_symbol_table.h"
#include "automata/csrc/compose.h"
#include "automata/csrc/determinize.h"
#include "automata/csrc/difference.h"
#include "automata/csrc/equivalent.h"
#include "automata/csrc/intersect.h"
#include "automata/csrc/isomorphic.h"
#include "automata/csrc/minimize.h"
#include "automata/csrc/prune.h"
#include "automata/csrc/push.h"
#include "automata/csrc/replace.h"
#include "automata/csrc/rmepsilon.h"
#include "automata/csrc/shortestdistance.h"
#include "automata/csrc/shortestpath.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

// A delayed machine in Python: it owns copies of its operands and keeps the arcs that were made.
class Delayed {
 public:
  // make(operands) builds the machine on the copies.
  template <class Make>
  Delayed(const char* operation, std::vector<Fst> operands, int64_t max_arcs, Make make)
      : operands_(std::move(operands)), operation_(operation), max_arcs_(max_arcs), delayed_(make(operands_)) {}

  DelayedFst* Get() { return delayed_.get(); }
  float Final(nb::handle s) { return delayed_->Final(Check(s)); }
  const std::vector<Arc>& Arcs(nb::handle state) {
    const size_t s = static_cast<size_t>(Check(state));
    if (s >= arcs_.size()) arcs_.resize(static_cast<size_t>(delayed_->NumKnownStates()));
    if (!arcs_[s]) {
      std::vector<Arc> arcs;
      delayed_->Expand(static_cast<StateId>(s), &arcs);
      arcs.shrink_to_fit();
      arcs_[s] = std::move(arcs);
    }
    return *arcs_[s];
  }
  Fst Expand() { return Materialize(operation_, delayed_.get(), max_arcs_); }

 private:
  StateId Check(nb::handle state) {
    const int64_t s = WholeNumber(state, operation_, "state");
    delayed_->Start();
    if (s < 0 || s >= delayed_->NumKnownStates()) {
      const std::string text = std::string(operation_) + ": state " + std::to_string(s) + " has not been reached (" +
                               std::to_string(delayed_->NumKnownStates()) +
                               " states have); take states from start() and from arcs()";
      throw nb::index_error(text.c_str());
    }
    return static_cast<StateId>(s);
  }
  std::vector<Fst> operands_;
  const char* operation_;
  int64_t max_arcs_;
  std::unique_ptr<DelayedFst> delayed_;
  std::vector<std::optional<std::vector<Arc>>> arcs_;
};

DeterminizeOptions DeterminizeArguments(float delta, std::optional<float> weight, std::optional<int64_t> nstate,
                                        int32_t subsequential_label, int64_t max_states, int64_t max_arcs,
                                        int64_t max_elements, int64_t max_delay) {
  DeterminizeOptions options;
  options.delta = delta;
  if (weight) options.weight = *weight;
  if (nstate) options.nstate = *nstate;
  options.subsequential_label = CheckLabel(subsequential_label, "determinize", "subsequential_label");
  options.max_states = max_states;
  options.max_arcs = max_arcs;
  options.max_elements = max_elements;
  options.max_delay = max_delay;
  return options;
}

nb::ndarray<nb::numpy, float, nb::ndim<1>> Distances(const Fst& fst, bool reverse, float delta, int64_t max_visits) {
  std::unique_ptr<std::vector<float>> distances;
  {
    nb::gil_scoped_release release;
    ShortestDistanceOptions options;
    options.reverse = reverse;
    options.delta = delta;
    options.max_visits = max_visits;
    distances = std::make_unique<std::vector<float>>(ShortestDistance(fst, options));
  }
  std::vector<float>* data = distances.release();
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  return nb::ndarray<nb::numpy, float, nb::ndim<1>>(data->data(), {data->size()}, owner);
}

using Pairs = std::vector<std::pair<int32_t, const Fst*>>;

std::unique_ptr<Delayed> DelayedReplace(const Pairs& pairs, int32_t root, bool input, bool output, int64_t max_states,
                                        int64_t max_arcs) {
  std::vector<Fst> machines;
  for (const auto& pair : pairs) machines.push_back(*pair.second);
  return std::make_unique<Delayed>(
      "ReplaceFst", std::move(machines), max_arcs, [&](const std::vector<Fst>& operands) {
        std::vector<std::pair<Label, const Fst*>> owned;
        for (size_t i = 0; i < pairs.size(); ++i) owned.emplace_back(pairs[i].first, &operands[i]);
        return MakeReplaceFst(owned, root, ReplaceOptions{input, output, max_states, max_arcs}, "ReplaceFst");
      });
}

// A delayed operation of two machines.
template <class Make>
auto Binary(const char* operation, Make make) {
  return [=](const Fst& a, const Fst& b, int64_t max_states, int64_t max_arcs) {
    ComposeOptions options;
    options.max_states = max_states;
    return std::make_unique<Delayed>(operation, std::vector<Fst>{a, b}, max_arcs, [&](const std::vector<Fst>& own) {
      return make(own[0], own[1], options, operation);
    });
  };
}

std::unique_ptr<DelayedFst> MakeComposeFst(const Fst& a, const Fst& b, const ComposeOptions& options,
                                           const char* operation) {
  return std::make_unique<ComposeFst>(a, b, options, operation);
}

void BindDelayed(nb::module_& m) {
  nb::class_<Delayed>(m, "DelayedFst")
      .def_static("compose", Binary("ComposeFst", &MakeComposeFst), "a"_a, "b"_a, "max_states"_a, "max_arcs"_a)
      .def_static("intersect", Binary("IntersectFst", &MakeIntersectFst), "a"_a, "b"_a, "max_states"_a, "max_arcs"_a)
      .def_static("difference", Binary("DifferenceFst", &MakeDifferenceFst), "a"_a, "b"_a, "max_states"_a,
                  "max_arcs"_a)
      .def_static("determinize",
                  [](const Fst& fst, float delta, int32_t subsequential_label, int64_t max_states, int64_t max_arcs,
                     int64_t max_elements, int64_t max_delay) {
                    const DeterminizeOptions options = DeterminizeArguments(
                        delta, {}, {}, subsequential_label, max_states, max_arcs, max_elements, max_delay);
                    return std::make_unique<Delayed>(
                        "DeterminizeFst", std::vector<Fst>{fst}, max_arcs, [&](const std::vector<Fst>& operands) {
                          return std::make_unique<DeterminizeFst>(operands[0], options);
                        });
                  },
                  "fst"_a, "delta"_a, "subsequential_label"_a, "max_states"_a, "max_arcs"_a, "max_elements"_a,
                  "max_delay"_a)
      .def_static("replace", &DelayedReplace, "pairs"_a, "root"_a, "input"_a, "output"_a, "max_states"_a, "max_arcs"_a)
      .def("semiring", [](Delayed& d) { return SemiringName(d.Get()->Semiring()); })
      .def("start", [](Delayed& d) { return d.Get()->Start(); })
      .def("final", &Delayed::Final, nb::arg("state").none(), nb::sig("def final(self, state: int) -> float"))
      .def("arcs",
           [](Delayed& d, nb::handle s) {
             nb::list out;
             for (const Arc& a : d.Arcs(s)) out.append(nb::make_tuple(a.ilabel, a.olabel, a.weight, a.nextstate));
             return out;
           },
           nb::arg("state").none(), nb::sig("def arcs(self, state: int) -> list[tuple[int, int, float, int]]"))
      .def("num_known_states", [](Delayed& d) { return d.Get()->NumKnownStates(); })
      .def("expand", &Delayed::Expand);
}

}  // namespace

void BindAlgorithms(nb::module_& m) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  const auto compose_options = [](bool connect, int64_t max_states, int64_t max_arcs) {
    return ComposeOptions{connect, max_states, max_arcs};
  };
  m.def("compose",
        [=](const Fst& a, const Fst& b, bool connect, int64_t max_states, int64_t max_arcs) {
          return Compose(a, b, compose_options(connect, max_states, max_arcs));
        },
        "a"_a, "b"_a, "connect"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("intersect",
        [=](const Fst& a, const Fst& b, bool connect, int64_t max_states, int64_t max_arcs) {
          return Intersect(a, b, compose_options(connect, max_states, max_arcs));
        },
        "a"_a, "b"_a, "connect"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("difference",
        [=](const Fst& a, const Fst& b, bool connect, int64_t max_states, int64_t max_arcs) {
          return Difference(a, b, compose_options(connect, max_states, max_arcs));
        },
        "a"_a, "b"_a, "connect"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("determinize",
        [](const Fst& fst, float delta, std::optional<float> weight, std::optional<int64_t> nstate,
           int32_t subsequential_label, int64_t max_states, int64_t max_arcs, int64_t max_elements, int64_t max_delay) {
          return Determinize(fst, DeterminizeArguments(delta, weight, nstate, subsequential_label, max_states, max_arcs,
                                                       max_elements, max_delay));
        },
        "fst"_a, "delta"_a, "weight"_a.none(), "nstate"_a.none(), "subsequential_label"_a, "max_states"_a, "max_arcs"_a,
        "max_elements"_a, "max_delay"_a, Release());
  m.def("rmepsilon",
        [](const Fst& fst, bool connect, float delta, int64_t max_visits, int64_t max_arcs) {
          Fst result = fst;
          RmEpsilon(&result, RmEpsilonOptions{connect, delta, max_visits, max_arcs});
          return result;
        },
        "fst"_a, "connect"_a, "delta"_a, "max_visits"_a, "max_arcs"_a, Release());
  m.def("minimize",
        [](const Fst& fst, float delta, int64_t max_visits) {
          Fst result = fst;
          Minimize(&result, MinimizeOptions{delta, max_visits});
          return result;
        },
        "fst"_a, "delta"_a, "max_visits"_a, Release());
  m.def("push",
        [](const Fst& fst, bool to_final, bool remove_total_weight, float delta, int64_t max_visits) {
          Fst result = fst;
          Push(&result, PushOptions{to_final, remove_total_weight, delta, max_visits, "push"});
          return result;
        },
        "fst"_a, "to_final"_a, "remove_total_weight"_a, "delta"_a, "max_visits"_a, Release());
  m.def("prune",
        [](const Fst& fst, float weight) {
          Fst result = fst;
          Prune(&result, weight);
          return result;
        },
        "fst"_a, "weight"_a, Release());
  m.def("replace",
        [](const Pairs& pairs, int32_t root, bool input, bool output, int64_t max_states, int64_t max_arcs) {
          return Replace(pairs, root, ReplaceOptions{input, output, max_states, max_arcs});
        },
        "pairs"_a, "root"_a, "input"_a, "output"_a, "max_states"_a, "max_arcs"_a, Release());
  m.def("equivalent",
        [](const Fst& a, const Fst& b, float delta, int64_t max_visits) {
          return Equivalent(a, b, EquivalentOptions{delta, max_visits});
        },
        "a"_a, "b"_a, "delta"_a, "max_visits"_a, Release());
  m.def("isomorphic",
        [](const Fst& a, const Fst& b, float delta) { return Isomorphic(a, b, IsomorphicOptions{delta}); },
        "a"_a, "b"_a, "delta"_a, Release());
  m.def("shortestdistance", &Distances, "fst"_a, "reverse"_a, "delta"_a, "max_visits"_a);
  m.def("shortestpath",
        [](const Fst& fst, int64_t nshortest, bool unique, std::optional<float> weight, int64_t max_states) {
          ShortestPathOptions options;
          options.nshortest = nshortest;
          options.unique = unique;
          if (weight) options.weight = *weight;
          options.max_states = max_states;
          return ShortestPath(fst, options);
        },
        "fst"_a, "nshortest"_a, "unique"_a, "weight"_a.none(), "max_states"_a, Release());
  BindDelayed(m);
}

}  // namespace tokamata
