#include "automata/csrc/pdt_depth.h"

#include <algorithm>
#include <numeric>

#include "automata/csrc/pdt_balanced.h"
#include "automata/csrc/visit.h"

namespace tokamata {
namespace {

// Which frames contain which: node 0 is the whole of accepted paths, node n > 0 the frame of an item.
class Frames {
 public:
  Frames(const Fst& fst, const Parens& parens, const BalancedPaths& paths, const PdtDepthOptions& options)
      : options_(options), paths_(paths), sources_(fst.NumStates()), node_(paths.NumItems(), kNoState),
        seen_(paths.NumItems(), kNoState), called_(paths.NumItems(), kNoState) {
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      for (const Arc& arc : fst.Arcs(s)) {
        if (arc.weight != fst.Zero() && !parens.Has(arc.ilabel)) sources_[arc.nextstate].push_back(s);
      }
    }
    std::vector<StateId> ends;
    for (StateId i = 0; i < paths.NumItems(); ++i) {
      if (paths.At(i).entry == fst.Start() && fst.IsFinal(paths.At(i).state)) ends.push_back(i);
    }
    items_.push_back(kNoState);
    graph_.AddState();
    graph_.SetStart(0);
    Collect(0, ends);
    for (StateId node = 1; node < graph_.NumStates(); ++node) Collect(node, {items_[node]});
  }

  PdtDepthResult Result() const {
    PdtDepthResult result;
    const Components components = StronglyConnected(graph_);
    for (StateId node = 0; node < graph_.NumStates(); ++node) {
      if (!components.cyclic[components.of[node]]) continue;
      result.depth = kUnboundedDepth;
      result.state = paths_.At(items_[node]).entry;
      return result;
    }
    std::vector<StateId> order(graph_.NumStates());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](StateId a, StateId b) { return components.of[a] < components.of[b]; });
    std::vector<int64_t> depth(graph_.NumStates(), 0);
    for (StateId node : order) {
      result.depth = std::max(result.depth, depth[node]);
      for (const Arc& arc : graph_.Arcs(node)) {
        depth[arc.nextstate] = std::max(depth[arc.nextstate], depth[node] + 1);
      }
    }
    return result;
  }

 private:
  // The frames that paths from the entry to the end items call themselves.
  void Collect(StateId node, std::vector<StateId> pending) {
    for (StateId i : pending) seen_[i] = node;
    while (!pending.empty()) {
      const StateId i = pending.back();
      pending.pop_back();
      const BalancedPaths::Item& item = paths_.At(i);
      for (StateId s : sources_[item.state]) Reach(node, paths_.Find(item.entry, s), &pending);
      for (const auto& derivation : paths_.Derivations(i)) {
        Reach(node, derivation.caller, &pending);
        if (called_[derivation.closer] == node) continue;
        called_[derivation.closer] = node;
        StateId& callee = node_[derivation.closer];
        if (callee == kNoState) {
          callee = graph_.AddState();
          items_.push_back(derivation.closer);
        }
        graph_.AddArc(node, {kEpsilon, kEpsilon, graph_.One(), callee});
      }
      steps_ += static_cast<int64_t>(sources_[item.state].size() + paths_.Derivations(i).size());
      CheckLimit(options_.operation, "max_arcs", static_cast<size_t>(steps_), options_.max_arcs,
                 "there are too many ways to open and close parentheses; use a smaller machine");
    }
  }
  void Reach(StateId node, StateId item, std::vector<StateId>* pending) {
    if (item == kNoState || seen_[item] == node) return;
    seen_[item] = node;
    pending->push_back(item);
  }

  const PdtDepthOptions& options_;
  const BalancedPaths& paths_;
  std::vector<std::vector<StateId>> sources_;  // of the arcs without parenthesis into each state
  std::vector<StateId> node_;                  // of each item that ends a frame
  std::vector<StateId> items_;                 // of each node
  std::vector<StateId> seen_, called_;         // by which node last
  Fst graph_;
  int64_t steps_ = 0;
};

}  // namespace

PdtDepthResult PdtDepth(const Fst& fst, const Parens& parens, const PdtDepthOptions& options) {
  RequirePdt(options.operation, fst, parens);
  BalancedOptions balanced;
  balanced.keep_derivations = true;
  balanced.max_states = options.max_states;
  balanced.max_arcs = options.max_arcs;
  balanced.operation = options.operation;
  const BalancedPaths paths(fst, parens, balanced);
  if (paths.Best() == kNoState) return {};
  return Frames(fst, parens, paths, options).Result();
}

}  // namespace tokamata
