// IndentedMeet: where the texts of a lexed grammar with indentation cannot lead in a regular language.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/regular_operand.h"
#include "automata/csrc/summary_graph.h"
#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/lexeme_ends.h"

namespace tokamata {

// As LexedMeet, for a language with more texts: an indent or dedent may come wherever the rules have one, whatever the
// columns are; with contextual lexing terminals compete with ignored ones only. Whether brackets are open, where
// newlines count for nothing, is known for rules that close what they open: then every state of a rule has as many open
// as it has on all ways there.
class IndentedMeet {
 public:
  IndentedMeet(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, RegularOperand* operand);

  // Adds the states that texts from a position may lead to from `from`; false where rules leave brackets open.
  bool Ends(const Position& p, Expr from, std::vector<Expr>* out);

 private:
  using Beside = LexemeEnds::Beside;
  void CountBrackets();
  template <class F>
  void ForEachEnd(Lexer::State lexer, Beside beside, F found) {
    ends_.ForEach(lexer, beside, found, [this](size_t steps) { Spend(steps); });
  }
  const std::vector<Beside>& NextEnds(const Lexer::Terminals& wanted, Beside beside);
  const std::vector<Beside>& AfterIgnored(Beside beside, bool in_brackets);
  std::vector<Beside> After(uint32_t terminal, Beside beside, bool in_brackets);
  const std::vector<Beside>& Out(uint32_t state, bool in_brackets, Beside beside);
  void Expand(SummaryGraph::Node node);
  void Finish(ParserStates::Set stacks, Beside beside, std::vector<Expr>* out);
  void Spend(size_t steps);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  size_t spent_ = 0;
  bool balanced_ = true;
  std::vector<int> open_;  // brackets, by state, since its rule began
  LexemeEnds ends_;
  std::unordered_map<uint64_t, std::vector<Beside>> next_ends_, after_ignored_;
  SummaryGraph graph_;  // places: twice a state, and whether brackets were open when its rule began
};

}  // namespace tokamata
