#include "constraints/csrc/rule_automata.h"

#include <algorithm>
#include <map>
#include <set>

#include "automata/csrc/time_limit.h"
#include "constraints/csrc/letter_automaton.h"

namespace tokamata {
namespace {

class Compiler {
 public:
  Compiler(const Grammar& grammar, const RuleAutomataOptions& options)
      : g_(grammar), options_(options), facts_(FactsOf(grammar)), automata_(g_.num_rules), kept_(g_.num_rules, 0) {
    IndexProductions();
  }

  RuleAutomata Run() {
    RuleAutomata out;
    out.start_of.assign(g_.num_rules, RuleAutomata::kNone);
    out.nullable = facts_.nullable[g_.start];
    if (!facts_.nonempty[g_.start]) return out;
    BuildCalled();
    if (options_.inline_calls) {
      ChooseKept();
      InlineAll();
    } else {
      std::fill(kept_.begin(), kept_.end(), 1);
    }
    Flatten(&out);
    return out;
  }

 private:
  void IndexProductions() {
    productions_of_.resize(g_.num_rules);
    left_calls_.resize(g_.num_rules);
    for (uint32_t p = 0; p < g_.productions.size(); ++p) {
      const Grammar::Production& production = g_.productions[p];
      const bool possible = std::all_of(production.letters.begin(), production.letters.end(), [this](uint32_t x) {
        return g_.IsTerminal(x) ? g_.terminal_nonempty[x] || g_.terminal_nullable[x] : facts_.productive[x - g_.num_terminals];
      });
      if (!possible) continue;
      productions_of_[production.rule].push_back(p);
      for (const uint32_t x : production.letters) {
        if (!g_.IsTerminal(x)) left_calls_[production.rule].push_back(x - g_.num_terminals);
        if (!Nullable(x)) break;
      }
    }
    component_ = Components(left_calls_, &left_recursive_);
    members_.resize(g_.num_rules);
    for (uint32_t r = 0; r < g_.num_rules; ++r) members_[component_[r]].push_back(r);
  }

  bool Nullable(uint32_t x) const { return g_.IsTerminal(x) ? g_.terminal_nullable[x] : facts_.nullable[x - g_.num_terminals]; }
  bool Nonempty(uint32_t x) const { return g_.IsTerminal(x) ? g_.terminal_nonempty[x] : facts_.nonempty[x - g_.num_terminals]; }

  // The left spines of a rule. Within its component of left calls, done(b) is reached where a text of b has been read
  // from the rule's very beginning; it stands before everything that may follow b as the first letter of a production.
  LetterNet Spines(uint32_t rule) const {
    LetterNet net;
    net.start = net.AddStates(1);
    const bool recursive = left_recursive_[rule] != 0;
    const std::vector<uint32_t> members = recursive ? members_[component_[rule]] : std::vector<uint32_t>{rule};
    std::map<uint32_t, uint32_t> done;
    for (const uint32_t b : members) done[b] = net.AddStates(1);
    net.final[done[rule]] = 1;
    for (const uint32_t b : members)
      for (const uint32_t p : productions_of_[b]) {
        const std::vector<uint32_t>& letters = g_.productions[p].letters;
        TimeLimit::Spend(static_cast<int64_t>(letters.size()));
        bool at_left = true;
        uint32_t before = net.start;
        for (size_t i = 0; i < letters.size(); ++i) {
          const uint32_t x = letters[i];
          const uint32_t after = net.AddStates(1);
          if (at_left) {
            if (recursive && !g_.IsTerminal(x) && component_[x - g_.num_terminals] == component_[rule])
              net.AddArc(done[x - g_.num_terminals], LetterNet::kEpsilon, after);
            else if (Nonempty(x))
              net.AddArc(net.start, x, after);
          }
          if (i > 0) {
            if (Nonempty(x)) net.AddArc(before, x, after);
            if (Nullable(x)) net.AddArc(before, LetterNet::kEpsilon, after);
          }
          at_left = at_left && Nullable(x);
          before = after;
        }
        if (!letters.empty()) net.AddArc(before, LetterNet::kEpsilon, done[b]);
      }
    return net;
  }

  std::set<uint32_t> CalledBy(const LetterAutomaton& fa) const {
    std::set<uint32_t> rules;
    for (const LetterArc& arc : fa.arcs)
      if (!g_.IsTerminal(arc.letter)) rules.insert(arc.letter - g_.num_terminals);
    return rules;
  }

