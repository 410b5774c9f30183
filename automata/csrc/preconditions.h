// Preconditions, limits and tolerances that the operations share.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "automata/csrc/check.h"
#include "automata/csrc/fst.h"

namespace tokamata {

constexpr float kDelta = 1.0f / 1024;               // OpenFst's tolerance when weights are compared
constexpr float kShortestDelta = 1e-6f;             // OpenFst's tolerance of shortest distances
constexpr int64_t kDefaultMaxStates = 20'000'000;   // states that one operation may make
constexpr int64_t kDefaultMaxArcs = 200'000'000;    // arcs that one operation may make
constexpr int64_t kDefaultMaxElements = 100'000'000;  // states of the operand in all subsets together
constexpr int64_t kDefaultMaxVisits = 10'000;       // visits of one state while a sum over cycles converges

// The nearest multiple of delta; 0 has one sign.
inline float Quantize(float weight, float delta) {
  if (!std::isfinite(weight) || delta <= 0) return weight;
  return static_cast<float>(std::floor(static_cast<double>(weight) / delta + 0.5) * delta) + 0.0f;
}
inline uint64_t Bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline bool ApproxEqual(float a, float b, float delta) { return a == b || std::fabs(a - b) <= delta; }

bool IsAcceptor(const Fst& fst);
// True where no arc has an epsilon on its input side.
bool IsInputEpsilonFree(const Fst& fst);
// True where no state has two arcs with one input label (epsilon counts as a label).
bool IsInputDeterministic(const Fst& fst);
// True where no state has two arcs with one pair of labels.
bool IsPairDeterministic(const Fst& fst);
bool IsSorted(const Fst& fst, bool by_output);
// True where every weight is the semiring's one, or, for final weights, zero.
bool IsUnweighted(const Fst& fst);

// Each throws FstError with the operation's name, what was expected, what was found and the remedy.
void RequireAcceptor(const char* operation, const Fst& fst, const char* operand);
void RequireDeterministicAcceptor(const char* operation, const Fst& fst, const char* operand);
void RequirePathSemiring(const char* operation, const Fst& fst);
// Two tables match where one is absent or both hold the same pairs of label and name.
void RequireSameSymbols(const char* operation, const char* what, const std::shared_ptr<const SymbolTable>& a,
                        const std::shared_ptr<const SymbolTable>& b);

// Throws LimitError where more would be made than given.
[[noreturn]] void FailLimit(const char* operation, const char* limit, int64_t given, const std::string& advice);
inline void CheckLimit(const char* operation, const char* limit, size_t reached, int64_t given, const char* advice) {
  if (static_cast<int64_t>(reached) > given) FailLimit(operation, limit, given, advice);
}

}  // namespace tokamata
