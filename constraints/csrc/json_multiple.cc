// Multiples of a number between bounds: digits read modulo a number.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "automata/csrc/errors.h"
#include "constraints/csrc/json_number.h"

namespace tokamata {
namespace {

constexpr size_t kMostDigits = 18;      // of a divisor, but for zeros at its end:
constexpr int64_t kMostTrailing = 900;  // so many
constexpr int64_t kMostPlaces = 2000;   // of its fraction
constexpr int64_t kMostBoundDigits = 1000;  // of bounds, in the last place that counts, or else they are met
constexpr uint32_t kNever = 0xffffffff;

// Of a modulus of at most 18 digits, so that nothing overflows.
uint64_t TimesTen(uint64_t rest, uint32_t digit, uint64_t modulus) { return (rest * 10 + digit) % modulus; }

// What is left of a modulus when so many digits that follow are zeros.
uint64_t WithZeros(uint64_t modulus, int64_t zeros) {
  for (const uint64_t prime : {2, 5})
    for (int64_t i = 0; i < zeros && modulus % prime == 0; ++i) modulus /= prime;
  return modulus;
}

// The least number that makes up for a remainder.
uint64_t Missing(uint64_t rest, uint64_t modulus) { return (modulus - rest % modulus) % modulus; }

// Rules for what is left of a number after some digits: one for each place and remainder that is reached, so that the
// size of the modulus costs nothing. How many digits are missing at least is arithmetic; so is that none would help.
class RemainderRules : public RuleSource {
 public:
  struct Place {
    uint32_t where;
    uint64_t rest;
    bool operator<(const Place& o) const { return std::tie(where, rest) < std::tie(o.where, o.rest); }
  };

  bool IsRegular() const override { return true; }
  uint32_t LeastLength(uint32_t rule) override { return known_[rule].least; }
  Expr Outline(uint32_t rule, uint32_t* slack) override {
    *slack = farthest_;
    return pool_->Repeat(pool_->Bytes(bytes_), known_[rule].least, kUnbounded);
  }
  size_t MemoryBytes() const override { return known_.capacity() * sizeof(Known) + index_.size() * kBytesOfEntry; }

 protected:
  // farthest: no text that may be extended is farther from an end, in bytes.
  RemainderRules(Expressions* pool, uint64_t modulus, const ByteSet& bytes, uint32_t farthest)
      : pool_(pool),
        modulus_(modulus),
        bytes_(bytes),
        farthest_(farthest),
        source_(static_cast<uint32_t>(pool->NumRuleSources())) {}
  // The same rules under the same numbers.
  void Take(const RemainderRules& other) {
    known_ = other.known_;
    index_ = other.index_;
  }
  virtual uint32_t Least(const Place& place) const = 0;  // bytes of the shortest text; kNever where there is none
  // What is left at a place; kEmpty where that is nothing.
  Expr At(const Place& place) {
    auto known = index_.find(place);
    if (known == index_.end()) {
      const uint32_t least = Least(place);
      if (least == kNever) return kEmpty;
      known = index_.emplace(place, static_cast<uint32_t>(known_.size())).first;
      known_.push_back({place, least});
    }
    return pool_->Call(source_, known->second, known_[known->second].least == 0, bytes_);
  }
  const Place& PlaceOf(uint32_t rule) const { return known_[rule].place; }
  Expr Digit(uint32_t digit, Expr rest) { return pool_->Concat(pool_->Byte(static_cast<uint8_t>('0' + digit)), rest); }

  Expressions* const pool_;
  const uint64_t modulus_;