  void BuildCalled() {
    std::vector<uint8_t> met(g_.num_rules, 0);
    called_.assign(1, g_.start);
    met[g_.start] = 1;
    for (size_t i = 0; i < called_.size(); ++i) {
      const uint32_t rule = called_[i];
      if (Reduce(Spines(rule), options_.determinize_states, &automata_[rule])) JumpBack(rule);
      for (const uint32_t r : CalledBy(automata_[rule]))
        if (!met[r]) {
          met[r] = 1;
          called_.push_back(r);
        }
    }
  }

  // The states and arcs of an automaton as a part of a net, from a state on.
  static void Copy(const LetterAutomaton& fa, uint32_t base, LetterNet* net) {
    for (uint32_t s = 0; s < fa.NumStates(); ++s)
      for (const LetterArc& arc : fa.Arcs(s)) net->AddArc(base + s, arc.letter, base + arc.state);
  }

  // Where the language of the rule followed by what follows a call of itself is its own language again, the call is a
  // jump to the start. The automaton is guarded (every arc reads something), so its solution is still the only one.
  void JumpBack(uint32_t rule) {
    const uint32_t self = g_.num_terminals + rule;
    constexpr int kRounds = 4;
    constexpr size_t kMostStates = 1000;
    LetterAutomaton& fa = automata_[rule];
    for (int round = 0; round < kRounds; ++round) {
      std::set<uint32_t> after, jumps;
      for (const LetterArc& arc : fa.arcs)
        if (arc.letter == self && fa.final[arc.state]) after.insert(arc.state);
      for (const uint32_t r : after) {
        const uint32_t n = fa.NumStates();
        LetterNet twice;  // L(A)·R(r): a copy of A whose ends lead on into r
        twice.AddStates(2 * n);
        Copy(fa, 0, &twice);
        Copy(fa, n, &twice);
        for (uint32_t s = 0; s < n; ++s) {
          if (!fa.final[s]) continue;
          twice.AddArc(s, LetterNet::kEpsilon, n + r);
          twice.final[n + s] = 1;
        }
        LetterAutomaton reduced;
        if (Reduce(twice, kMostStates, &reduced) && reduced == fa) jumps.insert(r);
      }
      if (jumps.empty()) return;
      LetterNet jumping;
      jumping.AddStates(fa.NumStates());
      jumping.final = fa.final;
      for (uint32_t s = 0; s < fa.NumStates(); ++s)
        for (const LetterArc& arc : fa.Arcs(s)) {
          if (arc.letter == self && jumps.count(arc.state))
            jumping.AddArc(s, LetterNet::kEpsilon, 0);
          else
            jumping.AddArc(s, arc.letter, arc.state);
        }
      LetterAutomaton reduced;
      if (!Reduce(jumping, options_.determinize_states, &reduced)) return;
      fa = std::move(reduced);
    }
  }

  // Calls that stay: one rule of every cycle of calls, those that call themselves first, then the most called.
  void ChooseKept() {
    std::vector<std::set<uint32_t>> calls(g_.num_rules);
    kept_[g_.start] = 1;
    for (const uint32_t r : called_) {
      calls[r] = CalledBy(automata_[r]);
      if (calls[r].count(r)) kept_[r] = 1;
    }
    for (;;) {
      std::vector<std::vector<uint32_t>> arcs(g_.num_rules);
      std::vector<uint32_t> callers(g_.num_rules, 0);
      for (const uint32_t r : called_)
        if (!kept_[r])
          for (const uint32_t c : calls[r])
            if (!kept_[c]) {
              arcs[r].push_back(c);
              ++callers[c];
            }
      TimeLimit::Spend(static_cast<int64_t>(called_.size()));
      std::vector<uint8_t> cyclic;
      Components(arcs, &cyclic);
      uint32_t best = RuleAutomata::kNone;
      for (const uint32_t r : called_)
        if (cyclic[r] && (best == RuleAutomata::kNone || callers[r] > callers[best])) best = r;
      if (best == RuleAutomata::kNone) return;
      kept_[best] = 1;
    }
  }

  // Callees before callers: components number the former lower.
  void InlineAll() {
    std::vector<std::vector<uint32_t>> arcs(g_.num_rules);
    for (const uint32_t r : called_)
      for (const uint32_t c : CalledBy(automata_[r]))
        if (!kept_[c]) arcs[r].push_back(c);
    const std::vector<uint32_t> order = Components(arcs, nullptr);
    std::vector<uint32_t> rules = called_;
    std::sort(rules.begin(), rules.end(), [&](uint32_t a, uint32_t b) { return order[a] < order[b]; });
    for (const uint32_t r : rules) InlineInto(r);
  }

