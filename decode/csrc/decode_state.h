// DecodeState: a position in a token automaton, with its history.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/csrc/generations.h"
#include "decode/csrc/token_automaton.h"

namespace tokamata {

// Used by one thread at a time; many states may share an automaton. Copying costs one word per token so far.
class DecodeState {
 public:
  using State = TokenAutomaton::State;
  explicit DecodeState(std::shared_ptr<Generations> generations);
  // With at most max_tokens tokens from here to EOS, that one included. Throws BudgetError.
  DecodeState(std::shared_ptr<Generations> generations, int64_t max_tokens);

  TokenAutomaton& Automaton() const { return *automaton_; }
  State Current() const { return history_.back(); }
  size_t NumTokens() const { return history_.size() - 1; }
  // Tokens that may still follow, EOS included; TokenAutomaton::kNoBudget when any number may.
  uint32_t Left() const { return LeftAfter(NumTokens()); }
  bool HasBudget() const { return budget_ != TokenAutomaton::kNoBudget; }
  // Whether the budget is known to allow everything that the constraint allows next.
  bool IsFar() const { return !IsFinished() && automaton_->LeavesRoom(Current(), Left()); }
  bool IsFinished() const { return Current() == kFinished; }
  bool IsFinal() const { return !IsFinished() && automaton_->IsFinal(Current()); }

  // The mask if it needs no work; true when written. All zero once EOS was consumed.
  bool CopyMask(uint32_t* out) const;
  // The same where that takes a few microseconds, and waits for nobody.
  bool MakeMaskQuickly(uint32_t* out) const;
  // The mask, where CopyMask did not have it.
  void MakeMask(uint32_t* out) const;
  void FillMask(uint32_t* out) const {
    if (!CopyMask(out) && !MakeMaskQuickly(out)) MakeMask(out);
  }
  bool Allows(int64_t token) const;
  // Throws TokenRejected; the state is then unchanged.
  void Advance(int64_t token);
  // The same where it takes no work, no lock and no error; whether it was done.
  bool AdvanceQuickly(int64_t token);
  // The number of tokens that would be accepted in order.
  size_t Validate(const std::vector<int64_t>& tokens) const;
  // Masks before each draft token and after the last, Words() apart; zero after the first that is not allowed.
  void DraftMasks(const std::vector<int64_t>& tokens, uint32_t* out) const;
  // The same for a tree: token i comes after token parents[i] < i, or after the text so far where that is -1. Row 0 is
  // the mask of the text so far, row i + 1 that after token i.
  void DraftTreeMasks(const std::vector<int64_t>& tokens, const std::vector<int64_t>& parents, uint32_t* out) const;
  // Takes back n tokens; throws std::out_of_range when there are fewer.
  void Rollback(int64_t n);
  void Reset() {
    history_.resize(1);
    tokens_.clear();
  }
  // The bytes of the tokens so far, special ones as markers or nothing.
  std::string Text() const;
  // What the named parts of the constraint have read so far; where EOS was consumed, of the whole text.
  std::vector<CaptureValues> Captures() const;
  std::string ForcedBytes(size_t most) const;
  std::vector<uint32_t> ForcedTokens(size_t most) const;

 private:
  static constexpr State kFinished = 0xffffffff;
  bool IsEos(int64_t token) const;
  // kDead where the token is not allowed.
  State Next(State q, int64_t token, uint32_t left) const;
  uint32_t LeftAfter(size_t tokens) const { return HasBudget() ? budget_ - static_cast<uint32_t>(tokens) : budget_; }

  // f(), whose errors about limits say what was being read.
  template <class F>
  auto AtPlace(F f) const;
  // The same; when the automaton has no room for more states, again after going over to the next generation.
  template <class F>
  auto WithRoom(F f) const;
  // Whether there is a next generation; then this state belongs to it, at the same place.
  bool Renew() const;

  uint32_t budget_ = TokenAutomaton::kNoBudget;
  std::shared_ptr<Generations> generations_;
  // A renewal changes what they are made of, not what they mean.
  mutable std::shared_ptr<TokenAutomaton> automaton_;
  mutable std::vector<State> history_;
  std::vector<uint32_t> tokens_;
};

}  // namespace tokamata
