// MaskBuilder: the tokens that an acceptor's state allows, as a row of bits.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/arena.h"
#include "automata/csrc/block_array.h"
#include "automata/csrc/counter_clamp.h"
#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/expression_acceptor.h"
#include "automata/csrc/late.h"
#include "automata/csrc/regular_meets.h"
#include "decode/csrc/barred_words.h"
#include "decode/csrc/lexed_mask.h"
#include "decode/csrc/rows.h"
#include "tokenizer_fst/csrc/factoring.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// D ∘ A over a deterministic acceptor A needs no states of its own: a token is allowed in state q exactly when its
// bytes lead from q to a live state. This class finds all of them at once. Not thread-safe; the owner serializes.
class MaskBuilder {
 public:
  using State = DelayedAcceptor::State;

  MaskBuilder(DelayedAcceptor* acceptor, const Vocabulary* vocabulary);
  // copy(q, row, &base) copies the mask of a canonical state and what Base() was then, if it was built before.
  using Finished = std::function<bool(State, uint32_t*, const uint32_t**)>;
  void UseFinished(Finished copy) { finished_ = std::move(copy); }

  // The state whose mask is q's: counters beyond the longest token make no difference, unless the end may be out of
  // reach. So do states that forget, but for the tokens that RunWholeKeys decides on.
  State Canonical(State q) {
    if (!complete_) return q;
    const State known = q < known_.size() ? known_[q].canonical : State{DelayedAcceptor::kDead};
    return known ? known : FindCanonical(q);
  }
  // Writes vocabulary->Words() words: every token that q allows, and EOS where q is final. q must be canonical.
  void Build(State q, uint32_t* row);
  // A row of the vocabulary's tables that the last one built began with and may still be like; null where there is
  // none.
  const uint32_t* Base() const { return base_; }
  // Rows for which this is the same and not 0 are mostly nearly the same.
  uint64_t Alike() const { return alike_; }
  // Where a caller may keep what it makes of q's mask for all states with the same mask and end, at first null; null
  // where these are not known, or not yet. Valid until the next mask is built.
  const void** Shared(State q);
  // The same by walking the whole trie, without any precomputed knowledge: the reference for tests.
  void BuildByWalking(State q, uint32_t* row);
  // EOS where q is final, and nowhere else.
  void SetEos(State q, uint32_t* row) const;
  // Allows what may repeat a key in a row of q's that shall be another state's: RunWholeKeys decides on it. Whether it
  // did.
  bool AskAgain(State q, uint32_t* row);
  // Decides on the tokens of a row of q's canonical state that may repeat a key; whether any changed.
  bool RunWholeKeys(State q, uint32_t* row);
  // Whether the tokens of the vocabulary can spell some completion from q (EOS included). Memoized.
  bool CanFinish(State q);
  // All single bytes of texts are tokens: then every live state can finish and CanFinish need not be asked.
  bool Complete() const { return complete_; }
  // What the owner found out about the time to build a canonical state's mask.
  bool IsQuick(State q) const { return q < known_.size() && known_[q].quick; }
  void SetQuick(State q, bool quick) { KnownOf(q).quick = quick; }