 private:
  struct Known {
    Place place;
    uint32_t least;
  };
  static constexpr size_t kBytesOfEntry = 64;  // of the index
  const ByteSet bytes_;
  const uint32_t farthest_;
  const uint32_t source_;
  std::vector<Known> known_;  // by rule
  std::map<Place, uint32_t> index_;
};

// The integer part of a number as digits, and whether that is all of it.
std::string IntegerPart(const Magnitude& m, bool* whole) {
  const int64_t size = static_cast<int64_t>(m.digits.size());
  *whole = size <= m.point;
  if (m.point <= 0) return "0";
  return m.digits.substr(0, static_cast<size_t>(std::min(size, m.point))) + std::string(static_cast<size_t>(std::max<int64_t>(0, m.point - size)), '0');
}

// The least integer from a bound on.
std::string LeastInteger(const Magnitude& low) {
  bool whole = false;
  std::string digits = IntegerPart(low, &whole);
  if (whole && !low.exclusive) return digits;
  size_t i = digits.size();
  while (i > 0 && digits[i - 1] == '9') digits[--i] = '0';
  if (i == 0) return "1" + digits;
  ++digits[i - 1];
  return digits;
}

// The greatest one up to a bound; empty where that is below zero.
std::string GreatestInteger(const Magnitude& high) {
  bool whole = false;
  std::string digits = IntegerPart(high, &whole);
  if (!whole || !high.exclusive) return digits;
  if (digits == "0") return "";
  size_t i = digits.size();
  while (digits[i - 1] == '0') digits[--i] = '9';
  --digits[i - 1];
  return digits.size() > 1 && digits[0] == '0' ? digits.substr(1) : digits;
}

// Numbers without exponent, of which so many places of the fraction count; all behind these are zeros. With these places
// a number is an integer n, a multiple of the modulus between two others. So many digits that follow make an interval of
// numbers n, and whether a multiple is in it is arithmetic: no search tells what can be extended.
class PlainRules final : public RemainderRules {
 public:
  // Bounds as digits; no digits: no upper one.
  PlainRules(Expressions* pool, uint64_t modulus, uint32_t places, bool point, std::string low, std::string high)
      : RemainderRules(pool, modulus, Symbols(point), Farthest(low, high, places)),
        places_(places),
        point_(point),
        low_(Padded(std::move(low), places)),
        high_(high.empty() ? high : Padded(std::move(high), places)),
        low_digits_(low_.find_last_not_of('0') + 1),
        high_digits_(high_.find_last_not_of('9') + 1) {
    for (uint32_t i = 0; i <= places; ++i) reduced_.push_back(WithZeros(modulus, i));
  }

  // All of them; without bare_zero a text must not be just "0".
  Expr Texts(bool bare_zero, bool zero) {
    std::vector<Expr> parts;
    const Place start = Normal({false, 0, kEqual, kEqual}, 0);
    for (uint32_t d = 1; d < 10; ++d) parts.push_back(Digit(d, AfterDigit(start, d)));
    if (const Read read = Unpacked(Normal(Append(Unpacked(start), 0), 0)); zero && !IsDead(read)) {
      const Expr fraction = point_ ? pool_->Concat(pool_->Byte('.'), AfterPoint(read, 0)) : Expr{kEmpty};
      parts.push_back(Digit(0, bare_zero && MayEnd(read, 0) ? pool_->Optional(fraction) : fraction));
    }
    return pool_->Union(std::move(parts));
  }

  // More zeros do no harm.
  bool HasEveryLength(uint32_t rule, ByteSet* bytes) override {
    *bytes = ByteSet::Range('0', '9');
    return IsFree(Unpacked(PlaceOf(rule)));
  }

  Expr Expand(uint32_t rule) override {
    const Place place = PlaceOf(rule);
    const Read read = Unpacked(place);
    std::vector<Expr> parts;
    if (MayEnd(read, place.rest)) parts.push_back(kEpsilonExpr);
    if (!read.fraction && point_) parts.push_back(pool_->Concat(pool_->Byte('.'), AfterPoint(read, place.rest)));
    for (uint32_t d = 0; d < 10; ++d) parts.push_back(Digit(d, AfterDigit(place, d)));
    return pool_->Union(std::move(parts));
  }

  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    auto copy = std::make_shared<PlainRules>(pool, modulus_, places_, point_, low_, high_);
    copy->Take(*this);
    return copy;
  }

