#include "constraints/csrc/json_number.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "automata/csrc/errors.h"

namespace tokamata {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostExponent = 1'000'000'000;

Magnitude Integral(int64_t value) {
  Magnitude m;
  if (value == 0) return m;
  m.digits = std::to_string(value);
  m.point = static_cast<int64_t>(m.digits.size());
  m.digits.erase(m.digits.find_last_not_of('0') + 1);
  return m;
}

Magnitude Shifted(Magnitude m, int64_t power) {
  if (!m.digits.empty()) m.point += power;
  return m;
}

int64_t Point(const JsonNumber& n) { return n.exponent + static_cast<int64_t>(n.digits.size()); }

ByteSet OneOf(const char* bytes) {
  ByteSet set;
  for (; *bytes; ++bytes) set.Add(static_cast<uint8_t>(*bytes));
  return set;
}

}  // namespace

int CompareJsonNumbers(const JsonNumber& a, const JsonNumber& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  const int larger = a.negative ? -1 : 1;
  if (a.digits.empty() || b.digits.empty())
    return a.digits.empty() == b.digits.empty() ? 0 : a.digits.empty() ? -larger : larger;
  if (Point(a) != Point(b)) return Point(a) < Point(b) ? -larger : larger;
  const int c = a.digits.compare(b.digits);
  return c == 0 ? 0 : c < 0 ? -larger : larger;
}

bool IsJsonMultiple(const JsonNumber& a, const JsonNumber& q) {
  constexpr size_t kMostDigits = 18;
  if (q.digits.size() > kMostDigits)
    throw LimitError("json number: the limit digits=18 (of a number whose multiples are asked for) was reached: use "
                     "fewer significant digits");
  if (a.digits.empty()) return true;
  // The last digit of a is not zero, so that a power of ten missing here is missing for good.
  if (a.exponent < q.exponent) return false;
  const uint64_t modulus = std::stoull(q.digits);
  unsigned __int128 rest = 0;
  for (char c : a.digits) rest = (rest * 10 + static_cast<unsigned>(c - '0')) % modulus;
  // Sixty powers of ten hold every power of two and of five that the modulus can have.
  for (int64_t i = std::min<int64_t>(a.exponent - q.exponent, 60); i > 0 && rest; --i) rest = rest * 10 % modulus;
  return rest == 0;
}

Magnitude JsonNumbers::MagnitudeOf(const JsonNumber& number, bool exclusive) const {
  Magnitude m;
  m.digits = number.digits;
  m.point = number.digits.empty() ? 0 : Point(number);
  m.exclusive = exclusive;
  if (m.point > kMostExponent || m.point < -kMostExponent)
    throw LimitError("json number: the limit exponent=" + std::to_string(kMostExponent) +
                     " was reached by a bound: use one closer to zero, or none");
  return m;
}

Expr JsonNumbers::Grammar() {
  if (grammar_ != kEmpty) return grammar_;
  const Expr digit = pool_.Bytes(ByteSet::Range('0', '9')), some = pool_.Repeat(digit, 1, kUnbounded);
  const Expr whole =
      pool_.Union(pool_.Byte('0'), pool_.Concat(pool_.Bytes(ByteSet::Range('1', '9')), pool_.Star(digit)));
  const Expr fraction = pool_.Optional(pool_.Concat(pool_.Byte('.'), some));
  const Expr exponent = pool_.Concat({pool_.Bytes(OneOf("eE")), pool_.Optional(pool_.Bytes(OneOf("+-"))), some});
  return grammar_ = pool_.Concat({pool_.Optional(pool_.Byte('-')), whole, fraction, pool_.Optional(exponent)});
}

Expr JsonNumbers::Number() {
  if (number_ == kEmpty) number_ = Range({});
  return number_;
}

Expr JsonNumbers::Integer() {
  if (integer_ == kEmpty) integer_ = Range({}, true);
  return integer_;
}

