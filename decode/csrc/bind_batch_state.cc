// Bindings of batch_state.h: the native side of tokamata.decode.BatchState.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <string>
#include <vector>

#include "decode/csrc/batch_state.h"
#include "decode/csrc/bind.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

template <class State>
std::vector<State*> StatesOf(const nb::list& list) {
  std::vector<State*> states;
  states.reserve(list.size());
  for (nb::handle h : list) states.push_back(h.is_none() ? nullptr : nb::cast<DecodeState*>(h));
  return states;
}

nb::object ErrorList(const std::vector<RowError>& errors) {
  if (errors.empty()) return nb::none();
  nb::list list;
  for (const RowError& e : errors) {
    nb::object text = nb::steal(PyUnicode_DecodeUTF8(e.text.data(), static_cast<Py_ssize_t>(e.text.size()), "replace"));
    list.append(nb::make_tuple(e.row, static_cast<int>(e.kind), text));
  }
  return nb::object(list);
}

}  // namespace

void BindBatchState(nb::module_& m) {
  nb::class_<Workers>(m, "Workers", "Threads for many rows at once; `threads` counts the calling one.")
      .def(nb::init<size_t>(), "threads"_a)
      .def_prop_ro("threads", &Workers::Threads)
      .def(
          "fill_masks",
          [](Workers& self, const nb::list& states, nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
            const auto rows = StatesOf<const DecodeState>(states);
            size_t words = 0;
            for (const DecodeState* s : rows)
              if (s) words = std::max<size_t>(words, s->Automaton().Words());
            if (out.shape(0) < rows.size() || out.shape(1) < words) throw nb::value_error("fill_masks: out is too small");
            uint32_t* data = reinterpret_cast<uint32_t*>(out.data());
            std::vector<RowError> errors;
            {
              nb::gil_scoped_release release;
              errors = FillMasks(rows, data, out.shape(1), &self);
            }
            return ErrorList(errors);
          },
          "states"_a, "out"_a.noconvert(),
          nb::sig("def fill_masks(self, states: list[DecodeState | None], out: numpy.typing.NDArray[numpy.int32]) -> "
                  "list[tuple[int, int, str]] | None"),
          "The masks of different states; (row, kind, text) of what went wrong.")
      .def(
          "advance",
          [](Workers& self, const nb::list& states,
             const nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& tokens) {
            const auto rows = StatesOf<DecodeState>(states);
            if (tokens.shape(0) != rows.size()) throw nb::value_error("advance: expected one token for each state");
            std::vector<RowError> errors;
            {
              nb::gil_scoped_release release;
              errors = AdvanceAll(rows, tokens.data(), &self);
            }
            return ErrorList(errors);
          },
          "states"_a, "token_ids"_a,
          nb::sig("def advance(self, states: list[DecodeState | None], token_ids: numpy.typing.NDArray[numpy.int64]) -> "
                  "list[tuple[int, int, str]] | None"));
}

}  // namespace tokamata
