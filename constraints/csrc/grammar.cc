#include "constraints/csrc/grammar.h"

#include <algorithm>

namespace tokamata {
namespace {

// Marks rules of which one production has all letters marked; returns the marks.
std::vector<uint8_t> LeastFixpoint(const Grammar& g, const std::vector<uint8_t>& terminals) {
  std::vector<uint8_t> marked(g.num_rules, 0);
  std::vector<uint32_t> missing(g.productions.size(), 0);
  std::vector<std::vector<uint32_t>> users(g.num_rules);  // productions, once for each occurrence
  std::vector<uint32_t> work;
  const auto done = [&](uint32_t p) {
    if (missing[p] || marked[g.productions[p].rule]) return;
    marked[g.productions[p].rule] = 1;
    work.push_back(g.productions[p].rule);
  };
  for (uint32_t p = 0; p < g.productions.size(); ++p) {
    for (const uint32_t x : g.productions[p].letters) {
      if (g.IsTerminal(x)) {
        missing[p] += terminals[x] ? 0 : 1;
      } else {
        ++missing[p];
        users[x - g.num_terminals].push_back(p);
      }
    }
    done(p);
  }
  while (!work.empty()) {
    const uint32_t rule = work.back();
    work.pop_back();
    for (const uint32_t p : users[rule]) {
      --missing[p];
      done(p);
    }
  }
  return marked;
}

}  // namespace

GrammarFacts FactsOf(const Grammar& g) {
  GrammarFacts facts;
  std::vector<uint8_t> terminals(g.num_terminals);
  for (uint32_t t = 0; t < g.num_terminals; ++t) terminals[t] = g.terminal_nullable[t] || g.terminal_nonempty[t];
  facts.productive = LeastFixpoint(g, terminals);
  facts.nullable = LeastFixpoint(g, g.terminal_nullable);
  facts.nonempty.assign(g.num_rules, 0);
  // A rule has a text that is not empty if a productive production of it has a letter with one.
  std::vector<std::vector<uint32_t>> users(g.num_rules);
  std::vector<uint32_t> work;
  const auto mark = [&](uint32_t rule) {
    if (facts.nonempty[rule]) return;
    facts.nonempty[rule] = 1;
    work.push_back(rule);
  };
  for (const Grammar::Production& p : g.productions) {
    const bool productive = std::all_of(p.letters.begin(), p.letters.end(), [&](uint32_t x) {
      return g.IsTerminal(x) ? terminals[x] : facts.productive[x - g.num_terminals];
    });
    if (!productive) continue;
    for (const uint32_t x : p.letters) {
      if (!g.IsTerminal(x))
        users[x - g.num_terminals].push_back(p.rule);
      else if (g.terminal_nonempty[x])
        mark(p.rule);
    }
  }
  while (!work.empty()) {
    const uint32_t rule = work.back();
    work.pop_back();
    for (const uint32_t user : users[rule]) mark(user);
  }
  return facts;
}

std::vector<uint32_t> Components(const std::vector<std::vector<uint32_t>>& arcs, std::vector<uint8_t>* cyclic) {
  constexpr uint32_t kNone = 0xffffffff;
  const size_t n = arcs.size();
  std::vector<uint32_t> index(n, kNone), low(n, 0), component(n, kNone), open;
  struct Frame {
    uint32_t node;
    size_t next;
  };
  std::vector<Frame> stack;
  uint32_t time = 0, count = 0;
  if (cyclic) cyclic->assign(n, 0);
  for (uint32_t root = 0; root < n; ++root) {
    if (index[root] != kNone) continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& f = stack.back();
      const uint32_t v = f.node;
      if (f.next == 0 && index[v] == kNone) {
        index[v] = low[v] = time++;
        open.push_back(v);
      }
      if (f.next < arcs[v].size()) {
        const uint32_t w = arcs[v][f.next++];
        if (w == v && cyclic) (*cyclic)[v] = 1;
        if (index[w] == kNone)
          stack.push_back({w, 0});
        else if (component[w] == kNone)
          low[v] = std::min(low[v], index[w]);
        continue;
      }
      if (low[v] == index[v]) {
        const bool several = open.back() != v;
        for (uint32_t w = kNone; w != v;) {
          w = open.back();
          open.pop_back();
          component[w] = count;
          if (cyclic && several) (*cyclic)[w] = 1;
        }
        ++count;
      }
      stack.pop_back();
      if (!stack.empty()) low[stack.back().node] = std::min(low[stack.back().node], low[v]);
    }
  }
  return component;
}

}  // namespace tokamata
