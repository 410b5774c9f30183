// StepMemo: where some states went with some tokens, so that a step that was made before takes one look.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "automata/csrc/id_table.h"

namespace tokamata {

// Running a token's bytes looks at one row of the acceptor for each, and rows that were not used for a while are not in
// the processor's caches: a long token waits for as many of them; states without rows are run one by one. Here is one
// number for each of the last steps, state, token and target in one, so that threads may read and write it without a
// lock; a step that is not there is just run. The table grows with the steps, up to 128 KiB.
// Only for states below 2^21 and tokens below 2^22; others are forgotten.
class StepMemo {
 public:
  StepMemo() = default;
  StepMemo(const StepMemo&) = delete;
  StepMemo& operator=(const StepMemo&) = delete;
  ~StepMemo() {
    for (const auto& table : tables_) delete[] table.load(std::memory_order_relaxed);
  }

  // 0 where the step is not known.
  uint32_t Find(uint32_t state, uint32_t token) const {
    const uint32_t size = size_.load(std::memory_order_acquire);
    if (!size) return 0;
    const uint64_t key = Key(state, token), place = Place(size - 1, key);
    const std::atomic<uint64_t>* table = tables_[size - 1].load(std::memory_order_acquire);
    uint64_t step = table[place].load(std::memory_order_acquire);
    if (step >> kStateBits != key) step = table[place ^ 1].load(std::memory_order_acquire);
    return step >> kStateBits == key ? static_cast<uint32_t>(step & kMostState) : 0;
  }

  void Keep(uint32_t state, uint32_t token, uint32_t target) {
    if (state > kMostState || target > kMostState || token >> kTokenBits) return;
    uint32_t size = size_.load(std::memory_order_acquire);
    const uint32_t kept = kept_.fetch_add(1, std::memory_order_relaxed);
    if (size < kSizes && (!size || kept >= Steps(size - 1) / 4)) size = Grow(size);
    if (!size) return;  // another thread is about to make the first table
    const uint64_t key = Key(state, token), place = Place(size - 1, key);
    std::atomic<uint64_t>* table = tables_[size - 1].load(std::memory_order_acquire);
    const uint64_t old = table[place].load(std::memory_order_relaxed);
    const bool beside = old && old >> kStateBits != key && (kept & 1 || !table[place ^ 1].load(std::memory_order_relaxed));
    table[place ^ beside].store(key << kStateBits | target, std::memory_order_release);
  }

 private:
  static constexpr uint32_t kSizes = 4, kStateBits = 21, kTokenBits = 22, kMostState = (1u << kStateBits) - 1;
  static uint64_t Key(uint32_t state, uint32_t token) { return uint64_t{state} << kTokenBits | token; }
  static uint32_t Steps(uint32_t table) { return 2048u << table; }
  // The place of a key in a table; the one beside it, in the same line of the cache, will do as well.
  static uint64_t Place(uint32_t table, uint64_t key) { return MixHash(key) % Steps(table); }

  // A table twice as large, with what is in the one before; smaller ones stay, others may still read them.
  uint32_t Grow(uint32_t size) {
    const uint32_t steps = Steps(size);
    auto made = std::make_unique<std::atomic<uint64_t>[]>(steps);  // zeros: no state has number 0
    if (size) {
      for (uint32_t i = 0; i < Steps(size - 1); ++i) {
        const uint64_t step = tables_[size - 1].load(std::memory_order_acquire)[i].load(std::memory_order_relaxed);
        if (!step) continue;
        const uint64_t place = Place(size, step >> kStateBits);
        made[made[place] ? place ^ 1 : place] = step;
      }
    }
    std::atomic<uint64_t>* none = nullptr;
    if (!tables_[size].compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) return size;
    made.release();
    size_.store(size + 1, std::memory_order_release);
    return size + 1;
  }

  std::atomic<uint32_t> size_{0}, kept_{0};
  std::atomic<std::atomic<uint64_t>*> tables_[kSizes] = {};
};

}  // namespace tokamata
