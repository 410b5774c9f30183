// Shortest distances from given states, one strongly connected component after the other (Mohri, "Semiring frameworks
// and algorithms for shortest-distance problems", 2002; components by Tarjan, 1972). Shared by the operations that need
// distances: shortestdistance, shortestpath, rmepsilon, push, prune.
#pragma once
#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "automata/csrc/preconditions.h"
#include "automata/csrc/fst.h"

namespace tokamata {

struct DistanceArc {
  StateId nextstate;
  float weight;
};

// The arcs of an Fst; with epsilons_only, those with epsilon on both sides, and with within, those to its states.
struct ForwardGraph {
  const Fst& fst;
  bool epsilons_only = false;
  const std::vector<uint8_t>* within = nullptr;
  StateId NumStates() const { return fst.NumStates(); }
  Span<const Arc> Arcs(StateId s) const { return fst.Arcs(s); }
  bool Follows(const Arc& arc) const {
    return (!epsilons_only || (arc.ilabel == kEpsilon && arc.olabel == kEpsilon)) && (!within || (*within)[arc.nextstate]);
  }
};

// The arcs of an Fst turned around; with within, those out of its states.
class ReverseGraph {
 public:
  explicit ReverseGraph(const Fst& fst, const std::vector<uint8_t>* within = nullptr)
      : first_(static_cast<size_t>(fst.NumStates()) + 1, 0) {
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      if (within && !(*within)[s]) continue;
      for (const Arc& arc : fst.Arcs(s)) ++first_[static_cast<size_t>(arc.nextstate) + 1];
    }
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    arcs_.resize(first_.back());
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      if (within && !(*within)[s]) continue;
      for (const Arc& arc : fst.Arcs(s)) arcs_[next[arc.nextstate]++] = {s, arc.weight};
    }
  }
  StateId NumStates() const { return static_cast<StateId>(first_.size() - 1); }
  Span<const DistanceArc> Arcs(StateId s) const { return {arcs_.data() + first_[s], first_[s + 1] - first_[s]}; }
  bool Follows(const DistanceArc&) const { return true; }

 private:
  std::vector<size_t> first_;
  std::vector<DistanceArc> arcs_;
};

// Run() may be called again and again: its cost is that of the states it reaches.
template <class S, class Graph>
class SingleSource {
 public:
  SingleSource(const char* operation, const Graph& graph, float delta, int64_t max_visits)
      : operation_(operation), graph_(graph), delta_(delta), max_visits_(max_visits), nodes_(graph.NumStates()) {}

  void Run(const std::vector<std::pair<StateId, float>>& sources) {
    ++run_;
    order_.clear();
    components_.clear();
    next_index_ = 0;
    for (const auto& source : sources) Visit(source.first);
    for (const auto& [state, weight] : sources) nodes_[state].distance = S::Plus(nodes_[state].distance, weight);
    for (size_t c = components_.size(); c-- > 0;) {
      const size_t end = c + 1 < components_.size() ? components_[c + 1] : order_.size();
      Relax(components_[c], end);
    }
  }

  // The states that were reached; every component after all that it leads to.
  const std::vector<StateId>& Reached() const { return order_; }
  bool IsReached(StateId s) const { return nodes_[s].run == run_; }
  float Distance(StateId s) const { return IsReached(s) ? nodes_[s].distance : S::Zero(); }
  // The last arc of a best path to the state, kNoState where the path is empty; meaningful in path semirings.
  StateId Parent(StateId s) const { return nodes_[s].parent; }
  uint32_t ParentArc(StateId s) const { return nodes_[s].parent_arc; }

 private:
  static constexpr size_t kSolvedStates = 32;
  struct Node {
    uint32_t run = 0;
    int32_t index = 0;
    int32_t low = 0;
    int32_t component = -1;  // -1 while on Tarjan's stack
    float distance = 0;
    float residual = 0;
    int32_t visits = 0;
    StateId parent = kNoState;
    uint32_t parent_arc = 0;
    bool queued = false;
  };
  struct Frame {
    StateId state;
    size_t arc;
  };