 private:
  // How a state loops over characters.
  struct Loop {
    enum Kind : uint8_t { kNone, kCounted, kSemantic, kAlive } kind = kNone;
    // A class inside the loop's characters, for factors; -1 when there is none.
    int8_t inner = -1;
    // At the root, if not -1: a class whose characters are the loop's, but for the ASCII bytes `excluded`. Other
    // characters of the loop are ways out of the class that lead back into the loop.
    int8_t outer = -1;
    ByteSet excluded;
    // At the root and where very much is below a node: the loop's characters make a class of their own, see LearnedOf.
    bool learns = false;
    // Without outer: besides those of the inner class, which are of ASCII, all characters from U+0080 are the loop's.
    bool wide_too = false;
    // Bytes that the loop's states do not agree on: tokens with one of them are run one by one. They are outside of the
    // inner class, but with kAlive.
    ByteSet checked;
    // With kAlive, the bytes that may come after its characters. What was read before them makes a difference then.
    ByteSet ways_out;
    LoopShape shape;
    // Whether its ways out are the same wherever in the loop they are taken, so that factors tell them.
    bool IsAlike() const { return outer >= 0 || !checked.Any(); }
    // Whether masks of states inside one of its characters can be made of its own.
    bool HasBegun() const { return inner >= 0 && IsAlike() && kind != kAlive; }
  };
  // How the mask of a state is made.
  struct Plan {
    enum How : uint8_t { kUnknown, kLoop, kUnion, kSplit, kShared, kEnds, kTexts, kBegun, kWalk } how = kUnknown;
    State model = DelayedAcceptor::kDead;  // whose mask is corrected, if kShared, kEnds or kTexts; see FindBegun, if kBegun
    uint8_t phase = 0;                     // of UTF-8, if kBegun
    bool HasParts() const { return how == kUnion || how == kSplit; }  // see PartsOf
  };
  struct Visit {
    Visit(uint32_t n, State q) : node(n), state(q) {}
    uint32_t node;
    State state;
  };

  static constexpr int kMaxDepth = 3;            // unions and shared states inside each other
  static constexpr size_t kMaxAlternatives = 8;  // members of a union that are masked one by one
  static constexpr int kWideLive = 100;          // bytes that a state reads, from which a loop is looked for beyond ASCII

