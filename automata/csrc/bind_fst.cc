// Fst in Python. Every id and weight is checked here: the native Fst behind is always consistent.
#include "automata/csrc/fst.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "automata/csrc/bind.h"
#include "automata/csrc/bind_arguments.h"
#include "automata/csrc/bind_symbol_table.h"
#include "automata/csrc/check.h"
#include "automata/csrc/errors.h"

namespace nb = nanobind;

namespace tokamata {
namespace {

StateId CheckState(const Fst& fst, nb::handle state, const char* operation, const char* what = "state") {
  const int64_t s = WholeNumber(state, operation, what);
  if (s < 0 || s >= fst.NumStates()) {
    const std::string text = std::string(operation) + ": " + what + " " + std::to_string(s) + " does not exist; " +
                             (fst.NumStates() == 0
                                  ? std::string("the Fst has no states; call add_state() first")
                                  : "expected 0.." + std::to_string(fst.NumStates() - 1) +
                                        "; add states with add_state() before using them");
    throw nb::index_error(text.c_str());
  }
  return static_cast<StateId>(s);
}

Label LabelOf(nb::handle label, const char* operation, const char* what) {
  return CheckLabel(WholeNumber(label, operation, what), operation, what);
}

// None is the semiring's one.
float WeightOf(const Fst& fst, nb::handle weight, const char* operation) {
  if (weight.is_none()) return fst.One();
  double number;
  if (nb::try_cast(weight, number)) return CheckWeight(fst.Semiring(), number, operation);
  const std::string text = std::string(operation) + ": expected weight as a number or None, got " +
                           nb::str(weight.type().attr("__name__")).c_str() + "; pass a float";
  throw nb::type_error(text.c_str());
}

void AddArc(Fst& fst, nb::handle s, nb::handle ilabel, nb::handle olabel, nb::handle weight, nb::handle nextstate) {
  const StateId from = CheckState(fst, s, "Fst.add_arc");
  const StateId to = CheckState(fst, nextstate, "Fst.add_arc", "nextstate");
  const Label in = LabelOf(ilabel, "Fst.add_arc", "ilabel");
  const Label out = LabelOf(olabel, "Fst.add_arc", "olabel");
  const float w = WeightOf(fst, weight, "Fst.add_arc");
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
      .def("num_arcs_of", [](const Fst& f, nb::handle s) { return f.Arcs(CheckState(f, s, "Fst.num_arcs")).size(); },
           nb::arg("state").none(), nb::sig("def num_arcs_of(self, state: int) -> int"))
      .def("start", &Fst::Start)
      .def("final", [](const Fst& f, nb::handle s) { return f.Final(CheckState(f, s, "Fst.final")); },
           nb::arg("state").none(), nb::sig("def final(self, state: int) -> float"))
      .def("is_final", [](const Fst& f, nb::handle s) { return f.IsFinal(CheckState(f, s, "Fst.is_final")); },
           nb::arg("state").none(), nb::sig("def is_final(self, state: int) -> bool"))
      .def("arcs",
           [](const Fst& f, nb::handle s) {
             nb::list out;
             for (const Arc& a : f.Arcs(CheckState(f, s, "Fst.arcs")))
               out.append(nb::make_tuple(a.ilabel, a.olabel, a.weight, a.nextstate));
             return out;
           }, nb::arg("state").none(), nb::sig("def arcs(self, state: int) -> list[tuple[int, int, float, int]]"))
      .def("add_state",
           [](Fst& f) {
             CheckRoom(f, 1, "Fst.add_state");
             return f.AddState();
           })
      .def("add_states",
           [](Fst& f, nb::handle count) {
             const int64_t n = WholeNumber(count, "Fst.add_states", "n");
             CheckRoom(f, n, "Fst.add_states");
             f.AddStates(static_cast<size_t>(n));
           }, nb::arg("n").none(), nb::sig("def add_states(self, n: int) -> None"))
      .def("set_start", [](Fst& f, nb::handle s) { f.SetStart(CheckState(f, s, "Fst.set_start")); },
           nb::arg("state").none(), nb::sig("def set_start(self, state: int) -> None"))
      .def("set_final",
           [](Fst& f, nb::handle s, nb::handle weight) {
             const StateId state = CheckState(f, s, "Fst.set_final");
             f.SetFinal(state, WeightOf(f, weight, "Fst.set_final"));
           }, nb::arg("state").none(), nb::arg("weight").none(),
           nb::sig("def set_final(self, state: int, weight: float | None) -> None"))
      .def("add_arc", &AddArc, nb::arg("state").none(), nb::arg("ilabel").none(), nb::arg("olabel").none(),
           nb::arg("weight").none(), nb::arg("nextstate").none(),
           nb::sig("def add_arc(self, state: int, ilabel: int, olabel: int, weight: float | None, nextstate: int) -> "
                   "None"))
      .def("delete_arcs", [](Fst& f, nb::handle s) { f.DeleteArcs(CheckState(f, s, "Fst.delete_arcs")); },
           nb::arg("state").none(), nb::sig("def delete_arcs(self, state: int) -> None"))
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
