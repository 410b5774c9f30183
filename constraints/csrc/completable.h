// Completable: whether a position in a lexed grammar can lead to the end of a text.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/id_table.h"
#include "constraints/csrc/contextual_summaries.h"
#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/lexeme_ends.h"
#include "constraints/csrc/line_summaries.h"
#include "constraints/csrc/rule_summaries.h"

namespace tokamata {

// A grammar that is trimmed still has dead ends under longest match: terminals that would run into each other, with
// nothing that may stand between them. Where a separator can end the lexeme nothing more has to be asked. Elsewhere
//  - pending states are put into classes by what each terminal can leave pending after them (the coarsest partition in
//    which alike means alike afterwards), of which there are few: most are forgotten after a separator;
//  - a rule from one of its states on is summarized as a relation between the classes before and after it, the least
//    solution of the network's equations (as summary edges of pushdown systems: Sharir and Pnueli 1981; Reps, Horwitz,
//    Sagiv 1995), made where it is needed;
//  - stacks are followed from the top down.
// Exact; LimitError past `most_searched` steps of one question. With contextual lexing these relations depend on the
// stacks. There, what can be completed although all terminals compete can be completed, and what cannot although as few
// as possible compete cannot; between the two see ContextualSummaries, and where these grow beyond their limit, and
// with indentation, positions are searched one by one.
class Completable {
 public:
  // What competes with a terminal: what the rules of lexing say, else all terminals, or only itself and ignored ones.
  enum class Competing { kByRules, kAll, kFewest };
  Completable(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, Competing competing = Competing::kByRules);
  ~Completable();

  bool Ask(const Position& p);
  // Whether a lexeme that is being read, with nothing pending, can end so that whatever the stacks are the text can be
  // completed. May be false where it could: then Ask.
  bool EndsFreely(Lexer::State lexer);
  // The same where the tops of the stacks tell more.
  bool EndsFreelyAt(const Position& p);

 private:
  using Pending = Lexer::State;
  using Class = uint32_t;
  bool SeparatorEnds(Pending pending);  // whether nothing is pending that it continues
  bool Search(const Position& p);
  bool AskByContext(const Position& p);
  bool SearchPositions(const Position& p);
  const std::vector<Lexer::State>& After(Lexer::State lexer);
  template <class F>
  void ForEachAfter(Lexer::State lexer, Pending pending, F add);
  // What searches met, by the lexer and pending state that they came through.
  struct EndsMet {
    using List = std::vector<uint64_t>;  // kinds of ends, sorted
    FlatMap<uint64_t, uint64_t> one;     // an end that there is
    FlatMap<uint64_t, const List*> all;  // those that there are, maybe more
    std::set<List> lists;
    size_t num_listed = 0;
  };
  void BoundMemory();  // forgets them where they are many, between questions
  // Whether one of these ways is as asked for: kind_of(terminal, pending, &end) gives what matters of it (or false: it
  // is not), is_asked_for(halves of end) depends on nothing else. `known` is for questions with these kinds.
  template <class Kind, class F>
  bool HasEnd(Lexer::State lexer, Pending pending, EndsMet* known, Kind kind_of, F is_asked_for);
  // The same with nothing pending, where the nearest ends are looked at first and a state from which this returned true
  // before, on the way or in the end, ends the search.
  template <class F>
  bool FindEnd(Lexer::State lexer, F found);
  // The state before a lexeme of the wanted terminals.
  Lexer::State Begin(const Lexer::Terminals& wanted);
  const std::vector<Pending>& NextEnds(Lexer::State begin, Pending pending);
  const std::vector<Pending>& AfterIgnored(Pending pending, bool newlines);

  // ---- classes of pending states
  Class ClassOf(Pending pending);
  void AddClasses(Pending root);
  struct PendingClass {
    std::vector<std::vector<Class>> after;  // by terminal, ignored ones before it included
  };