 private:
  // Digits that were read against as many of a bound.
  enum Order : uint32_t { kBelow, kEqual, kAbove };
  struct Read {
    bool fraction;
    uint32_t digits;  // of the integer part, or else of the fraction
    Order low, high;
  };

  static ByteSet Symbols(bool point) {
    ByteSet bytes = ByteSet::Range('0', '9');
    if (point) bytes.Add('.');
    return bytes;
  }
  static uint32_t Farthest(const std::string& low, const std::string& high, uint32_t places) {
    return static_cast<uint32_t>(std::max(low.size() + kMostDigits, high.size())) + places + 1;
  }
  static std::string Padded(std::string digits, uint32_t places) {
    return digits.size() > places ? digits : std::string(places + 1 - digits.size(), '0') + digits;
  }
  static Read Unpacked(const Place& place) {
    const uint32_t w = place.where;
    return {w % 2 == 1, w / 18, static_cast<Order>(w / 6 % 3), static_cast<Order>(w / 2 % 3)};
  }
  // One place for all from where the same can follow.
  Place Normal(Read r, uint64_t rest) const {
    const uint32_t whole = WholeDigits(low_);
    if (r.low == kEqual && (r.fraction ? whole : 0) + r.digits >= low_digits_) r.low = kAbove;
    if (high_.empty() || (r.high == kEqual && (r.fraction ? WholeDigits(high_) : 0) + r.digits >= high_digits_))
      r.high = kBelow;
    if (high_.empty() && !r.fraction && r.digits >= whole && r.low == kAbove) r.digits = whole + 1;
    return {r.digits * 18 + r.low * 6 + r.high * 2 + r.fraction, rest};
  }

  uint32_t WholeDigits(const std::string& bound) const { return static_cast<uint32_t>(bound.size()) - places_; }
  // No bound matters any more.
  bool IsFree(const Read& r) const {
    return r.low == kAbove && r.high == kBelow && (r.fraction || (high_.empty() && r.digits > WholeDigits(low_)));
  }
  bool IsDead(const Read& r) const {
    return r.fraction ? r.low == kBelow || r.high == kAbove : !high_.empty() && r.digits > WholeDigits(high_);
  }

  static Order Compared(Order before, uint32_t digit, char bound) {
    const uint32_t other = static_cast<uint32_t>(bound - '0');
    return before != kEqual || digit == other ? before : digit < other ? kBelow : kAbove;
  }
  Read Append(Read r, uint32_t digit) const {
    const uint32_t low = r.fraction ? WholeDigits(low_) : 0, high = r.fraction ? WholeDigits(high_) : 0;
    // Longer integers are above.
    r.low = low + r.digits < low_.size() && (r.fraction || r.digits < WholeDigits(low_))
                ? Compared(r.low, digit, low_[low + r.digits])
                : kAbove;
    if (high + r.digits < high_.size()) r.high = Compared(r.high, digit, high_[high + r.digits]);
    ++r.digits;
    return r;
  }
  // How a number of so many digits before the point stands to a bound, which it is shorter than, as long as, or longer.
  Order WithLength(Order read, uint32_t digits, const std::string& bound) const {
    const uint32_t whole = WholeDigits(bound);
    return digits < whole ? kBelow : digits > whole ? kAbove : read;
  }
  // At the point, after so many digits.
  Read AtPoint(const Read& r, uint32_t digits) const {
    return {true, 0, WithLength(r.low, digits, low_), high_.empty() ? kBelow : WithLength(r.high, digits, high_)};
  }

