// Turns that are counted whichever way they lead through a graph of contexts: X·T{a,b}·Y | X·T{c,d}·Y = X·T{a,d}·Y, of
// turns T from one state, where the intervals overlap or touch. So states remember how many turns are left at least and at
// most, and not each number between.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

uint32_t Expressions::AddGraph(std::vector<PathState> states) {
  for (PathState& s : states) s.fewest = {s.last == kEmpty ? kUnbounded : 0};
  for (bool changed = true; changed;) {
    changed = false;
    for (PathState& s : states)
      for (const PathState::Arc& arc : s.arcs) {
        Spend();
        const uint32_t fewest = states[arc.target].fewest[0];
        if (fewest == kUnbounded || s.fewest[0] <= fewest + 1) continue;
        s.fewest[0] = fewest + 1;
        changed = true;
      }
  }
  const auto first = static_cast<uint32_t>(path_states_.size());
  const auto leads_nowhere = [&](const PathState::Arc& arc) { return states[arc.target].fewest[0] == kUnbounded; };
  for (PathState& s : states) s.arcs.erase(std::remove_if(s.arcs.begin(), s.arcs.end(), leads_nowhere), s.arcs.end());
  for (PathState& s : states)
    for (PathState::Arc& arc : s.arcs) arc.target += first;
  path_graphs_.push_back(first);
  path_states_.insert(path_states_.end(), std::make_move_iterator(states.begin()), std::make_move_iterator(states.end()));
  return first;
}

size_t Expressions::GraphOf(uint32_t state) const {
  return static_cast<size_t>(std::upper_bound(path_graphs_.begin(), path_graphs_.end(), state) - path_graphs_.begin()) - 1;
}

size_t Expressions::EndOfGraph(size_t graph) const {
  return graph + 1 < path_graphs_.size() ? path_graphs_[graph + 1] : path_states_.size();
}

// Whether so many turns lead from a state to what follows the last one. Where a turn may be empty, no more have to be.
bool Expressions::PathsEnd(uint32_t state, uint32_t low, uint32_t high) {
  const std::vector<uint32_t>& known = path_states_[state].fewest;
  if (known.size() <= low) {
    const size_t graph = GraphOf(state), first = path_graphs_[graph], end = EndOfGraph(graph);
    for (size_t l = known.size(); l <= low; ++l)
      for (size_t s = first; s < end; ++s) {
        PathState& at = path_states_[s];
        uint32_t fewest = at.stays ? at.fewest[0] : kUnbounded;
        for (const PathState::Arc& arc : at.arcs) {
          const uint32_t more = path_states_[arc.target].fewest[l - 1];
          if (!at.stays && more != kUnbounded) fewest = std::min(fewest, more + 1);
        }
        Spend(1 + static_cast<int64_t>(at.arcs.size() / 8));
        at.fewest.push_back(fewest);
      }
  }
  return known[low] != kUnbounded && known[low] <= high;
}

Expr Expressions::Paths(uint32_t state, uint32_t low, uint32_t high) {
  if (path_states_[state].stays) low = 0;
  if (low > high) return kEmpty;
  if (high == 0) return path_states_[state].last;
  Node n;
  n.kind = ExprKind::kPaths;
  n.a = state;
  n.b = low;
  n.c = high;
  if (const Expr known = Find(ExprKind::kPaths, state, low, high)) return known;
  if (!PathsEnd(state, low, high)) return kEmpty;
  const auto add = [&](Expr e) {
    n.first = n.first | nodes_[e].first;
    n.extended = n.extended || nodes_[e].extended;
    n.depth = std::max(n.depth, nodes_[e].depth + 1);
  };
  for (const PathState::Arc& arc : path_states_[state].arcs)
    if (PathsEnd(arc.target, low ? low - 1 : 0, high == kUnbounded ? high : high - 1)) add(arc.texts);
  const Expr last = path_states_[state].last;
  if (low == 0 && last != kEmpty) {
    add(last);
    n.nullable = nodes_[last].nullable;
  }
  return Intern(n);
}

// The first paths among the parts of a concatenation, and a number that is the same where they are from the same state
// and all other parts are the same.
bool Expressions::FindPaths(Expr e, Expr* paths, uint64_t* key) const {
  constexpr int kMostParts = 64;
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15ull;
  *key = 0;
  for (int parts = 0; e != kEpsilonExpr && nodes_[e].paths && parts < kMostParts; ++parts, e = Rest(e)) {
    *paths = FirstPart(e);
    if (nodes_[*paths].kind == ExprKind::kPaths) {
      *key = ((*key ^ nodes_[*paths].a) * kMix ^ Rest(e)) * kMix;
      return true;
    }
    *key = (*key ^ *paths) * kMix;
  }
  return false;
}

bool Expressions::SameButPaths(Expr x, Expr y) const {
  while (FirstPart(x) == FirstPart(y) && nodes_[FirstPart(x)].kind != ExprKind::kPaths) {
    x = Rest(x);
    y = Rest(y);
  }
  const Node &m = nodes_[FirstPart(x)], &n = nodes_[FirstPart(y)];
  return m.kind == ExprKind::kPaths && n.kind == ExprKind::kPaths && m.a == n.a && Rest(x) == Rest(y);
}

// e with other paths in the place of the first ones.
Expr Expressions::WithPaths(Expr e, Expr paths) {
  const Expr head = FirstPart(e);
  return nodes_[head].kind == ExprKind::kPaths ? Concat(paths, Rest(e)) : Concat(head, WithPaths(Rest(e), paths));
}

void Expressions::MergePaths(ExprList* parts) {
  struct Item {
    uint64_t key;
    uint32_t low, high;
    Expr paths, whole;
  };
  const auto has_paths = [this](Expr e) { return nodes_[e].paths; };
  if (std::count_if(parts->begin(), parts->end(), has_paths) < 2) return;
  SmallVector<Item, 16> items;
  ExprList others;
  for (const Expr e : *parts) {
    Item item{};
    if (nodes_[e].paths && FindPaths(e, &item.paths, &item.key)) {
      item.low = nodes_[item.paths].b;
      item.high = nodes_[item.paths].c;
      item.whole = e;
      items.push_back(item);
    } else {
      others.push_back(e);
    }
  }
  if (items.size() < 2) return;
  std::sort(items.begin(), items.end(), [](const Item& x, const Item& y) {
    return std::tie(x.key, x.low, x.high, x.whole) < std::tie(y.key, y.low, y.high, y.whole);
  });
  bool changed = false;
  for (size_t i = 0, next; i < items.size(); i = next) {
    Item all = items[i];
    for (next = i + 1; next < items.size(); ++next) {
      const Item& other = items[next];
      if (other.key != all.key || (all.high != kUnbounded && other.low > all.high + 1)) break;
      if (!SameButPaths(all.whole, other.whole)) break;
      all.high = std::max(all.high, other.high);
    }
    if (next > i + 1) {
      changed = true;
      const Expr paths = Paths(nodes_[all.paths].a, all.low, all.high);
      all.whole = WithPaths(all.whole, paths);
    }
    others.push_back(all.whole);
  }
  if (!changed) return;
  parts->swap(others);
  std::sort(parts->begin(), parts->end());
  parts->erase(std::unique(parts->begin(), parts->end()), parts->end());
}

}  // namespace tokamata
