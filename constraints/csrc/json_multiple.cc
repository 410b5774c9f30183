// JsonNumbers::MultipleOf: digits read modulo a number.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "automata/csrc/errors.h"
#include "constraints/csrc/json_number.h"

namespace tokamata {
namespace {

constexpr uint64_t kMostStates = 50'000;
constexpr uint32_t kPoint = 10;      // symbols: the digits, then the point
constexpr uint32_t kSymbols = 11;

[[noreturn]] void ThrowTooLarge() {
  throw LimitError("multipleOf: the limit states=" + std::to_string(kMostStates) +
                   " (of an automaton that reads digits modulo a number) was reached: use fewer significant digits");
}

// A deterministic automaton over digits and the point; state 0 is dead, state 1 the start.
struct Reader {
  std::vector<uint32_t> next;
  std::vector<uint8_t> final;
  explicit Reader(size_t states) : next(states * kSymbols, 0), final(states, 0) {}
  uint32_t& Next(uint32_t state, uint32_t symbol) { return next[state * kSymbols + symbol]; }
};

// As an expression: what cannot reach a final state is dropped, equal states are merged (Moore 1956).
Expr ToExpression(Expressions* pool, Reader r) {
  const uint32_t size = static_cast<uint32_t>(r.final.size());
  std::vector<std::vector<uint32_t>> before(size);
  for (uint32_t q = 1; q < size; ++q)
    for (uint32_t c = 0; c < kSymbols; ++c)
      if (r.Next(q, c)) before[r.Next(q, c)].push_back(q);
  std::vector<uint8_t> live(size, 0);
  std::vector<uint32_t> stack;
  for (uint32_t q = 1; q < size; ++q)
    if (r.final[q]) live[q] = 1, stack.push_back(q);
  while (!stack.empty()) {
    const uint32_t q = stack.back();
    stack.pop_back();
    for (uint32_t p : before[q])
      if (!live[p]) live[p] = 1, stack.push_back(p);
  }
  for (uint32_t& q : r.next)
    if (!live[q]) q = 0;
  if (!live[1]) return kEmpty;
  std::vector<uint32_t> part(size);
  for (uint32_t q = 0; q < size; ++q) part[q] = !live[q] ? 0 : 1 + r.final[q];
  for (size_t parts = 0;;) {
    std::map<std::vector<uint32_t>, uint32_t> known;
    std::vector<uint32_t> refined(size, 0), signature(kSymbols + 1);
    for (uint32_t q = 1; q < size; ++q) {
      if (!live[q]) continue;
      signature[kSymbols] = part[q];
      for (uint32_t c = 0; c < kSymbols; ++c) signature[c] = part[r.Next(q, c)];
      refined[q] = known.emplace(signature, static_cast<uint32_t>(known.size() + 1)).first->second;
    }
    part.swap(refined);
    if (known.size() == parts) break;
    parts = known.size();
  }
  const uint32_t states = *std::max_element(part.begin(), part.end()) + 1;
  auto table = std::make_shared<ByteTable>();
  table->next.assign(size_t{states} * 256, 0);
  table->final.assign(states, 0);
  for (uint32_t q = 1; q < size; ++q) {
    if (!live[q]) continue;
    table->final[part[q]] = r.final[q];
    for (uint32_t c = 0; c < kSymbols; ++c)
      table->next[size_t{part[q]} * 256 + (c == kPoint ? '.' : '0' + c)] = part[r.Next(q, c)];
  }
  return pool->Automaton(std::move(table), part[1]);
}

}  // namespace

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
  if (modulus > kMostStates || places > static_cast<int64_t>(kMostStates) ||
      modulus * (static_cast<uint64_t>(places) + 2) > kMostStates)
    ThrowTooLarge();
  const uint32_t n = static_cast<uint32_t>(modulus), most = static_cast<uint32_t>(places);
  // States: dead, start, zero, integer parts by remainder, fractions by places read and remainder.
  const uint32_t whole = 3, fraction = whole + n;
  Reader r(fraction + n * (most + 1));
  std::vector<uint32_t> scale(most + 1, 1 % n);  // by places missing
  for (uint32_t i = 1; i <= most; ++i) scale[i] = static_cast<uint32_t>(uint64_t{scale[i - 1]} * 10 % n);
  const auto divides = [&](uint32_t rest, uint32_t missing) { return uint64_t{rest} * scale[missing] % n == 0; };
  r.final[2] = bare_zero;
  const bool with_point = fractions && power <= 0;
  if (with_point) r.Next(2, kPoint) = fraction;
  if (power <= 0) r.Next(1, 0) = 2;
  for (uint32_t d = 1; d < 10; ++d) r.Next(1, d) = whole + d % n;
  for (uint32_t rest = 0; rest < n; ++rest) {
    const uint32_t q = whole + rest;
    for (uint32_t d = 0; d < 10; ++d) r.Next(q, d) = whole + (rest * 10 + d) % n;
    r.final[q] = divides(rest, most);
    if (with_point) r.Next(q, kPoint) = fraction + rest;
    for (uint32_t read = 0; read <= most; ++read) {
      const uint32_t f = fraction + read * n + rest;
      for (uint32_t d = 0; d < 10 && read < most; ++d) r.Next(f, d) = fraction + (read + 1) * n + (rest * 10 + d) % n;
      if (read == most && rest == 0) r.Next(f, 0) = f;
      r.final[f] = read > 0 && divides(rest, most - read);
    }
  }
  if (most == 0 && with_point) {  // a point, then zeros: one more state than remainders are told apart by
    r.final.push_back(1);
    r.next.insert(r.next.end(), kSymbols, 0);
    const uint32_t more = static_cast<uint32_t>(r.final.size() - 1);
    r.Next(more, 0) = r.Next(fraction, 0) = more;
  }
  const Expr e = ToExpression(&pool_, std::move(r));
  if (power <= 0) return e;
  const uint32_t trailing = static_cast<uint32_t>(power);
  return pool_.Union(zero_texts, pool_.Concat({e, pool_.Repeat(zero, trailing, trailing), pool_.Optional(zeros)}));
}

