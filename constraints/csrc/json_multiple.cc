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
#include "constraints/csrc/digit_bounds.h"
#include "constraints/csrc/json_number.h"

namespace tokamata {
namespace {

constexpr size_t kMostDigits = 18;      // of a divisor, but for zeros at its end:
constexpr int64_t kMostTrailing = 900;  // so many
constexpr int64_t kMostPlaces = 2000;   // of its fraction
constexpr int64_t kMostBoundDigits = 1000;  // of bounds, in the last place that counts, or else they are met
constexpr uint32_t kNever = 0xffffffff;

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
  static uint32_t WhereOf(const DigitBounds::Read& r) { return r.digits * 18 + r.low * 6 + r.high * 2 + r.fraction; }
  static DigitBounds::Read ReadOf(uint32_t where) {
    const auto order = [](uint32_t n) { return static_cast<DigitBounds::Order>(n % 3); };
    return {where % 2 == 1, where / 18, order(where / 6), order(where / 2)};
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

// Numbers without exponent, of which so many places of the fraction count; all behind these are zeros. With these
// places a number is an integer.
class PlainRules final : public RemainderRules {
 public:
  // `point`: they may have a fraction.
  PlainRules(Expressions* pool, uint64_t modulus, uint32_t places, bool point, const std::string& low,
             const std::string& high)
      : RemainderRules(pool, modulus, Symbols(point), Farthest(low, high, places)),
        bounds_(low, high, places),
        places_(places),
        point_(point) {
    for (uint32_t i = 0; i <= places; ++i) reduced_.push_back(WithZeros(modulus, i));
  }

  // All of them, with zero or without; without bare_zero a text must not be just "0".
  Expr Texts(bool bare_zero, bool zero) {
    std::vector<Expr> parts;
    const Read start = bounds_.Start();
    for (uint32_t d = 1; d < 10; ++d) parts.push_back(Digit(d, AfterDigit(start, 0, d)));
    if (const Read read = bounds_.Normal(bounds_.Append(start, 0)); zero && !bounds_.IsDead(read)) {
      const Expr fraction = point_ ? pool_->Concat(pool_->Byte('.'), AfterPoint(read, 0)) : Expr{kEmpty};
      parts.push_back(Digit(0, bare_zero && MayEnd(read, 0) ? pool_->Optional(fraction) : fraction));
    }
    return pool_->Union(std::move(parts));
  }

  // More zeros do no harm.
  bool HasEveryLength(uint32_t rule, ByteSet* bytes) override {
    *bytes = ByteSet::Range('0', '9');
    return bounds_.IsFree(ReadOf(PlaceOf(rule).where));
  }

  Expr Expand(uint32_t rule) override {
    const Place place = PlaceOf(rule);
    const Read read = ReadOf(place.where);
    std::vector<Expr> parts;
    if (MayEnd(read, place.rest)) parts.push_back(kEpsilonExpr);
    if (!read.fraction && point_) parts.push_back(pool_->Concat(pool_->Byte('.'), AfterPoint(read, place.rest)));
    for (uint32_t d = 0; d < 10; ++d) parts.push_back(Digit(d, AfterDigit(read, place.rest, d)));
    return pool_->Union(std::move(parts));
  }

  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    auto copy = std::make_shared<PlainRules>(pool, modulus_, places_, point_, bounds_.low(), bounds_.high());
    copy->Take(*this);
    return copy;
  }

 private:
  using Read = DigitBounds::Read;
  static ByteSet Symbols(bool point) {
    ByteSet bytes = ByteSet::Range('0', '9');
    if (point) bytes.Add('.');
    return bytes;
  }
  static uint32_t Farthest(const std::string& low, const std::string& high, uint32_t places) {
    return static_cast<uint32_t>(std::max(low.size() + kMostDigits, high.size())) + places + 1;
  }

  Expr AfterDigit(const Read& before, uint64_t rest, uint32_t digit) {
    return After(bounds_.Append(before, digit), TimesTen(rest, digit, modulus_));
  }
  Expr AfterPoint(const Read& read, uint64_t rest) { return After(bounds_.AtPoint(read, read.digits), rest); }
  Expr After(const Read& r, uint64_t rest) {
    if (bounds_.IsDead(r)) return kEmpty;
    const Read read = bounds_.Normal(r);
    if (!read.fraction || read.digits < places_) return At({WhereOf(read), rest});
    return IsWhole(read, rest) ? pool_->Repeat(pool_->Byte('0'), places_ ? 0 : 1, kUnbounded) : Expr{kEmpty};
  }

  // Whether digits of the fraction may be the last ones but for zeros.
  bool IsWhole(const Read& r, uint64_t rest) const {
    return r.low != DigitBounds::kEqual && rest % reduced_[places_ - r.digits] == 0;
  }
  bool MayEnd(const Read& r, uint64_t rest) const {
    if (r.fraction) return r.digits > 0 && IsWhole(r, rest);
    const Read at = bounds_.AtPoint(r, r.digits);
    return !bounds_.IsDead(at) && IsWhole(at, rest);
  }

  // Exact where no bound matters; else no text is shorter.
  uint32_t Least(const Place& place) const override {
    const Read read = ReadOf(place.where);
    if (bounds_.IsFree(read)) {
      // Digits of the integer part alone are the quickest way: what a fraction lacks is no less.
      const uint32_t first = read.fraction && read.digits == 0 ? 1 : 0;
      const uint32_t most = read.fraction ? places_ - read.digits : static_cast<uint32_t>(kMostDigits);
      for (uint32_t digits = first; digits <= most; ++digits)
        if (Reaches(place.rest, read, digits, reduced_[read.fraction ? most - digits : places_])) return digits;
      return kNever;
    }
    if (read.fraction) {
      if (!Reaches(place.rest, read, places_ - read.digits, modulus_)) return kNever;
      return MayEnd(read, place.rest) ? 0 : 1;
    }
    // Past the digits of the lower bound one more does no harm, and 18 are enough, up to those of the upper one.
    const uint32_t shortest = std::max(read.digits, bounds_.LowDigits());
    uint32_t longest = shortest + static_cast<uint32_t>(kMostDigits) + 1;
    if (bounds_.HasHigh()) longest = std::min(longest, bounds_.HighDigits());
    for (uint32_t digits = shortest; digits <= longest; ++digits) {
      const uint32_t more = digits - read.digits;
      const Read at = bounds_.AtPoint(read, digits);
      if (bounds_.IsDead(at) || !Reaches(place.rest, at, more + places_, modulus_)) continue;
      return more ? more : MayEnd(read, place.rest) ? 0 : 1;
    }
    return kNever;
  }
  bool Reaches(uint64_t rest, const Read& r, uint32_t digits, uint64_t reduced) const {
    return bounds_.Reaches(rest, modulus_, reduced, r, digits);
  }

  const DigitBounds bounds_;
  const uint32_t places_;
  const bool point_;
  std::vector<uint64_t> reduced_;  // the modulus, by the number of zeros that follow
};

}  // namespace

// d.ddd * 10^x, whose last digit is not zero, is an integer times 10^power: the digits, and zeros. A step is 0 behind
// the first digit, else 1, and 2 for each digit of the fraction so far, and 1 where the last is not zero.
class JsonNumbers::ScientificRules final : public RemainderRules {
 public:
  ScientificRules(Expressions* pool, bool canonical, uint64_t modulus, int64_t power, const std::string& low,
                  const std::string& high)
      : RemainderRules(pool, modulus, Symbols(), kFarthest),
        bounds_(low, high, 0),
        numbers_(pool, canonical),
        power_(power) {
    for (uint32_t i = 0; i <= kMostNeeded; ++i) reduced_.push_back(WithZeros(modulus, i));
  }

