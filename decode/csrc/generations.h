// Generations: a token automaton that begins anew when it has reached as many states as it may.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "constraints/csrc/capture_parts.h"
#include "decode/csrc/token_automaton.h"

namespace tokamata {

// States, expressions and masks of a delayed automaton are kept for the next time, up to limits. One that serves for
// days may reach them; then a fresh automaton of the same constraint and vocabulary takes its place, decoding states go
// over to it when they need more room (DecodeState::Renew), and the old one is freed with the last state that uses it.
// So at most two generations and those that idle states hold are in memory. Safe to share between threads.
class Generations {
 public:
  // Of one step: the next generation may be nearly full already, or other threads fill it meanwhile.
  static constexpr int kRenewals = 16;
  explicit Generations(std::shared_ptr<TokenAutomaton> first) : newest_(std::move(first)) {}

  std::shared_ptr<TokenAutomaton> Newest() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return newest_;
  }
  // The one to use instead of `full`: the newest, which is made now if it is `full` itself. Null where the acceptor
  // cannot begin anew.
  std::shared_ptr<TokenAutomaton> After(const TokenAutomaton* full) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (newest_.get() != full) return newest_;
    std::shared_ptr<TokenAutomaton> fresh = full->Renewed();
    if (!fresh) return nullptr;
    ++count_;
    return newest_ = std::move(fresh);
  }
  // The named parts of the constraint and whether texts have markers in them; set once, before any state is made.
  void SetCaptures(std::shared_ptr<const CaptureParts> parts, bool markers) {
    captures_ = std::move(parts);
    markers_ = markers;
  }
  const CaptureParts* Captures() const { return captures_.get(); }
  bool HasMarkers() const { return markers_; }
  // Automata so far.
  size_t Count() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<TokenAutomaton> newest_;
  size_t count_ = 1;
  std::shared_ptr<const CaptureParts> captures_;
  bool markers_ = true;
};

}  // namespace tokamata
