// Binding of mask_scores.h.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "decode/csrc/bind.h"
#include "decode/csrc/mask_scores.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Scores = nb::ndarray<nb::ndim<2>, nb::device::cpu>;
using Masks = nb::ndarray<const int32_t, nb::ndim<2>, nb::device::cpu>;

// The bits of minus infinity; 0 for items that have none here.
uint64_t MinusInfinity(const nb::dlpack::dtype& type) {
  const bool ieee = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Float);
  const bool brain = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat);
  if (type.lanes != 1 || !(ieee || brain)) return 0;
  if (brain) return type.bits == 16 ? 0xff80 : 0;
  if (type.bits == 16) return 0xfc00;
  if (type.bits == 32) return 0xff800000;
  return type.bits == 64 ? 0xfff0000000000000 : 0;
}

ScoreRows RowsOf(const Scores& scores) { return {scores.data(), scores.stride(0), scores.stride(1)}; }

}  // namespace

void BindMaskScores(nb::module_& m) {
  m.def(
      "mask_scores",
      [](const Scores& from, const Scores& to, const Masks& masks) {
        const uint64_t infinity = MinusInfinity(from.dtype());
        if (!infinity || from.dtype() != to.dtype())
          throw nb::type_error("mask_scores: expected two arrays of one floating dtype");
        const size_t rows = from.shape(0), width = from.shape(1);
        const bool packed_close = masks.shape(1) <= 1 || masks.stride(1) == 1;
        if (to.shape(0) != rows || to.shape(1) != width || masks.shape(0) < rows || (rows && !packed_close))
          throw nb::value_error("mask_scores: shapes differ");
        if (rows && width && (!from.data() || !to.data() || (!masks.data() && masks.shape(1))))
          throw nb::value_error("mask_scores: an array is without memory");
        const auto* packed = reinterpret_cast<const uint32_t*>(masks.data());
        nb::gil_scoped_release release;
        MaskScores(RowsOf(from), RowsOf(to), rows, width, from.dtype().bits / 8, infinity, packed, masks.shape(1),
                   static_cast<size_t>(masks.stride(0)));
      },
      "scores"_a.noconvert(), "out"_a.noconvert(), "masks"_a.noconvert(),
      nb::sig("def mask_scores(scores: object, out: object, masks: object) -> None"),
      "out = scores where the packed masks have a 1, else minus infinity; CPU arrays or tensors, out may be scores.");
}

}  // namespace tokamata