  void Open(StateId s) {
    Node& node = nodes_[s];
    node = Node();
    node.run = run_;
    node.index = node.low = next_index_++;
    node.distance = node.residual = S::Zero();
    stack_.push_back(s);
    frames_.push_back({s, 0});
  }

  void Visit(StateId root) {
    if (nodes_[root].run == run_) return;
    Open(root);
    while (!frames_.empty()) {
      const StateId s = frames_.back().state;
      const auto arcs = graph_.Arcs(s);
      bool descend = false;
      while (frames_.back().arc < arcs.size()) {
        const auto& arc = arcs[frames_.back().arc++];
        if (!graph_.Follows(arc)) continue;
        const Node& next = nodes_[arc.nextstate];
        if (next.run != run_) {
          Open(arc.nextstate);
          descend = true;
          break;
        }
        if (next.component < 0) nodes_[s].low = std::min(nodes_[s].low, next.index);
      }
      if (descend) continue;
      frames_.pop_back();
      Node& node = nodes_[s];
      if (!frames_.empty()) {
        Node& above = nodes_[frames_.back().state];
        above.low = std::min(above.low, node.low);
      }
      if (node.low == node.index) {
        const int32_t component = static_cast<int32_t>(components_.size());
        components_.push_back(order_.size());
        StateId member;
        do {
          member = stack_.back();
          stack_.pop_back();
          nodes_[member].component = component;
          order_.push_back(member);
        } while (member != s);
      }
    }
  }

  void Relax(size_t begin, size_t end) {
    const int32_t component = nodes_[order_[begin]].component;
    bool cyclic = end - begin > 1, negative = false;
    for (size_t i = begin; i < end; ++i) {
      for (const auto& arc : graph_.Arcs(order_[i])) {
        if (!graph_.Follows(arc) || nodes_[arc.nextstate].component != component) continue;
        cyclic = true;
        negative = negative || arc.weight < 0;
      }
    }
    if (cyclic) {
      if constexpr (!S::kPath) {
        if (end - begin <= kSolvedStates) {
          Solve(begin, end, component);
        } else {
          Converge(begin, end, component);
        }
      } else if (negative) {
        BellmanFord(begin, end, component);
      } else {
        Dijkstra(begin, end, component);
      }
    }
    for (size_t i = begin; i < end; ++i) {  // arcs that leave the component
      const StateId s = order_[i];
      const auto arcs = graph_.Arcs(s);
      for (size_t k = 0; k < arcs.size(); ++k) {
        if (graph_.Follows(arcs[k]) && nodes_[arcs[k].nextstate].component != component) Improve(s, arcs[k], k);
      }
    }
  }

  template <class A>
  bool Improve(StateId s, const A& arc, size_t k) {
    Node& next = nodes_[arc.nextstate];
    const float sum = S::Plus(next.distance, S::Times(nodes_[s].distance, arc.weight));
    if (sum == next.distance) return false;
    next.distance = sum;
    next.parent = s;
    next.parent_arc = static_cast<uint32_t>(k);
    return true;
  }

  // Boolean weights are 1 where good and costs 0 where good: the queue pops the best.
  static float Cost(float distance) { return S::Zero() > S::One() ? distance : -distance; }

  void Dijkstra(size_t begin, size_t end, int32_t component) {
    using Entry = std::pair<float, StateId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> heap;
    for (size_t i = begin; i < end; ++i) {
      const float distance = nodes_[order_[i]].distance;
      if (distance != S::Zero()) heap.emplace(Cost(distance), order_[i]);
    }
    while (!heap.empty()) {
      const auto [cost, s] = heap.top();
      heap.pop();
      if (cost != Cost(nodes_[s].distance) || nodes_[s].visits) continue;
      nodes_[s].visits = 1;
      const auto arcs = graph_.Arcs(s);
      for (size_t k = 0; k < arcs.size(); ++k) {
        if (!graph_.Follows(arcs[k]) || nodes_[arcs[k].nextstate].component != component) continue;
        if (Improve(s, arcs[k], k)) heap.emplace(Cost(nodes_[arcs[k].nextstate].distance), arcs[k].nextstate);
      }
    }
  }