  // All calls at once; where that makes too large an automaton, one callee after the other, and those that do are kept;
  // so are those that it takes too long to try.
  void InlineInto(uint32_t rule) {
    constexpr size_t kMostArcs = 200'000;  // of the automata that callees are put into one by one
    std::set<uint32_t> callees;
    for (const uint32_t c : CalledBy(automata_[rule]))
      if (!kept_[c]) callees.insert(c);
    if (callees.empty() || Inline(rule, callees)) return;
    size_t arcs = 0;
    for (const uint32_t c : callees) {
      if (callees.size() == 1 || arcs > kMostArcs || !Inline(rule, {c})) kept_[c] = 1;
      arcs += automata_[rule].arcs.size();
    }
  }

  // What callees call stays, as they were inlined into before. False where the automaton would be too large.
  bool Inline(uint32_t rule, const std::set<uint32_t>& callees) {
    LetterAutomaton inlined;
    if (!Reduce(Replace(automata_[rule], callees), size_t{4} * options_.inline_states, &inlined)) return false;
    if (inlined.NumStates() > options_.inline_states) return false;
    automata_[rule] = std::move(inlined);
    JumpBack(rule);
    return true;
  }

  // A copy of a callee before each state that a call of it leads to.
  LetterNet Replace(const LetterAutomaton& fa, const std::set<uint32_t>& callees) const {
    LetterNet net;
    net.AddStates(fa.NumStates());
    net.final = fa.final;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> copies;
    for (uint32_t s = 0; s < fa.NumStates(); ++s)
      for (const LetterArc& arc : fa.Arcs(s)) {
        if (g_.IsTerminal(arc.letter) || !callees.count(arc.letter - g_.num_terminals)) {
          net.AddArc(s, arc.letter, arc.state);
          continue;
        }
        const auto [it, added] = copies.emplace(std::make_pair(arc.letter, arc.state), 0);
        if (added) {
          const LetterAutomaton& callee = automata_[arc.letter - g_.num_terminals];
          it->second = net.AddStates(callee.NumStates());
          Copy(callee, it->second, &net);
          for (uint32_t c = 0; c < callee.NumStates(); ++c)
            if (callee.final[c]) net.AddArc(it->second + c, LetterNet::kEpsilon, arc.state);
        }
        net.AddArc(s, LetterNet::kEpsilon, it->second);
      }
    return net;
  }

  // Numbers the kept automata's states, starting with the grammar's start.
  void Flatten(RuleAutomata* out) const {
    std::vector<uint32_t> rules;
    std::vector<uint8_t> met(g_.num_rules, 0);
    const auto meet = [&](uint32_t r) {
      if (met[r]) return;
      met[r] = 1;
      rules.push_back(r);
    };
    meet(g_.start);
    for (size_t i = 0; i < rules.size(); ++i)
      for (const uint32_t r : CalledBy(automata_[rules[i]])) meet(r);
    for (const uint32_t r : rules) {
      const LetterAutomaton& fa = automata_[r];
      const uint32_t base = static_cast<uint32_t>(out->states.size());
      out->start_of[r] = base;
      for (uint32_t s = 0; s < fa.NumStates(); ++s) {
        RuleAutomata::State state;
        state.rule = r;
        state.final = fa.final[s] != 0;
        for (const LetterArc& arc : fa.Arcs(s)) state.arcs.push_back({arc.letter, base + arc.state});
        out->states.push_back(std::move(state));
      }
    }
    out->start = out->start_of[g_.start];
  }

  const Grammar& g_;
  const RuleAutomataOptions& options_;
  const GrammarFacts facts_;
  std::vector<std::vector<uint32_t>> productions_of_, left_calls_, members_;  // members_ by component
  std::vector<uint32_t> component_;
  std::vector<uint8_t> left_recursive_;
  std::vector<LetterAutomaton> automata_;  // by rule, once it is called
  std::vector<uint32_t> called_;           // rules, the start first
  std::vector<uint8_t> kept_;
};

}  // namespace

RuleAutomata CompileRules(const Grammar& grammar, const RuleAutomataOptions& options) {
  return Compiler(grammar, options).Run();
}

}  // namespace tokamata
