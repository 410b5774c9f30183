// Checks of what comes from outside: labels, weights, names of semirings. Each throws FstError with operation,
// expected, got and remedy.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "automata/csrc/fst.h"

namespace tokamata {

constexpr size_t kMaxArcsOfState = 0x7fffffff;  // arcs of one state

// "tropical", "log" or "boolean".
SemiringKind ParseSemiring(const std::string& name);
const char* SemiringName(SemiringKind kind);
float ZeroOf(SemiringKind kind);
float OneOf(SemiringKind kind);

// A label is 0..2^31-1; 0 is epsilon.
Label CheckLabel(int64_t label, const char* operation, const char* what);
// A weight is a member of the semiring: not NaN, not -infinity; 0 or 1 where boolean. Rounded to float.
float CheckWeight(SemiringKind kind, double weight, const char* operation);
bool IsMember(SemiringKind kind, float weight);
// n more states fit.
void CheckRoom(const Fst& fst, int64_t n, const char* operation);
// Both Fsts have the same semiring.
void CheckSameSemiring(const Fst& a, const Fst& b, const char* operation);

// The symbol table of a result made from two tapes: the one that is set, or either where both have the same entries.
std::shared_ptr<const SymbolTable> MergeSymbols(const std::shared_ptr<const SymbolTable>& a,
                                                const std::shared_ptr<const SymbolTable>& b, const char* operation);

}  // namespace tokamata