Expr JsonNumbers::PlainInteger() {
  if (canonical_) return Integer();
  const Expr digits = pool_.Star(pool_.Bytes(ByteSet::Range('0', '9')));
  const Expr positive = pool_.Concat(pool_.Bytes(ByteSet::Range('1', '9')), digits);
  return pool_.Concat(pool_.Optional(pool_.Byte('-')), pool_.Union(pool_.Byte('0'), positive));
}

Expr JsonNumbers::Value(std::string_view text) { return Range({text, text, false, false}); }

Expr JsonNumbers::Range(const NumberBounds& bounds, bool integers) {
  std::optional<JsonNumber> low, high;
  if (!bounds.low.empty()) low = ParseJsonNumber(bounds.low);
  if (!bounds.high.empty()) high = ParseJsonNumber(bounds.high);
  const auto sign = [](const JsonNumber& n) { return n.digits.empty() ? 0 : n.negative ? -1 : 1; };
  const int low_sign = low ? sign(*low) : -1, high_sign = high ? sign(*high) : 1;
  const Magnitude zero;
  std::vector<Expr> parts;
  if (high_sign > 0 || (high_sign == 0 && !bounds.high_exclusive)) {
    const Magnitude from = low_sign < 0 ? zero : MagnitudeOf(*low, bounds.low_exclusive);
    const Magnitude to = high ? MagnitudeOf(*high, bounds.high_exclusive) : zero;
    parts.push_back(Unsigned(from, high ? &to : nullptr, integers, false));
  }
  if (low_sign < 0 || (low_sign == 0 && !bounds.low_exclusive)) {
    const Magnitude from = high_sign > 0 ? zero : MagnitudeOf(*high, bounds.high_exclusive);
    const Magnitude to = low ? MagnitudeOf(*low, bounds.low_exclusive) : zero;
    parts.push_back(pool_.Concat(pool_.Byte('-'), Unsigned(from, low ? &to : nullptr, integers, true)));
  }
  return pool_.Union(std::move(parts));
}

Expr JsonNumbers::Unsigned(const Magnitude& low, const Magnitude* high, bool integers, bool negative) {
  if (canonical_) {
    DecimalIntervals plain(&pool_, integers ? FractionStyle::kNone : FractionStyle::kAny);
    const Expr e = plain.Between(low, high, !negative);
    return integers ? e : pool_.Union(e, Scientific(low, high));
  }
  DecimalIntervals decimals(&pool_, FractionStyle::kAny), whole(&pool_, FractionStyle::kZeros);
  std::vector<Expr> parts{(integers ? whole : decimals).Between(low, high)};
  if (integers) {
    for (int64_t x = -kSmallExponent; x <= kSmallExponent; ++x) {
      const Magnitude from = Shifted(low, -x), to = high ? Shifted(*high, -x) : Magnitude();
      Expr digits = (x > 0 ? decimals : whole).Between(from, high ? &to : nullptr);
      if (x) digits = pool_.Intersect(digits, PlainMultiples(1, -x, FractionStyle::kAny, true));
      parts.push_back(pool_.Concat(digits, ExponentOf(x)));
    }
    parts.push_back(pool_.Intersect(Scientific(low, high), ScientificMultiples(1, 0)));
  } else {
    for (int64_t x = -kSmallExponent; x <= kSmallExponent; ++x) {
      const Magnitude from = Shifted(low, -x), to = high ? Shifted(*high, -x) : Magnitude();
      parts.push_back(pool_.Concat(decimals.Between(from, high ? &to : nullptr), ExponentOf(x)));
    }
    parts.push_back(Scientific(low, high));
  }
  if (low.digits.empty() && !low.exclusive && !(high && high->digits.empty() && high->exclusive))
    parts.push_back(pool_.Concat(whole.Between({}, &low), Exponent(kLeast, kMost)));
  return pool_.Union(std::move(parts));
}