  [[noreturn]] void FailNegative(StateId s) const {
    throw FstError(std::string(operation_) + ": a cycle of negative total weight passes through or leads to state " +
                   std::to_string(s) + ", so distances have no minimum; expected cycles of weight at least 0: reweight " +
                   "or remove the cycle");
  }

  // Whether t lies on the best path so far to s, within a component of so many states. Parents that form a circle are
  // a cycle of negative weight.
  bool IsOnBestPath(StateId t, StateId s, int32_t component, int64_t size) const {
    int64_t steps = 0;
    for (StateId at = s; at != kNoState && nodes_[at].component == component; at = nodes_[at].parent) {
      if (at == t) return true;
      if (++steps > size) FailNegative(s);
    }
    return false;
  }

  // The greatest weight or distance that a component begins with, as a measure of what rounding can do.
  float Greatest(size_t begin, size_t end, int32_t component) const {
    float greatest = 0;
    const auto take = [&greatest](float x) { greatest = std::isfinite(x) ? std::max(greatest, std::fabs(x)) : greatest; };
    for (size_t i = begin; i < end; ++i) {
      take(nodes_[order_[i]].distance);
      for (const auto& arc : graph_.Arcs(order_[i]))
        if (graph_.Follows(arc) && nodes_[arc.nextstate].component == component) take(arc.weight);
    }
    return greatest;
  }

  // Some weight of the component is negative. A state that improves more often than the component has states lies on,
  // or behind, a cycle of negative weight. What rounding may explain improves nothing around a cycle, nor too often.
  void BellmanFord(size_t begin, size_t end, int32_t component) {
    constexpr int64_t kMostSmall = 64;  // visits of a state up to which small improvements count
    std::deque<StateId> queue;
    for (size_t i = begin; i < end; ++i) Enqueue(order_[i], &queue);
    const int64_t size = static_cast<int64_t>(end - begin);
    const float greatest = Greatest(begin, end, component);
    while (!queue.empty()) {
      const StateId s = queue.front();
      queue.pop_front();
      nodes_[s].queued = false;
      if (++nodes_[s].visits > size + kMostSmall + 1) FailNegative(s);
      if (nodes_[s].distance == S::Zero()) continue;
      const auto arcs = graph_.Arcs(s);
      for (size_t k = 0; k < arcs.size(); ++k) {
        if (!graph_.Follows(arcs[k])) continue;
        const Node& next = nodes_[arcs[k].nextstate];
        if (next.component != component) continue;
        const float old = next.distance, sum = S::Times(nodes_[s].distance, arcs[k].weight);
        if (!(old == S::Zero() ? sum != S::Zero() : sum < old)) continue;
        const float slack = std::max(delta_, std::max(greatest, std::fabs(old)) * 1e-6f);
        const bool small = std::isfinite(old) && !(sum < old - slack);
        if (small && (next.visits > kMostSmall || IsOnBestPath(arcs[k].nextstate, s, component, size))) continue;
        Improve(s, arcs[k], k);
        Enqueue(arcs[k].nextstate, &queue);
      }
    }
  }

