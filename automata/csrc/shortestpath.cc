#include "automata/csrc/shortestpath.h"

#include <algorithm>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "automata/csrc/determinize.h"
#include "automata/csrc/shortestdistance.h"
#include "automata/csrc/single_source.h"
#include "automata/csrc/visit.h"

namespace tokamata {
namespace {

Fst EmptyLike(const Fst& fst) {
  Fst result(fst.Semiring());
  result.SetInputSymbols(fst.InputSymbols());
  result.SetOutputSymbols(fst.OutputSymbols());
  return result;
}

bool HasNegativeWeight(const Fst& fst) {
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    for (const Arc& arc : fst.Arcs(s))
      if (arc.weight < 0) return true;
  }
  return false;
}

template <class S>
Fst SinglePath(const Fst& fst) {
  Fst result = EmptyLike(fst);
  if (fst.Start() == kNoState) return result;
  std::vector<uint8_t> to_end;  // made where a cycle without a way to the end could be taken for an error
  if (HasNegativeWeight(fst)) {
    to_end = CoaccessibleStates(fst);
    if (!to_end[fst.Start()]) return result;
  }
  const ForwardGraph graph{fst, false, to_end.empty() ? nullptr : &to_end};
  SingleSource<S, ForwardGraph> search("shortestpath", graph, kShortestDelta, kDefaultMaxVisits);
  search.Run({{fst.Start(), S::One()}});
  StateId best = kNoState;
  float best_weight = S::Zero();
  for (StateId s : search.Reached()) {
    const float weight = S::Plus(best_weight, S::Times(search.Distance(s), fst.Final(s)));
    if (weight == best_weight) continue;
    best_weight = weight;
    best = s;
  }
  if (best == kNoState) return result;
  std::vector<Arc> arcs;
  for (StateId s = best; s != fst.Start() && search.Parent(s) != kNoState; s = search.Parent(s)) {
    arcs.push_back(fst.Arcs(search.Parent(s))[search.ParentArc(s)]);
    if (arcs.size() > static_cast<size_t>(fst.NumStates()))
      throw FstError("shortestpath: rounding makes the total weight of a long cycle negative at state " + std::to_string(s) +
                     "; expected cycles of weight at least 0: round the weights, or remove the cycle");
  }
  result.AddStates(arcs.size() + 1);
  result.SetStart(0);
  for (size_t i = 0; i < arcs.size(); ++i) {
    Arc arc = arcs[arcs.size() - 1 - i];
    arc.nextstate = static_cast<StateId>(i + 1);
    result.AddArc(static_cast<StateId>(i), arc);
  }
  result.SetFinal(static_cast<StateId>(arcs.size()), fst.Final(best));
  return result;
}

// The machine itself, or its delayed determinization, with each state's best weight to the end.
class PathSource {
 public:
  PathSource(const Fst& fst, const ShortestPathOptions& options, bool unique)
      : fst_(fst), rest_(Rest(fst)) {
    if (!unique) return;
    DeterminizeOptions determinize;
    determinize.max_states = options.max_states;
    delayed_ = std::make_unique<DeterminizeFst>(fst, determinize);
  }
  StateId Start() { return delayed_ ? delayed_->Start() : fst_.Start(); }
  float Final(StateId s) { return delayed_ ? delayed_->Final(s) : fst_.Final(s); }
  float Bound(StateId s) const { return delayed_ ? delayed_->Bound(s, rest_) : rest_[s]; }
  float Rounding() const { return RoundingOf(rest_); }
  void Expand(StateId s, std::vector<Arc>* arcs) {
    if (delayed_) {
      delayed_->Expand(s, arcs);
    } else {
      arcs->assign(fst_.Arcs(s).begin(), fst_.Arcs(s).end());
    }
  }

