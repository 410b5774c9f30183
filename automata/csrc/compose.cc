#include "automata/csrc/compose.h"

#include <algorithm>
#include <string>

#include "automata/csrc/connect.h"

namespace tokamata {
namespace {

// The arcs with this label, of arcs sorted by that side.
template <Label Arc::* kSide>
Span<const Arc> Range(Span<const Arc> arcs, Label label) {
  const Arc* low = std::lower_bound(arcs.begin(), arcs.end(), label,
                                    [](const Arc& arc, Label wanted) { return arc.*kSide < wanted; });
  const Arc* high = low;
  while (high != arcs.end() && (*high).*kSide == label) ++high;
  return {low, static_cast<size_t>(high - low)};
}

}  // namespace

ComposeFst::ComposeFst(const Fst& a, const Fst& b, const ComposeOptions& options, const char* operation)
    : a_(a), b_(b), operation_(operation), max_states_(options.max_states) {
  CheckSameSemiring(a, b, operation);
  RequireSameSymbols(operation, "the output side of the first and the input side of the second operand",
                     a.OutputSymbols(), b.InputSymbols());
  a_sorted_ = IsSorted(a, /*by_output=*/true);
  b_sorted_ = IsSorted(b, /*by_output=*/false);
  if (!a_sorted_ && !b_sorted_) {
    throw FstError(std::string(operation) +
                   ": expected the first operand's arcs sorted by output label or the second's by input label, got "
                   "neither; apply arcsort(first, \"output\") or arcsort(second, \"input\") before");
  }
}

StateId ComposeFst::State(StateId s1, StateId s2, bool b_moved) {
  const uint64_t key = static_cast<uint64_t>(s1) << 32 | static_cast<uint64_t>(s2) << 1 | (b_moved ? 1 : 0);
  const StateId id = table_.FindOrAdd(key);
  CheckLimit(operation_, "max_states", table_.Size(), max_states_,
             "the product of the operands has too many states; determinize, minimize or connect them first");
  return id;
}

StateId ComposeFst::Start() {
  if (a_.Start() == kNoState || b_.Start() == kNoState) return kNoState;
  return State(a_.Start(), b_.Start(), false);
}

float ComposeFst::Times(float x, float y) const {
  return VisitSemiring(a_.Semiring(), [&](auto s) { return decltype(s)::Times(x, y); });
}

float ComposeFst::Final(StateId s) {
  const uint64_t key = table_.Key(s);
  return Times(a_.Final(static_cast<StateId>(key >> 32)), b_.Final(static_cast<StateId>((key & 0xffffffff) >> 1)));
}

void ComposeFst::Add(const Arc& first, const Arc& second, std::vector<Arc>* arcs) {
  arcs->push_back({first.ilabel, second.olabel, Times(first.weight, second.weight),
                   State(first.nextstate, second.nextstate, false)});
}

void ComposeFst::Match(Span<const Arc> first, Span<const Arc> second, std::vector<Arc>* arcs) {
  const bool search_second = b_sorted_ && (!a_sorted_ || first.size() <= second.size());
  if (a_sorted_ && b_sorted_ && first.size() < 8 * second.size() && second.size() < 8 * first.size()) {
    size_t i = 0, k = 0;
    while (i < first.size() && k < second.size()) {
      const Label label = first[i].olabel;
      if (second[k].ilabel < label) {
        ++k;
      } else if (second[k].ilabel > label) {
        ++i;
      } else {
        for (size_t m = k; label != kEpsilon && m < second.size() && second[m].ilabel == label; ++m) {
          Add(first[i], second[m], arcs);
        }
        ++i;
      }
    }
  } else if (search_second) {
    for (const Arc& x : first) {
      if (x.olabel == kEpsilon) continue;
      for (const Arc& y : Range<&Arc::ilabel>(second, x.olabel)) Add(x, y, arcs);
    }
  } else {
    for (const Arc& y : second) {
      if (y.ilabel == kEpsilon) continue;
      for (const Arc& x : Range<&Arc::olabel>(first, y.ilabel)) Add(x, y, arcs);
    }
  }
}

void ComposeFst::Expand(StateId s, std::vector<Arc>* arcs) {
  arcs->clear();
  const uint64_t key = table_.Key(s);
  const StateId s1 = static_cast<StateId>(key >> 32), s2 = static_cast<StateId>((key & 0xffffffff) >> 1);
  const bool b_moved = key & 1;
  Span<const Arc> first = a_.Arcs(s1), second = b_.Arcs(s2);

  // Epsilons first, so that a sorted side stays sorted in the result where it can.
  size_t first_epsilons = 0;
  const Span<const Arc> candidates1 = a_sorted_ ? Range<&Arc::olabel>(first, kEpsilon) : first;
  for (const Arc& x : candidates1) {
    if (x.olabel != kEpsilon) continue;
    ++first_epsilons;
    if (!b_moved) arcs->push_back({x.ilabel, kEpsilon, x.weight, State(x.nextstate, s2, false)});
  }
  // Where a can only move by epsilons, b's epsilons wait; where it has none, the order does not matter.
  const bool must_move_a = first_epsilons == first.size() && !a_.IsFinal(s1);
  if (!must_move_a) {
    const Span<const Arc> candidates2 = b_sorted_ ? Range<&Arc::ilabel>(second, kEpsilon) : second;
    for (const Arc& y : candidates2) {
      if (y.ilabel != kEpsilon) continue;
      arcs->push_back({kEpsilon, y.olabel, y.weight, State(s1, y.nextstate, first_epsilons > 0)});
    }
  }
  if (first_epsilons < first.size()) Match(first, second, arcs);
}

Fst Compose(const Fst& a, const Fst& b, const ComposeOptions& options) {
  ComposeFst delayed(a, b, options);
  Fst result = Materialize("compose", &delayed, options.max_arcs);
  if (options.connect) result = Connect(result);
  return result;
}

}  // namespace tokamata
