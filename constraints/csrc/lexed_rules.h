// LexedRules: a compiled grammar with its lexer, and positions in it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "constraints/csrc/lexer.h"
#include "constraints/csrc/rule_automata.h"
#include "constraints/csrc/parser_states.h"

namespace tokamata {

bool Intersects(const Lexer::Terminals& a, const Lexer::Terminals& b);

// What all copies of a grammar share; nothing changes but the lexer, which locks.
struct LexedRules {
  std::shared_ptr<const RuleAutomata> automata;
  std::shared_ptr<Lexer> lexer;
  Lexer::Terminals all, ignored;
  std::unique_ptr<const Indentation> indentation;
  Lexer::Terminals last;    // that texts may end with, ignored ones and dedents after them left out
  std::vector<ByteSet> follow;  // by terminal: the bytes that texts may go on with after a lexeme of it, and maybe more
  bool longest = true;      // else terminals are languages, concatenated in every way
  bool contextual = false;  // only terminals that the stacks allow compete, and the ignored ones
  // Whether the first byte of a lexeme tells terminals that nest from all others. Else questions where all compete may be
  // beyond all limits, and with contextual lexing they are not asked.
  bool nesting_apart = true;
  size_t most_nodes = 0;
  size_t most_searched = 0;  // positions that one question about completion may visit
  // Adds steps to what one question spent; LimitError past 64 for each such position. `searched` and `simpler`, for its
  // text: what was visited, and what to simplify.
  void Spend(size_t steps, size_t* spent, const char* searched, const char* simpler) const;
  std::vector<std::string> rule_names;
  // Terminals that nest without bound, for texts of errors: where their lexemes end may be beyond all limits.
  std::string nested;
  // The separator is a byte that is an ignored lexeme by itself which any terminal can follow, and after some lexeme of
  // any terminal it leads nowhere. So wherever it ends a lexeme, everything that the rules allow can be written next.
  bool has_separator = false;
  uint8_t separator = 0;
  // With indentation there is no such separator, since newlines swallow it; but where this holds, one for all other
  // terminals, and after a newline of any column, with "\n" and blanks, these can come at once. Nor is there one where
  // some terminals are shadowed; but this may hold of all others.
  bool has_line_separator = false;
  Lexer::Terminals shadowed;  // never occur where all compete, since earlier ones take all of their lexemes
  Lexer::Terminals after_newline;
};

// Between two bytes of a text: the stacks before the lexeme that is being read, the lexer in it, wanting what those
// stacks take, and the pending state of
// earlier lexemes that must not become longer ones after all.
struct Position {
  static constexpr Lexer::State kBoundary = 0;  // no byte of a lexeme was read
  Lexer::State lexer = kBoundary;
  Lexer::State pending = 0;  // 0: none
  ParserStates::Set stacks = ParserStates::kNone;
  friend bool operator==(const Position& a, const Position& b) {
    return a.lexer == b.lexer && a.pending == b.pending && a.stacks == b.stacks;
  }
};

// The steps of positions, by one byte; what is shared between the automaton and the search for completions.
class Positions {
 public:
  Positions(const LexedRules& rules, Lexer* lexer, ParserStates* stacks) : rules_(rules), lexer_(lexer), stacks_(stacks) {}

  // Terminals that stacks take, by their number, and ignored ones.
  Lexer::Terminals Wanted(uint32_t allowed) const;
  // Those that compete then.
  const Lexer::Terminals& Competing(const Lexer::Terminals& wanted) const {
    return rules_.contextual ? wanted : rules_.all;
  }
  // The lexer state before a lexeme of these stacks; kDead where no lexeme may come, or a variable would have to tell.
  Lexer::State Begin(ParserStates::Set stacks);
  // The stacks after a lexeme of what the lexer accepted.
  ParserStates::Set After(ParserStates::Set stacks, uint32_t accepted);
  // The stacks after the lexeme that the position has read, kNone where it has read none that the stacks take. Not for
  // lexemes with a guard.
  ParserStates::Set AfterLexeme(const Position& p);
  // Whether the text may end here.
  bool IsFinal(const Position& p);
  // Whether a byte is one of the text, not its end.
  bool IsText(uint8_t byte) const { return byte != Lexer::kEndByte || !lexer_->HasEnd(); }
  ByteSet TextBytes() const { return lexer_->HasEnd() ? ByteSet::All() - ByteSet::Of(Lexer::kEndByte) : ByteSet::All(); }

  // A position with what Move looks up, for many bytes.
  struct Ready {
    struct Ended {  // the lexeme, and what comes then
      ParserStates::Set after = ParserStates::kNone;
      bool unknown = false;  // whether another lexeme may begin depends on what lies below a variable
      const Lexer::State *begin = nullptr, *longer = nullptr;  // rows
    };
    Position at;
    const Lexer::State *lexeme = nullptr, *pending = nullptr;  // rows
    Ended ended;
    std::vector<Ended> others;  // where several terminals end here, each with a guard
  };
  Ready Prepare(const Position& p);
  // Appends the positions after a byte; they need not be completable. False where that depends on what lies below a
  // variable of the stacks.
  bool Move(const Ready& r, uint8_t byte, std::vector<Position>* out) {
    const Lexer::State pending = r.pending ? r.pending[byte] : Lexer::kDead;
    if (pending && lexer_->IsFinal(pending)) return true;  // an earlier lexeme was longer than thought
    if (r.lexeme && r.lexeme[byte]) out->push_back({r.lexeme[byte], pending, r.at.stacks});
    bool known = BeginNext(r.ended, byte, pending, out);
    for (const Ready::Ended& e : r.others) known = BeginNext(e, byte, pending, out) && known;
    return known;
  }
  // The bytes that lead on, parted into classes that Move does not distinguish.
  void Classes(const Ready& r, std::vector<ByteSet>* out);

 private:
  bool BeginNext(const Ready::Ended& e, uint8_t byte, Lexer::State pending, std::vector<Position>* out) {
    if (e.after == ParserStates::kNone) return true;
    const Lexer::State begun = e.begin ? e.begin[byte] : Lexer::kDead;
    if (!begun && !e.unknown) return true;
    if (const Lexer::State longer = e.longer ? e.longer[byte] : Lexer::kDead) {
      if (lexer_->IsFinal(longer)) return true;
      pending = lexer_->UnionOfPending(pending, longer);
    }
    if (e.unknown) return false;
    out->push_back({begun, pending, e.after});
    return true;
  }
  Ready::Ended EndedAt(ParserStates::Set after, Lexer::State longer);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  std::vector<Lexer::State> begins_;  // by number of allowed terminals
};

// The columns that newlines can have, and what may be pending behind those of each; `begin`: before a newline.
std::map<uint32_t, std::set<Lexer::State>> FindColumns(Lexer* lexer, Lexer::State begin, uint32_t newline);

// Terminals in order of precedence. Throws ConstraintError where one has the empty text although there is a lexer, or
// where the grammar has no text. With guards the last terminal is the end of the text, see Lexer, and the grammar reads
// it; UnsupportedError for terminals that have its byte.
enum class Lexing { kBasic, kContextual, kNone };
std::shared_ptr<const LexedRules> CompileLexed(Grammar grammar, std::unique_ptr<Expressions> pool,
                                               std::vector<Expr> terminals, const std::vector<uint32_t>& ignored,
                                               Lexing lexing, const Indentation* indentation,
                                               std::vector<Lexer::Guard> guards = {});

}  // namespace tokamata