  State FindCanonical(State q);
  uint32_t MostTurns(State star);
  Plan PlanOf(State q, int depth);  // memoized, but for the deepest
  State OpenedBefore(State q);
  Plan FindPlan(State q);
  Plan FindBegun(State q);
  bool GoesOnInside(State q);
  bool HasFewWaysOn(State q);
  const Loop& LoopOf(State q);  // the reference stays valid
  // What walking asks of a state; most are plain, and that is asked of every node.
  struct Traits {
    bool texts = false, counts = false;
    bool parts = false;     // a union of states some of which read texts
    bool single = false;    // reads one byte only before anything else
    uint8_t byte = 0;       // with single: that byte, and the state after it
    State after = DelayedAcceptor::kDead;
    State star, unbounded;  // with counts; see DelayedAcceptor::Counts and BoundIsFar
    uint32_t low, high;
  };
  bool Plain(State q) { return q < known_.size() && known_[q].traits ? known_[q].traits == kPlain : FindTraits(q); }
  bool FindTraits(State q);  // whether q is plain
  const Traits& TraitsOf(State q) { return Plain(q) ? traits_[0] : traits_[known_[q].traits - kFirstTraits]; }
  bool ReadsOneByte(State q) { return !Plain(q) && TraitsOf(q).single; }
  bool ReadsTexts(State q) { return !Plain(q) && (TraitsOf(q).texts || TraitsOf(q).parts); }
  // A state that allows the same strings below a node as q: counters make no difference where tokens are short.
  State Near(State q, const Trie& trie, uint32_t node) {
    if (Plain(q)) return q;
    const Traits& t = TraitsOf(q);
    if (!t.counts) return q;
    const uint32_t height = trie.Height(node);
    return height <= t.low ? t.star : height <= t.high ? t.unbounded : q;
  }
  static uint8_t ToRunOf(const Loop& loop, int class_id) {
    return static_cast<uint8_t>((loop.shape.all_but_spaces ? kWithSpaces : 0) | (class_id == kHan ? kWithRareHan : 0));
  }
  bool Looked(State q) const { return q < known_.size() && known_[q].loop; }
  bool FindLoop(State q, Loop* loop, std::vector<State>* alike);
  bool Outgrown(State q, const LoopShape& shape);
  State BeginsLike(State q);
  State EndsLike(State q);
  std::vector<State> PartsOf(State q, const Plan& plan);
  bool AnyLoops(const std::vector<State>& states);
  bool SomeAreWide(const std::vector<State>& states);
  // The classes for a counted loop, by what the choice depends on.
  struct ClassChoice {
    ByteSet ascii, first;  // `first`: only with `wide`, where the loop reads characters beyond ASCII
    bool wide = false, han = false;
    int8_t inner = -1, outer = -1;
    bool wide_too = false;
    ByteSet excluded;
    double inner_leaves = 0;  // tokens to walk
  };
  bool FindCounted(State q, Loop* loop);
  bool Learns(State q, const LoopShape& shape);
  std::shared_ptr<const LearnedClass> LearnedOf(uint32_t node, State q, const LoopShape& shape);
  static ByteSet ExitsOf(const LoopShape& shape);
  bool ReadsMany() const;
  const ClassChoice& ChoiceOf(const LoopShape& shape);
  double FindInner(ClassChoice* choice) const;
  void FindChecked(ClassChoice* choice) const;
  void FindOuter(double inner_cost, ClassChoice* choice) const;
  // What a class that is no loop says of others: that there are too many states (those much like it have no fewer), or a
  // way out of it, as its ASCII bytes from the last one on (those that have all of them have it, too).
  struct Tried {
    bool many = false;
    std::vector<uint8_t> way_out;
    bool ends = false;  // the last byte is one of many that lead out there
  };
  bool FindSemantic(State q, int class_id, bool exclude, Loop* loop, std::vector<State>* between, Tried* tried);
  bool LeavesOften(const Loop& loop) const;
  uint32_t LeftInside(const Loop& loop) const;
  size_t LeftAlive(const Loop& loop) const;
  bool FindAlive(State q, bool wide, Loop* loop);
  State SharedState(State q, bool counted);
  State MostBytesLeadTo(State q);
  bool FewDiffer(State a, State b);
  bool AgreeBeyondAscii(State a, State b);
  void BuildAny(State q, uint32_t* row, int depth);
  void BuildEnds(State q, State model, uint32_t* row, int depth);
  bool BuildSince(State q, uint32_t* row);
  bool CopyBefore(State before, uint32_t* row);
  bool CopyPart(State q, uint32_t* row);
  void KeepPart(State q, const uint32_t* row);
  bool BuildLexed(State q, uint32_t* row);
  bool BuildMeet(State q, uint32_t* row, int depth);
  bool BuildOperands(State q, uint32_t* row, int depth);
  // All tokens by what their bytes cost, 1 and what a table says: those that cost most first, and how many cost more than
  // some number; more than the greatest number count as that.
  struct TokenCosts {
    std::array<uint32_t, 256> per_byte;
    std::vector<uint32_t> ids, more;
  };
  const TokenCosts& CostsOf(const std::array<uint32_t, 256>& per_byte);
  bool BuildOperand(State q, uint32_t* row, int depth);
  bool BuildPieces(State q, uint32_t* row, int depth);
  bool BuildBounded(State q, uint32_t* row, int depth);
  void DecideBySought(const ByteSet& plain, const std::vector<ByteSet>& sought, uint32_t high, uint32_t* unsure,
                      uint32_t* row);
  size_t TokensFrom(const ByteSet& bytes) const;
  uint32_t TokensListedBy(const ByteSet& bytes) const;
  bool BuildUnbounded(State q, uint32_t* row);
  struct ShortRows {  // of states that allow the same tokens of up to a length, where one took long
    struct Clamp {
      uint32_t length;
      CounterClamp counters;
    };
    struct Kept {
      State like = DelayedAcceptor::kDead;
      std::vector<uint32_t> row;  // once another one asks for it
    };
    std::deque<Clamp> clamps;  // by length
    std::vector<Kept> rows;
    size_t next = 0;
  };
  bool BuildByShort(State q, uint32_t* row, int depth);
  State LikeShort(State q, ShortRows::Clamp* clamp);
  void KeepShort(State q);
  bool MakeShortRows();
  void BuildLoop(State q, const Loop& loop, uint32_t* row);
  bool BuildBegun(const Plan& plan, uint32_t* row);
  bool WalksMuch(State q, const Plan& plan);
  bool BuildBarred(State q, uint32_t* row, int depth);
  const BarredWords* BarredOf(State q);
  int ClassOfBarred(State q, const ByteSet& out);
  struct Having {
    ByteSet bytes;
    std::vector<uint32_t> row;       // the tokens that have some of the bytes
    const uint32_t* base = nullptr;  // a row of the tables, the last one asked for
    std::vector<uint32_t> rest;      // the base without them, if it was asked for twice
  };
  Having& HavingOf(const ByteSet& bytes);
  void RunExitsFromOuter(State q, const Loop& loop, uint32_t* row);
  void RunExitsBy(State q, const Loop& loop, uint8_t b, const ByteSet& first, State next, uint32_t low, uint32_t high,
                  uint32_t* row);
  void RunExceptions(State q, uint32_t* row);  // those of to_run_
  void RunTokensWith(const ByteSet& bytes, State q, uint32_t* row);
  template <class Ids>
  void RunTokens(const Ids& ids, State q, uint32_t* row);
  void BuildModel(State model, uint32_t* row, int depth);
  void BuildShared(State q, State model, uint32_t* row, int depth);
  void Correct(uint32_t node, State q, State model, uint32_t* row);
  bool HasFactor(uint32_t node, const Loop& loop) const;
  // Whether so much is below a node that it is worth finding out what of a loop's own class is.
  bool LearnsBelow(uint32_t node, const Loop& loop) const {
    constexpr uint32_t kVeryMany = 1 << 14;  // tokens: those that begin with a blank
    return node && loop.learns && trie_.CountBelow(node) >= kVeryMany;
  }
  State LoopWithFactor(uint32_t node, State q);
  bool Apart(uint32_t node, State a, State b);
  void SetInside(const Factor& factor, uint32_t high, uint32_t* row);
  // The tokens of a loop's inner class below a node that has factors, and those that leave it.
  void BuildInner(uint32_t node, State q, const Loop& loop, uint32_t* row);
  int ApartClass(uint32_t node, State q, const Loop& loop);
  ByteSet MoreAfter(State q, const Loop& loop);
  void RunBelow(uint32_t node, const uint32_t* among, State q, uint32_t* row);
  void BuildApart(uint32_t node, int class_id, State q, const Loop& loop, uint32_t* row);
  static bool Touches(std::string_view text, const ByteSet& bytes);
  // But for those that leave the class with their first byte below the node where that is one of `seen_to`.
  void RunExits(uint32_t node, int class_id, const Factor& factor, State q, const Loop& loop, const ByteSet& seen_to,
                uint32_t* row);
  template <class F>
  void RunExitsOf(const F& factor, const ByteSet& first, State q, const Loop& loop, const ByteSet& seen_to,
                  uint32_t* row);
  // Over zeros: of a loop with a class of its own, the tokens below a node.
  void BuildLearned(uint32_t node, State q, const Loop& loop, uint32_t* row);
  void RunExitsAlive(uint32_t node, const Factor& factor, State q, const Loop& loop, uint32_t* row);
  void BuildTexts(uint32_t node, State q, uint32_t* row);
  void WalkTexts(uint32_t root, const TextNode& place, bool clears, uint32_t* row);
  bool EnterRaw(uint32_t root, const TextNode& place, uint32_t* row);
  // Adds what a state allows below a node to a row in which others have set tokens there.
  void AddPart(uint32_t node, State q, uint32_t* row);
  // Of those who ask for the ways out of a loop by a byte: the most characters before it, and bytes from it on;
  // kNoIndex where that is not known.
  struct Asked {
    uint32_t chars, bytes;
    bool nobody = false;
  };
  // Calls visit(byte, state after the byte, least and most characters read before it) for each way out of q's loop that
  // asked(byte) is about. With `runs`, the caller sees to RunsLong.
  template <class M, class F>
  void ForEachExit(State q, const Loop& loop, const ByteSet& loop_first, bool runs, M asked, F visit);
  // Whether a way out is visited once for all numbers of characters, although a token may have too many turns: tokens
  // of more bytes than there are turns left have to fit as well.
  bool RunsLong(const LoopShape& shape, uint8_t b) const;
  bool Fits(State q, const Loop& loop, uint32_t id);
  // Goes down along bytes that are the only ones; set(first, last) is told of tokens in trie.order on the way. Whether
  // there is anything below the node where that ends.
  template <class S>
  bool Follow(const Trie& trie, uint32_t* node, State* q, S set);
  void Enter(uint32_t node, State q, uint32_t* row);
  // The same without the tokens at the node itself.
  void EnterBelow(uint32_t node, State q, uint32_t* row);
  bool SetBelow(uint32_t node, State state, uint32_t* row);
  uint32_t UpToComma(std::string_view token) const;
  // Over nodes first..end: children of a node at this depth that was entered with state q, and what is below them.
  template <class S, class D, class W>
  void Sweep(const Trie& trie, uint32_t depth, uint32_t first, uint32_t end, State q, S set, D done, W waits);
  template <class F>
  static void ForEachLiveRun(const Trie& trie, uint32_t node, const ByteSet& live, F sweep);
  void Scan(uint32_t depth, uint32_t first, uint32_t end, State q, uint32_t* row);
  bool Waits(uint32_t node, State q);
  bool FewAlive(const Trie& trie, uint32_t node, State q);
  void Drain(size_t base, uint32_t* row);
  // Sets the tokens of a suffix trie below a node (with `itself`, also those at it) whose characters are low..high and
  // that pass the filter.
  template <class P>
  void WalkSuffixes(const SuffixTrie& s, uint32_t node, State q, uint32_t low, uint32_t high, P passes, bool itself,
                    uint32_t* row);
  const uint32_t* EndedBy(const SuffixTrie& suffixes, const ByteSet& exits, const uint32_t* row);
  // Whether no token reads enough characters to make a difference.
  bool CountIsFree(const LoopShape& s) const { return s.low == 0 && s.high >= vocabulary_->MaxTokenBytes(); }
  bool FindFinish(State root, bool exact);
  bool LacksBytes(State q);
  std::optional<bool> DecideFinish(State q);
  // The bytes of the tokens that end at a node of the main trie, which has some.
  std::string_view TokenAt(uint32_t node) const { return vocabulary_->Token(trie_.order[trie_.TokensBegin(node)]); }
  // The bytes that lead to a node of the main trie.
  std::string_view PathTo(uint32_t node) const {
    return vocabulary_->Token(trie_.order[trie_.TokensBegin(node)]).substr(0, trie_.nodes[node].depth);
  }
  static void SetTokens(const Trie& trie, uint32_t node, uint32_t* row) {
    SetAll(trie.order.data + trie.TokensBegin(node), trie.order.data + trie.TokensEnd(node), row);
  }
  static void SetAll(const uint32_t* ids, const uint32_t* end, uint32_t* row) {
    for (; end - ids >= 4; ids += 4) {
      SetToken(ids[0], row);
      SetToken(ids[1], row);
      SetToken(ids[2], row);
      SetToken(ids[3], row);
    }
    for (; ids != end; ++ids) SetToken(*ids, row);
  }
  // Takes the tokens at and below a node of the main trie out of a row.
  void ClearFrom(uint32_t node, uint32_t* row) const {
    const uint32_t end = trie_.TokensBegin(trie_.nodes[node].end);
    for (uint32_t i = trie_.TokensBegin(node); i < end; ++i) ClearToken(trie_.order[i], row);
  }

