// LexedTexts: texts of a lexed grammar that a regular language has, too, where it has nearly all that matters.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/meeting_leaf.h"
#include "automata/csrc/regular_operand.h"
#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/line_summaries.h"
#include "constraints/csrc/stack_lengths.h"

namespace tokamata {

// Most regular languages that texts are intersected with have states from which every terminal that the rules cannot do
// without has a lexeme that leads back to such a state, all of them final: those of `[ -~]*`, of `[^;]*`, or of texts
// without a word. From there a stack can be emptied whatever it is, and what terminals cost says with how many bytes. Only
// the lexeme that is being read is looked at byte by byte, until it ends in such a state. With indentation stacks
// are emptied as LineSummaries say, with texts of whatever length. Finds most texts, never one that there is not. Not where
// the end of the text is a terminal.
class LexedTexts {
 public:
  LexedTexts(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, Positions* steps)
      : rules_(rules),
        lexer_(lexer),
        stacks_(stacks),
        steps_(steps),
        separated_(rules.has_separator || rules.has_line_separator),
        lines_(rules.indentation != nullptr) {}

  // Of a position, beside a state of an operand that is kept.
  MeetingLeaf::Text Find(const Position& p, RegularOperand* operand, Expr from);
  // Whether Find finds a text wherever bytes lead that both allow. Lexemes are looked at beside the operand once, whatever
  // the stacks are.
  bool FindsWherever(const Position& p, RegularOperand* operand, Expr from);

 private:
  // States that terminals lead back to, at the end of lexemes that nothing is pending after.
  struct Home {
    std::unique_ptr<StackLengths> lengths;  // or, with indentation:
    std::unique_ptr<LineSummaries> lines;
    FlatMap<uint64_t, bool> can_end;  // by stacks and what came before
    bool pads = false;                // the separator leads back, too
  };
  // What a terminal is read with, where the operand allows it.
  struct Sample {
    bool asked = false, found = false;
    bool at_once = false;  // after a newline
    std::string text;
  };
  struct End {
    Expr to;
    uint32_t bytes;
  };
  void Begin();
  Home* HomeOf(Expr r);
  void FindHome(Expr root);
  const Sample& SampleOf(uint32_t terminal);
  std::vector<End> Ways(uint32_t terminal, Expr from);
  bool FindLexeme(uint32_t terminal, Lexer::State pending, Expr from, std::string* text);
  bool SeparatorEnds(Lexer::State pending) { return !pending || !lexer_->Next(pending, separator_); }
  bool MayFind(RegularOperand* operand) const {
    return !lexer_->HasEnd() && (!lines_ || rules_.has_line_separator) && !operand->weak_from_this().expired();
  }
  bool IsNewline(uint32_t t) const {
    return rules_.indentation && (t == rules_.indentation->newline || t >= lexer_->NumTerminals());
  }
  bool HasNoText(uint32_t t) const {
    return rules_.indentation && (t == rules_.indentation->indent || t == rules_.indentation->dedent);
  }
  bool CanEnd(Home* home, StackSets::Set stacks, LineSummaries::Before before);
  void AddEnds(bool free, Expr r, uint32_t bytes, std::vector<End>* out);
  Expr Run(Expr r, const std::string& text);
  void Beside(RegularOperand* operand, Expr from);
  bool IsHome(Expr r) {
    const Home* const home = HomeOf(r);
    return home && home->lengths && home->lengths->HasAll();
  }
  // A lexeme, what is pending beside it, and a state of the operand.
  struct Lexing {
    Lexer::State lexer = Lexer::kDead, pending = Lexer::kDead;
    Expr r = kEmpty;
    bool begins = false;  // no byte of it was read
    friend bool operator==(const Lexing& a, const Lexing& b) {
      return a.lexer == b.lexer && a.pending == b.pending && a.r == b.r && a.begins == b.begins;
    }
  };
  bool Explore(const Lexing& root);
  const std::vector<Lexer::Terminals>& Taken();
  MeetingLeaf::Text Shortest(const Position& p, Expr from);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  Positions* steps_;
  const bool separated_, lines_;  // whether there is a separator, and whether newlines swallow it
  uint8_t separator_ = 0;  // one that the operand allows, where it was seen to allow one
  bool allowed_ = false;
  Lexer::State begin_ = Lexer::kDead;            // before a lexeme, where all compete; made when it is asked for
  Lexer::State after_separator_ = Lexer::kDead;  // what is pending behind it,
  Lexer::State after_newline_[2] = {Lexer::kDead, Lexer::kDead};  // behind a newline without and with blanks,
  Lexer::State after_all_ = Lexer::kDead;                         // and behind any of these
  std::weak_ptr<RegularOperand> of_;  // what follows is of it
  RegularOperand* operand_ = nullptr;
  std::vector<Sample> samples_;  // by terminal
  std::vector<Lexer::Terminals> taken_;
  std::vector<std::unique_ptr<Home>> homes_;
  std::unordered_map<Expr, Home*> home_of_;  // null: none
  size_t spent_ = 0;  // on homes
  struct LexingHash {
    size_t operator()(const Lexing& l) const { return MixHash(PairKey(l.lexer, l.pending)) ^ l.r; }
  };
  std::unordered_set<Lexing, LexingHash> good_;  // from which, and from all that they lead to, texts are found
  std::unordered_set<Lexing, LexingHash> bad_;   // others that were asked about
  size_t explored_ = 0;                          // in search of these
};

}  // namespace tokamata
