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
#include "automata/csrc/utf8.h"
#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/line_summaries.h"
#include "constraints/csrc/stack_lengths.h"

namespace tokamata {

// Most regular languages that texts are intersected with have states from which every terminal that the rules cannot do
// without has a lexeme that leads back to such a state: those of `[ -~]*`, of `[^;]*`, or of texts without a word. They
// are final, or an ignored lexeme at the end of the text leads to a final one: a comment may have the word that texts must
// have. From there a stack can be emptied whatever it is, and what terminals cost says with how many bytes. Only the
// lexeme that is being read is looked at byte by byte, until it ends in such a state. With indentation stacks are emptied
// as LineSummaries say, with texts of whatever length. Finds most texts, never one that there is not.
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
  // the stacks are: mostly every lexeme that may be read next can be ended, so that a text which the grammar has there
  // can be written with other lexemes. *left, if it is asked for: increased to what is left then.
  bool FindsWherever(const Position& p, RegularOperand* operand, Expr from, MeetingLeaf::Left* left);
  // Then, after so many bytes at most, a lexeme ends behind which, and a separator, all that the rules allow can be
  // written; and wherever bytes lead, beside any state that was asked about.
  uint32_t ToEnd(const Position& p, Expr from) const {
    const auto known = good_.find({p.lexer, p.pending, from});
    return known == good_.end() ? 0 : known->second;  // 0: before a lexeme
  }
  uint32_t MostToEnd() const { return most_to_end_; }
  // A lexeme that can come behind a separator, and whether it can at once after a newline; null: none is known.
  const std::string* TextOf(uint32_t terminal, bool* at_once) {
    Begin();
    const Sample& sample = SampleOf(terminal);
    *at_once = sample.at_once;
    return sample.found ? &sample.text : nullptr;
  }
  bool IsSeparated() const { return separated_; }
  bool IsNewline(uint32_t t) const {
    return rules_.indentation && (t == rules_.indentation->newline || t >= lexer_->NumTerminals());
  }
  // Whether a terminal is the end of the text; that, an indent or a dedent.
  bool IsEnd(uint32_t t) const { return lexer_->HasEnd() && t == lexer_->NumTerminals() - 1; }
  bool HasNoText(uint32_t t) const {
    return IsEnd(t) || (rules_.indentation && (t == rules_.indentation->indent || t == rules_.indentation->dedent));
  }

 private:
  // States that terminals lead back to, at the end of lexemes that nothing is pending after.
  struct Home {
    std::unique_ptr<StackLengths> lengths;  // or, with indentation:
    std::unique_ptr<LineSummaries> lines;
    FlatMap<uint64_t, bool> can_end;  // by stacks and what came before
    bool pads = false;                // the separator leads back, too
    bool has_all = false;             // whatever the rules allow can be written, from all states
    uint32_t more = 0;                // bytes of a separator and an ignored lexeme that texts end with, if they have to
    std::unique_ptr<MeetingLeaf::Left> left;  // without what is on the stacks; made when it is asked for
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
  void ForgetOperand();
  uint32_t LastIgnored(Expr r);
  uint32_t LastIgnored(Expr r, Lexer::State begin, unsigned bytes);
  bool MayEnd(Expr r) { return LastIgnored(r) != StackLengths::kFar; }
  Home* HomeOf(Expr r);
  void FindHome(Expr root);
  const Sample& SampleOf(uint32_t terminal);
  std::vector<End> Ways(uint32_t terminal, Expr from);
  bool FindLexeme(uint32_t terminal, Lexer::State pending, Expr from, std::string* text);
  bool SeparatorEnds(Lexer::State pending) { return !pending || !lexer_->Next(pending, separator_); }
  bool MayAsk(RegularOperand* operand) const {
    return (!lines_ || rules_.has_line_separator) && !operand->weak_from_this().expired();
  }
  bool IsEndByte(unsigned b) const { return lexer_->HasEnd() && b == Lexer::kEndByte; }
  bool CanEnd(Home* home, StackSets::Set stacks, LineSummaries::Before before);
  void AddEnds(bool free, Expr r, uint32_t bytes, std::vector<End>* out);
  Expr Run(Expr r, const std::string& text);
  void Beside(RegularOperand* operand, Expr from);
  bool IsHome(Expr r) {
    const Home* const home = HomeOf(r);
    return home && home->has_all;
  }
  // A lexeme, what is pending beside it, and a state of the operand.
  struct Lexing {
    Lexer::State lexer = Lexer::kDead, pending = Lexer::kDead;
    Expr r = kEmpty;
    uint32_t begins = 0;  // no byte of it was read, and which it may begin with: 1 + a number of `follow_`
    friend bool operator==(const Lexing& a, const Lexing& b) {
      return a.lexer == b.lexer && a.pending == b.pending && a.r == b.r && a.begins == b.begins;
    }
  };
  bool Explore(const Lexing& root);
  void AddLeft(StackSets::Set stacks, MeetingLeaf::Left* left);
  std::unique_ptr<MeetingLeaf::Left> LeftOf(const Home& home);
  // Where the rest of a character leads a lexeme and what is pending, whatever the character is; dead: not one place.
  using Pair = std::pair<Lexer::State, Lexer::State>;
  const Pair& AfterAnyCharacter(const Pair& inside, uint8_t phase);
  bool ReadCharacters(const Pair& at, uint8_t phase, Pair* to);
  // Where it leads the operand; none where that is no character.
  const std::vector<Expr>& AfterCharacters(Expr inside, uint8_t phase);
  bool ReadCharacters(Expr at, uint8_t phase, std::vector<Expr>* to);
  bool IsHomeAfter(uint32_t terminal, Lexer::State pending, Expr r);
  uint32_t FollowNumber(uint32_t terminal, Lexer::State pending);
  const Lexer::Terminals& Possible(Lexer::State lexer, Lexer::State pending);
  bool MayFollow(Lexer::State pending, uint8_t b);
  bool OnlyNewlineFollows(Lexer::State pending);
  bool NewlinesLeadOn() const;
  bool WritesAll(const std::vector<uint32_t>& cost);
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
  std::unordered_map<uint64_t, Pair> after_any_character_[Utf8Phase::kNumPhases];
  std::unordered_map<Expr, std::vector<Expr>> after_characters_[Utf8Phase::kNumPhases];
  std::vector<ByteSet> follow_;  // different sets of bytes that lexemes may begin with, the first: all bytes
  std::unordered_map<uint64_t, Lexer::Terminals> possible_;  // by lexer state and what is pending
  std::unordered_map<Lexer::State, bool> only_newline_follows_;
  std::vector<std::unique_ptr<Home>> homes_;
  std::unordered_map<Expr, Home*> home_of_;  // null: none
  size_t spent_ = 0;  // on homes
  std::unordered_map<Expr, uint32_t> last_ignored_;
  size_t last_spent_ = 0;  // on these
  struct LexingHash {
    size_t operator()(const Lexing& l) const { return MixHash(PairKey(l.lexer, l.pending)) ^ l.r; }
  };
  // From which, and from all that they lead to, texts are found, and the most bytes after which the lexeme ends then.
  std::unordered_map<Lexing, uint32_t, LexingHash> good_;
  uint32_t most_to_end_ = 0;                      // of all good ones
  std::unordered_set<Lexing, LexingHash> bad_;   // others that were asked about, or that a search failed at
  size_t explored_ = 0;                          // in search of these
  size_t in_vain_ = 0;                           // likewise, beside all operands, where none were found
};

}  // namespace tokamata
