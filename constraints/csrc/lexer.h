// Lexer: which terminals the bytes of a lexeme may still become, as a delayed acceptor.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"
#include "constraints/csrc/parser_states.h"
#include "constraints/csrc/text_ends.h"

namespace tokamata {

// A state is a list of (terminal, what is left of it to read). Terminals compete in sets: within one, a terminal is
// what its expression has minus what any earlier terminal has, so a lexeme is of one terminal at most. A state is final
// where the bytes so far are a lexeme. Shared by all copies of a grammar.
//
// Where a terminal takes a lexeme only if what follows allows it, the lexeme has a guard: two languages of the rest of the
// text, with a byte for its end, such that each rest has a prefix in one of them and none in both. Two terminals may
// end at one place then, each with a guard.
//
// Pending states only know how an ended lexeme would become a longer one, of whatever terminal; those that are subsets
// of others as literals are (keywords of names) are left out, so there are few.
class Lexer final : public DelayedAcceptor {
 public:
  static constexpr uint32_t kNoTerminal = 0xffffffff;
  using Terminals = std::vector<uint64_t>;  // a bit set

  // What must not, or must, follow some lexemes of a terminal: prefixes of the rest of the text, kEndByte after it.
  struct Guard {
    uint32_t terminal;
    Expr lexemes, forbidden, allowed;
  };
  static constexpr uint8_t kEndByte = 0xf8;  // in no UTF-8

  // Takes the pool; terminals in order of precedence, none with the empty text.
  // Without `longest` terminals do not compete: each is what its expression has, several may end at one place, and
  // nothing is ever pending.
  // With guards the last terminal is the end of the text, of kEndByte alone, which no other has.
  Lexer(std::unique_ptr<Expressions> pool, std::vector<Expr> terminals, bool longest,
        const Indentation* indentation = nullptr, std::vector<Guard> guards = {});

  std::vector<std::string> names;  // of terminals, for errors

