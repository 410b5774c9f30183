// LexedGrammar: the texts whose longest-match lexemes a context-free grammar accepts, as a delayed automaton.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/csrc/bounded_leaf.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/leaf_automaton.h"
#include "automata/csrc/meeting_leaf.h"
#include "automata/csrc/stepping_leaf.h"
#include "constraints/csrc/completable.h"
#include "constraints/csrc/lexed_lengths.h"
#include "constraints/csrc/indented_meet.h"
#include "constraints/csrc/lexed_meet.h"
#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/lexed_texts.h"
#include "constraints/csrc/parser_states.h"

namespace tokamata {

// A lexeme ends where the next byte cannot continue it; where the next byte continues something that is no lexeme yet,
// both ways stay open, and the one that ended is dropped when a longer lexeme appears: longest match with backtracking,
// exactly, in one pass. A state is a set of positions, all of which can be completed.
class LexedGrammar final : public LeafAutomaton, public SteppingLeaf, public BoundedLeaf, public MeetingLeaf {
 public:
  explicit LexedGrammar(std::shared_ptr<const LexedRules> rules);

  // kDead where the grammar has no text.
  uint32_t Start();
  static constexpr uint32_t kDead = 0;
  void Arcs(uint32_t state, std::vector<Arc>* out) override;
  bool Step(uint32_t state, std::string_view bytes, After* next) override;
  uint32_t Nested(uint32_t number, Expressions* pool) override;
  bool IsFinal(uint32_t state) override { return states_[state].final; }
  std::string PlaceOf(uint32_t state) const override;
  uint32_t Least(uint32_t state) override;
  bool EndsBeside(uint32_t state, RegularOperand* operand, uint32_t from, std::vector<uint32_t>* ends) override;
  bool EndsAtMost(uint32_t state, RegularOperand* operand, uint32_t from, std::vector<uint32_t>* ends) override;
  Text FindText(uint32_t state, RegularOperand* operand, uint32_t from) override;
  bool MeetsWherever(uint32_t state, RegularOperand* operand, uint32_t from, Left* left) override;
  uint32_t LeastCharacters(uint32_t state) override;
  bool CannotEnd(uint32_t state, const ByteSet& bytes) override;
  std::shared_ptr<LeafAutomaton> Clone() const override;
  const void* Origin() const override { return rules_->automata.get(); }
  void Adopt(const LeafAutomaton& other, std::vector<uint32_t>* states) override;
  size_t MemoryBytes() const override;

  // ---- for whoever computes masks
  void PositionsOf(uint32_t state, std::vector<Position>* out) const {
    const State& s = states_[state];
    out->assign(positions_.begin() + s.first, positions_.begin() + s.first + s.count);
  }
  const LexedRules& Rules() const { return *rules_; }
  Lexer& lexer() { return *lexer_; }
  ParserStates& stacks() { return stacks_; }
  Positions& steps() { return steps_; }
  Completable& completable() { return completable_; }
  LexedTexts& texts() { return texts_; }

 private:
  struct State {
    uint32_t first = 0, count = 0;  // in positions_; sorted, those that could be united are
    bool final = false;
    uint32_t spent = 0;  // on single steps from it
  };
  // What steps ask of a lexer state, side by side.
  struct Lexeme {
    const Lexer::State* row = nullptr;     // null where nothing was asked yet
    const Lexer::State* longer = nullptr;  // of a final state: the row of what is pending there
    uint32_t accepted = Lexer::kNoTerminal;
    bool final = false, guarded = false, ignored = false;
    bool stuck = false;  // no byte can come, and nothing is pending
    // Whether it is a lexeme of `terminal` that ends by itself, see there.
    enum class Ends : uint8_t { kNotAsked, kNo, kYes } by_itself = Ends::kNotAsked;
    uint32_t terminal = Lexer::kNoTerminal;
    Ends together = Ends::kNotAsked;  // or of one of several, see Lexer::EndTogether
  };
  // Valid until the next one.
  Lexeme& LexemeAt(Lexer::State q) {
    return q < lexemes_.size() && lexemes_[q].row ? lexemes_[q] : LookUp(q);
  }
  Lexeme& LookUp(Lexer::State q);
  enum class Ways { kNone, kOne, kBegins, kMore };
  size_t GoOn(std::string_view bytes, Lexer::State* lexer);
  Ways StepOne(Position* p, uint8_t byte);
  // What a lexeme that is being read is best read as, before some state. With `left` the language is what is left of it,
  // by its lexer state, else a terminal, or what that has among those that compete, from kOwn on, of which the lexeme
  // has to have begun with known bytes.
  static constexpr uint32_t kOwn = 0x80000000;
  struct Inside {
    uint32_t nested = 0, after = kDead;
    bool left = false;
    std::vector<std::pair<uint32_t, uint32_t>> others;  // of one of several terminals, and what comes after each
  };
  bool IsNested(const std::vector<Position>& positions, bool begun, Inside* inside);
  bool IsOneOfSeveral(const Position& p, Inside* inside);
  uint32_t AfterNested(const Position& p, uint32_t terminal);
  // Whether none of the positions goes on with its lexeme.
  bool AllBegin(const std::vector<Position>& positions, uint8_t byte);
  // The least that a position of a state says; 0 of a final one.
  template <class F>
  uint32_t LeastOf(uint32_t state, F of_position);
  void MeetWith(RegularOperand* operand);
  LexedMeet& MeetBeside(RegularOperand* operand, bool fewest);
  void Unite(std::vector<Position>* positions);
  bool IsLikeBoundary(const Position& p);
  bool CanStop(const Position& p);
  uint32_t Intern(std::vector<Position>* positions);
  void AddArcs(const Position& p, std::vector<Arc>* out);
  static void AddArc(const Arc& arc, std::vector<Arc>* out);
  void Determinize(const std::vector<Position>& positions, const ByteSet& within, std::vector<Arc>* out);
  const std::vector<Arc>& BeginsOf(ParserStates::Set stacks);

  std::shared_ptr<const LexedRules> rules_;
  std::shared_ptr<Lexer> lexer_;
  ParserStates stacks_;
  Positions steps_;
  Completable completable_;
  LexedLengths lengths_;
  LexedTexts texts_;
  // Summaries beside an operand that is kept, as long as it is; where all terminals compete, and where the fewest do.
  std::weak_ptr<RegularOperand> met_;
  std::unique_ptr<LexedMeet> meets_[2];
  std::unique_ptr<IndentedMeet> indented_meet_;
  std::vector<State> states_;
  std::vector<Position> positions_;
  std::vector<Position> now_, after_;  // for Step
  std::vector<Lexeme> lexemes_;        // by lexer state
  // Expressions in the pool of which this is a leaf: of terminals, then of lexer states.
  std::unordered_map<uint32_t, uint32_t> nested_;
  IdTable index_;  // of states
  // By lexer state in an ignored lexeme and before one: whether it makes a difference.
  FlatMap<uint64_t, bool> like_begin_;
  std::unordered_map<ParserStates::Set, std::vector<Arc>> begins_;
};

}  // namespace tokamata
