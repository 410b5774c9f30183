// WideCharacters: a set of characters from U+0080 on, as a deterministic automaton over the bytes that spell them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "automata/csrc/byte_set.h"

namespace tokamata {

class WideCharacters {
 public:
  using Place = uint16_t;  // inside of a character
  static constexpr Place kNone = 0, kWhole = 1, kFirst = 2;

  static const std::shared_ptr<const WideCharacters>& None() {
    static const auto none = std::make_shared<const WideCharacters>();
    return none;
  }
  // After a byte that begins a character.
  Place Lead(uint8_t b) const { return b < 0x80 ? kNone : leads_[b - 0x80u]; }
  // After a further byte, at a place from kFirst on.
  Place Next(Place p, uint8_t b) const { return (b & 0xC0) == 0x80 ? inside_[p - kFirst][b & 0x3Fu] : kNone; }
  ByteSet First() const {
    ByteSet first;
    for (size_t i = 0; i < leads_.size(); ++i)
      if (leads_[i]) first.Add(static_cast<uint8_t>(0x80 + i));
    return first;
  }
  void SetLead(uint8_t b, Place p) { leads_[b - 0x80u] = p; }
  void SetNext(Place at, uint8_t b, Place p) { inside_[at - kFirst][b & 0x3Fu] = p; }
  Place AddPlace() {
    inside_.emplace_back();
    return static_cast<Place>(inside_.size() - 1 + kFirst);
  }
  size_t MemoryBytes() const { return sizeof(*this) + inside_.capacity() * sizeof(inside_[0]); }
  bool operator==(const WideCharacters& o) const { return leads_ == o.leads_ && inside_ == o.inside_; }

 private:
  std::array<Place, 128> leads_{};
  std::vector<std::array<Place, 64>> inside_;
};

}  // namespace tokamata
