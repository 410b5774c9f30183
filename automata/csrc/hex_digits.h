// Hexadecimal digits.
#pragma once
#include <cstdint>
#include <string>

namespace tokamata {

constexpr char kHexDigits[2][17] = {"0123456789abcdef", "0123456789ABCDEF"};  // small ones, capitals

// The value of a digit of either case, -1 for all else.
constexpr int HexValue(uint32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
  return c >= 'A' && c <= 'F' ? static_cast<int>(c - 'A') + 10 : -1;
}

// Appends the last digits of a number, small ones.
inline void AppendHex(uint32_t value, int digits, std::string* out) {
  while (digits-- > 0) *out += kHexDigits[0][value >> 4 * digits & 15];
}

}  // namespace tokamata
