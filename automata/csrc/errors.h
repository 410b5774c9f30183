// Errors that reach Python under the names of tokamata.automata.errors (bound in bind.cc).
#pragma once
#include <stdexcept>
#include <string>

namespace tokamata {

// A malformed source: pattern, file, vocabulary. The base of the errors that name a place in a source.
struct ConstraintError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
// A well-formed source that cannot be enforced exactly.
struct UnsupportedError : ConstraintError {
  using ConstraintError::ConstraintError;
};
// An Fst operation or file that is refused.
struct FstError : ConstraintError {
  using ConstraintError::ConstraintError;
};
// A vocabulary or tokenizer file that is refused.
struct VocabularyError : ConstraintError {
  using ConstraintError::ConstraintError;
};
// A named limit that was reached.
struct LimitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A LimitError about what has been kept: states, expressions. Somebody who begins anew has room again.
struct CapacityError : LimitError {
  using LimitError::LimitError;
};
// A token that the constraint does not allow here.
struct TokenRejected : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
// A token budget that no member of the language fits.
struct BudgetError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace tokamata