  // The 256 successors of q, side by side: lexers have few states, which are asked of every byte.
  const State* DenseRow(State q) { return Row(q).Dense(); }
  uint32_t NumTerminals() const { return static_cast<uint32_t>(terminals_.size()); }
  // Whether the end of a text is a terminal.
  bool HasEnd() const { return !guards_.empty(); }
  // The state before a lexeme when these terminals compete and some of them are wanted: it dies where no wanted
  // terminal can be completed, but what is pending after it knows of all.
  State Begin(const Terminals& competing, const Terminals& wanted);
  // The terminal whose lexeme was read, or kNoTerminal; with indentation, for a newline, NumTerminals() + its column.
  // Where several end, a number of that set, from kFirstSet on.
  uint32_t Accepted(State q) const { return parts_[q].accepted; }
  static constexpr uint32_t kFirstSet = 0x80000000;
  // Calls f(terminal) for each terminal of what Accepted says.
  template <class F>
  void ForEachAccepted(uint32_t accepted, F f) const {
    if (accepted < kFirstSet) return f(accepted);
    for (const uint32_t t : accepted_sets_[accepted - kFirstSet]) f(t);
  }
  // Whether a terminal can still be completed.
  bool IsPossible(State q, uint32_t terminal) const {
    const std::vector<Part>& parts = parts_[q].parts;
    const auto before = [](const Part& p, uint32_t t) { return p.terminal < t; };
    const auto found = std::lower_bound(parts.begin(), parts.end(), terminal, before);
    return found != parts.end() && found->terminal == terminal;
  }
  // Calls f(terminal) for each of those, in order, until it returns true.
  template <class F>
  bool AnyPossible(State q, F f) const {
    uint32_t last = kNoTerminal;
    for (const Part& p : parts_[q].parts)
      if (p.terminal != last && p.terminal != kNoTerminal && f(last = p.terminal)) return true;
    return false;
  }
  // Whether a terminal has a lexeme at all among the competing ones.
  bool Occurs(uint32_t terminal, const Terminals& competing);
  // What is left to read, after q, of any longer lexeme that competes: the pending state, kDead where there is none.
  // Final where it is one already.
  State Pending(State q) {
    const State known = parts_[q].pending.load(std::memory_order_acquire);
    return known != kNotAsked ? known : FindPending(q);
  }
  State UnionOfPending(State a, State b);
  // Calls f(accepted, what is pending then) for each terminal whose lexeme may end at q, until it returns true. Terminals
  // that end there with the same pending may be one set.
  template <class F>
  bool AnyEnd(State q, F f) {
    const Parts& at = parts_[q];
    if (!at.guarded) return at.accepted != kNoTerminal && f(at.accepted, Pending(q));
    for (const auto& [accepted, pending] : EndsOf(q))
      if (f(accepted, pending)) return true;
    return false;
  }
  // Whether some lexemes of a terminal have one.
  bool HasGuard(uint32_t terminal) const {
    for (const Guard& g : guards_)
      if (g.terminal == terminal) return true;
    return false;
  }
  // Whether a lexeme with a guard ends at q.
  bool IsGuarded(State q) const { return parts_[q].guarded; }
  // Whether no lexeme that competes, after what q has read, begins another one.
  bool EndsApart(State q) const;
  // A state from which lexemes end as they do from q, or q: past a value in brackets, say, that comes first, however
  // deep it may be (see TextEnds). That is the expression of *call.
  State PastCall(State q, Expr* call);
  // States from which lexemes end as they do from q, found without what lies between: at the ends of what q reads where
  // lexemes end apart, or past a call. None: the states after the next byte have to be looked at.
  const std::vector<State>& Ahead(State q);
  // Whether a lexeme that is being read at q is one of *terminal, which calls rules or counts, whatever comes next, and
  // ends where it does by itself: terminals do not compete, or none of the lexemes that may come begins another one.
  bool EndsByItself(State q, uint32_t* terminal);
  // Whether a lexeme that is being read at q is one of some terminals that call rules, whatever comes next, and ends
  // where it does by itself: terminals do not compete, or lexemes end apart.
  bool EndTogether(State q, std::vector<uint32_t>* terminals) const;
  // Whether no terminal that competes and is not wanted may begin as some terminals do. *apart: whether each of these
  // has all of its texts, although others compete.
  bool CompeteAlone(const std::vector<uint32_t>& terminals, const Terminals& competing, const Terminals& wanted,
                    bool* apart);
  // The number of what a terminal has among those that compete, for WithOwn.
  uint32_t OwnNumber(uint32_t terminal, const Terminals& competing);
  // f(pool, expression) of it.
  template <class F>
  auto WithOwn(uint32_t number, F f) const {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    return f(*pool_, own_[number]);
  }
  // Whether what is left of the one lexeme that may be read at q, x{low,high} y behind some bytes, is told apart byte by
  // byte, so that for fewer bytes than `high` lexemes go on and end as from *star, x{low,} y. Then what is pending where
  // they end either has no counter or leads nowhere but on in x.
  bool Counts(State q, State* star, uint32_t* high);
  bool HasCounters() const { return has_counters_; }
  // Whether some terminal calls rules.
  bool Calls(uint32_t terminal) const;
  // f(pool, what is left of the one lexeme that may be read at q), likewise.
  template <class F>
  auto WithRest(State q, F f) const {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    return f(*pool_, parts_[q].parts[0].rest);
  }
  // Calls f(Expressions*) while no other thread uses the terminals' pool.
  template <class F>
  auto WithPool(F f) {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    return f(pool_.get());
  }
  // f(pool, expression) of a terminal, likewise.
  template <class F>
  auto WithTerminal(uint32_t terminal, F f) const {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    return f(*pool_, terminals_[terminal]);
  }
  // Whether some lexeme that competes may have a byte after what q has read; true where that is not known.
  bool MayRead(State q, uint8_t byte) const;
  // No lexeme ends within fewer bytes from q.
  uint32_t LeastLength(State q) const;
  // Every byte that lexemes of a terminal may have, or that their guards look at, and maybe more; that they may begin
  // with.
  ByteSet BytesOf(uint32_t terminal) const;
  uint32_t LeastLengthOf(uint32_t terminal) const { return pool_->LeastLength(terminals_[terminal]); }
  // Bytes that go on with a character are none.
  uint32_t LeastCharactersOf(uint32_t terminal) const;
  const ByteSet& FirstOf(uint32_t terminal) const { return pool_->First(terminals_[terminal]); }
  // Replaces states of another lexer of the same terminals.
  void Adopt(const Lexer& other, std::vector<State>* states);
  // The same lexer without states.
  std::shared_ptr<Lexer> Fresh() const;
  // Whether half of the states or expressions there may be were made.
  bool IsHalfFull() const;
  size_t MemoryBytes() const override;

