// Mohri's semirings over float weights, with OpenFst's conventions: tropical and log weights are negative logs.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "automata/csrc/errors.h"

namespace tokamata {

enum class SemiringKind : uint8_t { kTropical = 0, kLog = 1, kBoolean = 2 };

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// (min, +): weights are costs. Idempotent; has the path property.
struct Tropical {
  static constexpr SemiringKind kKind = SemiringKind::kTropical;
  static constexpr const char* kName = "tropical";
  static constexpr bool kIdempotent = true;
  static constexpr bool kPath = true;
  static constexpr float Zero() { return kInfinity; }
  static constexpr float One() { return 0.0f; }
  static float Plus(float a, float b) { return a < b ? a : b; }
  static float Times(float a, float b) { return a == kInfinity || b == kInfinity ? kInfinity : a + b; }
  // Left and right division; b must not be zero.
  static float Divide(float a, float b) { return a == kInfinity ? kInfinity : a - b; }
};

// (-log(e^-a + e^-b), +): weights are negative log probabilities.
struct Log {
  static constexpr SemiringKind kKind = SemiringKind::kLog;
  static constexpr const char* kName = "log";
  static constexpr bool kIdempotent = false;
  static constexpr bool kPath = false;
  static constexpr float Zero() { return kInfinity; }
  static constexpr float One() { return 0.0f; }
  static float Plus(float a, float b) {
    if (a == kInfinity) return b;
    if (b == kInfinity) return a;
    const float low = a < b ? a : b, high = a < b ? b : a;
    return low - std::log1p(std::exp(low - high));
  }
  static float Times(float a, float b) { return a == kInfinity || b == kInfinity ? kInfinity : a + b; }
  static float Divide(float a, float b) { return a == kInfinity ? kInfinity : a - b; }
};

// ({0, 1}, or, and): unweighted automata. Weights are 0.0 and 1.0.
struct Boolean {
  static constexpr SemiringKind kKind = SemiringKind::kBoolean;
  static constexpr const char* kName = "boolean";
  static constexpr bool kIdempotent = true;
  static constexpr bool kPath = true;
  static constexpr float Zero() { return 0.0f; }
  static constexpr float One() { return 1.0f; }
  static float Plus(float a, float b) { return a != 0.0f || b != 0.0f ? 1.0f : 0.0f; }
  static float Times(float a, float b) { return a != 0.0f && b != 0.0f ? 1.0f : 0.0f; }
  static float Divide(float a, float) { return a; }
};

// Calls f with the semiring's type as a value, e.g. VisitSemiring(kind, [&](auto s) { using S = decltype(s); ... }).
template <class F>
decltype(auto) VisitSemiring(SemiringKind kind, F&& f) {
  switch (kind) {
    case SemiringKind::kTropical: return f(Tropical{});
    case SemiringKind::kLog: return f(Log{});
    case SemiringKind::kBoolean: return f(Boolean{});
  }
  throw FstError("unknown semiring");
}

}  // namespace tokamata
