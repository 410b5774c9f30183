// Intervals of decimal numbers without sign and exponent, as expressions over their digits.
#pragma once
#include <cstdint>
#include <string>

#include "automata/csrc/expression.h"

namespace tokamata {

// 0.digits · 10^point, with no zero at either end of digits; no digits and point 0: zero.
struct Magnitude {
  std::string digits;
  int64_t point = 0;
  bool exclusive = false;  // as a bound
};

enum class FractionStyle : uint8_t {
  kNone,        // 12
  kZeros,       // 12, 12.0, 12.00
  kAny,         // 12, 12.3, 12.30
  kNormalized,  // 12, 12.3: at most kMostFraction digits, the last one not zero
};
constexpr int64_t kMostFraction = 17;

// Sizes of expressions are linear in the digits of the bounds; zeros of a power of ten are one counter.
class DecimalIntervals {
 public:
  DecimalIntervals(Expressions* pool, FractionStyle style);

  // Texts from low to high (null: unbounded); without bare_zero a text must not be just "0".
  Expr Between(const Magnitude& low, const Magnitude* high, bool bare_zero = true);
  // Texts d or d.ddd, d not 0, within bounds of the same kind (point 1; null: none).
  Expr Mantissa(const Magnitude* low, const Magnitude* high);

 private:
  Expr Digit(int low, int high);
  Expr Digits(int64_t low, int64_t high) { return Counted(digit_, low, high); }
  Expr Zeros(int64_t low, int64_t high) { return Counted(zero_, low, high); }
  Expr Counted(Expr x, int64_t low, int64_t high);
  Expr NonZeroDigits(int64_t count);
  Expr Prefix(const Magnitude& m, int64_t from, int64_t to, Expr rest);

  // ---- what may follow `used` digits of a fraction
  Expr Free(int64_t used, bool may_end);
  Expr Positive(int64_t used);
  Expr Nothing(bool may_end);
  Expr FractionAtLeast(const Magnitude& m, int64_t from, bool may_end);
  Expr FractionAtMost(const Magnitude& m, int64_t from, bool positive, bool may_end);
  Expr Fraction(const Magnitude* low, const Magnitude* high, bool may_be_absent);

  // ---- integer parts of point digits, from one of their digits on, with the fraction
  Expr IntegerAtLeast(const Magnitude& m, int64_t from);
  Expr IntegerAtMost(const Magnitude& m, int64_t from);
  Expr IntegerBetween(const Magnitude& low, const Magnitude& high);

  Expressions& pool_;
  const FractionStyle style_;
  const Expr digit_, zero_;
  Expr any_fraction_ = kEmpty;
};

}  // namespace tokamata
