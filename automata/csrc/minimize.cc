#include "automata/csrc/minimize.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "automata/csrc/connect.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/partition.h"
#include "automata/csrc/push.h"

namespace tokamata {
namespace {

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
