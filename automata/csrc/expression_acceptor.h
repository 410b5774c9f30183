// ExpressionAcceptor: the expressions reached from a root by derivatives, as a delayed acceptor.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/csrc/block_array.h"
#include "automata/csrc/bounded_parts.h"
#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/expression.h"
#include "automata/csrc/late.h"
#include "automata/csrc/length_bounds.h"
#include "automata/csrc/places.h"
#include "automata/csrc/stepping_leaf.h"
#include "automata/csrc/text_phases.h"
#include "automata/csrc/wide_characters.h"

namespace tokamata {

class ExpressionAcceptor final : public DelayedAcceptor {
 public:
  // Takes the pool over; nobody else may change it afterwards. An empty language has the dead start state.
  ExpressionAcceptor(std::unique_ptr<Expressions> pool, Expr root);

  Expr Root() const { return root_; }
  // What is left to be read in a state.
  Expr SourceOf(State q) const { return Source(q); }
  // Calls f(const Expressions&) while no other thread changes the pool.
  template <class F>
  auto WithPool(F&& f) const {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    return f(static_cast<const Expressions&>(*pool_));
  }
  // Calls f(Expressions&), which may add expressions, while no other thread uses the pool.
  template <class F>
  auto WithBuilder(F&& f) {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    return f(*pool_);
  }
  // Calls f(LeafAutomaton*, state of it) under the lock where q is a leaf and nothing else; whether it is.
  template <class F>
  bool WithLeaf(State q, F&& f) {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    const Expr e = Source(q);
    if (pool_->Kind(e) != ExprKind::kLeaf) return false;
    f(pool_->LeafOf(e), pool_->LeafState(e));
    return true;
  }
  // Calls f(LeafAutomaton*, state of it, state after it) under the lock where q is a leaf and a rest, kDead for none;
  // whether it is.
  template <class F>
  bool WithLeafAndRest(State q, F&& f) {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    const Expr e = Source(q);
    const Expr head = pool_->FirstPart(e);
    if (pool_->Kind(head) != ExprKind::kLeaf) return false;
    f(pool_->LeafOf(head), pool_->LeafState(head), head == e ? kDead : StateOf(pool_->Tail(e)));
    return true;
  }
  // The state of an expression of the pool, which is not empty unless it is kEmpty.
  State StateAt(Expr e) {
    const std::lock_guard<ReentrantMutex> lock(mutex_);
    return StateOf(e);
  }
  // The state of all that is accepted from one of these.
  State Unite(const std::vector<State>& states);
  size_t MemoryBytes() const override;

  // Rows are exact where states remember what they have read, too: there is no end of such states, so only for
  // questions about languages that would be answered wrongly otherwise. To be set before anything is asked.
  bool exact_rows = false;

  std::shared_ptr<DelayedAcceptor> Renewed() const override;
  void Adopt(const DelayedAcceptor& old, std::vector<State>* states) override;

  bool Loop(State q, LoopShape* shape) override;
  std::shared_ptr<const WideCharacters> WideOfLoop(State q) override;
  std::vector<State> LoopParts(State q) override;
  bool StaysAlive(State q, LoopShape* shape) override;
  State BeginsLike(State q, ByteSet* differing) override;
  State EndsLike(State q, ByteSet* differing, bool* fewer) override;
  State AfterLoop(State q, uint32_t count) override;
  State Canonical(State q, uint32_t length) override;
  State Clamped(State q, CounterClamp* clamp) override;
  State Forget(State q) override;
  bool TextsSince(State q, State* before, TextNode* node) override;
  bool Remembers() const override { return AnyRules(&RuleSource::HasMemory); }
  bool RemembersValues() const override { return AnyRules(&RuleSource::RemembersValues); }
  bool Opens(State q) override;
  bool MayRunOut() const override { return AnyRules(&RuleSource::MayRunOut); }
  bool MayRemember() const override { return AnyRules(&RuleSource::MayRemember); }
  State Over(State q) override { return Approximate(q, Side::kOver); }
  State Under(State q) override { return Approximate(q, Side::kUnder); }
  State Within(State q) override { return Approximate(q, Side::kWithin); }
  // Whether a string of some bytes is found that leads from q, which may be one that is reached from Under or Within,
  // to a final state; no where it is not sure.
  bool SurelyEnds(State q, const ByteSet& bytes);
  // Whether none does; no where that is not found out, nor where states remember.
  bool SurelyEndsNot(State q, const ByteSet& bytes);
  // The texts that are made of some others; and whether any of what is accepted from a state is among such texts, where
  // that is decided.
  Expr Sequences(const std::vector<std::string>& parts);
  std::optional<bool> Meets(State q, Expr texts);
  bool Approximates() const override { return AnyRules(&RuleSource::Approximates); }
  bool Counts(State q, uint32_t* low, uint32_t* high, State* star, State* unbounded) override;
  bool MayRepeat(State q, uint32_t* high, State* unbounded) override;
  bool BoundIsFar(State q, uint32_t* length, State* unbounded) override;
  bool Bounded(State q, State* unbounded, State* counter, uint32_t* slack, uint32_t* high) override;
  Allows BoundedAllows(State q, std::string_view text) override;
  bool BoundedSeeks(State q, ByteSet* plain, std::vector<ByteSet>* sought) override;
  State Unbounded(State q, uint32_t length) override;
  bool Plain(State q) override;
  ByteSet First(State q) override;
  bool ReadsOneByte(State q, uint8_t* byte, State* next) override;
  bool Texts(State q, State* model, TextNode* node) override;
  void ForEachText(const TextNode& node, const ByteSet& first, const TextVisitor& visit) override;
  bool ForEachRawByte(const TextNode& node, const ByteVisitor& enter) override;
  bool CountsSoon(State q, State* over, State* under) override;
  std::vector<State> Alternatives(State q, size_t most) override;
  uint32_t LeastLength(State q) override;
  bool MeasureAnew() override;
  // How many rules a question about lengths may look into; to be set before anything is asked.
  void LookInto(size_t rules) { lengths_.most_rules = rules; }
  uint32_t MostLength(State q) override;
  std::string PlaceOf(State q) const override;