  // Sums over all paths within a small component, by elimination of its states one after the other (Kleene's formula,
  // as Gauss's algorithm): exact up to rounding, in costs of double precision.
  void Solve(size_t begin, size_t end, int32_t component) {
    const size_t n = end - begin;
    const auto plus = [](double a, double b) {
      const double low = std::min(a, b), high = std::max(a, b);
      return high == kInfinity ? low : low - std::log1p(std::exp(low - high));
    };
    matrix_.assign(n * n, kInfinity);
    sums_.assign(n, kInfinity);
    for (size_t i = 0; i < n; ++i) nodes_[order_[begin + i]].visits = static_cast<int32_t>(i);
    for (size_t i = 0; i < n; ++i) {
      sums_[i] = nodes_[order_[begin + i]].distance;
      for (const auto& arc : graph_.Arcs(order_[begin + i])) {
        const Node& next = nodes_[arc.nextstate];
        if (!graph_.Follows(arc) || next.component != component) continue;
        double& entry = matrix_[i * n + static_cast<size_t>(next.visits)];
        entry = plus(entry, arc.weight);
      }
    }
    if (std::all_of(sums_.begin(), sums_.end(), [](double x) { return x == kInfinity; })) return;
    for (size_t k = 0; k < n; ++k) {
      const double loop = matrix_[k * n + k];
      if (!(loop > 0)) FailDivergent(order_[begin + k]);
      const double star = std::log(-std::expm1(-loop));
      sums_[k] += star;
      for (size_t j = 0; j < n; ++j) {
        if (j == k) continue;
        const double next = star + matrix_[k * n + j];
        if (next == kInfinity) continue;
        sums_[j] = plus(sums_[j], sums_[k] + matrix_[k * n + j]);
        for (size_t i = k + 1; i < n; ++i) {
          if (matrix_[i * n + k] != kInfinity) matrix_[i * n + j] = plus(matrix_[i * n + j], matrix_[i * n + k] + next);
        }
      }
      for (size_t i = k + 1; i < n; ++i) {  // later states now also lead to k
        if (matrix_[i * n + k] != kInfinity) matrix_[i * n + k] += star;
      }
    }
    for (size_t i = 0; i < n; ++i) nodes_[order_[begin + i]].distance = static_cast<float>(sums_[i]);
  }

  [[noreturn]] void FailDivergent(StateId s) const {
    throw FstError(std::string(operation_) + ": the sum over the cycles through state " + std::to_string(s) +
                   " has no finite value: expected cycles whose probabilities add up to less than one, got one or "
                   "more; raise the weights of the cycles");
  }

  // Sums over all paths within the component, until what is left to pass on is below delta of every sum.
  void Converge(size_t begin, size_t end, int32_t component) {
    std::deque<StateId> queue;
    for (size_t i = begin; i < end; ++i) {
      Node& node = nodes_[order_[i]];
      node.residual = node.distance;
      if (node.residual != S::Zero()) Enqueue(order_[i], &queue);
    }
    const float threshold = -std::log(std::max(delta_, 1e-30f));
    while (!queue.empty()) {
      const StateId s = queue.front();
      queue.pop_front();
      Node& node = nodes_[s];
      node.queued = false;
      if (++node.visits > max_visits_ || !(node.distance > -kInfinity)) {
        FailLimit(operation_, "max_visits", max_visits_,
                  "the sum over the cycles through state " + std::to_string(s) +
                      " has not converged, and has no finite value where the cycles' probabilities add up to one or "
                      "more");
      }
      const float residual = node.residual;
      node.residual = S::Zero();
      for (const auto& arc : graph_.Arcs(s)) {
        if (!graph_.Follows(arc)) continue;
        Node& next = nodes_[arc.nextstate];
        const float weight = S::Times(residual, arc.weight);
        if (next.component != component || weight == S::Zero()) continue;
        next.distance = S::Plus(next.distance, weight);
        next.residual = S::Plus(next.residual, weight);
        if (next.residual - next.distance < threshold) Enqueue(arc.nextstate, &queue);
      }
    }
  }

  void Enqueue(StateId s, std::deque<StateId>* queue) {
    if (nodes_[s].queued) return;
    nodes_[s].queued = true;
    queue->push_back(s);
  }

  const char* operation_;
  const Graph& graph_;
  float delta_;
  int64_t max_visits_;
  uint32_t run_ = 0;
  int32_t next_index_ = 0;
  std::vector<Node> nodes_;
  std::vector<StateId> order_;      // components end to end, in the order in which Tarjan's algorithm closes them
  std::vector<size_t> components_;  // where each begins in order_
  std::vector<StateId> stack_;
  std::vector<Frame> frames_;
  std::vector<double> matrix_, sums_;
};

}  // namespace tokamata
