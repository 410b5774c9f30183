// LexedMeet: where the texts of a lexed grammar lead in a regular language.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/regular_operand.h"
#include "constraints/csrc/lexeme_ends.h"
#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/rule_summaries.h"

namespace tokamata {

// As Completable summarizes rules by what is pending, this does by what is pending beside a state of the regular
// language. Not for indentation, where more than that would have to be known. With contextual lexing what competes
// depends on the stacks; with `fewest`, only a terminal itself and ignored ones, more ends are found than there are,
// without, all terminals compete and fewer are.
class LexedMeet {
 public:
  LexedMeet(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, RegularOperand* operand, bool fewest = false)
      : rules_(rules),
        fewest_(fewest),
        lexer_(lexer),
        stacks_(stacks),
        ends_(lexer, operand),
        summaries_(*rules.automata, lexer->NumTerminals()) {}

  // Adds the states that texts from a position lead to from `from`.
  void Ends(const Position& p, Expr from, std::vector<Expr>* out);
  // Whether it knows so much that it should rather begin anew.
  bool IsLarge() const { return summaries_.Size() > kMostSummaries; }

 private:
  using Beside = LexemeEnds::Beside;
  static constexpr size_t kMostSummaries = 50'000;
  template <class F>
  void ForEachEnd(Lexer::State lexer, Beside beside, F found) {
    ends_.ForEach(lexer, beside, found, [this](size_t steps) { Spend(steps); });
  }
  const std::vector<Beside>& NextEnds(const Lexer::Terminals& wanted, Beside beside);
  const std::vector<Beside>& AfterIgnored(Beside beside);
  std::vector<Beside> After(uint32_t terminal, Beside beside);
  const std::vector<Beside>& Out(uint32_t state, Beside beside);
  void Finish(StackSets::Set stacks, Beside beside, std::vector<Expr>* out);
  void Spend(size_t steps);

  const LexedRules& rules_;
  const bool fewest_;
  Lexer* lexer_;
  ParserStates* stacks_;
  size_t spent_ = 0;
  LexemeEnds ends_;
  std::unordered_map<uint64_t, std::vector<Beside>> next_ends_;
  std::unordered_map<Beside, std::vector<Beside>> after_ignored_;
  RuleSummaries summaries_;  // contexts are what runs beside
};

}  // namespace tokamata