  DelayedAcceptor* acceptor_;
  ExpressionAcceptor* grammars_;  // the same, if some of its expressions are grammars, else null
  const Vocabulary* vocabulary_;
  const Factoring& factoring_;
  const Trie& trie_;
  const bool complete_, may_remember_;
  ExpressionAcceptor* const key_lines_;  // the same, if keys that must not occur twice stand in lines, else null
  bool asked_ = false;  // whether tokens that may repeat a key are to be run whatever the state is
  bool remembers_ = false;  // once the acceptor does
  // What was found out about a state, side by side: a mask asks for most of it.
  static constexpr uint32_t kPlain = 1, kFirstTraits = 1;
  struct alignas(32) Known {
    State canonical = DelayedAcceptor::kDead;  // kDead where it was not asked for
    Plan plan;
    uint32_t loop = 0;       // see LoopOf
    uint32_t traits = 0;     // 0 unknown, kPlain, or kFirstTraits + an index
    bool unlimited = false;  // neither BuildBounded nor BuildUnbounded has anything to do
    bool quick = false;      // see IsQuick
    bool few = false;        // with traits: reads few bytes next, all of them ASCII
    uint16_t barred = 0;     // see BarredOf
  };
  Known& KnownOf(State q) { return known_.Reach(q); }
  BlockArray<Known> known_;  // by state
  std::vector<const Loop*> loops_;
  Arena arena_;  // of the loops
  struct Learned {
    std::shared_ptr<const WideCharacters> wide;  // the acceptor's
    std::shared_ptr<const LearnedClass> tokens;
  };
  Late<std::deque<Learned>> learned_;  // the last ones
  Late<std::deque<BarredWords>> barred_;
  size_t barred_tried_ = 0;  // places that were looked at where none were found
  Late<std::unordered_map<const LeafAutomaton*, std::unique_ptr<LexedMask>>> lexed_;  // of grammars with a lexer
  struct Counted {
    State state = DelayedAcceptor::kDead;
    bool found = false;
    Loop loop;
  };
  Counted counted_;  // what FindCounted said last
  std::vector<ClassChoice> choices_;
  size_t next_choice_ = 0;
  BlockArray<Traits, 32> traits_;    // those of plain states first
  // By state, where the vocabulary is not complete, without and with what states remember: 0 unknown, 1 cannot, 2 can.
  std::vector<uint8_t> finish_[2];
  ByteSet spelled_;  // the bytes of tokens, once asked for
  std::optional<Expr> written_;  // the texts that tokens can write, likewise
  const uint32_t *building_ = nullptr, *base_ = nullptr;
  uint64_t alike_ = 0;
  struct Model {
    State state = DelayedAcceptor::kDead;
    std::vector<uint32_t> row;
    const uint32_t* base = nullptr;
    uint64_t alike = 0;
    bool asked = false;
  };
  // See UpToComma; made when first asked for.
  std::vector<uint32_t> begins_of_whole_, begins_of_ends_, begins_of_next_, begins_of_lines_;
  std::array<Model, 4> models_;  // whose rows were built last: states that follow one another mostly share theirs
  size_t next_model_ = 0;
  struct Part {
    State state = DelayedAcceptor::kDead;
    std::vector<uint32_t> row;
    uint8_t to_run = 0;
  };
  std::array<Part, 4> parts_;  // rows of members of unions that read texts, and of operands; the last ones
  size_t next_part_ = 0;
  Late<std::array<Having, 12>> having_;  // more than BoundedSeeks finds
  size_t next_having_ = 0;
  struct Ended {  // see EndedBy
    const SuffixTrie* suffixes = nullptr;
    const uint32_t* from = nullptr;
    ByteSet exits;
    const uint32_t* row = nullptr;
  };
  std::array<Ended, 2> ended_;
  size_t next_ended_ = 0;
  Late<std::unordered_map<State, State>> opened_;  // see OpenedBefore
  Late<std::unordered_map<State, uint32_t>> most_turns_;
  CounterClamp clamp_;
  static constexpr size_t kManyVisits = 100;  // of parts of the trie, which take long
  size_t visits_ = 0;                         // by one call of Build
  std::unique_ptr<ShortRows> short_rows_;
  std::unique_ptr<RegularMeets> meets_;  // once there is an intersection
  uint32_t met_ = 0;  // how often long tokens had to be run
  Finished finished_;
  // The row was built as if no token contained a space beyond ASCII, a rare Chinese character.
  enum ToRun : uint8_t { kWithSpaces = 1, kWithRareHan = 2 };
  uint8_t to_run_ = 0;
  TokenCosts token_costs_;
  std::vector<Visit> stack_;
  std::vector<StateRow> path_;        // rows by depth, while scanning
  BlockArray<StateRow> plain_rows_;   // by state: rows of plain ones that were scanned
};

}  // namespace tokamata
