// StableArray: grows without moving its elements, so that readers need no lock while one writer appends.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "automata/csrc/zeroed_array.h"

namespace tokamata {

// Blocks of 16, 32, 64, … value-initialized elements. Ensure(i) makes element i exist and must be serialized by the
// caller; operator[] of an element that exists is safe at any time from any thread that learned of i after Ensure(i).
// Elements that need no destructor must be all zero bytes when value-initialized, since nothing else initializes them:
// their blocks are zeroed pages, touched as they are used.
template <class T>
class StableArray {
 public:
  StableArray() = default;
  StableArray(const StableArray&) = delete;
  StableArray& operator=(const StableArray&) = delete;
  ~StableArray() {
    for (auto& b : blocks_) {
      T* const block = b.load(std::memory_order_relaxed);
      if constexpr (kZeroed)
        std::free(block);
      else
        delete[] block;
    }
  }
  void Ensure(uint32_t i) {
    const int k = BlockOf(i);
    if (blocks_[k].load(std::memory_order_relaxed)) return;
    const size_t size = size_t{kFirst} << k;
    if constexpr (kZeroed)
      blocks_[k].store(NewZeroed<T>(size), std::memory_order_release);
    else
      blocks_[k].store(new T[size](), std::memory_order_release);
  }
  T& operator[](uint32_t i) { return Block(BlockOf(i))[OffsetOf(i)]; }
  const T& operator[](uint32_t i) const { return Block(BlockOf(i))[OffsetOf(i)]; }
  // Null while the element's block does not exist.
  const T* Find(uint32_t i) const {
    const T* block = blocks_[BlockOf(i)].load(std::memory_order_acquire);
    return block ? block + OffsetOf(i) : nullptr;
  }

 private:
  static constexpr bool kZeroed = std::is_trivially_destructible_v<T>;
  static constexpr uint32_t kFirst = 16;
  static int BlockOf(uint32_t i) { return 31 - __builtin_clz(i / kFirst + 1); }
  static uint32_t OffsetOf(uint32_t i) { return i - ((kFirst << BlockOf(i)) - kFirst); }
  T* Block(int k) const { return blocks_[k].load(std::memory_order_acquire); }
  std::atomic<T*> blocks_[29] = {};
};

}  // namespace tokamata