  Expr AfterDigit(const Place& place, uint32_t digit) {
    const Read read = Append(Unpacked(place), digit);
    if (IsDead(read)) return kEmpty;
    return After(Normal(read, TimesTen(place.rest, digit, modulus_)));
  }
  Expr AfterPoint(const Read& read, uint64_t rest) {
    const Read at = AtPoint(read, read.digits);
    return IsDead(at) ? Expr{kEmpty} : After(Normal(at, rest));
  }
  Expr After(const Place& place) {
    const Read read = Unpacked(place);
    if (!read.fraction || read.digits < places_) return At(place);
    return IsWhole(read, place.rest) ? pool_->Repeat(pool_->Byte('0'), places_ ? 0 : 1, kUnbounded) : Expr{kEmpty};
  }

  // Whether nothing but zeros follows digits of the fraction.
  bool IsWhole(const Read& r, uint64_t rest) const { return r.low != kEqual && rest % reduced_[places_ - r.digits] == 0; }
  bool MayEnd(const Read& r, uint64_t rest) const {
    if (r.fraction) return r.digits > 0 && IsWhole(r, rest);
    const Read at = AtPoint(r, r.digits);
    return !IsDead(at) && IsWhole(at, rest);
  }

  // Whether so many more digits make a multiple, within those of the bounds that the ones before equal.
  bool Reaches(uint64_t rest, uint32_t digits, const Read& r, uint64_t modulus) const {
    const bool low = r.low == kEqual, high = r.high == kEqual;
    if (!low && !high && digits > kMostDigits) return true;
    // The least number of these digits, and how many there are above it: as good as all where these have a multiple.
    constexpr __int128 kMany = 1'000'000'000'000'000'000;
    __int128 above = 0;
    for (uint32_t i = digits; i > 0; --i) {
      const int least = low ? low_[low_.size() - i] - '0' : 0, most = high ? high_[high_.size() - i] - '0' : 9;
      rest = TimesTen(rest, static_cast<uint32_t>(least), modulus_);
      if (above < kMany) above = above * 10 + (most - least);
      if (above < 0) return false;
    }
    return Missing(rest, modulus) <= static_cast<unsigned __int128>(above);
  }

  // Where bounds matter, no text is shorter.
  uint32_t Least(const Place& place) const override {
    const Read read = Unpacked(place);
    if (IsFree(read)) {
      // Digits of the integer part alone are the quickest way: what a fraction lacks is no less.
      const uint32_t first = read.fraction && read.digits == 0 ? 1 : 0;
      const uint32_t most = read.fraction ? places_ - read.digits : static_cast<uint32_t>(kMostDigits);
      for (uint32_t digits = first; digits <= most; ++digits)
        if (Reaches(place.rest, digits, read, reduced_[read.fraction ? most - digits : places_])) return digits;
      return kNever;
    }
    if (read.fraction) {
      if (!Reaches(place.rest, places_ - read.digits, read, modulus_)) return kNever;
      return MayEnd(read, place.rest) ? 0 : 1;
    }
    // Past the digits of the lower bound each one more does no harm, and 18 are enough, up to those of the upper one.
    const uint32_t shortest = std::max(read.digits, WholeDigits(low_));
    uint32_t longest = shortest + static_cast<uint32_t>(kMostDigits) + 1;
    if (!high_.empty()) longest = std::min(longest, WholeDigits(high_));
    for (uint32_t digits = shortest; digits <= longest; ++digits) {
      const uint32_t more = digits - read.digits;
      const Read at = AtPoint(read, digits);
      if (IsDead(at) || !Reaches(place.rest, more + places_, at, modulus_)) continue;
      return more ? more : MayEnd(read, place.rest) ? 0 : 1;
    }
    return kNever;
  }

  const uint32_t places_;
  const bool point_;
  const std::string low_, high_;
  const size_t low_digits_, high_digits_;  // what follows these is all zeros, or nines
  std::vector<uint64_t> reduced_;  // the modulus, by the number of zeros that follow
};

}  // namespace

