// JsonNumbers::MultipleOf: digits read modulo a number.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
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
constexpr uint32_t kNever = 0xffffffff;

uint64_t TimesTen(uint64_t rest, uint32_t digit, uint64_t modulus) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(rest) * 10 + digit) % modulus);
}

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

// Numbers without exponent, of which so many places of the fraction count; all behind these are zeros. A place is 0 in
// the integer part, else 1 and the digits of the fraction so far.
class PlainRules final : public RemainderRules {
 public:
  PlainRules(Expressions* pool, uint64_t modulus, uint32_t places, bool point)
      : RemainderRules(pool, modulus, Symbols(point), static_cast<uint32_t>(kMostDigits) + places + 1), places_(places), point_(point) {
    for (uint32_t i = 0; i <= places; ++i) reduced_.push_back(WithZeros(modulus, i));
  }

  Expr Whole(uint64_t rest) { return At({0, rest}); }
  Expr Fraction(uint32_t read, uint64_t rest) {
    if (read < places_) return At({1 + read, rest});
    return rest ? Expr{kEmpty} : pool_->Repeat(pool_->Byte('0'), read ? 0 : 1, kUnbounded);
  }

  // More zeros do no harm.
  bool HasEveryLength(uint32_t /*rule*/, ByteSet* bytes) override {
    *bytes = ByteSet::Range('0', '9');
    return true;
  }

  Expr Expand(uint32_t rule) override {
    const Place place = PlaceOf(rule);
    std::vector<Expr> parts;
    if (LeastLength(rule) == 0) parts.push_back(kEpsilonExpr);
    if (place.where == 0 && point_) parts.push_back(pool_->Concat(pool_->Byte('.'), Fraction(0, place.rest)));
    for (uint32_t d = 0; d < 10; ++d) {
      const uint64_t rest = TimesTen(place.rest, d, modulus_);
      parts.push_back(Digit(d, place.where ? Fraction(place.where, rest) : Whole(rest)));
    }
    return pool_->Union(std::move(parts));
  }

  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    auto copy = std::make_shared<PlainRules>(pool, modulus_, places_, point_);
    copy->Take(*this);
    return copy;
  }

 private:
  static ByteSet Symbols(bool point) {
    ByteSet bytes = ByteSet::Range('0', '9');
    if (point) bytes.Add('.');
    return bytes;
  }

  uint32_t Least(const Place& place) const override {
    // Digits of the integer part alone are the quickest way: what a fraction lacks is no less.
    const uint32_t first = place.where == 1 ? 1 : 0;
    const uint32_t most = place.where ? places_ - (place.where - 1) : static_cast<uint32_t>(kMostDigits);
    uint64_t rest = place.rest, power = 1;  // followed by so many zeros; of ten
    for (uint32_t digits = 0; digits <= most; ++digits) {
      const uint64_t modulus = reduced_[place.where ? most - digits : places_];
      if (digits >= first && Missing(rest, modulus) < power) return digits;
      rest = TimesTen(rest, 0, modulus_);
      if (digits < kMostDigits) power *= 10;
    }
    return kNever;
  }

  const uint32_t places_;
  const bool point_;
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

Expr JsonNumbers::PlainMultiples(uint64_t modulus, int64_t power, FractionStyle style, bool bare_zero) {
  const Expr digit = pool_.Bytes(ByteSet::Range('0', '9')), first = pool_.Bytes(ByteSet::Range('1', '9'));
  const Expr zero = pool_.Byte('0'), point = pool_.Byte('.');
  const bool fractions = style != FractionStyle::kNone;
  const Expr zeros = fractions ? pool_.Concat(point, pool_.Repeat(zero, 1, kUnbounded)) : kEmpty;
  const Expr zero_texts = pool_.Concat(zero, bare_zero ? pool_.Optional(zeros) : zeros);
  const int64_t places = fractions ? std::max<int64_t>(0, -power) : 0;
  if (modulus == 1) {
    const uint32_t trailing = static_cast<uint32_t>(std::max<int64_t>(0, power));
    const Expr whole = pool_.Concat({first, pool_.Star(digit), pool_.Repeat(zero, trailing, trailing)});
    if (places == 0) return pool_.Union(zero_texts, pool_.Concat(whole, pool_.Optional(zeros)));
    const Expr fraction =
        pool_.Concat({point, pool_.Repeat(digit, 1, static_cast<uint32_t>(places)), pool_.Star(zero)});
    return pool_.Union(pool_.Concat(zero, bare_zero ? pool_.Optional(fraction) : fraction),
                       pool_.Concat(whole, pool_.Optional(fraction)));
  }
  const bool with_point = fractions && power <= 0;
  auto rules = std::make_shared<PlainRules>(&pool_, modulus, static_cast<uint32_t>(places), with_point);
  pool_.AddRules(rules);
  std::vector<Expr> parts;
  for (uint32_t d = 1; d < 10; ++d)
    parts.push_back(pool_.Concat(pool_.Byte(static_cast<uint8_t>('0' + d)), rules->Whole(d % modulus)));
  if (power <= 0) {
    const Expr fraction = with_point ? pool_.Concat(point, rules->Fraction(0, 0)) : Expr{kEmpty};
    parts.push_back(pool_.Concat(zero, bare_zero ? pool_.Optional(fraction) : fraction));
    return pool_.Union(std::move(parts));
  }
  const uint32_t trailing = static_cast<uint32_t>(power);
  const Expr whole = pool_.Union(std::move(parts));
  return pool_.Union(zero_texts, pool_.Concat({whole, pool_.Repeat(zero, trailing, trailing), pool_.Optional(zeros)}));
}

