// Fst in Python. Every id and weight is checked here: the native Fst behind is always consistent.
#include "automata/csrc/fst.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

#include "automata/csrc/bind.h"
#include "automata/csrc/bind_casters.h"
#include "automata/csrc/bind_symbol_table.h"
#include "automata/csrc/check.h"
#include "automata/csrc/errors.h"

namespace nb = nanobind;

namespace tokamata {
namespace {

StateId CheckState(const Fst& fst, Integer s, const char* operation, const char* what = "state") {
  if (s.value < 0 || s.value >= fst.NumStates()) {
    const std::string text = std::string(operation) + ": " + what + " " + std::to_string(s.value) + " does not exist; " +
                             (fst.NumStates() == 0
                                  ? std::string("the Fst has no states; call add_state() first")
                                  : "expected 0.." + std::to_string(fst.NumStates() - 1) +
                                        "; add states with add_state() before using them");
    throw nb::index_error(text.c_str());
  }
  return static_cast<StateId>(s.value);
}

void AddArc(Fst& fst, Integer s, Integer ilabel, Integer olabel, std::optional<double> weight, Integer nextstate) {
  const StateId from = CheckState(fst, s, "Fst.add_arc");
  const StateId to = CheckState(fst, nextstate, "Fst.add_arc", "nextstate");
  const Label in = CheckLabel(ilabel.value, "Fst.add_arc", "ilabel");
  const Label out = CheckLabel(olabel.value, "Fst.add_arc", "olabel");
  const float w = weight ? CheckWeight(fst.Semiring(), *weight, "Fst.add_arc") : fst.One();
  if (fst.Arcs(from).size() >= kMaxArcsOfState)
    throw LimitError("Fst.add_arc: limit arcs of a state " + std::to_string(kMaxArcsOfState) +
                     " reached; split the state with epsilon arcs");
  fst.AddArc(from, {in, out, w, to});
}

std::optional<SymbolTableHandle> Handle(const std::shared_ptr<const SymbolTable>& t) {
  if (!t) return std::nullopt;
  return SymbolTableHandle::Of(t);
}

}  // namespace

void BindFst(nb::module_& m) {
  m.def("semiring_zero", [](const std::string& s) { return ZeroOf(ParseSemiring(s)); }, nb::arg("semiring"));
  m.def("semiring_one", [](const std::string& s) { return OneOf(ParseSemiring(s)); }, nb::arg("semiring"));

  nb::class_<Fst>(m, "Fst")
      .def("__init__", [](Fst* self, const std::string& semiring) { new (self) Fst(ParseSemiring(semiring)); },
           nb::arg("semiring"))
      .def("semiring", [](const Fst& f) { return SemiringName(f.Semiring()); })
      .def("copy", [](const Fst& f) { return Fst(f); })
      .def("num_states", &Fst::NumStates)
      .def("num_arcs", &Fst::NumArcs)
      .def("num_arcs_of", [](const Fst& f, Integer s) { return f.Arcs(CheckState(f, s, "Fst.num_arcs")).size(); },
           nb::arg("state"))
      .def("start", &Fst::Start)
      .def("final", [](const Fst& f, Integer s) { return f.Final(CheckState(f, s, "Fst.final")); }, nb::arg("state"))
      .def("is_final", [](const Fst& f, Integer s) { return f.IsFinal(CheckState(f, s, "Fst.is_final")); },
           nb::arg("state"))
      .def("arcs",
           [](const Fst& f, Integer s) {
             nb::list out;
             for (const Arc& a : f.Arcs(CheckState(f, s, "Fst.arcs")))
               out.append(nb::make_tuple(a.ilabel, a.olabel, a.weight, a.nextstate));
             return out;
           }, nb::arg("state"), nb::sig("def arcs(self, state: int) -> list[tuple[int, int, float, int]]"))
      .def("add_state",
           [](Fst& f) {
             CheckRoom(f, 1, "Fst.add_state");
             return f.AddState();
           })
      .def("add_states",
           [](Fst& f, Integer n) {
             CheckRoom(f, n.value, "Fst.add_states");
             f.AddStates(static_cast<size_t>(n.value));
           }, nb::arg("n"))
      .def("set_start", [](Fst& f, Integer s) { f.SetStart(CheckState(f, s, "Fst.set_start")); }, nb::arg("state"))
      .def("set_final",
           [](Fst& f, Integer s, std::optional<double> w) {
             const StateId state = CheckState(f, s, "Fst.set_final");
             f.SetFinal(state, w ? CheckWeight(f.Semiring(), *w, "Fst.set_final") : f.One());
           }, nb::arg("state"), nb::arg("weight").none())
      .def("add_arc", &AddArc, nb::arg("state"), nb::arg("ilabel"), nb::arg("olabel"), nb::arg("weight").none(),
           nb::arg("nextstate"))
      .def("delete_arcs", [](Fst& f, Integer s) { f.DeleteArcs(CheckState(f, s, "Fst.delete_arcs")); },
           nb::arg("state"))
      .def("input_symbols", [](const Fst& f) { return Handle(f.InputSymbols()); })
      .def("output_symbols", [](const Fst& f) { return Handle(f.OutputSymbols()); })
      .def("set_input_symbols",
           [](Fst& f, const SymbolTableHandle* t) { f.SetInputSymbols(t ? t->table : nullptr); },
           nb::arg("table").none())
      .def("set_output_symbols",
           [](Fst& f, const SymbolTableHandle* t) { f.SetOutputSymbols(t ? t->table : nullptr); },
           nb::arg("table").none());
}

}  // namespace tokamata
