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

// As LexedMeet, for a language with more texts: of columns only the outermost one is told from the others, the one of
// lines outside of all blocks; with contextual lexing terminals compete with ignored ones only. Whether brackets are
// open, where newlines count for nothing, and blocks, is known for rules that close what they open: then every state of
// a rule has as many open as it has on all ways there. Where rules leave blocks open, all columns are alike.
class IndentedMeet {
 public:
  IndentedMeet(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, RegularOperand* operand);

  // Adds the states that texts from a position may lead to from `from`; false where rules leave brackets open.
  bool Ends(const Position& p, Expr from, std::vector<Expr>* out);
  // Whether it knows so much that it should rather begin anew.
  bool IsLarge() const { return graph_.Size() > kMostSummaries; }

 private:
  using Beside = LexemeEnds::Beside;
  static constexpr size_t kMostSummaries = 50'000;
  // What the column of the newline before asks for.
  enum Line : uint32_t {
    kAnything,   // nothing, or there is something between; dedents end the text
    kIndent,     // outside of blocks, deeper than they are
    kDedent,     // inside of a block, the outermost column: until no block is open
    kDeep,       // inside of a block, another column: whatever leaves one open, or ends the text
    kEnd,        // only dedents may come, and the end of the text
  };
  using Context = uint32_t;  // what runs beside the rules, kLines times, and a Line
  static constexpr uint32_t kLines = 5;
  static Beside BesideOf(Context c) { return c / kLines; }
  static Line LineOf(Context c) { return static_cast<Line>(c % kLines); }
  // Where a state of a rule stands: whether brackets and blocks were open when the rule began.
  struct Around {
    bool brackets, blocks;
  };
  static uint32_t PlaceOf(uint32_t state, Around around) { return 4 * state + 2 * around.brackets + around.blocks; }
  // How many are open in states of rules since these began, of what some terminals open and others close; false where
  // that is not so many on all ways.
  bool CountOpen(const std::vector<uint32_t>& opening, const std::vector<uint32_t>& closing, std::vector<int>* open);
  template <class F>
  void ForEachEnd(Lexer::State lexer, Beside beside, F found) {
    ends_.ForEach(lexer, beside, found, [this](size_t steps) { Spend(steps); });
  }
  const std::vector<Beside>& NextEnds(const Lexer::Terminals& wanted, Beside beside);
  const std::vector<Beside>& AfterIgnored(Beside beside, bool in_brackets);
  const std::vector<Context>& AfterNewline(Beside beside, bool in_block);
  std::vector<Context> After(uint32_t terminal, Context from, Around now, bool block_after);
  std::vector<Context> Out(uint32_t state, Around around, Context from);
  void Expand(SummaryGraph::Node node);
  void Finish(ParserStates::Set stacks, Beside beside, std::vector<Expr>* out);
  void Spend(size_t steps);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  size_t spent_ = 0;
  bool balanced_, lines_balanced_;
  std::vector<int> open_, blocks_;  // brackets and blocks, by state, since its rule began
  LexemeEnds ends_;
  std::unordered_map<uint64_t, std::vector<Beside>> next_ends_, after_ignored_;
  std::unordered_map<uint64_t, std::vector<Context>> after_newline_;
  SummaryGraph graph_;  // places: see PlaceOf
};

}  // namespace tokamata