  Expr Texts() {
    std::vector<Expr> parts;
    for (uint32_t d = 1; d < 10; ++d) parts.push_back(Digit(d, After(bounds_.Start(), 0, d, 0)));
    return pool_->Union(std::move(parts));
  }

  Expr Expand(uint32_t rule) override {
    const Place place = PlaceOf(rule);
    const Read read = ReadOf(place.where / kSteps);
    const uint32_t step = place.where % kSteps, count = Fraction(step);
    std::vector<Expr> parts{Exponents(place)};
    if (step == 0) parts.push_back(pool_->Concat(pool_->Byte('.'), At({place.where + 1, place.rest})));
    for (uint32_t d = 0; d < 10 && step && count < kMostFraction; ++d)
      parts.push_back(Digit(d, After(read, place.rest, d, 1 + 2 * (count + 1) + (d ? 1 : 0))));
    return pool_->Union(std::move(parts));
  }

  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    auto copy = std::make_shared<ScientificRules>(pool, numbers_.canonical_, modulus_, power_, bounds_.low(),
                                                  bounds_.high());
    copy->Take(*this);
    return copy;
  }

 private:
  using Read = DigitBounds::Read;
  static ByteSet Symbols() {
    ByteSet bytes = ByteSet::Range('0', '9');
    for (const char c : {'.', 'e', 'E', '+', '-'}) bytes.Add(static_cast<uint8_t>(c));
    return bytes;
  }
  static uint32_t Fraction(uint32_t step) { return step ? (step - 1) / 2 : 0; }
  // The last digit is not zero.
  static bool IsNormal(uint32_t step) { return step == 0 || step % 2 == 0; }

  Expr After(const Read& before, uint64_t rest, uint32_t digit, uint32_t step) {
    const Read read = bounds_.Append(before, digit);
    if (bounds_.IsDead(read)) return kEmpty;
    return At({WhereOf(bounds_.Normal(read)) * kSteps + step, TimesTen(rest, digit, modulus_)});
  }

  uint32_t Least(const Place& place) const override {
    int64_t low, high;
    if (FindExponents(place, &low, &high)) return kLeastExponent;
    return GoesOn(place) ? 1 + kLeastExponent : kNever;
  }