// d.ddd · 10^x, whose last digit is not zero, is m · 10^(x - places); a multiple where what is left of the power of
// ten, x - places - power, is not negative and makes up for what m lacks of the modulus's powers of two and five. A place
// is 0 behind the first digit, else 1, and 2 for each digit of the fraction so far, and 1 where the last is not zero.
class JsonNumbers::ScientificRules final : public RemainderRules {
 public:
  ScientificRules(Expressions* pool, bool canonical, uint64_t modulus, int64_t power)
      : RemainderRules(pool, modulus, Symbols(), kFarthest),
        numbers_(pool, canonical),
        power_(power),
        coprime_(WithZeros(modulus, kMostNeeded)) {}

  Expr Begin(uint32_t digit) { return At({0, digit % modulus_}); }

  Expr Expand(uint32_t rule) override {
    const Place place = PlaceOf(rule);
    const uint32_t read = Read(place);
    std::vector<Expr> parts;
    if (MayEnd(place)) parts.push_back(Exponents(read, place.rest));
    if (place.where == 0) parts.push_back(pool_->Concat(pool_->Byte('.'), At({1, place.rest})));
    for (uint32_t d = 0; d < 10 && place.where && read < kMostFraction; ++d)
      parts.push_back(Digit(d, At({1 + 2 * (read + 1) + (d ? 1 : 0), TimesTen(place.rest, d, modulus_)})));
    return pool_->Union(std::move(parts));
  }

  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    auto copy = std::make_shared<ScientificRules>(pool, numbers_.canonical_, modulus_, power_);
    copy->Take(*this);
    return copy;
  }

 private:
  static ByteSet Symbols() {
    ByteSet bytes = ByteSet::Range('0', '9');
    for (const char c : {'.', 'e', 'E', '+', '-'}) bytes.Add(static_cast<uint8_t>(c));
    return bytes;
  }
  static uint32_t Read(const Place& place) { return place.where ? (place.where - 1) / 2 : 0; }
  bool MayEnd(const Place& place) const {
    return (place.where == 0 || place.where % 2 == 0) && place.rest % coprime_ == 0;
  }

  uint32_t Least(const Place& place) const override {
    if (MayEnd(place)) return kLeastExponent;
    uint64_t rest = place.rest, power = 1;
    for (uint32_t digits = 1; digits + Read(place) <= kMostFraction; ++digits) {
      rest = TimesTen(rest, 0, modulus_);
      power *= 10;
      uint64_t missing = Missing(rest, coprime_);
      if (missing % 10 == 0) missing += coprime_;  // which does not end with a zero
      if (missing < power) return digits + (place.where ? 0 : 1) + kLeastExponent;
    }
    return kNever;
  }

  // Canonical exponents leave out -4 to 15, so that many counts of places have the same.
  Expr Exponents(uint32_t read, uint64_t rest) {
    int64_t x = read + power_;
    for (; rest; ++x) rest = TimesTen(rest, 0, modulus_);
    if (numbers_.canonical_ && x > -5 && x < 16) x = 16;
    const auto [it, added] = exponents_.emplace(x, kEmpty);
    if (added) it->second = numbers_.Exponent(x, std::numeric_limits<int64_t>::max());
    return it->second;
  }

  static constexpr uint32_t kMostNeeded = 60;     // powers of two or five that a modulus has
  static constexpr uint32_t kLeastExponent = 2;   // bytes: e0
  static constexpr uint32_t kFarthest = kMostFraction + 20;
  JsonNumbers numbers_;
  const int64_t power_;
  const uint64_t coprime_;  // the modulus without its powers of two and five
  std::map<int64_t, Expr> exponents_;
};

