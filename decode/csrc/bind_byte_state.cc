// Python bindings of decode/csrc/byte_state.h.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>

#include "decode/csrc/bind.h"
#include "decode/csrc/byte_state.h"
#include "decode/csrc/generations.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Words = nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

uint32_t* RowOf(const ByteState& self, const Words& row) {
  if (row.shape(0) != self.Words()) throw nb::value_error("ByteState: the row has another number of words than masks");
  return reinterpret_cast<uint32_t*>(row.data());
}

}  // namespace

void BindByteState(nb::module_& m) {
  nb::class_<ByteState>(m, "ByteState", "A position in a token automaton's constraint, byte by byte.")
      .def(nb::init<std::shared_ptr<Generations>>(), "automaton"_a)
      .def(
          "after",
          [](const ByteState& self, const nb::bytes& bytes) {
            return self.After(std::string_view(bytes.c_str(), bytes.size()));
          },
          "bytes"_a, "The state after some bytes; None where no member begins like that.")
      .def_prop_ro("is_final", &ByteState::IsFinal)
      .def_prop_ro("goes_on", &ByteState::GoesOn, "Whether a longer member exists.")
      .def_prop_ro(
          "live_bytes",
          [](const ByteState& self) {
            const std::string s = self.LiveBytes();
            return nb::bytes(s.data(), s.size());
          })
      .def_prop_ro("key", &ByteState::Key, "Equal for equal states, as long as one of them exists.")
      .def_prop_ro("spells_any_text", &ByteState::SpellsAnyText, "Whether all single bytes of texts are tokens.")
      .def("begins_marker", &ByteState::BeginsMarker, "byte"_a)
      .def(
          "ends",
          [](const ByteState& self, const std::vector<uint32_t>& nodes, size_t most, std::optional<Words> row) {
            uint32_t* words = row ? RowOf(self, *row) : nullptr;
            bool complete;
            std::vector<ByteState::End> ends;
            {
              nb::gil_scoped_release release;
              ends = self.Ends(nodes, most, words, &complete);
            }
            nb::list out;
            for (const auto& e : ends)
              out.append(nb::make_tuple(e.node, e.goes_on, e.leaf, nb::bytes(e.bytes.data(), e.bytes.size()), e.from));
            return nb::make_tuple(out, complete);
          },
          "nodes"_a, "most"_a, "row"_a = nb::none(),
          nb::sig("def ends(self, nodes: collections.abc.Sequence[int], most: int, "
                  "row: numpy.typing.NDArray[numpy.int32] | None = None) -> "
                  "tuple[list[tuple[int, bool, bool, bytes, int]], bool]"),
          "Places inside tokens where the part can end, as (node, whether it can go on, leaf, bytes, from which of the\n"
          "nodes), and whether these are all; the bits of the other tokens that are allowed are set.")
      .def(
          "add_mask",
          [](const ByteState& self, const std::vector<uint32_t>& left_out, const Words& row) {
            uint32_t* words = RowOf(self, row);
            nb::gil_scoped_release release;
            self.AddMask(left_out, words);
          },
          "left_out"_a, "row"_a,
          nb::sig("def add_mask(self, left_out: collections.abc.Sequence[int], "
                  "row: numpy.typing.NDArray[numpy.int32]) -> None"),
          "Set the bits of the tokens that are allowed; those that end at the nodes left out are not.")
      .def(
          "add_tokens",
          [](const ByteState& self, const std::vector<uint32_t>& nodes, const Words& row) {
            uint32_t* words = RowOf(self, row);
            nb::gil_scoped_release release;
            self.AddTokens(nodes, words);
          },
          "nodes"_a, "row"_a,
          nb::sig("def add_tokens(self, nodes: collections.abc.Sequence[int], "
                  "row: numpy.typing.NDArray[numpy.int32]) -> None"),
          "Set the bits of the tokens below some nodes that are allowed.")
      .def(
          "add_tokens_at",
          [](const ByteState& self, const std::vector<uint32_t>& nodes, const Words& row) {
            uint32_t* words = RowOf(self, row);
            for (uint32_t node : nodes) self.AddTokensAt(node, words);
          },
          "nodes"_a, "row"_a,
          nb::sig("def add_tokens_at(self, nodes: collections.abc.Sequence[int], "
                  "row: numpy.typing.NDArray[numpy.int32]) -> None"),
          "Set the bits of the tokens that end at some nodes.");
}

}  // namespace tokamata
