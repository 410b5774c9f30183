// Masks and steps of many decoding states at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/csrc/decode_state.h"
#include "decode/csrc/workers.h"

namespace tokamata {

// What went wrong in one row. The others are not concerned.
struct RowError {
  enum Kind : uint8_t { kRejected, kLimit, kConstraint, kMemory, kOther } kind;
  size_t row;
  std::string text;
};

// Writes the mask of each state into its row of `out`, `words` words apart (at least as many as its automaton has). The
// words behind a mask are 0. Where the state is null every bit of the row is set. A row is never empty: where a state
// is finished, and where its mask cannot be computed, the row allows EOS and nothing else. The states are all
// different.
std::vector<RowError> FillMasks(const std::vector<const DecodeState*>& states, uint32_t* out, size_t words,
                                Workers* workers);

// Appends one token to each state. Null and finished states, and tokens below 0, are left out. A state that refuses its
// token stays as it is.
std::vector<RowError> AdvanceAll(const std::vector<DecodeState*>& states, const int64_t* tokens, Workers* workers);

}  // namespace tokamata
