#include "automata/csrc/visit.h"

#include <algorithm>

namespace tokamata {

Predecessors::Predecessors(const Fst& fst) : first(static_cast<size_t>(fst.NumStates()) + 1, 0) {
  const StateId n = fst.NumStates();
  for (StateId s = 0; s < n; ++s)
    for (const Arc& a : fst.Arcs(s)) ++first[a.nextstate + 1];
  for (StateId s = 0; s < n; ++s) first[s + 1] += first[s];
  states.resize(fst.NumArcs());
  std::vector<size_t> next(first.begin(), first.end() - 1);
  for (StateId s = 0; s < n; ++s)
    for (const Arc& a : fst.Arcs(s)) states[next[a.nextstate]++] = s;
}

std::vector<uint8_t> AccessibleStates(const Fst& fst) {
  std::vector<uint8_t> seen(fst.NumStates(), 0);
  if (fst.Start() == kNoState) return seen;
  std::vector<StateId> todo{fst.Start()};
  seen[fst.Start()] = 1;
  while (!todo.empty()) {
    const StateId s = todo.back();
    todo.pop_back();
    for (const Arc& a : fst.Arcs(s)) {
      if (seen[a.nextstate]) continue;
      seen[a.nextstate] = 1;
      todo.push_back(a.nextstate);
    }
  }
  return seen;
}

std::vector<uint8_t> CoaccessibleStates(const Fst& fst) {
  const StateId n = fst.NumStates();
  std::vector<uint8_t> seen(n, 0);
  std::vector<StateId> todo;
  for (StateId s = 0; s < n; ++s) {
    if (!fst.IsFinal(s)) continue;
    seen[s] = 1;
    todo.push_back(s);
  }
  const Predecessors before(fst);
  while (!todo.empty()) {
    const StateId s = todo.back();
    todo.pop_back();
    for (size_t i = before.first[s]; i < before.first[s + 1]; ++i) {
      const StateId p = before.states[i];
      if (seen[p]) continue;
      seen[p] = 1;
      todo.push_back(p);
    }
  }
  return seen;
}

Components StronglyConnected(const Fst& fst) {
  const StateId n = fst.NumStates();
  Components out;
  out.of.assign(n, kNoState);
  std::vector<StateId> index(n, kNoState), low(n, 0), open;  // open: states whose component is not known yet
  struct Frame {
    StateId state;
    size_t arc;
  };
  std::vector<Frame> stack;
  StateId visited = 0;
  const auto enter = [&](StateId s) {
    index[s] = low[s] = visited++;
    open.push_back(s);
    stack.push_back({s, 0});
  };
  for (StateId root = 0; root < n; ++root) {
    if (index[root] != kNoState) continue;
    enter(root);
    while (!stack.empty()) {
      const StateId s = stack.back().state;
      const Span<const Arc> arcs = fst.Arcs(s);
      if (stack.back().arc < arcs.size()) {
        const StateId t = arcs[stack.back().arc++].nextstate;
        if (index[t] == kNoState)
          enter(t);
        else if (out.of[t] == kNoState)
          low[s] = std::min(low[s], index[t]);
        continue;
      }
      stack.pop_back();
      if (!stack.empty()) low[stack.back().state] = std::min(low[stack.back().state], low[s]);
      if (low[s] != index[s]) continue;
      const auto component = static_cast<StateId>(out.cyclic.size());
      uint8_t cyclic = open.back() != s;
      for (;;) {
        const StateId t = open.back();
        open.pop_back();
        out.of[t] = component;
        if (t == s) break;
      }
      if (!cyclic)
        for (const Arc& a : arcs) cyclic |= a.nextstate == s;
      out.cyclic.push_back(cyclic);
    }
  }
  // Tarjan finds components in reverse topological order.
  const auto last = static_cast<StateId>(out.cyclic.size()) - 1;
  for (StateId& c : out.of) c = last - c;
  std::reverse(out.cyclic.begin(), out.cyclic.end());
  return out;
}

}  // namespace tokamata
