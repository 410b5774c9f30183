// DistanceTable: how many tokens a state is away from an end, as far as somebody needed to know.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/stable_array.h"
#include "automata/csrc/time_limit.h"
#include "decode/csrc/loop_tokens.h"
#include "decode/csrc/rows.h"
#include "decode/csrc/token_lengths.h"
#include "decode/csrc/tokens_left.h"
#include "tokenizer_fst/csrc/factoring.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// The distance of a state is the least number of text tokens whose bytes lead from it to a final state. Each state
// keeps an interval around it, first from a shortest string of bytes: no token is longer than the longest one, and the
// best spelling of that string by tokens, or of another short one, is an upper bound. Where a question falls into the
// interval, a best-first search over token steps (Hart, Nilsson, Raphael 1968) decides it and narrows the interval of
// every state it visited. Such a search reads a token only as far as beginning a new one there would cost more, whatever
// is left of it (see suffix_spelling.h): states that count are mostly left after their next character. All of this is
// exact wherever states are finitely many within the distance that was asked for, but that one row of a push-down
// constraint searches for so long only, a share of `max_states`: what is undecided then is not in it.
//
// States that remember what is read have rows that are not exact, and too many successors to look at: the states over
// and under them answer for them, and where these differ, the tokens in question are tried out.
//
// A row takes a share of the acceptor's `seconds` for that, or all of them (see SecondsForRow). What is undecided then is
// left out, but not the tokens of a way to an end that is at hand: one found before, or a short text that is found by its
// bytes and spelled.
//
// Questions are asked under the owner's lock, but for LeavesRoom, which takes none.
class DistanceTable {
 public:
  using State = DelayedAcceptor::State;
  static constexpr uint32_t kFar = 0xffffffff;  // the tokens of this vocabulary lead to no end

  // can_finish(q): whether the distance of q is finite. Asked only where the vocabulary lacks single bytes.
  DistanceTable(DelayedAcceptor* acceptor, const Vocabulary* vocabulary, bool complete,
                std::function<bool(State)> can_finish);

  // Whether the distance of q is at most k. This and all below raise LimitError past the acceptor's `seconds`.
  bool AtMost(State q, uint32_t k);
  // The same; yes, too, where a short text shows it after that time.
  bool SurelyAtMost(State q, uint32_t k);
  uint32_t Distance(State q);
  // The distance is no more, as a short text from q shows or something known before; kFar when nothing is.
  uint32_t MostKnown(State q);
  // Whether every token that may follow q leads to a distance of at most k, as far as is already known. Takes no lock.
  bool LeavesRoom(State q, uint32_t k) const {
    const std::atomic<uint32_t>* most = most_.Find(q);
    return most && k < kFar && most->load(std::memory_order_relaxed) > kFar - 1 - k;
  }
  // The same, finding out what is cheap to find out: true means yes, false that BuildRow has to look at the tokens.
  bool FindRoom(State q, uint32_t k);
  // Only from the structure of the constraint, without a look at any token.
  bool FindRoomByStructure(State q, uint32_t k);
  // Writes the row of the tokens after which the distance is at most k; EOS is not among them. It has no others, and some
  // if q's distance is at most k + 1.
  void BuildRow(State q, uint32_t k, uint32_t* row);
  // The tokens after which the distance may be more than k; null where that is not known. Until it is asked for again.
  const std::vector<uint32_t>* MayBeFar(State q, uint32_t k) { return left_ ? left_->MayBeFar(q, k) : nullptr; }
  // Clears those of them after which it is, of a row with all tokens that may follow q. False, and the row as it was, where
  // many would have to be looked at, or that takes long.
  bool ClearFar(State q, uint32_t k, const std::vector<uint32_t>& may_be_far, uint32_t* row);
  // Whether some token at or below a trie node that was entered with q leads to a distance of at most k.
  bool AnyToken(uint32_t node, State q, uint32_t k);

