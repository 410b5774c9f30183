#include "automata/csrc/check.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "automata/csrc/errors.h"

namespace tokamata {
namespace {

std::string Number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

}  // namespace

SemiringKind ParseSemiring(const std::string& name) {
  if (name == "tropical") return SemiringKind::kTropical;
  if (name == "log") return SemiringKind::kLog;
  if (name == "boolean") return SemiringKind::kBoolean;
  throw FstError("Fst: unknown semiring \"" + name + "\"; expected \"tropical\", \"log\" or \"boolean\"");
}

const char* SemiringName(SemiringKind kind) {
  return VisitSemiring(kind, [](auto s) { return decltype(s)::kName; });
}

float ZeroOf(SemiringKind kind) {
  return VisitSemiring(kind, [](auto s) { return decltype(s)::Zero(); });
}

float OneOf(SemiringKind kind) {
  return VisitSemiring(kind, [](auto s) { return decltype(s)::One(); });
}

Label CheckLabel(int64_t label, const char* operation, const char* what) {
  if (label < 0 || label > std::numeric_limits<Label>::max())
    throw FstError(std::string(operation) + ": " + what + " must be 0..2147483647 (0 is epsilon), got " +
                   std::to_string(label) + "; number the labels from 1");
  return static_cast<Label>(label);
}

bool IsMember(SemiringKind kind, float w) {
  if (kind == SemiringKind::kBoolean) return w == 0.0f || w == 1.0f;
  return !std::isnan(w) && w != -kInfinity;
}

float CheckWeight(SemiringKind kind, double weight, const char* operation) {
  const float w = static_cast<float>(weight);
  if (!IsMember(kind, w) || (std::isinf(w) && !std::isinf(weight)))
    throw FstError(std::string(operation) + ": " + Number(weight) + " is not a weight of the " + SemiringName(kind) +
                   " semiring; expected " +
                   (kind == SemiringKind::kBoolean ? "0 or 1" : "a number above -infinity that fits a 32-bit float"));
  return w;
}

void CheckRoom(const Fst& fst, int64_t n, const char* operation) {
  if (n < 0)
    throw FstError(std::string(operation) + ": the number of states must not be negative, got " + std::to_string(n));
  const int64_t most = std::numeric_limits<StateId>::max();
  if (n > most - fst.NumStates())
    throw LimitError(std::string(operation) + ": limit states " + std::to_string(most) + " reached: " +
                     std::to_string(fst.NumStates()) + " states and " + std::to_string(n) + " more; use a smaller Fst");
}

void CheckSameSemiring(const Fst& a, const Fst& b, const char* operation) {
  if (a.Semiring() != b.Semiring())
    throw FstError(std::string(operation) + ": both Fsts must have the same semiring, got " +
                   SemiringName(a.Semiring()) + " and " + SemiringName(b.Semiring()) +
                   "; build one of them again over the other's semiring");
}

std::shared_ptr<const SymbolTable> MergeSymbols(const std::shared_ptr<const SymbolTable>& a,
                                                const std::shared_ptr<const SymbolTable>& b, const char* operation) {
  if (a && b && a != b && !a->SameEntries(*b))
    throw FstError(std::string(operation) + ": the symbol tables \"" + a->Name() + "\" and \"" + b->Name() +
                   "\" give labels different names; build both Fsts with one table, or set one table to None");
  return a ? a : b;
}

}  // namespace tokamata
