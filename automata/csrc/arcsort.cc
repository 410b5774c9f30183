#include "automata/csrc/arcsort.h"

#include <algorithm>

#include "automata/csrc/properties.h"

namespace tokamata {

Fst ArcSort(const Fst& fst, SortSide side) {
  Fst out = fst;
  const auto before = [side](const Arc& a, const Arc& b) {
    return side == SortSide::kInput ? (a.ilabel != b.ilabel ? a.ilabel < b.ilabel : a.olabel < b.olabel)
                                    : (a.olabel != b.olabel ? a.olabel < b.olabel : a.ilabel < b.ilabel);
  };
  for (StateId s = 0; s < out.NumStates(); ++s) {
    const Span<Arc> arcs = out.MutableArcs(s);
    if (!std::is_sorted(arcs.begin(), arcs.end(), before)) std::stable_sort(arcs.begin(), arcs.end(), before);
  }
  const uint64_t sorted = BothBits(kILabelSorted | kOLabelSorted);
  out.SetKnownProperties((fst.KnownProperties() & ~sorted) |
                         (side == SortSide::kInput ? kILabelSorted : kOLabelSorted));
  return out;
}

}  // namespace tokamata
