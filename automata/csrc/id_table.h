// IdTable: a hash index from structured keys to dense ids; the keys themselves stay with the caller.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/fst.h"

namespace tokamata {

inline uint64_t MixHash(uint64_t h) {
  h ^= h >> 30;
  h *= 0xbf58476d1ce4e5b9ull;
  h ^= h >> 27;
  h *= 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

inline uint64_t PairKey(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }

// Open addressing with linear probing, at most two thirds full.
class IdTable {
 public:
  IdTable() : slots_(16, Slot{0, kNoState}) {}

  // The id whose key has this hash and satisfies same(id), or kNoState.
  template <class Same>
  StateId Find(uint64_t hash, Same same) const {
    const size_t mask = slots_.size() - 1;
    const uint32_t tag = static_cast<uint32_t>(hash);
    for (size_t i = tag & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.id == kNoState) return kNoState;
      if (slot.tag == tag && same(slot.id)) return slot.id;
    }
  }

  // Enters an id whose key Find has just not found.
  void Insert(uint64_t hash, StateId id) {
    if (3 * (count_ + 1) > 2 * slots_.size()) Grow();
    Place(Slot{static_cast<uint32_t>(hash), id});
    ++count_;
  }

 private:
  struct Slot {
    uint32_t tag;
    StateId id;
  };
  void Place(Slot slot) {
    const size_t mask = slots_.size() - 1;
    size_t i = slot.tag & mask;
    while (slots_[i].id != kNoState) i = (i + 1) & mask;
    slots_[i] = slot;
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2, Slot{0, kNoState});
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != kNoState) Place(slot);
    }
  }
  std::vector<Slot> slots_;
  size_t count_ = 0;
};

// Dense ids for 64-bit keys, in order of first appearance.
class KeyTable {
 public:
  size_t Size() const { return keys_.size(); }
  uint64_t Key(StateId id) const { return keys_[id]; }
  StateId FindOrAdd(uint64_t key) {
    const uint64_t hash = MixHash(key + 0x9e3779b97f4a7c15ull);
    StateId id = table_.Find(hash, [&](StateId other) { return keys_[other] == key; });
    if (id == kNoState) {
      id = static_cast<StateId>(keys_.size());
      keys_.push_back(key);
      table_.Insert(hash, id);
    }
    return id;
  }

 private:
  std::vector<uint64_t> keys_;
  IdTable table_;
};

}  // namespace tokamata
