// TokenAutomaton: D ∘ A, delayed. Its states are the states of the acceptor A, its arcs out of a state are the mask.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/csrc/arena.h"
#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/stable_array.h"
#include "decode/csrc/distance.h"
#include "decode/csrc/mask.h"
#include "decode/csrc/step_memo.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// Safe to share between threads: masks that were built before are read without a lock.
class TokenAutomaton {
 public:
  using State = DelayedAcceptor::State;

  // ConstraintError when no member can be written with the vocabulary.
  TokenAutomaton(std::shared_ptr<DelayedAcceptor> acceptor, std::shared_ptr<const Vocabulary> vocabulary,
                 size_t cache_bytes);
  ~TokenAutomaton();

  // The same constraint and vocabulary, with nothing kept yet; null where the acceptor cannot begin anew.
  std::shared_ptr<TokenAutomaton> Renewed() const;

  const DelayedAcceptor& Acceptor() const { return *acceptor_; }
  DelayedAcceptor& Acceptor() { return *acceptor_; }
  const Vocabulary& Tokens() const { return *vocabulary_; }
  uint32_t Words() const { return vocabulary_->ModelWords(); }
  State Start() const { return acceptor_->Start(); }
  bool IsFinal(State q) const { return acceptor_->IsFinal(q); }

  // Writes the mask of q (Words() words) if it was built before.
  bool CopyMask(State q, uint32_t* out) const;
  // Writes the mask of q, building it when needed.
  void FillMask(State q, uint32_t* out);
  // The mask by walking the whole trie, never cached: what tests compare with.
  void FillMaskByWalking(State q, uint32_t* out);
  // The state after a token, or kDead where it is not allowed. A token of classes has several readings: its text, and
  // one of each class; the state is the union of where they lead.
  State Advance(State q, uint32_t token);

  // The same with a budget: `left` tokens may follow, the last of which is EOS, so that a text token is allowed where
  // the distance after it (see distance.h) is at most left - 2. kNoBudget: any number.
  static constexpr uint32_t kNoBudget = 0xffffffff;
  bool CopyMask(State q, uint32_t left, uint32_t* out) const;
  bool LeavesRoom(State q, uint32_t left) const {  // as far as is known; takes no lock
    return left == kNoBudget || (left >= 2 && distances_.LeavesRoom(q, left - 2));
  }
  void FillMask(State q, uint32_t left, uint32_t* out);
  // The same if nobody else is making masks or states and it took a few microseconds before; whether it was done.
  bool FillMaskQuickly(State q, uint32_t left, uint32_t* out);
  State Advance(State q, uint32_t token, uint32_t left);
  // The same where nothing new has to be found out and no lock taken; kDead: not known.
  State AdvanceQuickly(State q, uint32_t token, uint32_t left) const;
  // Throws BudgetError, naming the smallest that works, when no member fits so many tokens.
  void CheckBudget(int64_t max_tokens);
  // The least number of text tokens to a final state.
  uint32_t Distance(State q);
  // Whether a byte that a state reads at the end of a token is the first one of a special token.
  bool BeginsMarker(uint8_t byte) const { return byte == Vocabulary::kMarkerByte && vocabulary_->HasMarkers(); }
  // What every continuation that fits starts with, up to the first special token; see DecodeState.
  std::string ForcedBytes(State q, uint32_t left, size_t most);
  size_t NumMasks() const { return num_masks_.load(std::memory_order_relaxed); }
  size_t MaskBytes() const { return mask_bytes_.load(std::memory_order_relaxed); }  // of the blocks that masks are in

 private:
  // A finished mask: where few words differ from a row of the vocabulary's tables, from another mask or from zeros, the
  // places of these and then their values; else all words.
  struct Mask {
    const uint32_t* base;  // the row; null: zeros
    uint32_t count;        // words that differ, or kDenseMask
    uint32_t data[1];
  };
  static constexpr uint32_t kDenseMask = 0xffffffff;
  void Write(const Mask& mask, uint32_t* out) const;
  const Mask* Finished(State q) const {
    const std::atomic<const Mask*>* slot = masks_.Find(q);
    return slot ? slot->load(std::memory_order_acquire) : nullptr;
  }
  void MakeMask(State q, uint32_t* out);  // under the locks
  const Mask* Store(const uint32_t* row, const uint32_t* base);
  void FillNarrowed(State q, uint32_t left, uint32_t* out);
  bool FillAllButFar(State q, uint32_t k, uint32_t* out);
  bool IsInMask(State q, uint32_t token, uint32_t left);
  // Calls build(row) for a row that has bits for classes as well, and writes the tokens of those classes.
  template <class F>
  void Join(uint32_t* out, F build);
  State Unite(State q, uint32_t token, State text);
  // MaskBuilder::RunWholeKeys where tokens have readings as tokens of classes, too; whether a bit changed.
  bool RunWholeKeys(State q, uint32_t* out);

  std::shared_ptr<DelayedAcceptor> acceptor_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  size_t cache_bytes_;
  std::mutex mutex_;
  MaskBuilder builder_;
  ExpressionAcceptor* expressions_;  // the acceptor, where the vocabulary has classes
  std::vector<uint32_t> joined_;     // scratch of Join
  StableArray<std::atomic<const Mask*>> masks_;  // by state; states with equal masks share one
  Arena owned_;  // masks
  bool full_ = false;  // there was no room for one
  std::unordered_map<uint64_t, const uint32_t*> alike_;  // masks with all words, by MaskBuilder::Alike
  std::unique_ptr<uint32_t[]> differing_;                // scratch of Store
  DistanceTable distances_;
  std::unordered_map<uint64_t, const Mask*> narrowed_;  // masks that a budget narrows, by state and tokens left
  std::atomic<size_t> num_masks_{0}, mask_bytes_{0};
  StepMemo steps_;
};

}  // namespace tokamata