  // ---- summaries
  // With indentation a context is also what was read last. Indents and dedents have no text: what a newline asks for comes
  // directly behind it, and behind one that was read already the stacks have read that, so nothing but the dedents at the
  // end of the text can come there. In rules that are still to be read the column of a newline can be chosen.
  enum Line : uint32_t {
    kHere,     // what was read, or a lexeme other than a newline
    kNewline,  // a newline
    kDedent,   // a newline and dedents
    kLast,     // dedents that no newline asks for
  };
  Class ContextOf(Class pending, Line line = kHere) const { return pending * lines_ + line; }
  using Good = std::vector<std::vector<uint8_t>>;  // by context, by state of the rule automata
  // The greatest solution for contexts below a number; out(state, context) as of a rule's summaries, others are not good.
  template <class F>
  Good FindGood(size_t contexts, F out);
  bool IsGoodAfter(uint32_t terminal, const std::vector<uint8_t>& good) const;
  bool IsGoodOn(ParserStates::Set stacks, const std::vector<uint8_t>& good) const;
  const std::vector<Class>& Out(uint32_t state, Class context);
  std::vector<Class> After(uint32_t terminal, Class context) const;
  bool CanEndAt(ParserStates::Set stacks, Pending pending);
  bool CanEnd(StackSets::Set stacks, Class context);
  // The same where the levels by which blocks can be nested are few: contexts know how many are left.
  struct Levels;
  bool CanEndWithin(const std::vector<uint32_t>& few, StackSets::Set stacks, Class context);
  template <class F>
  bool FindBottom(std::unordered_map<uint64_t, bool>* can_end, StackSets::Set stacks, Class context, F out_of);
  // Whether behind newlines of some columns something else is pending than behind others, or none are of the outermost:
  // summaries take their columns to be chosen freely.
  bool ColumnsDiffer();
  // Whether a position could be completed if columns could be chosen freely.
  bool CanEndByColumns(const Position& p);
  // Whether every stack can be completed with this pending: whose top an arc of the terminal enters (any top after an
  // ignored one), or, On, one of these tops.
  void FindAlwaysGood();
  // Where a class was found later it may stay unknown, and then it counts as one that is not good.
  void KnowClass(Class pending);
  bool IsAlwaysGood(uint32_t terminal, Class pending);
  bool IsAlwaysGoodOn(ParserStates::Set stacks, Class pending);
  // The same with the line separator, where there is one, and without asking for classes: with what is pending of no
  // interest, or that of a newline. May be false where it could be true.
  using Before = LineSummaries::Before;
  static constexpr Before kSeparated = LineSummaries::kSeparated, kInLine = LineSummaries::kInLine,
                          kBegun = LineSummaries::kBegun, kAfterBlock = LineSummaries::kAfterBlock;
  void FindGoodByLines();
  bool IsGoodByLines(uint32_t terminal, Pending pending);
  const std::vector<uint32_t>& OutByLines(uint32_t state, uint32_t before);
  // The same where all stacks are looked at down to the bottom, with `whole`.
  bool CanEndByLines(ParserStates::Set stacks, Before before, bool whole);
  bool EndsByLines(const Position& p, bool whole);
  // Whether the stacks after some lexeme that may be read are known: below variables they need not be.
  bool IsAfterKnown(const Position& p);
  // Whether the text may be over with the lexeme that is being read.
  bool EndsText(const Position& p);
  // Whether no lexeme can follow the one that is being read, however it ends, nor the text be over then.
  bool IsStuck(const Position& p);
  void Spend(size_t steps);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  Positions positions_;
  LexemeEnds ends_;
  const bool fewest_;
  const Class lines_;  // in which a context may be
  std::unique_ptr<Completable> all_compete_, fewest_compete_;  // with contextual lexing
  Pending after_separator_ = Lexer::kDead;
  Pending after_newline_[2] = {Lexer::kDead, Lexer::kDead};  // and with blanks
  size_t spent_ = 0;
  std::vector<uint8_t> free_;  // by lexer state: 0 unknown, 1 no, 2 yes
  struct Answers {  // by position
    IdTable index;
    std::vector<std::pair<Position, bool>> all;
    static uint64_t HashOf(const Position& p) { return MixHash(MixHash(PairKey(p.lexer, p.pending)) ^ p.stacks); }
    const bool* Find(const Position& p) const {
      const StateId id = index.Find(HashOf(p), [&](StateId i) { return all[static_cast<size_t>(i)].first == p; });
      return id == kNoState ? nullptr : &all[static_cast<size_t>(id)].second;
    }
    void Add(const Position& p, bool answer) {
      index.Insert(HashOf(p), static_cast<StateId>(all.size()));
      all.emplace_back(p, answer);
    }
  } known_;
  std::unordered_map<Lexer::State, std::vector<Lexer::State>> after_;
  std::unordered_map<uint64_t, std::vector<Pending>> next_ends_;
  std::unordered_map<uint64_t, std::vector<Pending>> after_ignored_;  // by pending and whether newlines are ignored
  std::unordered_map<Pending, Class> class_of_;
  std::vector<PendingClass> classes_;
  RuleSummaries summaries_;  // contexts: see ContextOf
  std::unique_ptr<ContextualSummaries> contextual_;
  std::unordered_map<uint64_t, bool> can_end_;
  std::map<std::vector<uint32_t>, std::unique_ptr<Levels>> levels_;
  std::optional<bool> columns_differ_;
  std::unordered_map<uint64_t, std::vector<std::pair<Position, bool>>> free_at_;
  EndsMet ends_met_, line_ends_met_;
  Good always_good_;  // by context
  std::map<std::pair<uint32_t, Class>, bool> terminal_good_;
  LineSummaries by_lines_;
  Good good_by_lines_;      // by Before
  std::vector<uint8_t> terminal_good_by_lines_;      // after kSeparated
};

}  // namespace tokamata
