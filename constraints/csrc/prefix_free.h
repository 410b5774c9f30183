// PrefixFree: rules of which no text begins another one, as those of values in brackets.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// Where such a rule is called, what is left after any text of it is what followed the call; so whoever looks for what
// may be reached goes past it, and meets finitely many expressions although rules call each other without end.
class PrefixFree {
 public:
  explicit PrefixFree(Expressions* pool) : pool_(pool) {}

  // Whether a call is known to have texts, not the empty one, none of which begins another one; false where that takes
  // too long to find out.
  bool Holds(Expr call);

 private:
  // Whether that shows although all rules of `assumed`, which grows, are; `left` counts down.
  bool Explore(Expr call, std::vector<Expr>* assumed, size_t* left);

  Expressions* pool_;
  std::unordered_map<Expr, bool> known_;
};

}  // namespace tokamata
