// SummaryGraph: equations over sets, "all that leads out of a place when it was entered so", solved where they are
// needed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/id_table.h"
#include "automata/csrc/insert_new.h"

namespace tokamata {

// A node is a place (a state of a rule automaton, an expression) with the context in which it is entered (a state of
// what runs beside it); its set has the contexts in which the place is left. Equations say that a set has an element,
// has all of another node's, or has those of `next` entered in each element of another's: what a concatenation or a
// return from a call is. The least solution grows by passing on news; so tables of summary edges are filled (Sharir and
// Pnueli 1981; Reps, Horwitz, Sagiv 1995).
class SummaryGraph {
 public:
  using Node = uint32_t;

  Node NodeOf(uint32_t place, uint32_t from) {
    const auto [it, added] = ids_.emplace(PairKey(place, from), static_cast<Node>(nodes_.size()));
    if (added) nodes_.push_back({place, from, {}, {}, {}});
    return it->second;
  }
  uint32_t Place(Node n) const { return nodes_[n].place; }
  uint32_t From(Node n) const { return nodes_[n].from; }
  const std::vector<uint32_t>& Out(Node n) const { return nodes_[n].out; }
  size_t Size() const { return nodes_.size(); }

  void AddOut(Node n, uint32_t context) {
    if (InsertNew(&nodes_[n].out, context)) news_.emplace_back(n, context);
  }
  // All that leads out of `from` leads out of `to`.
  void AddCopy(Node from, Node to) {
    if (from == to || !InsertNew(&nodes_[from].copies, to)) return;
    const std::vector<uint32_t> out = nodes_[from].out;
    for (const uint32_t context : out) AddOut(to, context);
  }
  // After `from`, `next` is what `to` goes on with.
  void AddFollow(Node from, uint32_t next, Node to) {
    if (!InsertNew(&nodes_[from].follow, std::make_pair(next, to))) return;
    const std::vector<uint32_t> out = nodes_[from].out;
    for (const uint32_t context : out) AddCopy(NodeOf(next, context), to);
  }

  // These nodes and all whose sets have all of theirs, one through another.
  std::vector<Node> WithReaders(const std::vector<Node>& nodes) const {
    std::vector<Node> all;
    std::unordered_set<Node> seen;
    for (const Node n : nodes)
      if (seen.insert(n).second) all.push_back(n);
    for (size_t i = 0; i < all.size(); ++i)
      for (const Node to : nodes_[all[i]].copies)
        if (seen.insert(to).second) all.push_back(to);
    return all;
  }
  // Whether something follows a node.
  bool IsFollowed(Node n) const { return !nodes_[n].follow.empty(); }

  // Solves all equations of the nodes that there are and come up. expand(node) adds those of a node and says whether it
  // could; adding twice does no harm, so both may throw, and a later call goes on. False as soon as a node could not be
  // expanded.
  template <class Expand, class Spend>
  bool Solve(Expand expand, Spend spend) {
    while (expanded_ < nodes_.size() || !news_.empty()) {
      if (!news_.empty()) {
        const auto [from, context] = news_.back();
        const std::vector<Node> copies = nodes_[from].copies;
        const std::vector<std::pair<uint32_t, Node>> follow = nodes_[from].follow;
        spend(1 + copies.size() + follow.size());
        news_.pop_back();
        for (const Node to : copies) AddOut(to, context);
        for (const auto& [next, to] : follow) AddCopy(NodeOf(next, context), to);
        continue;
      }
      spend(1);
      if (!expand(expanded_)) return false;
      ++expanded_;
    }
    return true;
  }

 private:
  struct Equations {
    uint32_t place, from;
    std::vector<uint32_t> out;
    std::vector<Node> copies;
    std::vector<std::pair<uint32_t, Node>> follow;
  };

  std::vector<Equations> nodes_;
  std::unordered_map<uint64_t, Node> ids_;
  Node expanded_ = 0;                            // nodes before this one have their equations
  std::vector<std::pair<Node, uint32_t>> news_;  // to be passed on
};

}  // namespace tokamata
