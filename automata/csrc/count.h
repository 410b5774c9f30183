// count: how many members of a language have exactly a given length.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"

namespace tokamata {

// Natural numbers of equal width, as rows of 64-bit limbs, least significant first.
class Naturals {
 public:
  Naturals() = default;
  Naturals(size_t size, size_t width) : width_(width), limbs_(size * width, 0) {}
  size_t Size() const { return width_ ? limbs_.size() / width_ : 0; }
  size_t Width() const { return width_; }
  size_t Bytes() const { return limbs_.size() * sizeof(uint64_t); }
  bool AllZero() const {
    return std::all_of(limbs_.begin(), limbs_.end(), [](uint64_t limb) { return limb == 0; });
  }
  uint64_t* operator[](size_t i) { return limbs_.data() + i * width_; }
  const uint64_t* operator[](size_t i) const { return limbs_.data() + i * width_; }
  // Drops the limbs that are zero in all numbers; at least one stays.
  void Trim();

 private:
  size_t width_ = 0;
  std::vector<uint64_t> limbs_;
};

// The part of an acceptor that texts of at most `length` bytes reach, as a graph in which the texts from a state to
// final ones can be counted. State 0 is the start; states come in order of their distance from it.
class Counts {
 public:
  // `operation` names the caller in errors. LimitError past the acceptor's own limits. O(states · 256) time.
  Counts(DelayedAcceptor* acceptor, size_t length, size_t most_bytes, const char* operation);

  size_t NumStates() const { return states_.size(); }
  // The state here that a byte leads to, or -1. The state is nearer to the start than `length`.
  int64_t Target(uint32_t i, uint8_t byte) const;

  // Numbers of texts of r bytes, for all states whose distance from the start is at most length - r: first r = 0, then
  // r from r - 1. O(arcs · width).
  Naturals First() const;
  Naturals Next(const Naturals& shorter, size_t r) const;
  // Accounts for big numbers that the caller keeps; LimitError past most_bytes.
  void Keep(size_t bytes);
  void Release(size_t bytes) { kept_ -= bytes; }

 private:
  struct Arc {
    uint32_t target, bytes;  // a state here, and how many bytes lead there
  };
  DelayedAcceptor* acceptor_;
  size_t length_, most_bytes_, kept_ = 0;
  const char* operation_;
  std::vector<DelayedAcceptor::State> states_;
  std::vector<uint32_t> index_;  // by acceptor state: the state here
  std::vector<size_t> first_;    // arcs of state i: first_[i] .. first_[i + 1]
  std::vector<Arc> arcs_;
  std::vector<size_t> near_;     // by distance: how many states are at most so far from the start
};

// The number of members of exactly `length` bytes, little-endian without leading zero limbs. O(length² · arcs / 8).
std::vector<uint64_t> CountMembers(DelayedAcceptor* acceptor, size_t length, size_t most_bytes);

}  // namespace tokamata