 private:
  struct Part {
    uint32_t terminal;
    Expr rest;
    uint32_t column = 0;  // of newlines
    // What must not follow; of kNoTerminal, in a state that is not pending, what must follow lexemes that compete.
    Expr guard = kEmpty;
    bool Competes() const { return terminal == kNoTerminal && guard != kEmpty; }
    friend bool operator==(const Part& a, const Part& b) {
      return a.terminal == b.terminal && a.rest == b.rest && a.column == b.column && a.guard == b.guard;
    }
  };
  struct End {
    uint32_t accepted;
    State pending;
  };
  struct Parts {
    std::vector<Part> parts;  // sorted by terminal; of a pending state one, of kNoTerminal
    Expr any = kEmpty;        // the union of all without guards, written with fewer; of a pending state none
    uint32_t accepted = kNoTerminal;
    bool guarded = false;
    std::atomic<State> pending{kNotAsked};
    std::atomic<bool> ends_known{false};
    std::vector<End> ends;  // of a guarded one
  };
  static constexpr State kNotAsked = 0xffffffff;
  State FindPending(State q);
  const std::vector<End>& EndsOf(State q) {
    if (!parts_[q].ends_known.load(std::memory_order_acquire)) FindEnds(q);
    return parts_[q].ends;
  }
  void FindEnds(State q);
  uint32_t AcceptedOf(const Part& p) const {
    return indentation_ && p.terminal == indentation_->newline ? NumTerminals() + p.column : p.terminal;
  }
  State Intern(std::vector<Part> parts, Expr any);
  Expr Simple(const Terminals& competing);
  bool BeginApart(const Terminals& competing, const ByteSet& bytes) const;
  bool AreValues(Expr e, const ByteSet& bytes) const;
  struct Class {
    ByteSet bytes;
    std::vector<Part> parts;
    Expr any;
  };
  bool NeedsLineEnd(Expr rest);
  void SplitBySteps(const Part& part, const Expressions::Term& step, std::vector<Class>* classes, ByteSet* seen);
  // Splits classes by one of some bytes and calls f(class) for what has them.
  template <class F>
  void Refine(const ByteSet& bytes, std::vector<Class>* classes, F f);
  template <class F>
  auto Named(const char* what, uint32_t terminal, const char* of_it, F f);
  void FindSteps(const Part& part);
  const StateRow::Data* MakeRow(State q, StateRows* rows) override;
  bool Overlap(uint32_t a, uint32_t b);
  uint8_t OverlapByWalking(Expr a, Expr b);
  std::unordered_map<Expr, std::vector<Expressions::Term>> walked_;  // for that

  std::unique_ptr<Expressions> pool_;
  std::vector<Expr> terminals_;
  std::vector<Guard> guards_;
  std::vector<Expr> plain_;  // by terminal, its lexemes without guard
  const bool longest_;
  const Indentation* indentation_;  // outlives the lexer, or null
  StableArray<std::vector<uint32_t>> accepted_sets_;
  std::map<std::vector<uint32_t>, uint32_t> accepted_ids_;
  std::unordered_map<Expr, bool> needs_line_end_;
  std::vector<uint8_t> is_text_;  // by terminal: whether it has one member only
  std::unordered_map<Expr, std::vector<uint32_t>> texts_;  // those terminals, by it
  std::vector<uint32_t> patterns_;                         // all other terminals
  std::vector<uint8_t> nests_;    // by terminal: whether it calls rules or counts, as long as EndsByItself can tell
  bool has_counters_ = false;     // some terminal
  bool calls_ = false;            // likewise: a rule
  static constexpr size_t kMostPendingUnions = 1 << 16;
  FlatMap<uint64_t, State> pending_unions_;  // by both states
  FlatMap<State, bool> ends_by_itself_;
  FlatMap<Expr, bool> apart_;  // of what competes, where that is known to end apart
  std::unordered_map<State, std::vector<State>> ahead_;
  std::vector<Expr> own_;
  std::vector<std::vector<uint8_t>> overlap_;  // of patterns with all terminals: 0 unknown, 1 no, 2 yes
  StableArray<Parts> parts_;      // by state
  std::unordered_map<uint64_t, std::vector<State>> index_;
  struct Competition {
    Terminals competing;
    std::vector<Part> own;    // what no earlier terminal has, by terminal
    std::vector<Part> guarded;  // of no terminal, with what must follow
    Expr any = kEmpty;
    std::unordered_map<uint64_t, std::vector<std::pair<Terminals, State>>> begins;  // by wanted terminals
  };
  Competition& CompetitionOf(const Terminals& competing);
  std::unordered_map<State, const Competition*> begin_of_;  // one with what competes before a lexeme
  std::vector<Part> OwnOf(uint32_t terminal, const Terminals& competing);
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<Competition>>> competitions_;
  std::vector<Expressions::Term> steps_;
  TextEnds text_ends_;
};

}  // namespace tokamata
