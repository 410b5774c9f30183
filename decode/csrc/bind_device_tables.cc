// Binding of device_tables.h: the arrays behind tokamata.decode.DeviceAutomaton.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <utility>
#include <vector>

#include "decode/csrc/bind.h"
#include "decode/csrc/device_tables.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

// Hands a vector over to numpy.
template <class To, class From>
nb::object Matrix(std::vector<From>&& from, size_t columns) {
  static_assert(sizeof(To) == sizeof(From), "the items stay as they are");
  auto* kept = new std::vector<From>(std::move(from));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<From>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, To, nb::ndim<2>>(kept->data(), {kept->size() / columns, columns}, owner));
}

}  // namespace

void BindDeviceTables(nb::module_& m) {
  m.def(
      "device_tables",
      [](const Language& language, std::shared_ptr<const Vocabulary> vocabulary, uint32_t max_states, uint64_t max_bytes) {
        const size_t words = vocabulary->Words();
        DeviceTables made = [&] {
          nb::gil_scoped_release release;
          return MakeDeviceTables(language, std::move(vocabulary), {max_states, max_bytes});
        }();
        std::vector<uint8_t> class_of(made.class_of.begin(), made.class_of.end());
        return nb::make_tuple(Matrix<uint8_t>(std::move(class_of), 256),
                              Matrix<int32_t>(std::move(made.next), made.num_classes),
                              Matrix<int32_t>(std::move(made.row_of), 1), Matrix<int32_t>(std::move(made.rows), words),
                              Matrix<uint8_t>(std::move(made.final), 1));
      },
      "language"_a, "vocabulary"_a, "max_states"_a, "max_bytes"_a,
      nb::sig("def device_tables(language: Language, vocabulary: Vocabulary, max_states: int, max_bytes: int) -> "
              "tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int32], "
              "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.uint8]]"),
      "(class of each byte, successors, mask row of each state, masks, whether final); see device_tables.h.");
  m.def(
      "token_table",
      [](const Vocabulary& vocabulary) {
        const TokenTable& table = vocabulary.Table();
        std::vector<uint32_t> offsets(table.offsets.begin(), table.offsets.end());
        std::vector<uint32_t> lengths;
        std::vector<uint8_t> bytes;
        for (uint32_t i = 0; i < vocabulary.Size(); ++i) {
          const std::string_view token = vocabulary.Token(i);
          offsets[i] = static_cast<uint32_t>(bytes.size());
          bytes.insert(bytes.end(), token.begin(), token.end());
          lengths.push_back(static_cast<uint32_t>(token.size()));
        }
        bytes.push_back(0);
        offsets.resize(vocabulary.Size());
        return nb::make_tuple(Matrix<uint32_t>(std::move(offsets), 1), Matrix<uint32_t>(std::move(lengths), 1),
                              Matrix<uint8_t>(std::move(bytes), 1));
      },
      "vocabulary"_a,
      nb::sig("def token_table(vocabulary: Vocabulary) -> tuple[numpy.typing.NDArray[numpy.uint32], "
              "numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint8]]"),
      "(where each token's bytes begin, how many they are, the bytes of all tokens).");
}

}  // namespace tokamata
