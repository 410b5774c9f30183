// FlatMap: values by small keys, in one block of memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "automata/csrc/id_table.h"

namespace tokamata {

// A key that is none, and how keys are spread; other kinds of keys come with their own.
struct NumberKeys {
  static uint64_t None() { return ~uint64_t{0}; }
  static uint64_t Hash(uint64_t key) { return MixHash(key); }
};

// Open addressing with linear probing, at most half full: growing copies slots in order, where a map of nodes follows
// pointers. Nothing is erased but everything.
template <class Key, class Value, class Keys = NumberKeys>
class FlatMap {
 public:
  // The value of a key, or null; it stays until the next key is entered.
  const Value* Find(const Key& key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[PlaceOf(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  // Enters a key, with Value(), where it is new; the value stays until the next one is entered.
  Value& operator[](const Key& key) {
    if (slots_.empty()) slots_.resize(kFirstSlots);
    size_t i = PlaceOf(key);
    if (slots_[i].key == key) return slots_[i].value;
    if (2 * (count_ + 1) > slots_.size()) {
      Resize(2 * slots_.size());
      i = PlaceOf(key);
    }
    slots_[i].key = key;
    ++count_;
    return slots_[i].value;
  }
  // Makes room for so many keys.
  void Reserve(size_t keys) {
    size_t size = std::max(kFirstSlots, slots_.size());
    while (size < 2 * keys) size *= 2;
    if (size > slots_.size()) Resize(size);
  }
  void Clear() { *this = FlatMap(); }
  size_t Size() const { return count_; }
  size_t MemoryBytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    Key key = Keys::None();
    Value value{};
  };
  size_t PlaceOf(const Key& key) const {
    const Key none = Keys::None();
    const size_t mask = slots_.size() - 1;
    size_t i = Keys::Hash(key) & mask;
    while (!(slots_[i].key == key) && !(slots_[i].key == none)) i = (i + 1) & mask;
    return i;
  }
  void Resize(size_t size) {
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (!(slot.key == Keys::None())) slots_[PlaceOf(slot.key)] = slot;
  }

  static constexpr size_t kFirstSlots = 16;
  std::vector<Slot> slots_;  // none before the first key
  size_t count_ = 0;
};

}  // namespace tokamata
