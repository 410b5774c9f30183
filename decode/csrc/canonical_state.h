// CanonicalState: a position in a canonical automaton, with its history.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "decode/csrc/canonical_automaton.h"

namespace tokamata {

// Used by one thread at a time; many may share an automaton.
class CanonicalState {
 public:
  explicit CanonicalState(std::shared_ptr<CanonicalAutomaton> automaton);

  CanonicalAutomaton& Automaton() const { return *automaton_; }
  bool IsFinal() const { return !finished_ && automaton_->IsFinal(history_.back()); }
  bool IsFinished() const { return finished_; }
  size_t NumTokens() const { return history_.size() - 1 + finished_; }
  // Zero once EOS was consumed.
  void FillMask(uint32_t* out) const;
  bool Allows(int64_t token) const;
  // Throws TokenRejected; the state is then unchanged.
  void Advance(int64_t token);
  // The number of tokens that would be accepted in order.
  size_t Validate(const std::vector<int64_t>& tokens) const;
  // Takes back n tokens; throws std::out_of_range when there are fewer.
  void Rollback(int64_t n);
  void Reset();

 private:
  bool IsEos(int64_t token) const;
  CanonicalAutomaton::Position Next(int64_t token) const;

  std::shared_ptr<CanonicalAutomaton> automaton_;
  std::vector<CanonicalAutomaton::Position> history_;
  bool finished_ = false;
};

}  // namespace tokamata