Expr JsonNumbers::PlainMultiples(uint64_t modulus, int64_t power, FractionStyle style, const Interval& interval,
                                 bool bare_zero) {
  const Expr digit = pool_.Bytes(ByteSet::Range('0', '9')), first = pool_.Bytes(ByteSet::Range('1', '9'));
  const Expr zero = pool_.Byte('0'), point = pool_.Byte('.');
  const bool fractions = style != FractionStyle::kNone;
  const uint32_t trailing = static_cast<uint32_t>(std::max<int64_t>(0, power));
  const uint32_t places = static_cast<uint32_t>(fractions ? std::max<int64_t>(0, -power) : 0);
  Interval scaled = interval.Shifted(-power);
  Expr whole = kEmpty;  // without the zeros that the power asks for
  if (modulus == 1 && interval.IsAll()) {
    whole = pool_.Concat(first, pool_.Star(digit));
    if (places) {
      const Expr fraction = pool_.Concat({point, pool_.Repeat(digit, 1, places), pool_.Star(zero)});
      return pool_.Union(pool_.Concat(zero, bare_zero ? pool_.Optional(fraction) : fraction),
                         pool_.Concat(whole, pool_.Optional(fraction)));
    }
  } else if (modulus == 1 && power >= 0) {
    scaled.low.exclusive |= scaled.low.digits.empty();
    whole = DecimalIntervals(&pool_, FractionStyle::kNone).Between(scaled.low, scaled.high ? &*scaled.high : nullptr);
  } else {
    const std::string low = LeastInteger(scaled.low), high = scaled.high ? GreatestInteger(*scaled.high) : "";
    if (scaled.high && high.empty()) return kEmpty;
    auto rules = std::make_shared<PlainRules>(&pool_, modulus, places, fractions && power <= 0, low, high);
    pool_.AddRules(rules);
    whole = rules->Texts(bare_zero, power <= 0);
    if (power <= 0) return whole;
  }
  const Expr zeros = fractions ? pool_.Concat(point, pool_.Repeat(zero, 1, kUnbounded)) : Expr{kEmpty};
  whole = pool_.Concat({whole, pool_.Repeat(zero, trailing, trailing), pool_.Optional(zeros)});
  if (!interval.HasZero()) return whole;
  return pool_.Union(pool_.Concat(zero, bare_zero ? pool_.Optional(zeros) : zeros), whole);
}

Expr JsonNumbers::ScientificMultiples(uint64_t modulus, int64_t power, const Interval& interval) {
  if (!interval.IsAll()) {
    Interval all;
    return pool_.Intersect(Scientific(interval), ScientificMultiples(modulus, power, all));
  }
  const Expr first = pool_.Bytes(ByteSet::Range('1', '9')), digit = pool_.Bytes(ByteSet::Range('0', '9'));
  const Expr point = pool_.Byte('.');
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  std::vector<Expr> parts;
  if (modulus > 1) {
    auto rules = std::make_shared<ScientificRules>(&pool_, canonical_, modulus, power);
    pool_.AddRules(rules);
    for (uint32_t d = 1; d < 10; ++d)
      parts.push_back(pool_.Concat(pool_.Byte(static_cast<uint8_t>('0' + d)), rules->Begin(d)));
    return pool_.Union(std::move(parts));
  }
  for (int64_t places = 0; places <= kMostFraction;) {
    // Canonical exponents leave out -4 to 15, so that many counts of places have the same.
    const auto least = [&](int64_t count) {
      const int64_t x = count + power;
      return canonical_ && x > -5 && x < 16 ? 16 : x;
    };
    const Expr exponent = Exponent(least(places), kMost);
    int64_t end = places + 1;
    while (end <= kMostFraction && least(end) == least(places)) ++end;
    const uint32_t low = static_cast<uint32_t>(std::max<int64_t>(places, 1)) - 1;
    const uint32_t high = static_cast<uint32_t>(end) - 1;
    Expr shape = kEmpty;
    if (end > 1)
      shape = pool_.Concat({point, pool_.Repeat(digit, low, high - 1), first});
    if (places == 0) shape = pool_.Optional(shape);
    parts.push_back(pool_.Concat({first, shape, exponent}));
    places = end;
  }
  return pool_.Union(std::move(parts));
}

