// GradualTable: a hash index of dense ids that grows a little with each of them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "automata/csrc/zeroed_array.h"

namespace tokamata {

// Open addressing with linear probing, at most half full. The keys and their hashes stay with the caller, and ids are
// entered in order: 0, 1, 2, … As there are twice as many slots as ids, a slot holds an id + 1 in the bits of a place
// and the rest of its hash above them, so that few keys are compared in vain; 0 is free.
//
// Where a table doubles at once, whoever enters one more id waits for all others, a millisecond when they are 60,000.
// Here the table before stays, and is looked at too, until its ids are in the new one: a few more with each new id.
class GradualTable {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // The id that has a hash and that same(id) holds for, or kNone.
  template <class Same>
  uint32_t Find(uint32_t hash, Same same) const {
    uint32_t found = FindIn(slots_, hash, same);
    if (!found && moved_ < to_move_) found = FindIn(before_, hash, same);
    return found - 1;
  }

  // Enters the next id, which Find has just not found; hash_of(id) is the hash of an earlier one.
  template <class HashOf>
  void Insert(uint32_t hash, HashOf hash_of) {
    Place(hash, size_++);
    if (moved_ < to_move_)
      Move(kAtOnce, hash_of);
    else if (2 * size_ > slots_.size())
      Grow(2 * slots_.size());
  }

  // Makes room for so many ids, at once.
  template <class HashOf>
  void Reserve(size_t ids, HashOf hash_of) {
    size_t size = slots_.size();
    while (size < 2 * ids) size *= 2;
    if (size == slots_.size()) return;
    if (moved_ < to_move_) Move(to_move_ - moved_, hash_of);
    Grow(size);
    Move(to_move_, hash_of);
  }

  size_t MemoryBytes() const { return (slots_.size() + before_.size()) * sizeof(uint32_t); }

 private:
  using Slots = ZeroedArray<uint32_t>;
  // Ids that move when one is entered. With 1 the last would move just when the table has to double again.
  static constexpr uint32_t kAtOnce = 8;

  template <class Same>
  static uint32_t FindIn(const Slots& slots, uint32_t hash, Same same) {
    const uint32_t mask = static_cast<uint32_t>(slots.size() - 1);
    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
      const uint32_t found = slots[i];
      if (!found) return 0;
      if (!((found ^ hash) & ~mask) && same((found & mask) - 1)) return found & mask;
    }
  }
  void Place(uint32_t hash, uint32_t id) {
    const uint32_t mask = static_cast<uint32_t>(slots_.size() - 1);
    uint32_t i = hash & mask;
    while (slots_[i]) i = (i + 1) & mask;
    slots_[i] = (hash & ~mask) | (id + 1);
  }
  void Grow(size_t slots) {
    before_ = Slots(slots);
    before_.Swap(&slots_);
    moved_ = 0;
    to_move_ = size_;
  }
  template <class HashOf>
  void Move(uint32_t ids, HashOf hash_of) {
    for (; ids && moved_ < to_move_; --ids, ++moved_) Place(hash_of(moved_), moved_);
    if (moved_ == to_move_) before_ = Slots();
  }

  Slots slots_{256}, before_;
  uint32_t size_ = 0, moved_ = 0, to_move_ = 0;  // ids from moved_ to to_move_ are in before_ only
};

}  // namespace tokamata