 private:
  struct LoopCharacters {  // the characters that a loop body consumes whole in one turn
    ByteSet ascii;
    bool non_ascii = false;
    bool all_but_spaces = false;
    bool han = false;
  };
  // body{low,high}·rest of an expression that begins with a repetition, or with one character of many.
  struct Repetition {
    Expr body, rest;
    uint32_t low, high;
  };
  static constexpr uint32_t kOfList = 0xffffffff;  // in the place of a source of rules
  State StateOf(Expr e);
  State Approximate(State q, Side side);
  bool AnyRules(bool (RuleSource::*holds)() const) const;
  void ForEachListed(const TextNode& node, const ByteSet& first, const TextVisitor& visit);
  const StateRow::Data* MakeRow(State q, StateRows* rows) override;
  size_t Step(State q, std::string_view bytes, State* next) override;
  bool MeetsLeaf(Expr e) const;
  size_t StepCounted(State q, std::string_view bytes, State* next);
  bool IsProvisional(State q) override { return !exact_rows && pool_->Remembers(Source(q)); }
  const StateRow::Data* MakeProvisional(State q, StateRows* rows);
  bool SplitRepetition(Expr e, Repetition* r);
  bool SplitLoop(Expr e, Repetition* r);
  State WithoutBounds(State q, uint32_t length);
  Expr WithoutFarBounds(Expr e, uint32_t turns, uint32_t* least);
  Expr WithoutFarBounds(Expr e, uint32_t turns, int nested, uint32_t* least);
  const LoopCharacters& CharactersOf(Expr body);
  std::shared_ptr<const WideCharacters> FindWide(Expr body);
  bool MayBegin(Expr e, const WideCharacters& characters);
  Expr Beginning(Expr e);
  // All texts of at most `high` of some characters can be extended; those of so many may be whole ones.
  struct Alive {
    LoopCharacters characters;
    uint32_t high = 0;
    bool whole = false;
  };
  Alive FindAlive(Expr e, int nested);
  bool Differ(Expr a, Expr b, ByteSet* bytes);
  bool IsCharacter(Expr e) const;
  Expr EndsAlike(Expr e, ByteSet* differing, bool* fewer);
  Expr WithoutLeast(Expr e);
  LoopCharacters FixedCharacters(Expr e, int nested, uint32_t* length);
  ByteSet BytesAfter(Expr e, const ByteSet& first, int nested);
  static int Width(const LoopCharacters& c);
  static LoopCharacters Common(const LoopCharacters& a, const LoopCharacters& b);

  std::unique_ptr<Expressions> pool_;
  TextPhases text_phases_;
  Expr root_;
  BlockArray<State> state_of_;  // by expression; 0 unknown
  struct Stepping {
    bool asked = false;
    SteppingLeaf* leaf = nullptr;  // null where Arcs has to be asked
    std::vector<State> states;     // by state of the leaf; 0 unknown
  };
  std::vector<Stepping> stepping_;  // by leaf
  std::vector<Expressions::Term> steps_;
  std::vector<StateRows::Step> row_steps_;
  bool OnlySpacesBeyondAscii(Expr e);
  bool HasUsualHan(const std::vector<Expressions::Term>& steps);
  bool AllButSpaces(const std::vector<Expressions::Term>& steps);
  // Of all characters from U+0080, and without those that common classes leave out; made on first use.
  std::vector<Expressions::Term> non_ascii_step_[5];
  Late<std::unordered_map<Expr, LoopCharacters>> characters_;
  struct Wide {  // see WideOfLoop
    Expr body, follows;  // kEmpty: nothing beyond ASCII does
    std::shared_ptr<const WideCharacters> characters;
  };
  Late<std::deque<Wide>> wide_;  // of the last ones that were new
  Late<std::unordered_map<Expr, bool>> only_spaces_;
  struct {  // of the state that Bounded was asked about last: x, c* and the most characters
    State of = kDead, part = kDead, star = kDead;
    uint32_t high = 0;
    bool ends = false, seeks = false;  // seeks: BoundedSeeks found what x asks for
    Expr end = kEmpty;
    FlatMap<uint64_t, Allows> decided;  // by what is left of x and of the characters
    State whole_of = kDead;  // the c* of which `whole` are the bytes that are a c by themselves
    ByteSet whole;
  } bounded_;
  const ByteSet& BoundedWhole();
  BoundedParts::Split BoundedSplit(Expr part, uint32_t high);
  LengthBounds lengths_;
};

}  // namespace tokamata
