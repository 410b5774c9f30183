#include "automata/csrc/shortestdistance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "automata/csrc/single_source.h"
#include "automata/csrc/visit.h"

namespace tokamata {
namespace {

template <class S, class Graph>
std::vector<float> Distances(const Graph& graph, const std::vector<std::pair<StateId, float>>& sources,
                             const ShortestDistanceOptions& options) {
  SingleSource<S, Graph> search(options.operation, graph, options.delta, options.max_visits);
  search.Run(sources);
  std::vector<float> distances(graph.NumStates(), S::Zero());
  for (StateId s : search.Reached()) distances[s] = search.Distance(s);
  return distances;
}

}  // namespace

std::vector<float> ShortestDistance(const Fst& fst, const ShortestDistanceOptions& options) {
  std::vector<uint8_t> others;  // the states that the other end of accepted paths can be reached from
  if (options.connected) others = options.reverse ? AccessibleStates(fst) : CoaccessibleStates(fst);
  const std::vector<uint8_t>* within = options.connected ? &others : nullptr;
  return VisitSemiring(fst.Semiring(), [&](auto semiring) {
    using S = decltype(semiring);
    std::vector<std::pair<StateId, float>> sources;
    if (options.reverse) {
      for (StateId s = 0; s < fst.NumStates(); ++s) {
        if (fst.IsFinal(s) && (!within || others[s])) sources.emplace_back(s, fst.Final(s));
      }
      return Distances<S>(ReverseGraph(fst, within), sources, options);
    }
    const StateId start = fst.Start();
    if (start != kNoState && (!within || others[start])) sources.emplace_back(start, S::One());
    return Distances<S>(ForwardGraph{fst, false, within}, sources, options);
  });
}

float RoundingOf(const std::vector<float>& distances) {
  float greatest = 1;
  for (const float x : distances)
    if (std::isfinite(x)) greatest = std::max(greatest, std::fabs(x));
  return 1e-5f * greatest;
}

}  // namespace tokamata