 private:
  static std::vector<float> Rest(const Fst& fst) {
    ShortestDistanceOptions reverse;
    reverse.reverse = reverse.connected = true;
    reverse.operation = "shortestpath";
    return ShortestDistance(fst, reverse);
  }
  const Fst& fst_;
  std::vector<float> rest_;
  std::unique_ptr<DeterminizeFst> delayed_;
};

struct PartialPath {
  StateId state;
  int32_t parent;
  Arc arc;
  float weight;  // of the path so far
};

struct Candidate {
  float cost;  // of the best completion
  int32_t path;
  bool complete;
};

struct Later {
  bool operator()(const Candidate& x, const Candidate& y) const {
    return std::tie(x.cost, y.complete, x.path) > std::tie(y.cost, x.complete, y.path);
  }
};

template <class S>
Fst ManyPaths(const Fst& fst, const ShortestPathOptions& options) {
  Fst result = EmptyLike(fst);
  PathSource source(fst, options, options.unique);
  const StateId start = source.Start();
  if (start == kNoState || source.Bound(start) == S::Zero()) return result;
  const auto cost = [](float weight) { return S::Zero() > S::One() ? weight : -weight; };
  const float best = cost(source.Bound(start));
  const float limit = best + options.weight + source.Rounding();

  std::vector<PartialPath> paths{{start, -1, {}, S::One()}};
  std::vector<std::pair<int32_t, float>> ends;  // complete paths and their final weights
  std::vector<int64_t> visits;
  std::priority_queue<Candidate, std::vector<Candidate>, Later> heap;
  heap.push({best, 0, false});
  std::vector<Arc> arcs;
  while (!heap.empty() && static_cast<int64_t>(ends.size()) < options.nshortest) {
    const Candidate top = heap.top();
    heap.pop();
    if (!(top.cost <= limit)) break;
    const PartialPath path = paths[top.path];
    if (top.complete) {
      ends.emplace_back(top.path, source.Final(path.state));
      continue;
    }
    if (static_cast<size_t>(path.state) >= visits.size()) visits.resize(static_cast<size_t>(path.state) + 1, 0);
    if (++visits[path.state] > options.nshortest) continue;
    const float end = S::Times(path.weight, source.Final(path.state));
    if (end != S::Zero()) heap.push({cost(end), top.path, true});
    source.Expand(path.state, &arcs);
    for (const Arc& arc : arcs) {
      const float weight = S::Times(path.weight, arc.weight);
      const float bound = S::Times(weight, source.Bound(arc.nextstate));
      if (bound == S::Zero()) continue;
      heap.push({cost(bound), static_cast<int32_t>(paths.size()), false});
      paths.push_back({arc.nextstate, top.path, arc, weight});
    }
    CheckLimit("shortestpath", "max_states", paths.size(), options.max_states,
               "the search keeps too many beginnings of paths; ask for fewer paths");
  }

  std::vector<StateId> number(paths.size(), kNoState);
  for (const auto& end : ends) {
    for (int32_t p = end.first; p >= 0 && number[p] == kNoState; p = paths[p].parent) number[p] = 0;
  }
  for (size_t p = 0; p < paths.size(); ++p) {  // parents come first
    if (number[p] == kNoState) continue;
    number[p] = result.AddState();
    if (paths[p].parent < 0) continue;
    Arc arc = paths[p].arc;
    arc.nextstate = number[p];
    result.AddArc(number[paths[p].parent], arc);
  }
  for (const auto& [path, final] : ends) result.SetFinal(number[path], final);
  if (!ends.empty()) result.SetStart(0);
  return result;
}

}  // namespace

Fst ShortestPath(const Fst& fst, const ShortestPathOptions& options) {
  RequirePathSemiring("shortestpath", fst);
  if (options.nshortest < 0) {
    throw FstError("shortestpath: nshortest must not be negative, got " + std::to_string(options.nshortest));
  }
  if (options.unique) {
    RequireAcceptor("shortestpath with unique", fst, "the operand");
    if (!IsInputEpsilonFree(fst)) {
      throw FstError("shortestpath with unique: expected an epsilon-free acceptor, got epsilon arcs; apply rmepsilon "
                     "first");
    }
  }
  if (options.nshortest == 0) return EmptyLike(fst);
  const bool single = options.nshortest == 1 && !(options.weight < 0);
  if (fst.Semiring() == SemiringKind::kBoolean) {
    return single ? SinglePath<Boolean>(fst) : ManyPaths<Boolean>(fst, options);
  }
  return single ? SinglePath<Tropical>(fst) : ManyPaths<Tropical>(fst, options);
}

}  // namespace tokamata
