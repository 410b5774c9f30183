// DigitBounds: an integer between two others, read digit by digit from the left.
#pragma once
#include <cstdint>
#include <string>

#include "constraints/csrc/json_digits.h"

namespace tokamata {

// The least integer from a bound on, and the greatest one up to a bound; empty where that is below zero.
std::string LeastInteger(const Magnitude& low);
std::string GreatestInteger(const Magnitude& high);

// What is left of a modulus when so many digits that follow are zeros.
uint64_t WithZeros(uint64_t modulus, int64_t zeros);

// Of a modulus of at most 18 digits, so that nothing overflows.
inline uint64_t TimesTen(uint64_t rest, uint32_t digit, uint64_t modulus) { return (rest * 10 + digit) % modulus; }

// So many of the integer's last digits may stand behind a point: then those before it are all of the others. Whether a
// multiple of a number can be reached is arithmetic: so many more digits make an interval of integers, and every
// interval as long as the number has a multiple.
class DigitBounds {
 public:
  // Bounds as digits; high may be empty: there is none.
  DigitBounds(const std::string& low, const std::string& high, uint32_t places);

  enum Order : uint32_t { kBelow, kEqual, kAbove };  // digits that were read, to as many of a bound
  struct Read {
    bool fraction;
    uint32_t digits;  // of the integer part, or else of the fraction
    Order low, high;
  };
  // One for all after which the same can follow.
  Read Normal(Read r) const;
  Read Start() const { return Normal({false, 0, kEqual, kEqual}); }
  Read Append(Read r, uint32_t digit) const;
  // At a point after so many digits, those that were read and others.
  Read AtPoint(const Read& r, uint32_t digits) const;
  bool IsDead(const Read& r) const {
    return r.fraction ? r.low == kBelow || r.high == kAbove : HasHigh() && r.digits > HighDigits();
  }
  // Whether the bounds do not matter any more.
  bool IsFree(const Read& r) const {
    return r.low == kAbove && r.high == kBelow && (r.fraction || (!HasHigh() && r.digits > LowDigits()));
  }

  // After some digits, which leave a rest of the modulus: whether so many more and then zeros (for which the modulus is
  // reduced) make a multiple, within what is left of the bounds that the digits before equal. `positive`: the digits must
  // not all be zeros.
  bool Reaches(uint64_t rest, uint64_t modulus, uint64_t reduced, const Read& r, uint32_t digits, uint32_t zeros = 0,
               bool positive = false) const;

  // Of the integer parts.
  uint32_t LowDigits() const { return static_cast<uint32_t>(low_.size()) - places_; }
  uint32_t HighDigits() const { return static_cast<uint32_t>(high_.size()) - places_; }
  bool HasHigh() const { return !high_.empty(); }
  const std::string& low() const { return low_; }
  const std::string& high() const { return high_; }

 private:
  const uint32_t places_;
  const std::string low_, high_;
  const size_t low_digits_, high_digits_;  // what follows these is all zeros, or nines
};

}  // namespace tokamata
