// ContextualSummaries: what texts of a grammar can lead to where only terminals that the stacks allow compete.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/pair_numbers.h"
#include "automata/csrc/regular_operand.h"
#include "automata/csrc/summary_graph.h"
#include "constraints/csrc/lexeme_ends.h"
#include "constraints/csrc/lexed_rules.h"

namespace tokamata {

// Which terminals compete depends on all stacks down to their bottoms, so rules cannot be summarized one by one, as
// they are where all terminals compete. What can: a frame, the stacks above a common rest, of which only the terminals
// that it allows are known. A frame is left where the rest is on top. The next lexeme is then one that what remains of
// the frame does not take, though that competes; so one leaves with what is pending, the state of the regular language
// that runs beside, if any, and those terminals. A frame that is one stack becomes a frame of its top, after which the
// states below go on. Where one terminal is taken both by what remains of a frame and by the rest, the frame is not
// split off.
//
// What a stack can lead to is undecidable where rules are ambiguous without bounds (whether some word is in one
// context-free language and not in another one can be asked so); frames grow there until a limit is reached. Exact
// otherwise, and finite where rules are deterministic.
class ContextualSummaries {
 public:
  // Without an operand nothing runs beside.
  ContextualSummaries(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, RegularOperand* operand)
      : rules_(rules), lexer_(lexer), stacks_(stacks->Stacks()), ends_(lexer, operand) {}

  // Whether a position, not inside indentation, can lead to the end of a text. False where the limit was reached.
  bool CanEnd(const Position& p, bool* can);
  // Adds the states of the regular language that texts from a position lead to from `from`. False where the limit was
  // reached.
  bool Ends(const Position& p, Expr from, std::vector<Expr>* out);

 private:
  using Set = StackSets::Set;
  using Beside = LexemeEnds::Beside;
  using Place = uint32_t;    // a frame and the number of the terminals that the rest allows
  using Context = uint32_t;  // what is beside, and the number of terminals that compete, too, but are not read
  using Root = std::pair<Set, Beside>;
  struct Lexeme {
    uint32_t terminal;
    Beside beside;
  };

  void Roots(const Position& p, Beside start, std::vector<Root>* roots);
  bool Solve(const std::vector<Root>& roots, bool all);
  void Expand(SummaryGraph::Node node);
  Place PlaceOf(Set frame, uint32_t below) { return places_.Of(frame, below); }
  Context ContextOf(Beside beside, uint32_t others) { return contexts_.Of(beside, others); }
  SummaryGraph::Node NodeOf(const Root& root);
  uint32_t Allowed(Set frame, uint32_t below);
  uint32_t UnionOf(uint32_t a, uint32_t b);
  bool OneStack(Set frame, uint32_t* top, Set* below) const;
  // Calls found(terminal, beside) for every way to finish the lexeme that is being read.
  template <class F>
  void ForEachEnd(Lexer::State lexer, Beside beside, F found) {
    ends_.ForEach(lexer, beside, found, [this](size_t steps) { Spend(steps); });
  }
  const std::vector<Lexeme>& Lexemes(uint32_t competing, Beside beside);
  const std::vector<Beside>& AfterIgnored(uint32_t competing, Beside beside);
  void Spend(size_t steps);

  const LexedRules& rules_;
  Lexer* lexer_;
  StackSets& stacks_;
  LexemeEnds ends_;
  size_t spent_ = 0;
  PairNumbers places_, contexts_;
  std::unordered_map<uint64_t, std::vector<Lexeme>> lexemes_;        // by competing terminals and what is beside
  std::unordered_map<uint64_t, std::vector<Beside>> after_ignored_;  // the same
  std::unordered_map<uint64_t, uint32_t> unions_;
  std::unordered_set<Place> whole_;  // frames that are not split off
  std::vector<SummaryGraph::Node> conflicts_;  // where a terminal was left out
  SummaryGraph graph_;
};

}  // namespace tokamata
