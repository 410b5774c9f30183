// FlatMap: numbers by 64-bit keys, in one block of memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "automata/csrc/id_table.h"

namespace tokamata {

// Open addressing with linear probing, at most half full: growing copies slots in order, where a map of nodes follows
// pointers. Nothing is erased. The key ~0 is not a key.
class FlatMap {
 public:
  static constexpr uint32_t kAbsent = 0xfffffffe;  // no value

  // The value of a key, or kAbsent.
  uint32_t Find(uint64_t key) const {
    for (size_t i = MixHash(key) & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.key == key) return slot.value;
      if (slot.key == kNoKey) return kAbsent;
    }
  }
  // Enters a key or replaces its value.
  void Set(uint64_t key, uint32_t value) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot* slot = SlotOf(key);
    if (slot->key == kNoKey) {
      slot->key = key;
      ++count_;
    }
    slot->value = value;
  }
  size_t Size() const { return count_; }
  size_t MemoryBytes() const { return slots_.size() * sizeof(Slot); }

 private:
  static constexpr uint64_t kNoKey = ~uint64_t{0};
  struct Slot {
    uint64_t key = kNoKey;
    uint32_t value = 0;
  };
  Slot* SlotOf(uint64_t key) {
    size_t i = MixHash(key) & mask_;
    while (slots_[i].key != key && slots_[i].key != kNoKey) i = (i + 1) & mask_;
    return &slots_[i];
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old)
      if (slot.key != kNoKey) *SlotOf(slot.key) = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(128);
  size_t mask_ = 127, count_ = 0;
};

}  // namespace tokamata