  // The least and the greatest exponent that may follow.
  bool FindExponents(const Place& place, int64_t* low, int64_t* high) const {
    const Read read = ReadOf(place.where / kSteps);
    const uint32_t step = place.where % kSteps;
    if (!IsNormal(step) || place.rest % reduced_.back()) return false;
    int64_t least = Fraction(step) + 1;  // digits of the integer
    for (uint64_t rest = place.rest; rest; rest = TimesTen(rest, 0, modulus_)) ++least;
    const bool from = read.low == DigitBounds::kAbove, to = read.high != DigitBounds::kAbove;
    least = std::max<int64_t>(least, bounds_.LowDigits() + (from ? 0 : 1));
    *low = least - 1 + power_;
    *high = std::numeric_limits<int64_t>::max();
    if (bounds_.HasHigh()) *high = int64_t{bounds_.HighDigits()} - (to ? 1 : 2) + power_;
    if (numbers_.canonical_) {
      if (*low > -kLeastSmall && *low < kLeastLarge) *low = kLeastLarge;
      if (*high > -kLeastSmall && *high < kLeastLarge) *high = -kLeastSmall;
      *low = std::max(*low, -kMostExponent);
      *high = std::min(*high, kMostExponent);
    }
    return *low <= *high;
  }
  Expr Exponents(const Place& place) {
    int64_t low, high;
    if (!FindExponents(place, &low, &high)) return kEmpty;
    const auto [it, added] = exponents_.emplace(std::make_pair(low, high), kEmpty);
    if (added) it->second = numbers_.Exponent(low, high);
    return it->second;
  }

  // Whether digits that are not all zeros can follow. Between the bounds, more zeros do no harm, so that the longest
  // integers have all that others have.
  bool GoesOn(const Place& place) const {
    const Read read = ReadOf(place.where / kSteps);
    const uint32_t count = Fraction(place.where % kSteps), left = static_cast<uint32_t>(kMostFraction) - count;
    const int64_t digits = count + 1, low = bounds_.LowDigits(), high = bounds_.HighDigits();
    const auto reaches = [&](int64_t all) {
      if (all < digits || (numbers_.canonical_ && !IsCanonical(all - 1 + power_))) return false;
      const Read at = bounds_.AtPoint(read, static_cast<uint32_t>(all));
      const uint32_t more = static_cast<uint32_t>(all - digits), some = std::min(more, left), zeros = more - some;
      return !bounds_.IsDead(at) &&
             bounds_.Reaches(place.rest, modulus_, reduced_[std::min(zeros, kMostNeeded)], at, some, zeros, true);
    };
    int64_t longest = bounds_.HasHigh() ? high - 1 : std::max(digits, low) + kMostFraction + kMostNeeded;
    if (numbers_.canonical_) {
      int64_t x = bounds_.HasHigh() ? std::min(longest - 1 + power_, kMostExponent) : kMostExponent;
      if (x > -kLeastSmall && x < kLeastLarge) x = -kLeastSmall;
      longest = x + 1 - power_;
    }
    return reaches(low) || (bounds_.HasHigh() && reaches(high)) || (longest > low && reaches(longest));
  }
  static bool IsCanonical(int64_t x) {
    return (x >= kLeastLarge && x <= kMostExponent) || (x <= -kLeastSmall && x >= -kMostExponent);
  }

  static constexpr uint32_t kSteps = 64;
  static constexpr uint32_t kMostNeeded = 60;     // powers of two or five that a modulus has
  static constexpr uint32_t kLeastExponent = 2;   // bytes: e0
  static constexpr uint32_t kFarthest = kMostFraction + 20;
  static constexpr int64_t kLeastLarge = 16, kLeastSmall = 5, kMostExponent = 999;  // canonical ones
  const DigitBounds bounds_;
  JsonNumbers numbers_;
  const int64_t power_;
  std::vector<uint64_t> reduced_;  // the modulus, by the number of zeros that follow
  std::map<std::pair<int64_t, int64_t>, Expr> exponents_;
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
  if (modulus > 1 || !interval.IsAll()) {
    const Interval scaled = interval.Shifted(-power);
    const std::string low = LeastInteger(scaled.low), high = scaled.high ? GreatestInteger(*scaled.high) : "";
    if (scaled.high && (high.empty() || high == "0")) return kEmpty;
    auto rules = std::make_shared<ScientificRules>(&pool_, canonical_, modulus, power, low, high);
    pool_.AddRules(rules);
    return rules->Texts();
  }
  const Expr first = pool_.Bytes(ByteSet::Range('1', '9')), digit = pool_.Bytes(ByteSet::Range('0', '9'));
  const Expr point = pool_.Byte('.');
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  std::vector<Expr> parts;
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
    parts.push_back(pool_.Concat(
        PlainMultiples(modulus, power - x, FractionStyle::kAny, interval.Shifted(-x), true), ExponentOf(x)));
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
  const uint64_t own = factor(modulus, power, &twos, &fives);
  const uint64_t other = factor(other_modulus, other_power, &other_twos, &other_fives);
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
