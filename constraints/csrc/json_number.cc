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

int64_t Point(const JsonNumber& n) { return n.exponent + static_cast<int64_t>(n.digits.size()); }

Magnitude MagnitudeOf(const NumberSet::Bound& bound) {
  const JsonNumber& n = bound.number;
  const Magnitude m{n.digits, n.digits.empty() ? 0 : Point(n), bound.exclusive};
  if (m.point > kMostExponent || m.point < -kMostExponent)
    throw LimitError("json number: the limit exponent=" + std::to_string(kMostExponent) +
                     " was reached by a bound: use one closer to zero, or none");
  return m;
}

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

NumberSet NumberSet::Between(std::string_view low, std::string_view high, bool low_exclusive, bool high_exclusive) {
  NumberSet set;
  if (!low.empty()) set.low = Bound{ParseJsonNumber(low), low_exclusive};
  if (!high.empty()) set.high = Bound{ParseJsonNumber(high), high_exclusive};
  return set;
}

bool NumberSet::IsSurelyEmpty() const {
  if (!low || !high) return false;
  const int order = CompareJsonNumbers(low->number, high->number);
  return order > 0 || (order == 0 && (low->exclusive || high->exclusive));
}

bool NumberSet::Meet(const NumberSet& other) {
  NumberSet met = *this;
  if (other.modulus) {
    if (!met.modulus) {
      met.modulus = other.modulus;
      met.power = other.power;
    } else if (!met.MeetMultiples(other.modulus, other.power)) {
      return false;
    }
  }
  const auto tighten = [](std::optional<Bound>* bound, const std::optional<Bound>& more, int tighter) {
    if (!more) return;
    const int order = *bound ? tighter * CompareJsonNumbers(more->number, (*bound)->number) : 1;
    if (order > 0) *bound = more;
    if (order == 0) (*bound)->exclusive |= more->exclusive;
  };
  tighten(&met.low, other.low, 1);
  tighten(&met.high, other.high, -1);
  met.integers |= other.integers;
  if (met.integers && met.modulus) met.MeetMultiples(1, 0);  // no more digits
  *this = std::move(met);
  return true;
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
  if (number_ == kEmpty) number_ = Of({});
  return number_;
}

Expr JsonNumbers::Integer() {
  if (integer_ == kEmpty) {
    NumberSet integers;
    integers.integers = true;
    integer_ = Of(integers);
  }
  return integer_;
}

Expr JsonNumbers::PlainInteger() {
  if (canonical_) return Integer();
  const Expr digits = pool_.Star(pool_.Bytes(ByteSet::Range('0', '9')));
  const Expr positive = pool_.Concat(pool_.Bytes(ByteSet::Range('1', '9')), digits);
  return pool_.Concat(pool_.Optional(pool_.Byte('-')), pool_.Union(pool_.Byte('0'), positive));
}

Expr JsonNumbers::Value(std::string_view text) { return Of(NumberSet::Between(text, text)); }

Expr JsonNumbers::Of(const NumberSet& set) {
  if (set.modulus == 0) return Build(set);
  std::string key = std::to_string(set.modulus) + 'e' + std::to_string(set.power) + (set.integers ? "i" : "n");
  for (const auto* bound : {&set.low, &set.high}) {
    key += ' ';
    if (!*bound) continue;
    const JsonNumber& n = (*bound)->number;
    key += (n.negative ? "-" : "") + n.digits + 'e' + std::to_string(n.exponent) + ((*bound)->exclusive ? "<" : "");
  }
  const auto known = multiples_->find(key);
  if (known != multiples_->end()) return known->second;
  return (*multiples_)[key] = Build(set);
}

Expr JsonNumbers::Build(const NumberSet& set) {
  const auto sign = [](const JsonNumber& n) { return n.digits.empty() ? 0 : n.negative ? -1 : 1; };
  const int low_sign = set.low ? sign(set.low->number) : -1, high_sign = set.high ? sign(set.high->number) : 1;
  const bool open_low = set.low && set.low->exclusive, open_high = set.high && set.high->exclusive;
  const auto bound = [](bool zero, const std::optional<NumberSet::Bound>& of) {
    return zero ? Magnitude() : MagnitudeOf(*of);
  };
  const auto end = [](const std::optional<NumberSet::Bound>& of) {
    return of ? std::optional<Magnitude>(MagnitudeOf(*of)) : std::nullopt;
  };
  std::vector<Expr> parts;
  if (high_sign > 0 || (high_sign == 0 && !open_high))
    parts.push_back(Unsigned({bound(low_sign < 0, set.low), end(set.high), false}, set));
  if (low_sign < 0 || (low_sign == 0 && !open_low))
    parts.push_back(pool_.Concat(pool_.Byte('-'), Unsigned({bound(high_sign > 0, set.high), end(set.low), true}, set)));
  return pool_.Union(std::move(parts));
}

JsonNumbers::Interval JsonNumbers::Interval::Shifted(int64_t power) const {
  Interval shifted = *this;
  if (!low.digits.empty()) shifted.low.point += power;
  if (high && !high->digits.empty()) shifted.high->point += power;
  return shifted;
}

Expr JsonNumbers::Unsigned(const Interval& interval, const NumberSet& set) {
  if (set.modulus) return Multiples(set.modulus, set.power, interval, set.integers);
  if (set.integers && !canonical_) return Multiples(1, 0, interval, true);
  return Range(interval, set.integers);
}

Expr JsonNumbers::Range(const Interval& interval, bool integers) {
  const auto between = [&](FractionStyle style, const Interval& of, bool bare_zero) {
    return DecimalIntervals(&pool_, style).Between(of.low, of.high ? &*of.high : nullptr, bare_zero);
  };
  if (canonical_) {
    const Expr e = between(integers ? FractionStyle::kNone : FractionStyle::kAny, interval, !interval.negative);
    return integers ? e : pool_.Union(e, Scientific(interval));
  }
  std::vector<Expr> parts{between(FractionStyle::kAny, interval, true)};
  for (int64_t x = -kSmallExponent; x <= kSmallExponent; ++x)
    parts.push_back(pool_.Concat(between(FractionStyle::kAny, interval.Shifted(-x), true), ExponentOf(x)));
  parts.push_back(Scientific(interval));
  parts.push_back(Zero(interval));
  return pool_.Union(std::move(parts));
}

// With any exponent; kEmpty where the interval is without.
Expr JsonNumbers::Zero(const Interval& interval) {
  if (!interval.HasZero()) return kEmpty;
  const Magnitude zero;
  return pool_.Concat(DecimalIntervals(&pool_, FractionStyle::kZeros).Between(zero, &zero), Exponent(kLeast, kMost));
}

Expr JsonNumbers::Scientific(const Interval& interval) {
  const Magnitude &low = interval.low, *const high = interval.high ? &*interval.high : nullptr;
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
