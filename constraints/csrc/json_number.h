// JSON numbers (RFC 8259, section 6) as expressions over their texts.
//
// Every set here is closed by value within one universe of texts, Number(): it contains all texts of a value that the
// universe has, or none. So sets compose by the pool's union, intersection and difference and stay exact by value.
// No regular language can compare 0.00…01e99 with a number for every count of zeros, so exponents are restricted.
//
// The universe, canonical (a superset of what Python's json.dumps writes):
//   - without exponent: any digits, any fraction (1, -12.50, 0.1, -0.0; not -0);
//   - with one: [-]d[.ddd]e+xx or e-xx as repr(float) writes it, that is, lower case, a signed exponent of two or three
//     digits (or one, as in 1e-7), at least +16 or at most -05, and up to 17 digits of fraction of which the last is
//     not zero.
// The universe otherwise:
//   - without exponent: all of JSON;
//   - with an exponent from -2 to 2 (e, E, any sign, leading zeros): any digits before it (12.50E-01);
//   - with any exponent: one digit but 0 and up to 17 digits of fraction of which the last is not zero (1e400,
//     1.5E+07);
//   - zero with any exponent (-0.00e5).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/late.h"
#include "constraints/csrc/json_digits.h"
#include "constraints/csrc/json_document.h"

namespace tokamata {

// Negative, zero or positive as a < b, a = b, a > b; exact.
int CompareJsonNumbers(const JsonNumber& a, const JsonNumber& b);
// Whether a is an integer times q, q > 0; exact. LimitError if q has more than 18 significant digits.
bool IsJsonMultiple(const JsonNumber& a, const JsonNumber& q);

constexpr int64_t kSmallExponent = 2;  // up to which any digits may stand before an exponent

// Numbers by value: those between two bounds that are integers, or multiples of a number. What several keywords ask
// for is one set, so that no automata have to meet.
struct NumberSet {
  struct Bound {
    JsonNumber number;
    bool exclusive = false;
  };
  std::optional<Bound> low, high;
  bool integers = false;  // see JsonNumbers::Integer
  uint64_t modulus = 0;   // multiples of modulus * 10^power, of at most 18 digits that do not end with 0; 0: any number
  int64_t power = 0;

  // Between two numbers; an empty text: no bound.
  static NumberSet Between(std::string_view low, std::string_view high, bool low_exclusive = false,
                           bool high_exclusive = false);
  // The multiples of a number above zero. UnsupportedError where KnowsMultiples says no: for a number of more than 18
  // significant digits, or one whose power of ten is not between -2000 and 900.
  static NumberSet MultiplesOf(std::string_view q);
  static bool KnowsMultiples(std::string_view q);

  bool IsAll() const { return !low && !high && !integers && !modulus; }
  bool IsSurelyEmpty() const;  // by its bounds alone
  // Only those of another set; false, and nothing is changed, where the least common multiple has too many digits.
  bool Meet(const NumberSet& other);

 private:
  bool MeetMultiples(uint64_t other_modulus, int64_t other_power);
};

// Everything is made on first use, once; an instance belongs to its pool and is no more thread-safe than it.
// Bounds may have any number of digits (about 900 where they differ: ExpressionLimits::depth) and exponents up to a
// thousand million (LimitError beyond); zeros cost nothing. Texts of numbers must be JSON numbers.
class JsonNumbers {
 public:
  JsonNumbers(Expressions* pool, bool canonical) : pool_(*pool), canonical_(canonical) {}
  JsonNumbers(const JsonNumbers&) = delete;
  JsonNumbers& operator=(const JsonNumbers&) = delete;

  // In a pool that began with another one's: what was made there.
  void Begin(const JsonNumbers& prepared) {
    grammar_ = prepared.grammar_;
    number_ = prepared.number_;
    integer_ = prepared.integer_;
  }

  // All of JSON's grammar, more than the universe: for numbers that nothing else constrains.
  Expr Grammar();
  // The universe.
  Expr Number();
  // Integers. Canonical: by spelling, without fraction and exponent (so 1.0 is no integer, although its value equals
  // 1's). Otherwise by value: 1.0, 1e2 and 10e-1 are integers.
  Expr Integer();
  // Those that are written without fraction and exponent: what draft 4 calls an integer.
  Expr PlainInteger();
  // The numbers of a set. What is left of a multiple after some digits is a rule for each remainder that is reached.
  Expr Of(const NumberSet& set);
  // All texts of one value.
  Expr Value(std::string_view text);
  // What json.dumps writes for a value, for values that are to be written, not compared: for 2.0 both 2.0 and 2, which
  // are equal, for 2 only 2.
  Expr Text(std::string_view text);

 private:
  Expr Build(const NumberSet& set);
  // Numbers of one sign, without it.
  struct Interval {
    Magnitude low;
    std::optional<Magnitude> high;
    bool negative = false;  // to stand after a minus sign
    bool IsAll() const { return low.digits.empty() && !low.exclusive && !high; }
    bool HasZero() const {
      return low.digits.empty() && !low.exclusive && !(high && high->digits.empty() && high->exclusive);
    }
    Interval Shifted(int64_t power) const;  // times a power of ten
  };
  Expr Unsigned(const Interval& interval, const NumberSet& set);
  Expr Range(const Interval& interval, bool integers);
  Expr Scientific(const Interval& interval);
  Expr Zero(const Interval& interval);
  // e and an exponent from low to high, within those that the universe has.
  Expr Exponent(int64_t low, int64_t high);
  Expr ExponentOf(int64_t exponent);  // one of the small ones, in every spelling
  // Multiples of modulus * 10^power (10 does not divide the modulus), without exponent, and with one.
  Expr PlainMultiples(uint64_t modulus, int64_t power, FractionStyle style, const Interval& interval, bool bare_zero);
  Expr ScientificMultiples(uint64_t modulus, int64_t power, const Interval& interval);
  Expr Multiples(uint64_t modulus, int64_t power, const Interval& interval, bool integers);
  class ScientificRules;

  Expressions& pool_;
  const bool canonical_;
  Expr grammar_ = kEmpty, number_ = kEmpty, integer_ = kEmpty;
  Late<std::map<std::string, Expr>> multiples_;  // by set
};

}  // namespace tokamata