Expr JsonNumbers::ScientificMultiples(uint64_t modulus, int64_t power) {
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

Expr JsonNumbers::UnsignedMultiples(uint64_t modulus, int64_t power, Multiples which, bool negative) {
  if (canonical_) {
    const bool integers = which == Multiples::kIntegers;
    const Expr e = PlainMultiples(modulus, power, integers ? FractionStyle::kNone : FractionStyle::kAny, !negative);
    return integers || which == Multiples::kBelow16 ? e : pool_.Union(e, ScientificMultiples(modulus, power));
  }
  std::vector<Expr> parts{PlainMultiples(modulus, power, FractionStyle::kAny, true)};
  for (int64_t x = -kSmallExponent; x <= kSmallExponent; ++x)
    parts.push_back(pool_.Concat(PlainMultiples(modulus, power - x, FractionStyle::kAny, true), ExponentOf(x)));
  parts.push_back(ScientificMultiples(modulus, power));
  const Magnitude zero;
  parts.push_back(pool_.Concat(DecimalIntervals(&pool_, FractionStyle::kZeros).Between(zero, &zero),
                               Exponent(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())));
  return pool_.Union(std::move(parts));
}

bool JsonNumbers::KnowsMultiples(std::string_view q) {
  const JsonNumber number = ParseJsonNumber(q);
  return number.digits.size() <= kMostDigits && number.exponent <= kMostTrailing && number.exponent >= -kMostPlaces;
}

bool JsonNumbers::IsBelow16(std::string_view text) {
  const JsonNumber number = ParseJsonNumber(text);
  return number.exponent + static_cast<int64_t>(number.digits.size()) <= 16;
}

Expr JsonNumbers::MultipleOf(std::string_view q, Multiples which) {
  const auto key = std::make_pair(std::string(q), which);
  const auto known = multiples_->find(key);
  if (known != multiples_->end()) return known->second;
  return (*multiples_)[key] = FindMultiples(q, which);
}

Expr JsonNumbers::FindMultiples(std::string_view q, Multiples which) {
  const JsonNumber number = ParseJsonNumber(q);
  if (number.digits.empty() || number.negative)
    throw ConstraintError("multipleOf: expected a number above zero, got " + std::string(q));
  if (!KnowsMultiples(q))
    throw UnsupportedError("multipleOf: expected a number of at most " + std::to_string(kMostDigits) +
                           " significant digits and a power of ten between -" + std::to_string(kMostPlaces) + " and " +
                           std::to_string(kMostTrailing) + ", got " + std::string(q) + "; round it, or leave it out");
  uint64_t modulus = std::stoull(number.digits);
  int64_t power = number.exponent;
  if (which == Multiples::kIntegers && power < 0) {  // the least common multiple of q and 1
    for (uint64_t prime : {2, 5})
      for (int64_t i = power; i < 0 && modulus % prime == 0; ++i) modulus /= prime;
    power = 0;
  }
  // Exponents below -4 are of numbers below 10^-4.
  if (which == Multiples::kBelow16 && power + static_cast<int64_t>(number.digits.size()) < -3) which = Multiples::kAll;
  Expr positive = UnsignedMultiples(modulus, power, which, false);
  Expr negative = UnsignedMultiples(modulus, power, which, true);
  return pool_.Union(positive, pool_.Concat(pool_.Byte('-'), negative));
}

}  // namespace tokamata
