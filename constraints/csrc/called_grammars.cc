#include "constraints/csrc/called_grammars.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "constraints/csrc/lexed_grammar.h"
#include "constraints/csrc/rule_bodies.h"

namespace tokamata {
namespace {

constexpr size_t kMostStates = 5'000;  // of a grammar's automata, from which it stays an automaton
constexpr uint32_t kNone = RuleAutomata::kNone;

// Rules of the states that texts can come by; false where a terminal nests.
bool AddBodies(const RuleAutomata& automata, Lexer* lexer, const std::vector<std::string>& names, RuleBodies* bodies) {
  const uint32_t num_terminals = lexer->NumTerminals();
  const auto node = [bodies](RuleBodies::Kind kind, std::vector<uint32_t> operands, uint32_t index) {
    RuleBodies::Node made;
    made.kind = kind;
    made.operands = std::move(operands);
    made.index = index;
    bodies->nodes.push_back(std::move(made));
    return static_cast<uint32_t>(bodies->nodes.size() - 1);
  };
  using Kind = RuleBodies::Kind;
  std::vector<uint32_t> rule_of(automata.states.size(), kNone), states;
  const auto call = [&](uint32_t state) {
    if (rule_of[state] == kNone) {
      rule_of[state] = static_cast<uint32_t>(states.size());
      states.push_back(state);
    }
    return node(Kind::kCall, {}, rule_of[state]);
  };
  std::vector<uint32_t> leaf_of(num_terminals, kNone);
  bool nests = false;
  const auto leaf = [&](uint32_t terminal) {
    if (leaf_of[terminal] == kNone) {
      leaf_of[terminal] = static_cast<uint32_t>(bodies->leaf_texts.size());
      bodies->leaf_texts.push_back(lexer->WithTerminal(terminal, [&](const Expressions& other, Expr e) {
        nests = nests || other.IsPushDown(e);
        return nests ? kEmpty : bodies->leaves.Import(other, e);
      }));
    }
    return node(Kind::kLeaf, {}, leaf_of[terminal]);
  };
  const uint32_t nothing = node(Kind::kConcat, {}, 0);
  call(automata.start);
  for (size_t i = 0; i < states.size() && !nests; ++i) {
    const RuleAutomata::State& state = automata.states[states[i]];
    std::map<uint32_t, std::vector<uint32_t>> letters;  // by where they lead
    for (const RuleAutomata::Arc& arc : state.arcs)
      letters[arc.state].push_back(arc.letter < num_terminals ? leaf(arc.letter)
                                                              : call(automata.start_of[arc.letter - num_terminals]));
    std::vector<uint32_t> ways;
    if (state.final) ways.push_back(nothing);
    for (auto& [target, read] : letters) {
      const uint32_t any = read.size() == 1 ? read[0] : node(Kind::kUnion, read, 0);
      ways.push_back(automata.states[target].Ends() ? any : node(Kind::kConcat, {any, call(target)}, 0));
    }
    bodies->bodies.push_back(ways.size() == 1 ? ways[0] : node(Kind::kUnion, ways, 0));
    bodies->names.push_back(names[state.rule]);
  }
  return !nests;
}

// A grammar as rules, or e.
Expr CallGrammar(Expressions* pool, Expr e) {
  auto* const grammar = dynamic_cast<LexedGrammar*>(pool->LeafOf(e));
  if (!grammar || grammar->Rules().longest || pool->LeafState(e) != grammar->Start()) return e;
  const LexedRules& rules = grammar->Rules();
  if (rules.automata->start == kNone || rules.automata->states.size() > kMostStates) return e;
  auto bodies = std::make_shared<RuleBodies>();
  bodies->leaves.limits = pool->limits;
  if (!AddBodies(*rules.automata, &grammar->lexer(), rules.rule_names, bodies.get())) return e;
  CheckRuleBodies(bodies.get());
  const Expr called = CallFirstRule(pool, std::move(bodies));
  return rules.automata->nullable ? pool->Union(called, kEpsilonExpr) : called;
}

std::vector<Expr> OperandsOf(const Expressions& pool, Expr e) {
  switch (pool.Kind(e)) {
    case ExprKind::kConcat: return {pool.Head(e), pool.Tail(e)};
    case ExprKind::kRepeat:
    case ExprKind::kComplement: return {pool.Body(e)};
    case ExprKind::kUnion:
    case ExprKind::kIntersect: return {pool.Members(e), pool.Members(e) + pool.NumMembers(e)};
    default: return {};
  }
}

}  // namespace

Expr CallGrammars(Expressions* pool, Expr e) {
  std::unordered_map<Expr, Expr> made;
  std::vector<Expr> work{e};
  while (!work.empty()) {
    const Expr x = work.back();
    if (made.count(x)) {
      work.pop_back();
      continue;
    }
    std::vector<Expr> operands;
    if (pool->IsPushDown(x)) operands = OperandsOf(*pool, x);
    const size_t pending = work.size();
    for (const Expr operand : operands)
      if (!made.count(operand)) work.push_back(operand);
    if (work.size() > pending) continue;
    const std::vector<Expr> before = operands;
    for (Expr& operand : operands) operand = made.at(operand);
    Expr result = x;
    if (pool->Kind(x) == ExprKind::kLeaf) {
      result = CallGrammar(pool, x);
    } else if (operands != before) {
      switch (pool->Kind(x)) {
        case ExprKind::kConcat: result = pool->Concat(operands[0], operands[1]); break;
        case ExprKind::kRepeat: result = pool->Repeat(operands[0], pool->Low(x), pool->High(x)); break;
        case ExprKind::kComplement: result = pool->Complement(operands[0]); break;
        case ExprKind::kUnion: result = pool->Union(std::move(operands)); break;
        default: result = pool->Intersect(std::move(operands)); break;
      }
    }
    made[x] = result;
    work.pop_back();
  }
  return made.at(e);
}

}  // namespace tokamata
