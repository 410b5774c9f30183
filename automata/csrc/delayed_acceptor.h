// DelayedAcceptor: a deterministic acceptor over bytes whose states are computed when they are first needed.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/reentrant_mutex.h"
#include "automata/csrc/stable_array.h"
#include "automata/csrc/state_row.h"

namespace tokamata {

class CounterClamp;  // counter_clamp.h
class WideCharacters;  // wide_characters.h

// What a state looks like to somebody who reads many characters at once: as long as whole characters of `ascii` (and,
// with non_ascii, all characters from U+0080) are read, the state only counts them. After l such characters, where
// l <= high, it is AfterLoop(q, l); bytes that do not begin a loop character leave the loop.
struct LoopShape {
  ByteSet ascii;
  bool non_ascii = false;
  // Without non_ascii: all characters from U+0080 but some of kWideSpaces. A promise about all others: texts that
  // contain one of these must be run.
  bool all_but_spaces = false;
  // Without these two: the characters kUsualHan. Texts that contain others of U+4000 to U+9FFF must be run.
  bool han = false;
  uint32_t low = 0, high = 0;  // characters until the rest may begin, and at most; high may be kUnboundedLoop
  ByteSet rest_first;          // first bytes of what follows the loop
  ByteSet body_first;          // first bytes of one more turn of the loop