 private:
  struct Bounds {
    uint32_t low = 0, high = kFar;  // of the distance
    uint32_t bytes = kFar;          // of a short string to an end; kFar before the state was first looked at
    State next = DelayedAcceptor::kDead;  // along that string
    uint8_t byte = 0;
    bool shortest = true;     // there is no shorter string
    bool looked = false;      // all of the above is set
    bool enumerated = false;  // BuildRow looked at all targets
    bool completed = false;   // SpellCompletion found what it finds
  };
  Bounds& Slot(State q) {
    if (q >= bounds_.size()) bounds_.resize(std::max<size_t>(q + 1, bounds_.size() * 2));
    return bounds_[q];
  }
  struct Twins {
    State over, under;
  };
  // The states that answer for q; false where it answers for itself.
  bool HasTwins(State q, Twins* twins);
  bool DecideByTwins(State q, const Twins& twins, uint32_t k);
  void FillRowByTwins(State q, const Twins& twins, uint32_t k, uint32_t* row);
  uint32_t DistanceByTwins(State q, const Twins& twins);
  // AnyToken of the tokens in a row, or of all where it is null, one by one.
  bool TryTokens(uint32_t node, State q, uint32_t k, const uint32_t* row);
  const Bounds& Look(State q);
  // Bounds what is far by a short text: its tokens, and the states between them. The best first tokens go to `row`, where
  // there is one and no more than k follow. Nothing where the search would reach more states than that.
  void SpellCompletion(State q, size_t most_reached, uint32_t k = 0, uint32_t* row = nullptr);
  // Whether SpellCompletion, or something known before, says that the distance is at most k.
  bool CompletesWithin(State q, uint32_t k);
  // The processor time of an exact row: a share of all there is where rules are called, as those of JSON Schemas are, or
  // something is remembered; else all, which searches in grammars take a bounded part of anyway.
  double SecondsForRow() const;
  size_t RoomForRow() const;  // states
  template <class F>
  bool Within(double seconds, F fill);
  void FillExactRow(State q, uint32_t k, uint32_t* row);
  void FillKnownRow(State q, uint32_t k, uint32_t* row);
  bool Decide(State q, uint32_t k);  // AtMost of a live state
  void FillRow(State q, uint32_t k, uint32_t* row);
  void FillSharedRow(State q, uint32_t k, uint32_t* row);  // of a state that answers for many others
  void FillWholeRow(State q, uint32_t k, uint32_t* row);
  void FindBytes(State root);
  bool FindBytes(State root, uint64_t weight, size_t most);  // false: more than `most` states would be looked at
  void SetEndless(State q);
  void SpellPath(State root);
  // The distance of root if that is at most k, else k + 1; with `exact` false any witness of at most k will do.
  uint32_t Search(State root, uint32_t k, bool exact);
  uint32_t Undecided(uint32_t k) {  // for one row that counts as too far
    ++undecided_;
    return k + 1;
  }
  // The same by summaries, for push-down constraints of which a search would look at many states. nullopt where that
  // takes so long that searches are tried first.
  std::optional<uint32_t> Summarize(State root, uint32_t k);
  const std::vector<State>& Targets(State q);
  // A row that is being built.
  struct Row {
    uint32_t* words;
    uint32_t k;
    uint32_t most;  // tokens from any target to an end, at most
    void Set(uint32_t id, bool value) {
      if (value)
        SetToken(id, words);
      else
        ClearToken(id, words);
    }
  };
  bool Take(State target, Row* row);  // whether it is near enough
  void BuildLoopRow(const LoopTokens::Plan& plan, Row* row);
  uint32_t MostNearby(State q);
  void SetMost(State q, uint32_t most);
  // Sweeps the subtree of a trie node entered with q; visit(node, state) where tokens end in a live state, until it
  // returns false.
  template <class F>
  void ForEachToken(uint32_t node, State q, F visit) {
    ForEachToken(node, q, visit, [](uint32_t, State) { return true; });
  }
  // The same only below nodes where enter(node, state); the number of nodes it looked at.
  template <class F, class G>
  size_t ForEachToken(uint32_t node, State q, F visit, G enter);

  DelayedAcceptor* acceptor_;
  const Vocabulary* vocabulary_;
  const Trie& trie_;
  LoopTokens loop_tokens_;
  bool complete_;
  bool may_remember_;
  bool has_leaves_;
  size_t room_to_search_ = SIZE_MAX;  // states; 0: what is not known now counts as too far
  size_t undecided_ = 0;              // how often it did
  bool quickly_ = false;  // what TokensLeft says will do, though searches would find less
  uint32_t tried_ = 0;  // tokens, one behind the other, that are being tried out
  ExpressionAcceptor* push_down_;  // null where summaries are of no use
  std::unique_ptr<TokenLengths> lengths_;  // made when first needed
  std::unique_ptr<TokensLeft> left_;       // null where it knows nothing
  // Where questions go that short searches leave open: to summaries; if one of these took too long, to long searches;
  // and if one of these did, to summaries for as long as it takes.
  enum class Summaries : uint8_t { kShort, kNone, kLong } summaries_ = Summaries::kShort;
  uint64_t searched_ = 0;  // nodes of the trie, before there were summaries
  std::function<bool(State)> can_finish_;
  const SuffixSpelling* spelling_;  // null before it is needed, and where others may not spell what a token does
  uint32_t longest_;  // bytes of a token
  std::vector<Bounds> bounds_;  // by state
  // By state: kFar minus the most that any token leads to (an upper bound), 0 while unknown.
  StableArray<std::atomic<uint32_t>> most_;
  std::unordered_map<State, std::vector<State>> targets_;
  size_t targets_size_ = 0;
  std::unordered_map<State, std::vector<uint32_t>> open_rows_;  // those shared by others, of states that leave room
  std::vector<uint32_t> stamps_;  // by state: the last sweep that met it
  uint32_t stamp_ = 0;
};

}  // namespace tokamata