// d.ddd · 10^x, whose last digit is not zero, is m · 10^(x - places); a multiple where what is left of the power of
// ten, x - places - power, is not negative and makes up for what m lacks of the modulus's powers of two and five.
Expr JsonNumbers::ScientificMultiples(uint64_t modulus, int64_t power) {
  const Expr first = pool_.Bytes(ByteSet::Range('1', '9')), digit = pool_.Bytes(ByteSet::Range('0', '9'));
  const Expr point = pool_.Byte('.');
  std::vector<Expr> mantissas;  // by the powers of ten that they need
  if (modulus == 1) {
    mantissas.push_back(pool_.AnyBytes());
  } else {
    if (modulus > kMostStates / 2) ThrowTooLarge();
    const uint32_t n = static_cast<uint32_t>(modulus);
    std::vector<uint32_t> need(n);
    uint32_t most = 0;
    constexpr uint32_t kNever = 64;
    for (uint32_t rest = 0; rest < n; ++rest) {
      uint32_t left = rest;
      while (left && need[rest] < kNever) left = left * 10 % n, ++need[rest];
      if (need[rest] < kNever) most = std::max(most, need[rest]);
    }
    for (uint32_t k = 0; k <= most; ++k) {
      Reader r(2 + 2 * n);
      for (uint32_t d = 1; d < 10; ++d) r.Next(1, d) = 2 + d % n;
      for (uint32_t rest = 0; rest < n; ++rest) {
        r.Next(2 + rest, kPoint) = 2 + n + rest;
        for (uint32_t d = 0; d < 10; ++d) r.Next(2 + n + rest, d) = 2 + n + (rest * 10 + d) % n;
        r.final[2 + rest] = r.final[2 + n + rest] = need[rest] == k;
      }
      mantissas.push_back(ToExpression(&pool_, std::move(r)));
    }
  }
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  std::vector<Expr> parts;
  for (size_t k = 0; k < mantissas.size(); ++k)
    for (int64_t places = 0; places <= kMostFraction;) {
      // Canonical exponents leave out -4 to 15, so that many counts of places have the same.
      const auto least = [&](int64_t count) {
        const int64_t x = count + power + static_cast<int64_t>(k);
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
      shape = pool_.Concat(first, shape);
      parts.push_back(pool_.Concat(pool_.Intersect(shape, mantissas[k]), exponent));
      places = end;
    }
  return pool_.Union(std::move(parts));
}

Expr JsonNumbers::UnsignedMultiples(uint64_t modulus, int64_t power, bool integers, bool negative) {
  if (canonical_) {
    const Expr e = PlainMultiples(modulus, power, integers ? FractionStyle::kNone : FractionStyle::kAny, !negative);
    return integers ? e : pool_.Union(e, ScientificMultiples(modulus, power));
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

Expr JsonNumbers::MultipleOf(std::string_view q, bool integers) {
  const JsonNumber number = ParseJsonNumber(q);
  if (number.digits.empty() || number.negative)
    throw ConstraintError("multipleOf: expected a number above zero, got " + std::string(q));
  constexpr size_t kMostDigits = 18;
  if (number.digits.size() > kMostDigits) ThrowTooLarge();
  uint64_t modulus = std::stoull(number.digits);
  int64_t power = MagnitudeOf(number, false).point - static_cast<int64_t>(number.digits.size());
  if (integers && power < 0) {  // the least common multiple of q and 1
    for (uint64_t prime : {2, 5})
      for (int64_t i = power; i < 0 && modulus % prime == 0; ++i) modulus /= prime;
    power = 0;
  }
  Expr positive = UnsignedMultiples(modulus, power, integers, false);
  Expr negative = UnsignedMultiples(modulus, power, integers, true);
  return pool_.Union(positive, pool_.Concat(pool_.Byte('-'), negative));
}

}  // namespace tokamata
