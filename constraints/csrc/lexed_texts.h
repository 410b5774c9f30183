// LexedTexts: texts of a lexed grammar that a regular language has, too, where it has nearly all that matters.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/meeting_leaf.h"
#include "automata/csrc/regular_operand.h"
#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/stack_lengths.h"

namespace tokamata {

// Most regular languages that texts are intersected with have states from which every terminal that the rules cannot do
// without has a lexeme that leads back to such a state, all of them final: those of `[ -~]*`, of `[^;]*`, or of texts
// without a word. From there a stack can be emptied whatever it is, and what terminals cost says with how many bytes. Only
// the lexeme that is being read is looked at byte by byte, until it ends in such a state. Finds most texts, never one
// that there is not. Not for indentation, nor where the end of the text is a terminal.
class LexedTexts {
 public:
  LexedTexts(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, Positions* steps)
      : rules_(rules), lexer_(lexer), stacks_(stacks), steps_(steps) {}

  // Of a position, beside a state of an operand that is kept.
  MeetingLeaf::Text Find(const Position& p, RegularOperand* operand, Expr from);

 private:
  // States that terminals lead back to, at the end of lexemes that nothing is pending after.
  struct Home {
    std::unique_ptr<StackLengths> lengths;
    bool pads = false;  // by the separator, too
  };
  // What a terminal is read with, where the operand allows it.
  struct Sample {
    bool asked = false, found = false;
    std::string text;
  };
  struct End {
    Expr to;
    uint32_t bytes;
  };
  Home* HomeOf(Expr r);
  void FindHome(Expr root);
  const Sample& SampleOf(uint32_t terminal);
  std::vector<End> Ways(uint32_t terminal, Expr from);
  bool FindLexeme(uint32_t terminal, Expr from, std::string* text);
  bool SeparatorEnds(Lexer::State pending) { return !pending || !lexer_->Next(pending, rules_.separator); }
  void AddEnds(bool free, Expr r, uint32_t bytes, std::vector<End>* out);
  Expr Run(Expr r, const std::string& text);
  MeetingLeaf::Text Shortest(const Position& p, Expr from);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  Positions* steps_;
  std::weak_ptr<RegularOperand> of_;  // what follows is of it
  RegularOperand* operand_ = nullptr;
  std::vector<Sample> samples_;  // by terminal
  std::vector<std::unique_ptr<Home>> homes_;
  std::unordered_map<Expr, Home*> home_of_;  // null: none
  size_t spent_ = 0;  // on homes
};

}  // namespace tokamata