  bool IsOnlyHan() const { return han && !ascii.Any() && !non_ascii && !all_but_spaces; }
};
// What common classes leave out from U+0080 on: white space and line terminators as ECMA-262 has them (\S and .), and
// control characters and noncharacters, which may not stand in YAML as themselves.
constexpr std::pair<uint32_t, uint32_t> kWideSpaces[] = {{0x80, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                                                         {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                                         {0x3000, 0x3000}, {0xFEFF, 0xFEFF}, {0xFFFE, 0xFFFF}};
// Chinese characters as regular expressions mostly write them: [\u4e00-\u9fa5].
constexpr std::pair<uint32_t, uint32_t> kUsualHan = {0x4E00, 0x9FA5};
constexpr uint32_t kUnboundedLoop = 0xffffffff;

// A place among the texts that a state reads (see DelayedAcceptor::Texts); means something to its producer only.
struct TextNode {
  uint32_t words[8];
};

// Safe to share between threads: rows that exist are read without a lock, new ones are made under one.
// State 0 is dead; every other state can reach a final one.
class DelayedAcceptor {
 public:
  using State = uint32_t;
  static constexpr State kDead = 0;

  DelayedAcceptor() = default;
  DelayedAcceptor(const DelayedAcceptor&) = delete;
  DelayedAcceptor& operator=(const DelayedAcceptor&) = delete;
  virtual ~DelayedAcceptor();

  State Start() const { return start_; }
  // For somebody with many questions, all of which would take the lock: until it is gone, others wait for new states.
  std::unique_lock<ReentrantMutex> Hold() const { return std::unique_lock<ReentrantMutex>(mutex_); }
  // The same, unless somebody else has it.
  std::unique_lock<ReentrantMutex> TryHold() const {
    return std::unique_lock<ReentrantMutex>(mutex_, std::try_to_lock);
  }
  // The 256 successors of q; of a provisional state (see below) they are like those that Run finds.
  StateRow Row(State q) {
    const StateRow::Data* row = states_[q].row.load(std::memory_order_acquire);
    return StateRow(row ? row : Expand(q));
  }
  bool HasRow(State q) const { return states_[q].row.load(std::memory_order_acquire) != nullptr; }
  State Next(State q, uint8_t b) {
    const StateRow::Data* row = states_[q].row.load(std::memory_order_acquire);
    return row ? StateRow(row)[b] : NextSlowly(q, b);
  }
  State Run(State q, std::string_view bytes) {
    for (size_t i = 0; i < bytes.size() && q; ++i) {
      const StateRow::Data* row = states_[q].row.load(std::memory_order_acquire);
      if (!row) return RunSlowly(q, bytes.substr(i));
      q = StateRow(row)[static_cast<uint8_t>(bytes[i])];
    }
    return q;
  }
  bool IsFinal(State q) const { return states_[q].final; }
  // The bytes with a successor.
  const ByteSet& Live(State q) { return Row(q).Live(); }
  uint32_t NumStates() const { return num_states_.load(std::memory_order_acquire); }
  size_t NumRows() const { return num_rows_.load(std::memory_order_relaxed); }
  // What is read in a state, for errors about limits; empty where that is not known.
  virtual std::string PlaceOf(State) const { return {}; }
  virtual size_t MemoryBytes() const;

  // ---- hints for whoever computes masks; the defaults are always right
  // Whether q loops over characters; fills *shape.
  virtual bool Loop(State, LoopShape*) { return false; }
  // The characters beyond ASCII that q's loop reads in a turn each; null where a turn that begins beyond ASCII may be
  // more than one, where there are none, and where what follows the loop may begin with one of them.
  virtual std::shared_ptr<const WideCharacters> WideOfLoop(State) { return nullptr; }
  // Where q loops over characters, of which some are beyond ASCII, and none of these begins what follows the loop, which
  // begins beyond ASCII, too: what follows, and q with a turn more, which together are q where q need not take a turn.
  virtual std::vector<State> LoopParts(State) { return {}; }
  // Whether all texts of at most shape->high whole characters of shape->ascii (and, as in loops, those beyond) can
  // surely be extended in q, however differently; fills these, and rest_first with the bytes that may come after them.
  virtual bool StaysAlive(State, LoopShape*) { return false; }
  // Where q reads a character and then counts others, or counts characters and then reads one, which are the same but for
  // those that begin with some bytes, *differing: the state that counts all of them as the loop does. Of the strings
  // without one of these bytes (with BeginsLike, of those that begin with another one) it and q allow the same ones;
  // with *fewer, it allows all strings that q does. kDead where there is none. EndsLike's loop may also be one without a
  // bound, if some of its characters are beyond ASCII.
  virtual State BeginsLike(State, ByteSet* /*differing*/) { return kDead; }
  virtual State EndsLike(State, ByteSet* /*differing*/, bool* /*fewer*/) { return kDead; }
  // The state after `count` characters of q's loop.
  virtual State AfterLoop(State q, uint32_t) { return q; }
  // A state that allows the same strings of at most `length` bytes as q (counters beyond the length are clamped), and
  // is final exactly where q is.
  virtual State Canonical(State q, uint32_t) { return q; }
  // The same for counters behind what is read first, where the clamp knows what the strings are.
  virtual State Clamped(State q, CounterClamp*) { return q; }
  // A state that keeps less of what is read next than q does, and so is met more often: q and it allow the same
  // strings, but for those with a comma and two quotes after it, which may be no strings of q. q where there is none.
  virtual State Forget(State q) { return q; }
  // Whether there may be states that Forget and models (see Texts) of which are not exact for such strings.
  virtual bool Remembers() const { return false; }
  // Whether states may ever remember what is read, so that rows are not exact.
  virtual bool MayRemember() const { return false; }
  // Whether states remember values that begin otherwise than with a quote: then what Forget allows beyond them is what
  // has a comma and the beginning of a value after it, where that is read in a state which Opens something remembered.
  virtual bool RemembersValues() const { return false; }
  virtual bool Opens(State) { return true; }
  // For errors about too many states: what to do where they come of what is remembered; or nothing.
  std::string MemoryHint() const {
    return Remembers() ? " (keys that must not occur twice make states without end: json_schema(unique_keys=False) leaves them)" : "";
  }
  // Whether what is remembered may leave beginnings of texts without an end.
  virtual bool MayRunOut() const { return false; }
  // A state near q with exact rows, as everything has that is reached from there: over it, with all strings of q and
  // maybe others, or under it, with some strings of q only, maybe without a way to an end. kDead where there are none.
  virtual State Over(State q) { return q; }
  virtual State Under(State q) { return q; }
  // Where q soon counts up to a bound: states of the same texts without the bound, and with the least count only. The
  // former have all texts that q has, the latter some. False where it does not.
  virtual bool CountsSoon(State /*q*/, State* /*over*/, State* /*under*/) { return false; }
  // Another one under q, which is nearer where it does not matter how long strings are.
  virtual State Within(State q) { return q; }
  // Whether they may differ from q, as far as they and what is reached from there were looked at.
  virtual bool Approximates() const { return false; }
  // Whether q is x{low,high} and a rest: then *star is x*, and *unbounded x{low,} and the same rest. Texts of at most
  // low bytes can be extended in q exactly when they can in *star, those of at most high bytes when they can in
  // *unbounded.
  virtual bool Counts(State, uint32_t* /*low*/, uint32_t* /*high*/, State* /*star*/, State* /*unbounded*/) { return false; }
  // Whether q is x{0,high} and a rest, with a bound: then *unbounded is x* and the same rest.
  virtual bool MayRepeat(State, uint32_t* /*high*/, State* /*unbounded*/) { return false; }
  // Whether q counts beside or among other languages, far from the bound: texts of at most *length bytes can be extended
  // in q exactly when they can in *unbounded.
  virtual bool BoundIsFar(State, uint32_t* /*length*/, State* /*unbounded*/) { return false; }
  // Whether q is the intersection of a state without bound and a state that only counts: then a text of at most *slack
  // characters is allowed in q exactly when it is in both. *high: as many characters as are counted at most.
  virtual bool Bounded(State, State* /*unbounded*/, State* /*counter*/, uint32_t* /*slack*/, uint32_t* /*high*/) {
    return false;
  }
  // Whether a longer text that both of them allow is allowed in q; kUnsure where q is not the state that Bounded was
  // asked about last.
  enum class Allows : uint8_t { kNo, kYes, kUnsure };
  virtual Allows BoundedAllows(State, std::string_view) { return Allows::kUnsure; }
  // Of the state that Bounded was asked about last: whether a text of bytes among *plain, each a character that is
  // counted, is allowed exactly when so many more characters may follow as there are members of *sought, which are
  // disjoint, with none of whose bytes in it.
  virtual bool BoundedSeeks(State, ByteSet* /*plain*/, std::vector<ByteSet>* /*sought*/) { return false; }
  // A state that allows the same strings of at most `length` bytes as q, without what bounds q's length, or counts,
  // further on; q where there is none.
  virtual State Unbounded(State q, uint32_t) { return q; }
  // Whether q surely neither counts nor reads texts nor has alternatives that do; quick.
  virtual bool Plain(State) { return false; }
  // Every byte with a successor, and maybe more; quick.
  virtual ByteSet First(State q) { return Live(q); }
  // Whether q surely begins with one byte only, and where that leads; quick.
  virtual bool ReadsOneByte(State, uint8_t* /*byte*/, State* /*next*/) { return false; }
  // Whether q reads some texts, such as the keys of an object, or else what *model reads (kDead: nothing); fills *model
  // and the place to ask ForEachText about. Then q and *model allow the same strings, but for those that begin with one
  // of the texts there, and every proper prefix of these texts can be extended in q.
  virtual bool Texts(State, State* /*model*/, TextNode*) { return false; }
  // Whether q allows the strings of *before, but for those that begin with one of the texts of *place, which are ways
  // to write one text.
  virtual bool TextsSince(State, State* /*before*/, TextNode* /*place*/) { return false; }
  // Calls visit(text, child, after) for the texts of a place (none is a prefix of another one) that begin with one of
  // `first`. After the text, q is in a place of the same kind with the same model, *child, or, where child is null, in
  // the state `after`.
  using TextVisitor = std::function<void(std::string_view text, const TextNode* child, State after)>;
  virtual void ForEachText(const TextNode&, const ByteSet& /*first*/, const TextVisitor&) {}
  // The same where only characters that stand in a JSON string as themselves are asked for, so that no text ends: calls
  // enter(depth, byte) for the bytes of the texts, from depth 0 on, each below the ones before it with less depth; where
  // it returns false, nothing below is asked for. What the model allows may be left out. False: ask ForEachText.
  using ByteVisitor = std::function<bool(uint32_t depth, uint8_t byte)>;
  virtual bool ForEachRawByte(const TextNode&, const ByteVisitor& /*enter*/) { return false; }
  // States whose union is q minus the empty string, or none when q is not a union (of at most `most` members).
  virtual std::vector<State> Alternatives(State, size_t) { return {}; }
  // No string of fewer bytes leads from q to a final state; 0xfffffffe: none does.
  virtual uint32_t LeastLength(State q) { return IsFinal(q) ? 0 : 1; }
  // Whether answers about lengths may be better from now on, by what was found out since they were given.
  virtual bool MeasureAnew() { return false; }
  // From every live state that can be reached from q, some final one is no more than so many bytes away; 0xffffffff
  // where that is not known.
  virtual uint32_t MostLength(State) { return 0xffffffff; }

  // ---- beginning anew, when the limits are reached
  // An acceptor of the same language that has made no states yet; null where there is no such thing.
  virtual std::shared_ptr<DelayedAcceptor> Renewed() const { return nullptr; }
  // Turns states of the acceptor that this one is renewed from into equivalent states of this one.
  virtual void Adopt(const DelayedAcceptor&, std::vector<State>*) {}

  uint32_t max_states = 200'000;  // with rows
  double seconds = 1;             // processor time of one call that needs new rows

 protected:
  struct Record {
    std::atomic<const StateRow::Data*> row{nullptr};
    uint32_t source = 0;  // what the producer knows the state as
    bool final = false;
  };
  // The state after the first of some bytes, or after more of them, where it is found without making a row: how many,
  // or 0. For provisional states it always is.
  virtual size_t Step(State, std::string_view, State*) { return 0; }
  // Whether q remembers what is read, so that its successors are too many to list: its row has states that forget.
  virtual bool IsProvisional(State) { return false; }
  // Called under the lock: the row of q.
  virtual const StateRow::Data* MakeRow(State q, StateRows* rows) = 0;
  State AddState(uint32_t source, bool final);  // under the lock, or while constructing
  void SetStart(State q) { start_ = q; }
  uint32_t Source(State q) const { return states_[q].source; }
  mutable ReentrantMutex mutex_;

 private:
  static constexpr uint32_t kStatesPerRow = 8;  // states that are known, without a row, for each row
  const StateRow::Data* Expand(State q);
  [[noreturn]] void ThrowFull() const;
  State RunSlowly(State q, std::string_view bytes);
  State NextSlowly(State q, uint8_t b);

  State start_ = kDead;
  StableArray<Record> states_;
  std::atomic<uint32_t> num_states_{0};
  std::atomic<size_t> num_rows_{0};
  FlatMap<State, const StateRow::Data*> provisional_;  // rows
  StateRows rows_;
};

}  // namespace tokamata
