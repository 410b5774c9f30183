#include "automata/csrc/minimize.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "automata/csrc/connect.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/push.h"

namespace tokamata {
namespace {

// Elements 0..n-1 in sets; marked elements of each set can be split off in time proportional to their number.
class Partition {
 public:
  // Sets are the runs of equal classes; classes are dense.
  Partition(const std::vector<StateId>& classes, StateId num_classes)
      : elements_(classes.size()), place_(classes.size()), set_(classes), marked_(num_classes, 0) {
    std::vector<uint32_t> next(static_cast<size_t>(num_classes) + 1, 0);
    for (StateId c : classes) ++next[static_cast<size_t>(c) + 1];
    for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    first_.assign(next.begin(), next.end() - 1);
    end_.assign(next.begin() + 1, next.end());
    for (uint32_t e = 0; e < classes.size(); ++e) {
      place_[e] = next[classes[e]]++;
      elements_[place_[e]] = e;
    }
  }

  size_t NumSets() const { return first_.size(); }
  StateId SetOf(uint32_t e) const { return set_[e]; }
  Span<const uint32_t> Set(size_t set) const { return {elements_.data() + first_[set], end_[set] - first_[set]}; }

  void Mark(uint32_t e) {
    const StateId set = set_[e];
    const uint32_t target = first_[set] + marked_[set];
    if (place_[e] < target) return;
    if (marked_[set]++ == 0) touched_.push_back(set);
    const uint32_t other = elements_[target];
    std::swap(elements_[place_[e]], elements_[target]);
    place_[other] = place_[e];
    place_[e] = target;
  }

  // Parts every set with marked elements; the smaller part becomes the new set. Forgets all marks.
  void Split() {
    for (StateId set : touched_) {
      const uint32_t middle = first_[set] + marked_[set];
      marked_[set] = 0;
      if (middle == end_[set]) continue;
      const StateId added = static_cast<StateId>(first_.size());
      if (middle - first_[set] <= end_[set] - middle) {
        first_.push_back(first_[set]);
        end_.push_back(middle);
        first_[set] = middle;
      } else {
        first_.push_back(middle);
        end_.push_back(end_[set]);
        end_[set] = middle;
      }
      marked_.push_back(0);
      for (uint32_t i = first_[added]; i < end_[added]; ++i) set_[elements_[i]] = added;
    }
    touched_.clear();
  }

 private:
  std::vector<uint32_t> elements_, place_;
  std::vector<StateId> set_;
  std::vector<uint32_t> first_, end_, marked_;
  std::vector<StateId> touched_;
};

uint64_t Bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// The coarsest partition of the states that respects final weights and labelled, weighted arcs.
Partition Refine(const Fst& fst, float delta) {
  const size_t n = static_cast<size_t>(fst.NumStates()), m = fst.NumArcs();
  KeyTable finals;
  std::vector<StateId> state_class(n), arc_class, tail;
  for (size_t s = 0; s < n; ++s) {
    state_class[s] = finals.FindOrAdd(Bits(Quantize(fst.Final(static_cast<StateId>(s)), delta)));
  }
  KeyTable pairs, labels;
  arc_class.reserve(m);
  tail.reserve(m);
  std::vector<uint32_t> first(n + 1, 0), incoming(m);
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    for (const Arc& arc : fst.Arcs(s)) {
      const uint64_t key = static_cast<uint64_t>(arc.ilabel) << 32 | static_cast<uint32_t>(arc.olabel);
      const uint64_t pair = static_cast<uint64_t>(pairs.FindOrAdd(key));
      arc_class.push_back(labels.FindOrAdd(pair << 32 | Bits(Quantize(arc.weight, delta))));
      tail.push_back(s);
      ++first[static_cast<size_t>(arc.nextstate) + 1];
    }
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  uint32_t index = 0;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    for (const Arc& arc : fst.Arcs(s)) incoming[next[arc.nextstate]++] = index++;
  }

  Partition states(state_class, static_cast<StateId>(finals.Size()));
  Partition arcs(arc_class, static_cast<StateId>(labels.Size()));
  size_t block = 1;  // arcs need not be split by the first block: the others tell the same
  for (size_t cord = 0; cord < arcs.NumSets(); ++cord) {
    for (uint32_t i : arcs.Set(cord)) states.Mark(static_cast<uint32_t>(tail[i]));
    states.Split();
    for (; block < states.NumSets(); ++block) {
      for (uint32_t s : states.Set(block)) {
        for (uint32_t k = first[s]; k < first[s + 1]; ++k) arcs.Mark(incoming[k]);
      }
      arcs.Split();
    }
  }
  return states;
}

Fst Merge(const Fst& fst, const Partition& partition) {
  std::vector<StateId> number(partition.NumSets(), kNoState), representative;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    StateId& id = number[partition.SetOf(static_cast<uint32_t>(s))];
    if (id != kNoState) continue;
    id = static_cast<StateId>(representative.size());
    representative.push_back(s);
  }
  Fst result(fst.Semiring());
  result.SetInputSymbols(fst.InputSymbols());
  result.SetOutputSymbols(fst.OutputSymbols());
  result.AddStates(representative.size());
  for (size_t id = 0; id < representative.size(); ++id) {
    const StateId s = representative[id];
    result.SetFinal(static_cast<StateId>(id), fst.Final(s));
    for (Arc arc : fst.Arcs(s)) {
      arc.nextstate = number[partition.SetOf(static_cast<uint32_t>(arc.nextstate))];
      result.AddArc(static_cast<StateId>(id), arc);
    }
  }
  result.SetStart(number[partition.SetOf(static_cast<uint32_t>(fst.Start()))]);
  return result;
}

}  // namespace

void Minimize(Fst* fst, const MinimizeOptions& options) {
  if (!IsPairDeterministic(*fst)) {
    throw FstError(
        "minimize: expected a deterministic machine, got two arcs with the same labels from one state; apply "
        "determinize first");
  }
  DropZeroArcs(fst);
  *fst = Connect(*fst);
  if (fst->Start() == kNoState) return;
  if (fst->NumArcs() > 0x7fffffff) {
    throw LimitError("minimize: limit arcs " + std::to_string(0x7fffffff) + " reached: " +
                     std::to_string(fst->NumArcs()) + " arcs; use a smaller machine");
  }
  float total = fst->One();
  if (!IsUnweighted(*fst)) {
    PushOptions push;
    push.remove_total_weight = true;
    push.delta = std::min(options.delta, kShortestDelta);
    push.max_visits = options.max_visits;
    push.operation = "minimize";
    total = Push(fst, push);
  }
  *fst = Merge(*fst, Refine(*fst, options.delta));
  if (IsStartEntered(*fst)) {
    ScaleAtFinals(fst, total);
  } else {
    ScaleAtStart(fst, total);
  }
}

}  // namespace tokamata
