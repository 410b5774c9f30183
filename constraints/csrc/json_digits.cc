#include "constraints/csrc/json_digits.h"

#include <algorithm>
#include <vector>

namespace tokamata {
namespace {

// The digit at a place of the integer part and, beyond it, of the fraction; zeros all around.
int DigitAt(const Magnitude& m, int64_t i) {
  return i >= 0 && i < static_cast<int64_t>(m.digits.size()) ? m.digits[static_cast<size_t>(i)] - '0' : 0;
}
int FractionDigit(const Magnitude& m, int64_t i) { return DigitAt(m, m.point + i); }
int64_t Size(const Magnitude& m) { return static_cast<int64_t>(m.digits.size()); }
// Digits of the fraction, the last of which is not zero, and how many zeros it begins with.
int64_t FractionLength(const Magnitude& m) { return std::max<int64_t>(0, Size(m) - m.point); }
int64_t LeadingZeros(const Magnitude& m) { return m.digits.empty() ? 0 : std::max<int64_t>(0, -m.point); }

}  // namespace

DecimalIntervals::DecimalIntervals(Expressions* pool, FractionStyle style)
    : pool_(*pool), style_(style), digit_(pool->Bytes(ByteSet::Range('0', '9'))), zero_(pool->Byte('0')) {
  any_fraction_ = Fraction(nullptr, nullptr, true);
}

Expr DecimalIntervals::Digit(int low, int high) {
  return low > high ? kEmpty : pool_.Bytes(ByteSet::Range('0' + low, '0' + high));
}

Expr DecimalIntervals::Counted(Expr x, int64_t low, int64_t high) {
  return low > high ? kEmpty : pool_.Repeat(x, static_cast<uint32_t>(low), static_cast<uint32_t>(high));
}

// Digits that are not all zero.
Expr DecimalIntervals::NonZeroDigits(int64_t count) {
  constexpr int64_t kUnrolled = 64;
  if (count > kUnrolled) return pool_.Difference(Digits(count, count), Zeros(count, count));
  Expr e = kEmpty;
  for (int64_t i = 0; i < count; ++i)
    e = pool_.Union(pool_.Concat(Digit(1, 9), Digits(i, i)), pool_.Concat(zero_, e));
  return e;
}

// The digits of m in [from, to), then the rest.
Expr DecimalIntervals::Prefix(const Magnitude& m, int64_t from, int64_t to, Expr rest) {
  const int64_t size = Size(m);
  if (to > std::max(size, from)) {
    rest = pool_.Concat(Zeros(to - std::max(size, from), to - std::max(size, from)), rest);
    to = std::max(size, from);
  }
  const int64_t first = std::max<int64_t>(from, 0);
  while (to > first) {
    --to;
    rest = pool_.Concat(Digit(DigitAt(m, to), DigitAt(m, to)), rest);
  }
  if (from < to) rest = pool_.Concat(Zeros(to - from, to - from), rest);
  return rest;
}

// ---------------------------------------------------------------------------------------------- fractions

Expr DecimalIntervals::Free(int64_t used, bool may_end) {
  if (style_ == FractionStyle::kAny) return pool_.Repeat(digit_, may_end ? 0 : 1, kUnbounded);
  const Expr more = pool_.Concat(Digits(0, kMostFraction - used - 1), Digit(1, 9));
  return may_end ? pool_.Optional(more) : more;
}

Expr DecimalIntervals::Positive(int64_t used) {
  if (style_ != FractionStyle::kAny) return Free(used, false);
  return pool_.Concat({pool_.Star(zero_), Digit(1, 9), pool_.Star(digit_)});
}

Expr DecimalIntervals::Nothing(bool may_end) {
  if (style_ == FractionStyle::kAny) return pool_.Repeat(zero_, may_end ? 0 : 1, kUnbounded);
  return may_end ? kEpsilonExpr : kEmpty;
}

// Digits that make, after the first `from` digits of m's fraction, at least m's fraction.
Expr DecimalIntervals::FractionAtLeast(const Magnitude& m, int64_t from, bool may_end) {
  const int64_t size = FractionLength(m), zeros = LeadingZeros(m);
  if (from >= size) return m.exclusive ? Positive(from) : Free(from, may_end);
  Expr e = m.exclusive ? Positive(size) : Free(size, true);
  for (int64_t i = size; i-- > std::max(from, zeros);) {
    const int d = FractionDigit(m, i);
    if (style_ == FractionStyle::kNormalized && i >= kMostFraction)
      e = kEmpty;
    else
      e = pool_.Union(pool_.Concat(Digit(d + 1, 9), Free(i + 1, true)), pool_.Concat(Digit(d, d), e));
  }
  if (from < zeros)
    e = pool_.Union(pool_.Concat({Zeros(0, zeros - from - 1), Digit(1, 9), pool_.Star(digit_)}),
                    pool_.Concat(Zeros(zeros - from, zeros - from), e));
  return e;
}

// Digits that make at most m's fraction; with `positive` not only zeros.
Expr DecimalIntervals::FractionAtMost(const Magnitude& m, int64_t from, bool positive, bool may_end) {
  const int64_t size = FractionLength(m), zeros = LeadingZeros(m);
  if (from >= size) return m.exclusive || positive ? kEmpty : Nothing(may_end);
  const bool any = style_ == FractionStyle::kAny;
  int64_t first = std::max(from, zeros);  // the first digit that is not zero
  while (FractionDigit(m, first) == 0) ++first;
  Expr e = m.exclusive ? kEmpty : Nothing(true);
  for (int64_t i = size; i-- > std::max(from, zeros);) {
    const int d = FractionDigit(m, i);
    const bool still = positive && i <= first;
    std::vector<Expr> parts;
    if (any || i < kMostFraction) {
      parts.push_back(pool_.Concat(Digit(1, d - 1), Free(i + 1, true)));
      if (d > 0) parts.push_back(pool_.Concat(zero_, still ? Positive(i + 1) : Free(i + 1, any)));
      parts.push_back(pool_.Concat(Digit(d, d), e));
    }
    if (!still && (i == from ? may_end : any || FractionDigit(m, i - 1) != 0)) parts.push_back(kEpsilonExpr);
    e = pool_.Union(std::move(parts));
  }
  if (from < zeros) {
    const int64_t run = zeros - from;
    e = pool_.Concat(Zeros(run, run), e);
    if (!positive) e = pool_.Union(Zeros(may_end ? 0 : 1, run - 1), e);
  }
  return e;
}

// A point and digits, or neither, within the fractions of the bounds (null: none).
Expr DecimalIntervals::Fraction(const Magnitude* low, const Magnitude* high, bool may_be_absent) {
  const int64_t least = low ? FractionLength(*low) : 0, most = high ? FractionLength(*high) : 0;
  const bool zero = !(low && (least || low->exclusive)) && !(high && !most && high->exclusive);
  const Expr absent = zero && may_be_absent ? kEpsilonExpr : kEmpty;
  if (style_ == FractionStyle::kNone) return absent;
  Expr digits;
  if (style_ == FractionStyle::kZeros) {
    digits = zero ? Zeros(1, kUnbounded) : kEmpty;
  } else if (!high) {
    digits = low ? FractionAtLeast(*low, 0, false) : Free(0, false);
  } else {
    int64_t common = low ? std::min(LeadingZeros(*low), LeadingZeros(*high)) : 0;
    while (common < least && common < most && FractionDigit(*low, common) == FractionDigit(*high, common)) ++common;
    if (common == least) {
      digits = FractionAtMost(*high, common, low && low->exclusive, common > 0);
    } else if (common == most || FractionDigit(*low, common) > FractionDigit(*high, common)) {
      digits = kEmpty;
    } else {
      const int a = FractionDigit(*low, common), b = FractionDigit(*high, common);
      digits = kEmpty;
      if (style_ == FractionStyle::kAny || common < kMostFraction)
        digits = pool_.Union({pool_.Concat(Digit(a + 1, b - 1), Free(common + 1, true)),
                              pool_.Concat(Digit(a, a), FractionAtLeast(*low, common + 1, true)),
                              pool_.Concat(Digit(b, b), FractionAtMost(*high, common + 1, false, true))});
    }
    digits = Prefix(*high, high->point, high->point + common, digits);
  }
  return pool_.Union(absent, pool_.Concat(pool_.Byte('.'), digits));
}

// ---------------------------------------------------------------------------------------------- integer parts

Expr DecimalIntervals::IntegerAtLeast(const Magnitude& m, int64_t from) {
  const int64_t size = std::min(Size(m), m.point), zeros = m.point - std::max(size, from);
  Expr e = Fraction(&m, nullptr, true);
  if (zeros > 0)
    e = m.exclusive
            ? pool_.Union(pool_.Concat(Zeros(zeros, zeros), e), pool_.Concat(NonZeroDigits(zeros), any_fraction_))
            : pool_.Concat(Digits(zeros, zeros), any_fraction_);
  for (int64_t i = size; i-- > from;) {
    const int d = DigitAt(m, i);
    e = pool_.Union(pool_.Concat({Digit(d + 1, 9), Digits(m.point - i - 1, m.point - i - 1), any_fraction_}),
                    pool_.Concat(Digit(d, d), e));
  }
  return e;
}

Expr DecimalIntervals::IntegerAtMost(const Magnitude& m, int64_t from) {
  const int64_t size = std::min(Size(m), m.point), zeros = m.point - std::max(size, from);
  Expr e = Fraction(nullptr, &m, true);
  if (zeros > 0) e = pool_.Concat(Zeros(zeros, zeros), e);
  for (int64_t i = size; i-- > from;) {
    const int d = DigitAt(m, i);
    e = pool_.Union(pool_.Concat({Digit(i == 0, d - 1), Digits(m.point - i - 1, m.point - i - 1), any_fraction_}),
                    pool_.Concat(Digit(d, d), e));
  }
  return e;
}

// Of integer parts of the same length.
Expr DecimalIntervals::IntegerBetween(const Magnitude& low, const Magnitude& high) {
  const int64_t size = low.point, explicit_digits = std::min(size, std::max(Size(low), Size(high)));
  int64_t common = 0;
  while (common < explicit_digits && DigitAt(low, common) == DigitAt(high, common)) ++common;
  if (common == explicit_digits) return Prefix(low, 0, size, Fraction(&low, &high, true));
  const int a = DigitAt(low, common), b = DigitAt(high, common);
  if (a > b) return kEmpty;
  const int64_t left = size - common - 1;
  return Prefix(low, 0, common,
                pool_.Union({pool_.Concat({Digit(a + 1, b - 1), Digits(left, left), any_fraction_}),
                             pool_.Concat(Digit(a, a), IntegerAtLeast(low, common + 1)),
                             pool_.Concat(Digit(b, b), IntegerAtMost(high, common + 1))}));
}

Expr DecimalIntervals::Between(const Magnitude& low, const Magnitude* high, bool bare_zero) {
  std::vector<Expr> parts;
  if (low.point <= 0)
    parts.push_back(pool_.Concat(zero_, Fraction(&low, high && high->point <= 0 ? high : nullptr, bare_zero)));
  if (high && high->point <= 0) return parts.empty() ? kEmpty : parts[0];
  const int64_t least = std::max<int64_t>(0, low.point);
  if (high && high->point < least) return kEmpty;
  if (high && high->point == least) {
    parts.push_back(IntegerBetween(low, *high));
    return pool_.Union(std::move(parts));
  }
  if (least) parts.push_back(IntegerAtLeast(low, 0));
  if (!high)
    parts.push_back(
        pool_.Concat({Digit(1, 9), pool_.Repeat(digit_, static_cast<uint32_t>(least), kUnbounded), any_fraction_}));
  else
    parts.push_back(pool_.Concat({Digit(1, 9), Digits(least, high->point - 2), any_fraction_}));
  if (high) parts.push_back(IntegerAtMost(*high, 0));
  return pool_.Union(std::move(parts));
}

Expr DecimalIntervals::Mantissa(const Magnitude* low, const Magnitude* high) {
  if (low && high) return IntegerBetween(*low, *high);
  if (low) return IntegerAtLeast(*low, 0);
  if (high) return IntegerAtMost(*high, 0);
  return pool_.Concat(Digit(1, 9), any_fraction_);
}

}  // namespace tokamata
