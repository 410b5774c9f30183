// StateRow: where each byte leads from a state.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "automata/csrc/arena.h"
#include "automata/csrc/byte_set.h"
#include "automata/csrc/flat_map.h"

namespace tokamata {

// Which bytes lead to the same state, whatever state that is: the states of an acceptor have few such tables.
struct RowClasses {
  ByteSet live;         // bytes that lead somewhere
  const ByteSet* sets;  // of live bytes: one for each target; null in dense rows
  uint32_t num_sets;
  uint8_t of[256];  // the place of a byte's target
};

// The 256 successors of a state: classes of bytes, which many states share, and a target for each class. That takes 16
// bytes and 4 for each target where a table of states would take a KiB, and rows that are made one after the other
// stand side by side.
class StateRow {
 public:
  using State = uint32_t;
  struct Data {
    const RowClasses* classes;
    const State* targets;
  };

  StateRow() = default;
  explicit StateRow(const Data* data) : classes_(data->classes), targets_(data->targets) {}
  State operator[](size_t byte) const { return targets_[classes_->of[byte]]; }
  const ByteSet& Live() const { return classes_->live; }
  explicit operator bool() const { return classes_ != nullptr; }
  // Calls visit(bytes, target) for the bytes of each class that lead somewhere.
  template <class F>
  void ForEachStep(F visit) const {
    if (!classes_->sets) return Live().ForEach([&](uint8_t b) { visit(ByteSet::Of(b), targets_[b]); });
    const State* const first = targets_ + (classes_->live != ByteSet::All());
    for (uint32_t i = 0; i < classes_->num_sets; ++i) visit(classes_->sets[i], first[i]);
  }
  // The targets of all bytes, of rows that were made dense.
  const State* Dense() const { return targets_; }
  // The bytes that lead to different states.
  friend ByteSet Different(const StateRow& a, const StateRow& b) {
    ByteSet different;
    if (a.classes_ == b.classes_ && a.classes_->sets) {
      const bool dead = a.classes_->live != ByteSet::All();
      for (uint32_t i = 0; i < a.classes_->num_sets; ++i)
        if (a.targets_[i + dead] != b.targets_[i + dead]) different = different | a.classes_->sets[i];
      return different;
    }
    (a.Live() | b.Live()).ForEach([&](uint8_t byte) {
      if (a[byte] != b[byte]) different.Add(byte);
    });
    return different;
  }

 private:
  const RowClasses* classes_ = nullptr;
  const State* targets_ = nullptr;
};

// Makes rows, which stay where they are.
class StateRows {
 public:
  using State = StateRow::State;
  // Some bytes and where they lead.
  struct Step {
    ByteSet bytes;
    State target;
  };

  // Of disjoint steps to states that are not dead; dense where they are many.
  const StateRow::Data* Make(const std::vector<Step>& steps);
  // Of 256 targets, which are kept side by side: for states that are few and asked of every byte.
  const StateRow::Data* MakeDense(const State* targets);
  size_t Bytes() const { return arena_.Bytes() + index_.MemoryBytes(); }

 private:
  const RowClasses* ClassesOf(const std::vector<Step>& steps);

  Arena arena_;
  FlatMap<uint64_t, const RowClasses*> index_;  // by a hash of the sets
};

}  // namespace tokamata