// Of integers, the power is not negative.
Expr JsonNumbers::Multiples(uint64_t modulus, int64_t power, const Interval& interval, bool integers) {
  const auto far = [power](const Magnitude& m) { return m.point - power > kMostBoundDigits; };
  if (far(interval.low) || (interval.high && far(*interval.high)))
    return pool_.Intersect(Range(interval, integers), Multiples(modulus, power, {{}, {}, interval.negative}, integers));
  if (canonical_) {
    const FractionStyle style = integers ? FractionStyle::kNone : FractionStyle::kAny;
    const Expr e = PlainMultiples(modulus, power, style, interval, !interval.negative);
    // Exponents are of numbers from 10^16 on, or below 10^-4.
    const bool small = power + static_cast<int64_t>(std::to_string(modulus).size()) < -3;
    if (integers || (interval.high && interval.high->point <= 16 && !small)) return e;
    return pool_.Union(e, ScientificMultiples(modulus, power, interval));
  }
  std::vector<Expr> parts{PlainMultiples(modulus, power, FractionStyle::kAny, interval, true)};
  for (int64_t x = -kSmallExponent; x <= kSmallExponent; ++x)
    parts.push_back(pool_.Concat(PlainMultiples(modulus, power - x, FractionStyle::kAny, interval.Shifted(-x), true), ExponentOf(x)));
  parts.push_back(ScientificMultiples(modulus, power, interval));
  parts.push_back(Zero(interval));
  return pool_.Union(std::move(parts));
}

bool NumberSet::KnowsMultiples(std::string_view q) {
  const JsonNumber number = ParseJsonNumber(q);
  return number.digits.size() <= kMostDigits && number.exponent <= kMostTrailing && number.exponent >= -kMostPlaces;
}

NumberSet NumberSet::MultiplesOf(std::string_view q) {
  const JsonNumber number = ParseJsonNumber(q);
  if (number.digits.empty() || number.negative)
    throw ConstraintError("multipleOf: expected a number above zero, got " + std::string(q));
  if (!KnowsMultiples(q))
    throw UnsupportedError("multipleOf: expected a number of at most " + std::to_string(kMostDigits) +
                           " significant digits and a power of ten between -" + std::to_string(kMostPlaces) + " and " +
                           std::to_string(kMostTrailing) + ", got " + std::string(q) + "; round it, or leave it out");
  NumberSet set;
  set.modulus = std::stoull(number.digits);
  set.power = number.exponent;
  return set;
}

// The least common multiple.
bool NumberSet::MeetMultiples(uint64_t other_modulus, int64_t other_power) {
  constexpr unsigned __int128 kTooMany = 1'000'000'000'000'000'000;
  // Powers of two and of five, and what is left without them.
  const auto factor = [](uint64_t n, int64_t power, int64_t* twos, int64_t* fives) {
    *twos = *fives = power;
    for (; n % 2 == 0; n /= 2) ++*twos;
    for (; n % 5 == 0; n /= 5) ++*fives;
    return n;
  };
  int64_t twos, fives, other_twos, other_fives;
  const uint64_t own = factor(modulus, power, &twos, &fives), other = factor(other_modulus, other_power, &other_twos, &other_fives);
  twos = std::max(twos, other_twos);
  fives = std::max(fives, other_fives);
  const int64_t common = std::min(twos, fives);
  unsigned __int128 product = static_cast<unsigned __int128>(own / std::gcd(own, other)) * other;
  for (int64_t i = common; i < twos && product < kTooMany; ++i) product *= 2;
  for (int64_t i = common; i < fives && product < kTooMany; ++i) product *= 5;
  if (product >= kTooMany) return false;
  modulus = static_cast<uint64_t>(product);
  power = common;
  return true;
}

}  // namespace tokamata
