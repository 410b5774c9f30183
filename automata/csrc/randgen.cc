#include "automata/csrc/randgen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "automata/csrc/check.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/visit.h"

namespace tokamata {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every platform.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // Uniform in [0, 1).
  double Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

// The fewest arcs of weight other than zero from each state to a final one.
std::vector<int64_t> DistancesToFinal(const Fst& fst) {
  const StateId n = fst.NumStates();
  std::vector<int64_t> distance(n, kFar);
  std::vector<StateId> queue;
  for (StateId s = 0; s < n; ++s) {
    if (!fst.IsFinal(s)) continue;
    distance[s] = 0;
    queue.push_back(s);
  }
  std::vector<size_t> first(static_cast<size_t>(n) + 1, 0);
  for (StateId s = 0; s < n; ++s)
    for (const Arc& a : fst.Arcs(s)) first[a.nextstate + 1] += a.weight != fst.Zero();
  for (StateId s = 0; s < n; ++s) first[s + 1] += first[s];
  std::vector<StateId> before(first[n]);
  std::vector<size_t> next(first.begin(), first.end() - 1);
  for (StateId s = 0; s < n; ++s)
    for (const Arc& a : fst.Arcs(s))
      if (a.weight != fst.Zero()) before[next[a.nextstate]++] = s;
  for (size_t i = 0; i < queue.size(); ++i) {
    const StateId s = queue[i];
    for (size_t j = first[s]; j < first[s + 1]; ++j) {
      if (distance[before[j]] != kFar) continue;
      distance[before[j]] = distance[s] + 1;
      queue.push_back(before[j]);
    }
  }
  return distance;
}

}  // namespace

Fst RandGen(const Fst& fst, const RandGenOptions& options) {
  if (options.paths < 0)
    throw FstError("randgen: the number of paths must not be negative, got " + std::to_string(options.paths));
  if (options.max_length < 0)
    throw FstError("randgen: max_length must not be negative, got " + std::to_string(options.max_length));
  Fst out(fst.Semiring());
  out.SetInputSymbols(fst.InputSymbols());
  out.SetOutputSymbols(fst.OutputSymbols());
  const std::vector<int64_t> distance = DistancesToFinal(fst);
  if (fst.Start() == kNoState || distance[fst.Start()] == kFar || options.paths == 0) return out;
  if (distance[fst.Start()] > options.max_length)
    throw LimitError("randgen: limit max_length " + std::to_string(options.max_length) +
                     " reached: the shortest path has " + std::to_string(distance[fst.Start()]) +
                     " arcs; pass max_length=" + std::to_string(distance[fst.Start()]) + " or more");
  out.SetStart(out.AddState());
  Random random(options.seed);
  const bool by_weight = options.select == RandSelect::kLogProb && fst.Semiring() != SemiringKind::kBoolean;
  std::vector<const Arc*> ways;  // null is to stop here
  std::vector<double> mass;
  for (int64_t path = 0; path < options.paths; ++path) {
    StateId at = fst.Start(), copy = out.Start();
    for (int64_t left = options.max_length;; --left) {
      ways.clear();
      mass.clear();
      double lowest = std::numeric_limits<double>::infinity();
      const auto add = [&](const Arc* arc, float weight) {
        ways.push_back(arc);
        mass.push_back(weight);
        lowest = std::min(lowest, static_cast<double>(weight));
      };
      if (fst.IsFinal(at)) add(nullptr, fst.Final(at));
      for (const Arc& a : fst.Arcs(at))
        if (a.weight != fst.Zero() && distance[a.nextstate] < left) add(&a, a.weight);
      size_t chosen;
      if (by_weight) {
        double sum = 0;
        for (double& m : mass) sum += m = std::exp(lowest - m);
        double r = random.Next() * sum;
        for (chosen = 0; chosen + 1 < ways.size() && r >= mass[chosen]; ++chosen) r -= mass[chosen];
      } else {
        chosen = std::min(static_cast<size_t>(random.Next() * static_cast<double>(ways.size())), ways.size() - 1);
      }
      const Arc* arc = ways[chosen];
      if (arc == nullptr) break;
      CheckRoom(out, 1, "randgen");
      const StateId next = out.AddState();
      out.AddArc(copy, {arc->ilabel, arc->olabel, out.One(), next});
      copy = next;
      at = arc->nextstate;
    }
    out.SetFinal(copy, out.One());
  }
  return out;
}

}  // namespace tokamata
