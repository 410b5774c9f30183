#include "constraints/csrc/digit_bounds.h"

#include <algorithm>
#include <utility>

namespace tokamata {
namespace {

using Order = DigitBounds::Order;

// The integer part of a number as digits, and whether that is all of it.
std::string IntegerPart(const Magnitude& m, bool* whole) {
  const int64_t size = static_cast<int64_t>(m.digits.size());
  *whole = size <= m.point;
  if (m.point <= 0) return "0";
  std::string digits = m.digits.substr(0, static_cast<size_t>(std::min(size, m.point)));
  digits.append(static_cast<size_t>(m.point) - digits.size(), '0');
  return digits;
}

std::string Padded(const std::string& digits, uint32_t places) {
  return digits.size() > places ? digits : std::string(places + 1 - digits.size(), '0') + digits;
}

Order Compared(Order before, uint32_t digit, char bound) {
  const uint32_t other = static_cast<uint32_t>(bound - '0');
  if (before != DigitBounds::kEqual || digit == other) return before;
  return digit < other ? DigitBounds::kBelow : DigitBounds::kAbove;
}

// Of a number with so many digits to one with so many others.
Order WithLength(Order read, uint32_t digits, uint32_t others) {
  return digits < others ? DigitBounds::kBelow : digits > others ? DigitBounds::kAbove : read;
}

}  // namespace

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

uint64_t WithZeros(uint64_t modulus, int64_t zeros) {
  for (const uint64_t prime : {2, 5})
    for (int64_t i = 0; i < zeros && modulus % prime == 0; ++i) modulus /= prime;
  return modulus;
}

DigitBounds::DigitBounds(const std::string& low, const std::string& high, uint32_t places)
    : places_(places),
      low_(Padded(low, places)),
      high_(high.empty() ? high : Padded(high, places)),
      low_digits_(low_.find_last_not_of('0') + 1),
      high_digits_(high_.find_last_not_of('9') + 1) {}

DigitBounds::Read DigitBounds::Normal(Read r) const {
  if (r.low == kEqual && (r.fraction ? LowDigits() : 0) + r.digits >= low_digits_) r.low = kAbove;
  if (!HasHigh() || (r.high == kEqual && (r.fraction ? HighDigits() : 0) + r.digits >= high_digits_)) r.high = kBelow;
  if (!HasHigh() && !r.fraction && r.digits >= LowDigits() && r.low == kAbove) r.digits = LowDigits() + 1;
  return r;
}

DigitBounds::Read DigitBounds::Append(Read r, uint32_t digit) const {
  const size_t low = (r.fraction ? LowDigits() : 0) + r.digits, high = (r.fraction ? HighDigits() : 0) + r.digits;
  // Longer integers are above.
  r.low = r.fraction || low < LowDigits() ? Compared(r.low, digit, low_[low]) : kAbove;
  if (high < high_.size()) r.high = Compared(r.high, digit, high_[high]);
  ++r.digits;
  return r;
}

DigitBounds::Read DigitBounds::AtPoint(const Read& r, uint32_t digits) const {
  const Order high = HasHigh() ? WithLength(r.high, digits, HighDigits()) : kBelow;
  return {true, 0, WithLength(r.low, digits, LowDigits()), high};
}

bool DigitBounds::Reaches(uint64_t rest, uint64_t modulus, uint64_t reduced, const Read& r, uint32_t digits,
                          uint32_t zeros, bool positive) const {
  const bool low = r.low == kEqual, high = r.high == kEqual;
  constexpr uint32_t kEnough = 18;
  if (!low && !high && digits > kEnough) return true;
  // The least number of these digits, what it leaves of the modulus, and how many numbers there are above it: where
  // they are more than any modulus, the exact count does not matter.
  constexpr __int128 kMany = 1'000'000'000'000'000'000;
  __int128 above = 0;
  bool is_zero = true;
  const size_t low_from = low_.size() - digits - zeros, high_from = high_.size() - digits - zeros;
  for (uint32_t i = 0; i < digits; ++i) {
    const int least = low ? low_[low_from + i] - '0' : 0, most = high ? high_[high_from + i] - '0' : 9;
    is_zero = is_zero && least == 0;
    rest = TimesTen(rest, static_cast<uint32_t>(least), modulus);
    if (above < kMany) above = above * 10 + (most - least);
    if (above < 0) return false;
  }
  if ((low && low_.find_first_not_of('0', low_.size() - zeros) != low_.npos) || (positive && is_zero)) {  // one more
    rest = (rest + 1) % modulus;
    --above;
  }
  return above >= 0 && (reduced - rest % reduced) % reduced <= static_cast<uint64_t>(above);
}

}  // namespace tokamata
