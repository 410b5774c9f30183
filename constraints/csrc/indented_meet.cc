#include "constraints/csrc/indented_meet.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "automata/csrc/id_table.h"
#include "automata/csrc/insert_new.h"

namespace tokamata {
namespace {

constexpr int kNotReached = -1;

bool Contains(const std::vector<uint32_t>& all, uint32_t x) { return std::find(all.begin(), all.end(), x) != all.end(); }

}  // namespace

IndentedMeet::IndentedMeet(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, RegularOperand* operand)
    : rules_(rules), lexer_(lexer), stacks_(stacks), ends_(lexer, operand) {
  CountBrackets();
}

void IndentedMeet::Spend(size_t steps) {
  rules_.Spend(steps, &spent_, "rules beside states of a regular language", "constraint");
}

void IndentedMeet::CountBrackets() {
  const RuleAutomata& automata = *rules_.automata;
  const Indentation& indentation = *rules_.indentation;
  open_.assign(automata.states.size(), kNotReached);
  std::vector<uint32_t> work = automata.start_of;
  work.push_back(automata.start);
  work.erase(std::remove(work.begin(), work.end(), RuleAutomata::kNone), work.end());
  for (const uint32_t s : work) open_[s] = 0;
  while (!work.empty() && balanced_) {
    const uint32_t s = work.back();
    work.pop_back();
    balanced_ = !automata.states[s].final || open_[s] == 0;
    for (const RuleAutomata::Arc& arc : automata.states[s].arcs) {
      const int open =
          open_[s] + (Contains(indentation.opening, arc.letter) ? 1 : 0) - (Contains(indentation.closing, arc.letter) ? 1 : 0);
      if (open < 0 || (open_[arc.state] != kNotReached && open_[arc.state] != open)) balanced_ = false;
      if (!balanced_) return;
      if (open_[arc.state] == kNotReached) work.push_back(arc.state);
      open_[arc.state] = open;
    }
  }
}

const std::vector<IndentedMeet::Beside>& IndentedMeet::NextEnds(const Lexer::Terminals& wanted, Beside beside) {
  Lexer::Terminals competing = rules_.all;
  for (size_t i = 0; rules_.contextual && i < competing.size(); ++i) competing[i] = wanted[i] | rules_.ignored[i];
  const Lexer::State begin = lexer_->Begin(competing, wanted);
  const auto known = next_ends_.find(PairKey(begin, beside));
  if (known != next_ends_.end()) return known->second;
  std::vector<Beside> all;
  if (begin) ForEachEnd(begin, beside, [&](uint32_t, Beside n) { InsertNew(&all, n); });
  return next_ends_[PairKey(begin, beside)] = std::move(all);
}

const std::vector<IndentedMeet::Beside>& IndentedMeet::AfterIgnored(Beside beside, bool in_brackets) {
  const auto known = after_ignored_.find(PairKey(beside, in_brackets));
  if (known != after_ignored_.end()) return known->second;
  Lexer::Terminals wanted = rules_.ignored;
  const uint32_t newline = rules_.indentation->newline;
  if (in_brackets) wanted[newline >> 6] |= uint64_t{1} << (newline & 63);
  std::vector<Beside> all{beside};
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<Beside> more = NextEnds(wanted, all[i]);
    for (const Beside n : more) InsertNew(&all, n);
  }
  return after_ignored_[PairKey(beside, in_brackets)] = std::move(all);
}

std::vector<IndentedMeet::Beside> IndentedMeet::After(uint32_t terminal, Beside beside, bool in_brackets) {
  const Indentation& indentation = *rules_.indentation;
  if (terminal == indentation.indent || terminal == indentation.dedent) return {beside};
  if (terminal == indentation.newline && in_brackets) return {};
  Lexer::Terminals wanted(rules_.all.size(), 0);
  wanted[terminal >> 6] |= uint64_t{1} << (terminal & 63);
  std::vector<Beside> all;
  const std::vector<Beside> before = AfterIgnored(beside, in_brackets);
  for (const Beside n : before) {
    const std::vector<Beside> more = NextEnds(wanted, n);
    for (const Beside m : more) InsertNew(&all, m);
  }
  return all;
}

void IndentedMeet::Expand(SummaryGraph::Node node) {
  const uint32_t state = graph_.Place(node) / 2, outer = graph_.Place(node) % 2;
  const Beside from = graph_.From(node);
  const RuleAutomata::State& s = rules_.automata->states[state];
  const bool in_brackets = outer || open_[state] > 0;
  Spend(1 + s.arcs.size());
  if (s.final) graph_.AddOut(node, from);
  for (const RuleAutomata::Arc& arc : s.arcs) {
    const uint32_t next = 2 * arc.state + outer;
    if (arc.letter >= lexer_->NumTerminals()) {
      const uint32_t callee = rules_.automata->start_of[arc.letter - lexer_->NumTerminals()];
      graph_.AddFollow(graph_.NodeOf(2 * callee + in_brackets, from), next, node);
      continue;
    }
    const std::vector<Beside> after = After(arc.letter, from, in_brackets);
    for (const Beside to : after) graph_.AddCopy(graph_.NodeOf(next, to), node);
  }
}

const std::vector<IndentedMeet::Beside>& IndentedMeet::Out(uint32_t state, bool in_brackets, Beside beside) {
  const SummaryGraph::Node root = graph_.NodeOf(2 * state + in_brackets, beside);
  graph_.Solve([this](SummaryGraph::Node node) { return Expand(node), true; }, [this](size_t steps) { Spend(steps); });
  return graph_.Out(root);
}

// The states at the bottom of the stacks.
void IndentedMeet::Finish(ParserStates::Set stacks, Beside beside, std::vector<Expr>* out) {
  struct At {
    StackSets::Set stacks;
    Beside beside;
    int open;
  };
  std::vector<At> work{{stacks_->StacksOf(stacks), beside, static_cast<int>(stacks_->Brackets(stacks))}};
  std::unordered_set<uint64_t> seen;  // below a state as many are open however it was reached
  while (!work.empty()) {
    const At at = work.back();
    work.pop_back();
    Spend(1);
    if (stacks_->Stacks().HasBottom(at.stacks))
      for (const Beside last : AfterIgnored(at.beside, false)) InsertNew(out, ends_.RegularOf(last));
    stacks_->Stacks().ForEachTop(at.stacks, [&](uint32_t state, StackSets::Set below) {
      const int outer = at.open - open_[state];
      if (outer < 0) return;
      const std::vector<Beside> after = Out(state, outer > 0, at.beside);
      for (const Beside n : after)
        if (seen.insert(PairKey(below, n)).second) work.push_back({below, n, outer});
    });
  }
}

bool IndentedMeet::Ends(const Position& p, Expr from, std::vector<Expr>* out) {
  if (!balanced_) return false;
  const Beside start = ends_.Number(p.pending, from);
  if (p.lexer == Position::kBoundary) return Finish(p.stacks, start, out), true;
  std::vector<std::pair<ParserStates::Set, Beside>> ends;
  ForEachEnd(p.lexer, start, [&](uint32_t terminal, Beside n) {
    const ParserStates::Set next = HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_->Advance(p.stacks, terminal);
    if (next != ParserStates::kNone) InsertNew(&ends, {next, n});
  });
  for (const auto& [stacks, n] : ends) Finish(stacks, n, out);
  return true;
}

}  // namespace tokamata
