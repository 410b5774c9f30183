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
  const Indentation& indentation = *rules_.indentation;
  balanced_ = CountOpen(indentation.opening, indentation.closing, &open_);
  lines_balanced_ = CountOpen({indentation.indent}, {indentation.dedent}, &blocks_);
  if (!lines_balanced_) blocks_.assign(open_.size(), 0);
}

void IndentedMeet::Spend(size_t steps) {
  rules_.Spend(steps, &spent_, "rules beside states of a regular language", "constraint");
}

bool IndentedMeet::CountOpen(const std::vector<uint32_t>& opening, const std::vector<uint32_t>& closing,
                             std::vector<int>* open) {
  const RuleAutomata& automata = *rules_.automata;
  open->assign(automata.states.size(), kNotReached);
  std::vector<uint32_t> work = automata.start_of;
  work.push_back(automata.start);
  work.erase(std::remove(work.begin(), work.end(), RuleAutomata::kNone), work.end());
  for (const uint32_t s : work) (*open)[s] = 0;
  while (!work.empty()) {
    const uint32_t s = work.back();
    const int here = (*open)[s];
    work.pop_back();
    if (automata.states[s].final && here != 0) return false;
    for (const RuleAutomata::Arc& arc : automata.states[s].arcs) {
      const int next = here + (Contains(opening, arc.letter) ? 1 : 0) - (Contains(closing, arc.letter) ? 1 : 0);
      int& there = (*open)[arc.state];
      if (next < 0 || (there != kNotReached && there != next)) return false;
      if (there == kNotReached) work.push_back(arc.state);
      there = next;
    }
  }
  return true;
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

const std::vector<IndentedMeet::Context>& IndentedMeet::AfterNewline(Beside beside, bool in_block) {
  const auto known = after_newline_.find(PairKey(beside, in_block));
  if (known != after_newline_.end()) return known->second;
  const uint32_t newline = rules_.indentation->newline;
  Lexer::Terminals wanted(rules_.all.size(), 0), competing = rules_.all;
  wanted[newline >> 6] |= uint64_t{1} << (newline & 63);
  for (size_t i = 0; rules_.contextual && i < competing.size(); ++i) competing[i] = wanted[i] | rules_.ignored[i];
  std::vector<Context> all;
  const std::vector<Beside> before = AfterIgnored(beside, false);
  const Lexer::State begin = lexer_->Begin(competing, wanted);
  for (const Beside b : before) {
    if (!begin) break;
    ForEachEnd(begin, b, [&](uint32_t terminal, Beside n) {
      const bool outermost = terminal == lexer_->NumTerminals();
      const Line line = outermost ? (in_block ? kDedent : kAnything) : in_block ? kDeep : kIndent;
      InsertNew(&all, n * kLines + (lines_balanced_ ? line : kAnything));
    });
  }
  return after_newline_[PairKey(beside, in_block)] = std::move(all);
}

// Where a letter that is no call leads; `block_after`: whether a block is open after it.
std::vector<IndentedMeet::Context> IndentedMeet::After(uint32_t terminal, Context from, Around now, bool block_after) {
  const Indentation& indentation = *rules_.indentation;
  const Beside beside = BesideOf(from);
  const Line line = LineOf(from);
  if (terminal == indentation.indent || terminal == indentation.dedent) {
    if (!lines_balanced_) return {from};
    if (terminal == indentation.indent)
      return line == kIndent || line == kDeep ? std::vector<Context>{beside * kLines + kAnything} : std::vector<Context>();
    switch (line) {
      case kIndent: return {};
      case kDedent: return {beside * kLines + (block_after ? kDedent : kAnything)};
      case kDeep: return {beside * kLines + (block_after ? kDeep : kEnd)};
      default: return {beside * kLines + kEnd};
    }
  }
  const bool ends = terminal == indentation.end && line == kEnd;
  if (line != kAnything && line != kDeep && !ends) return {};
  if (terminal == indentation.newline) return now.brackets ? std::vector<Context>() : AfterNewline(beside, now.blocks);
  Lexer::Terminals wanted(rules_.all.size(), 0);
  wanted[terminal >> 6] |= uint64_t{1} << (terminal & 63);
  std::vector<Context> all;
  const std::vector<Beside> before = AfterIgnored(beside, now.brackets);
  for (const Beside n : before) {
    const std::vector<Beside> more = NextEnds(wanted, n);
    for (const Beside m : more) InsertNew(&all, m * kLines + kAnything);
  }
  return all;
}

void IndentedMeet::Expand(SummaryGraph::Node node) {
  const uint32_t state = graph_.Place(node) / 4;
  const Around around{(graph_.Place(node) & 2) != 0, (graph_.Place(node) & 1) != 0};
  const Context from = graph_.From(node);
  const RuleAutomata::State& s = rules_.automata->states[state];
  const Around now{around.brackets || open_[state] > 0, around.blocks || blocks_[state] > 0};
  Spend(1 + s.arcs.size());
  if (s.final) graph_.AddOut(node, from);
  for (const RuleAutomata::Arc& arc : s.arcs) {
    const uint32_t next = PlaceOf(arc.state, around);
    if (arc.letter >= lexer_->NumTerminals()) {
      const uint32_t callee = rules_.automata->start_of[arc.letter - lexer_->NumTerminals()];
      graph_.AddFollow(graph_.NodeOf(PlaceOf(callee, now), from), next, node);
      continue;
    }
    const std::vector<Context> after = After(arc.letter, from, now, around.blocks || blocks_[arc.state] > 0);
    for (const Context to : after) graph_.AddCopy(graph_.NodeOf(next, to), node);
  }
}

std::vector<IndentedMeet::Context> IndentedMeet::Out(uint32_t state, Around around, Context from) {
  const SummaryGraph::Node root = graph_.NodeOf(PlaceOf(state, around), from);
  graph_.Solve([this](SummaryGraph::Node node) { return Expand(node), true; }, [this](size_t steps) { Spend(steps); });
  return graph_.Out(root);
}

// The states at the bottom of the stacks.
void IndentedMeet::Finish(ParserStates::Set stacks, Beside beside, std::vector<Expr>* out) {
  struct At {
    StackSets::Set stacks;
    Context context;
    int open, blocks;
  };
  const int open = static_cast<int>(stacks_->Brackets(stacks)), blocks = static_cast<int>(stacks_->Blocks(stacks));
  std::vector<At> work{{stacks_->StacksOf(stacks), beside * kLines + kAnything, open, lines_balanced_ ? blocks : 0}};
  std::unordered_set<uint64_t> seen;  // below a state as many are open however it was reached
  while (!work.empty()) {
    const At at = work.back();
    work.pop_back();
    Spend(1);
    const Line line = LineOf(at.context);
    if (stacks_->Stacks().HasBottom(at.stacks) && line != kIndent && line != kDedent)
      for (const Beside last : AfterIgnored(BesideOf(at.context), false)) InsertNew(out, ends_.RegularOf(last));
    stacks_->Stacks().ForEachTop(at.stacks, [&](uint32_t state, StackSets::Set below) {
      const int outer = at.open - open_[state], around = at.blocks - blocks_[state];
      if (outer < 0 || around < 0) return;
      const std::vector<Context> after = Out(state, {outer > 0, around > 0}, at.context);
      for (const Context n : after)
        if (seen.insert(PairKey(below, n)).second) work.push_back({below, n, outer, around});
    });
  }
}

bool IndentedMeet::Ends(const Position& p, Expr from, std::vector<Expr>* out) {
  if (!balanced_) return false;
  spent_ = 0;
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
