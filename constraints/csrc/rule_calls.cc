#include "constraints/csrc/rule_calls.h"

#include <utility>
#include <vector>

#include "automata/csrc/errors.h"

namespace tokamata {
namespace {

// Rule number = state of the automata: what is read from there to the end of its rule.
class RuleCalls final : public RuleSource {
 public:
  struct Shared {
    RuleAutomata automata;
    uint32_t num_terminals = 0;
    std::vector<ByteSet> first;  // by state
  };
  RuleCalls(std::shared_ptr<const Shared> shared, Expressions* pool, std::vector<Expr> terminals)
      : shared_(std::move(shared)), pool_(pool), terminals_(std::move(terminals)) {}

  void SetNumber(uint32_t number) { number_ = number; }

  Expr CallOf(uint32_t state) {
    const RuleAutomata::State& s = shared_->automata.states[state];
    if (s.Ends()) return kEpsilonExpr;
    return pool_->Call(number_, state, s.final, shared_->first[state]);
  }

  Expr Expand(uint32_t state) override {
    const RuleAutomata::State& s = shared_->automata.states[state];
    std::vector<Expr> ways;
    if (s.final) ways.push_back(kEpsilonExpr);
    for (const RuleAutomata::Arc& arc : s.arcs) {
      const bool terminal = arc.letter < shared_->num_terminals;
      const Expr letter =
          terminal ? terminals_[arc.letter] : CallOf(shared_->automata.start_of[arc.letter - shared_->num_terminals]);
      ways.push_back(pool_->Concat(letter, CallOf(arc.state)));
    }
    return pool_->Union(std::move(ways));
  }

  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    std::vector<Expr> terminals = terminals_;
    pool->Import(*pool_, &terminals);
    auto clone = std::make_shared<RuleCalls>(shared_, pool, std::move(terminals));
    clone->number_ = static_cast<uint32_t>(pool->NumRuleSources());  // the one it will get
    return clone;
  }

 private:
  std::shared_ptr<const Shared> shared_;
  Expressions* pool_;
  std::vector<Expr> terminals_;  // without the empty text
  uint32_t number_ = 0;
};

}  // namespace

Expr CompileScannerless(const Grammar& source, Expressions* pool, const std::vector<Expr>& terminals) {
  Grammar grammar = source;
  grammar.terminal_nullable.assign(terminals.size(), 0);
  grammar.terminal_nonempty.assign(terminals.size(), 0);
  std::vector<Expr> nonempty = terminals;
  for (size_t t = 0; t < terminals.size(); ++t) {
    if (pool->Nullable(terminals[t])) {
      grammar.terminal_nullable[t] = 1;
      nonempty[t] = pool->Difference(terminals[t], kEpsilonExpr);
    }
    grammar.terminal_nonempty[t] = !pool->IsEmpty(nonempty[t]);
  }
  auto shared = std::make_shared<RuleCalls::Shared>();
  shared->automata = CompileRules(grammar);
  shared->num_terminals = grammar.num_terminals;
  const RuleAutomata& automata = shared->automata;
  if (automata.start == RuleAutomata::kNone) {
    if (automata.nullable) return kEpsilonExpr;
    throw ConstraintError("grammar: the start rule " + grammar.rule_names[grammar.start] +
                          " has no text: every alternative needs a rule that calls itself without end, or a terminal "
                          "without text; add an alternative that ends");
  }
  // The first bytes of states: a fixpoint, since states begin with the starts of what they call.
  shared->first.resize(automata.states.size());
  for (bool again = true; again;) {
    again = false;
    for (size_t s = automata.states.size(); s-- > 0;)
      for (const RuleAutomata::Arc& arc : automata.states[s].arcs) {
        const ByteSet& more = arc.letter < grammar.num_terminals
                                  ? pool->First(nonempty[arc.letter])
                                  : shared->first[automata.start_of[arc.letter - grammar.num_terminals]];
        if (more.SubsetOf(shared->first[s])) continue;
        shared->first[s] = shared->first[s] | more;
        again = true;
      }
  }
  auto calls = std::make_shared<RuleCalls>(shared, pool, std::move(nonempty));
  calls->SetNumber(pool->AddRules(calls));
  const Expr start = calls->CallOf(automata.start);
  return automata.nullable ? pool->Union(start, kEpsilonExpr) : start;
}

}  // namespace tokamata
