#include "decode/csrc/canonical_state.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "automata/csrc/errors.h"

namespace tokamata {

CanonicalState::CanonicalState(std::shared_ptr<CanonicalAutomaton> automaton)
    : automaton_(std::move(automaton)), history_{automaton_->Start()} {}

bool CanonicalState::IsEos(int64_t token) const {
  const std::vector<uint32_t>& ids = automaton_->Tokens().EosIds();
  return token >= 0 && token <= 0xffffffff && std::binary_search(ids.begin(), ids.end(), static_cast<uint32_t>(token));
}

CanonicalAutomaton::Position CanonicalState::Next(int64_t token) const {
  if (finished_ || token < 0 || token >= automaton_->Tokens().ModelSize()) return {};
  return automaton_->Advance(history_.back(), static_cast<uint32_t>(token));
}

void CanonicalState::FillMask(uint32_t* out) const {
  if (finished_)
    std::memset(out, 0, automaton_->Words() * sizeof(uint32_t));
  else
    automaton_->FillMask(history_.back(), out);
}

bool CanonicalState::Allows(int64_t token) const {
  return IsEos(token) ? IsFinal() : Next(token).state != DelayedAcceptor::kDead;
}

void CanonicalState::Advance(int64_t token) {
  if (IsEos(token) && IsFinal()) {
    finished_ = true;
    return;
  }
  CanonicalAutomaton::Position next = IsEos(token) ? CanonicalAutomaton::Position() : Next(token);
  if (!next.state)
    throw TokenRejected("advance: token " + std::to_string(token) + " is not allowed after " +
                        std::to_string(NumTokens()) +
                        " tokens: its text cannot be extended to a member, or the tokenizer would not write it here; "
                        "take a token that the mask allows");
  history_.push_back(std::move(next));
}

size_t CanonicalState::Validate(const std::vector<int64_t>& tokens) const {
  CanonicalState ahead = *this;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!ahead.Allows(tokens[i])) return i;
    ahead.Advance(tokens[i]);
  }
  return tokens.size();
}

void CanonicalState::Rollback(int64_t n) {
  if (n < 0 || static_cast<uint64_t>(n) > NumTokens())
    throw std::out_of_range("rollback: expected 0 <= n <= " + std::to_string(NumTokens()) +
                            " (the tokens so far), got " + std::to_string(n));
  if (n && finished_) {
    finished_ = false;
    --n;
  }
  history_.resize(history_.size() - static_cast<size_t>(n));
}

void CanonicalState::Reset() {
  finished_ = false;
  history_.resize(1);
}

}  // namespace tokamata
