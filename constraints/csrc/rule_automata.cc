#include "constraints/csrc/rule_automata.h"

#include <algorithm>
#include <map>
#include <set>

#include "automata/csrc/connect.h"
#include "automata/csrc/determinize.h"
#include "automata/csrc/equivalent.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/minimize.h"
#include "automata/csrc/rmepsilon.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

// Labels of the automata over letters.
Label ToLabel(uint32_t letter) { return static_cast<Label>(letter + 1); }
uint32_t ToLetter(Label label) { return static_cast<uint32_t>(label - 1); }

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
  static void AddArc(Fst* fst, StateId from, Label label, StateId to) { fst->AddArc(from, {label, label, fst->One(), to}); }

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

  // The left spines of a rule. Within its component of left calls, done(b) is reached where a text of b has been read from
  // the rule's very beginning; it stands before everything that may follow b as the first letter of a production.
  Fst Spines(uint32_t rule) const {
    Fst fst(SemiringKind::kBoolean);
    const StateId start = fst.AddState();
    fst.SetStart(start);
    const bool recursive = left_recursive_[rule] != 0;
    const std::vector<uint32_t> members = recursive ? members_[component_[rule]] : std::vector<uint32_t>{rule};
    std::map<uint32_t, StateId> done;
    for (const uint32_t b : members) done[b] = fst.AddState();
    fst.SetFinal(done[rule], fst.One());
    for (const uint32_t b : members)
      for (const uint32_t p : productions_of_[b]) {
        const std::vector<uint32_t>& letters = g_.productions[p].letters;
        TimeLimit::Spend(static_cast<int64_t>(letters.size()));
        bool at_left = true;
        StateId before = start;
        for (size_t i = 0; i < letters.size(); ++i) {
          const uint32_t x = letters[i];
          const StateId after = fst.AddState();
          if (at_left) {
            if (recursive && !g_.IsTerminal(x) && component_[x - g_.num_terminals] == component_[rule])
              AddArc(&fst, done[x - g_.num_terminals], kEpsilon, after);
            else if (Nonempty(x))
              AddArc(&fst, start, ToLabel(x), after);
          }
          if (i > 0) {
            if (Nonempty(x)) AddArc(&fst, before, ToLabel(x), after);
            if (Nullable(x)) AddArc(&fst, before, kEpsilon, after);
          }
          at_left = at_left && Nullable(x);
          before = after;
        }
        if (!letters.empty()) AddArc(&fst, before, kEpsilon, done[b]);
      }
    return fst;
  }

  // Removes epsilons and the empty text, determinizes and minimizes. Over the limit it stays nondeterministic; then
  // false is returned.
  bool Reduce(Fst* fst, int64_t most_states) const {
    TimeLimit::Spend(fst->NumStates());
    RmEpsilon(fst);
    DeterminizeOptions determinize;
    determinize.max_states = most_states;
    bool small = true;
    try {
      *fst = Determinize(*fst, determinize);
    } catch (const LimitError&) {
      small = false;
    }
    DropEmptyText(fst);
    *fst = Connect(*fst);
    if (small) Minimize(fst);
    return small;
  }

  static void DropEmptyText(Fst* fst) {
    const StateId start = fst->Start();
    if (!fst->IsFinal(start)) return;
    bool entered = false;
    for (StateId s = 0; s < fst->NumStates() && !entered; ++s)
      for (const Arc& arc : fst->Arcs(s)) entered = entered || arc.nextstate == start;
    if (!entered) return fst->SetFinal(start, fst->Zero());
    const StateId fresh = fst->AddState();
    const Span<const Arc> old = fst->Arcs(start);
    const std::vector<Arc> arcs(old.begin(), old.end());
    for (const Arc& arc : arcs) fst->AddArc(fresh, arc);
    fst->SetStart(fresh);
  }

  std::set<uint32_t> CalledBy(const Fst& fst) const {
    std::set<uint32_t> rules;
    for (StateId s = 0; s < fst.NumStates(); ++s)
      for (const Arc& arc : fst.Arcs(s))
        if (!g_.IsTerminal(ToLetter(arc.ilabel))) rules.insert(ToLetter(arc.ilabel) - g_.num_terminals);
    return rules;
  }

  void BuildCalled() {
    std::vector<uint8_t> met(g_.num_rules, 0);
    called_.assign(1, g_.start);
    met[g_.start] = 1;
    for (size_t i = 0; i < called_.size(); ++i) {
      const uint32_t rule = called_[i];
      Fst& fst = automata_[rule];
      fst = Spines(rule);
      if (Reduce(&fst, options_.determinize_states)) JumpBack(rule);
      for (const uint32_t r : CalledBy(fst))
        if (!met[r]) {
          met[r] = 1;
          called_.push_back(r);
        }
    }
  }

  // Where the language of the rule followed by what follows a call of itself is its own language again, the call is a
  // jump to the start. The automaton is guarded (every arc reads something), so its solution is still the only one.
  void JumpBack(uint32_t rule) {
    const Label self = ToLabel(g_.num_terminals + rule);
    constexpr int kRounds = 4;
    constexpr int64_t kMostStates = 1000;
    Fst& fst = automata_[rule];
    for (int round = 0; round < kRounds; ++round) {
      std::set<StateId> after;
      for (StateId s = 0; s < fst.NumStates(); ++s)
        for (const Arc& arc : fst.Arcs(s))
          if (arc.ilabel == self && fst.IsFinal(arc.nextstate)) after.insert(arc.nextstate);
      std::set<StateId> jumps;
      for (const StateId r : after) {
        Fst twice(SemiringKind::kBoolean);  // L(A)·R(r): a copy of A whose ends lead on into r
        const StateId n = fst.NumStates();
        twice.AddStates(static_cast<size_t>(2 * n));
        twice.SetStart(fst.Start());
        for (StateId s = 0; s < n; ++s) {
          for (const Arc& arc : fst.Arcs(s)) {
            AddArc(&twice, s, arc.ilabel, arc.nextstate);
            AddArc(&twice, n + s, arc.ilabel, n + arc.nextstate);
          }
          if (!fst.IsFinal(s)) continue;
          AddArc(&twice, s, kEpsilon, n + r);
          twice.SetFinal(n + s, twice.One());
        }
        RmEpsilon(&twice);
        DeterminizeOptions options;
        options.max_states = kMostStates;
        try {
          twice = Determinize(twice, options);
        } catch (const LimitError&) {
          continue;
        }
        if (Equivalent(twice, fst)) jumps.insert(r);
      }
      if (jumps.empty()) return;
      Fst jumping(SemiringKind::kBoolean);
      jumping.AddStates(static_cast<size_t>(fst.NumStates()));
      jumping.SetStart(fst.Start());
      for (StateId s = 0; s < fst.NumStates(); ++s) {
        jumping.SetFinal(s, fst.Final(s));
        for (const Arc& arc : fst.Arcs(s)) {
          if (arc.ilabel == self && jumps.count(arc.nextstate))
            AddArc(&jumping, s, kEpsilon, fst.Start());
          else
            AddArc(&jumping, s, arc.ilabel, arc.nextstate);
        }
      }
      if (!Reduce(&jumping, options_.determinize_states)) return;
      fst = std::move(jumping);
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

  void InlineInto(uint32_t rule) {
    for (;;) {
      uint32_t callee = RuleAutomata::kNone;
      for (const uint32_t c : CalledBy(automata_[rule]))
        if (!kept_[c]) {
          callee = c;
          break;
        }
      if (callee == RuleAutomata::kNone) return;
      Fst inlined = Replace(automata_[rule], ToLabel(g_.num_terminals + callee), automata_[callee]);
      if (!Reduce(&inlined, int64_t{4} * options_.inline_states) || inlined.NumStates() > static_cast<StateId>(options_.inline_states)) {
        kept_[callee] = 1;
        continue;
      }
      automata_[rule] = std::move(inlined);
      JumpBack(rule);
    }
  }

  // A copy of the callee before each state that a call leads to.
  static Fst Replace(const Fst& fst, Label call, const Fst& callee) {
    Fst out(SemiringKind::kBoolean);
    out.AddStates(static_cast<size_t>(fst.NumStates()));
    out.SetStart(fst.Start());
    std::map<StateId, StateId> copies;
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      out.SetFinal(s, fst.Final(s));
      for (const Arc& arc : fst.Arcs(s)) {
        if (arc.ilabel != call) {
          AddArc(&out, s, arc.ilabel, arc.nextstate);
          continue;
        }
        const auto [it, added] = copies.emplace(arc.nextstate, out.NumStates());
        if (added) {
          out.AddStates(static_cast<size_t>(callee.NumStates()));
          for (StateId c = 0; c < callee.NumStates(); ++c) {
            for (const Arc& inner : callee.Arcs(c)) AddArc(&out, it->second + c, inner.ilabel, it->second + inner.nextstate);
            if (callee.IsFinal(c)) AddArc(&out, it->second + c, kEpsilon, arc.nextstate);
          }
        }
        AddArc(&out, s, kEpsilon, it->second + callee.Start());
      }
    }
    return out;
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
      const Fst& fst = automata_[r];
      const uint32_t base = static_cast<uint32_t>(out->states.size());
      out->start_of[r] = base + static_cast<uint32_t>(fst.Start());
      for (StateId s = 0; s < fst.NumStates(); ++s) {
        RuleAutomata::State state;
        state.rule = r;
        state.final = fst.IsFinal(s);
        for (const Arc& arc : fst.Arcs(s)) state.arcs.push_back({ToLetter(arc.ilabel), base + static_cast<uint32_t>(arc.nextstate)});
        std::sort(state.arcs.begin(), state.arcs.end(), [](const auto& a, const auto& b) {
          return a.letter != b.letter ? a.letter < b.letter : a.state < b.state;
        });
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
  std::vector<Fst> automata_;     // by rule, once it is called
  std::vector<uint32_t> called_;  // rules, the start first
  std::vector<uint8_t> kept_;
};

}  // namespace

RuleAutomata CompileRules(const Grammar& grammar, const RuleAutomataOptions& options) {
  return Compiler(grammar, options).Run();
}

}  // namespace tokamata
