// StepMemo: where some states went with some tokens, so that a step that was made before takes one look.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "automata/csrc/id_table.h"

namespace tokamata {

// Running a token's bytes looks at one row of the acceptor for each, and rows that were not used for a while are not in
// the processor's caches: a long token waits for as many of them. Here is one number for each of the last steps, state,
// token and target in one, so that threads may read and write it without a lock; a step that is not there is just run.
// Only for states below 2^21 and tokens below 2^22; others are forgotten.
class StepMemo {
 public:
  StepMemo() = default;
  StepMemo(const StepMemo&) = delete;
  StepMemo& operator=(const StepMemo&) = delete;
  ~StepMemo() { delete[] steps_.load(std::memory_order_relaxed); }

  // 0 where the step is not known.
  uint32_t Find(uint32_t state, uint32_t token) const {
    const std::atomic<uint64_t>* steps = steps_.load(std::memory_order_acquire);
    if (!steps) return 0;
    const uint64_t step = steps[Place(state, token)].load(std::memory_order_acquire);
    return step >> kStateBits == Key(state, token) ? static_cast<uint32_t>(step & kMostState) : 0;
  }

  void Keep(uint32_t state, uint32_t token, uint32_t target) {
    if (state > kMostState || target > kMostState || token >> kTokenBits) return;
    std::atomic<uint64_t>* steps = steps_.load(std::memory_order_acquire);
    if (!steps) {
      auto made = std::make_unique<std::atomic<uint64_t>[]>(kSteps);  // zeros: no state has number 0
      if (steps_.compare_exchange_strong(steps, made.get(), std::memory_order_acq_rel)) steps = made.release();
    }
    steps[Place(state, token)].store(Key(state, token) << kStateBits | target, std::memory_order_release);
  }

 private:
  static constexpr uint32_t kSteps = 2048, kStateBits = 21, kTokenBits = 22, kMostState = (1u << kStateBits) - 1;
  static uint64_t Key(uint32_t state, uint32_t token) { return uint64_t{state} << kTokenBits | token; }
  static uint32_t Place(uint32_t state, uint32_t token) {
    return static_cast<uint32_t>(MixHash(PairKey(state, token))) % kSteps;
  }

  std::atomic<std::atomic<uint64_t>*> steps_{nullptr};
};

}  // namespace tokamata