Expr JsonNumbers::Scientific(const Magnitude& low, const Magnitude* high) {
  if (high && high->digits.empty()) return kEmpty;
  DecimalIntervals mantissas(&pool_, FractionStyle::kNormalized);
  Magnitude from = low, to = high ? *high : Magnitude();
  from.point = to.point = 1;  // d.ddd
  const int64_t least = low.digits.empty() ? kLeast : low.point - 1, most = high ? high->point - 1 : kMost;
  if (least > most) return kEmpty;
  if (least == most) return pool_.Concat(mantissas.Mantissa(&from, &to), Exponent(least, most));
  std::vector<Expr> parts;
  if (least != kLeast) parts.push_back(pool_.Concat(mantissas.Mantissa(&from, nullptr), Exponent(least, least)));
  if (high) parts.push_back(pool_.Concat(mantissas.Mantissa(nullptr, &to), Exponent(most, most)));
  const int64_t inner_least = least == kLeast ? kLeast : least + 1, inner_most = high ? most - 1 : kMost;
  if (inner_least <= inner_most)
    parts.push_back(pool_.Concat(mantissas.Mantissa(nullptr, nullptr), Exponent(inner_least, inner_most)));
  return pool_.Union(std::move(parts));
}

Expr JsonNumbers::ExponentOf(int64_t x) {
  const Expr zeros = pool_.Star(pool_.Byte('0'));
  const Expr sign = x < 0 ? pool_.Byte('-') : pool_.Optional(pool_.Bytes(OneOf(x ? "+" : "+-")));
  const Expr digit = pool_.Byte(static_cast<uint8_t>('0' + (x < 0 ? -x : x)));
  return pool_.Concat({pool_.Bytes(OneOf("eE")), sign, zeros, digit});
}

Expr JsonNumbers::Exponent(int64_t low, int64_t high) {
  DecimalIntervals integers(&pool_, FractionStyle::kNone);
  const auto between = [&](int64_t from, int64_t to) {
    if (from > to) return kEmpty;
    const Magnitude least = Integral(from), most = to == kMost ? Magnitude() : Integral(to);
    return integers.Between(least, to == kMost ? nullptr : &most);
  };
  const auto negated = [](int64_t x) { return x == kLeast ? kMost : -x; };
  std::vector<Expr> parts;
  if (canonical_) {
    parts.push_back(
        pool_.Concat(pool_.Literal("e+"), between(std::max<int64_t>(low, 16), std::min<int64_t>(high, 999))));
    const int64_t from = std::max<int64_t>(5, negated(high)), to = std::min<int64_t>(999, negated(low));
    parts.push_back(pool_.Concat(pool_.Literal("e-"),
                                 pool_.Union(pool_.Concat(pool_.Optional(pool_.Byte('0')), between(from, std::min<int64_t>(9, to))),
                                             between(std::max<int64_t>(from, 10), to))));
    return pool_.Union(std::move(parts));
  }
  const Expr zeros = pool_.Star(pool_.Byte('0'));
  if (high >= 0)
    parts.push_back(pool_.Concat({pool_.Optional(pool_.Byte('+')), zeros, between(std::max<int64_t>(low, 0), high)}));
  if (low <= 0)
    parts.push_back(pool_.Concat({pool_.Byte('-'), zeros, between(std::max<int64_t>(0, negated(high)), negated(low))}));
  return pool_.Concat(pool_.Bytes(OneOf("eE")), pool_.Union(std::move(parts)));
}

Expr JsonNumbers::Text(std::string_view text) {
  constexpr int64_t kMostZeros = 400;  // a double has no more
  const std::string written = JsonNumberText(text);
  const JsonNumber n = ParseJsonNumber(text);
  if (!n.IsInteger() || n.exponent > kMostZeros || written.find_first_of(".eE") == written.npos) return pool_.Literal(written);
  const std::string digits = n.digits.empty() ? "0" : n.digits + std::string(static_cast<size_t>(n.exponent), '0');
  return pool_.Choice({written, n.negative && !n.digits.empty() ? "-" + digits : digits});
}

}  // namespace tokamata
