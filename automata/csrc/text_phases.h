// TextPhases: whether what an expression reads is text throughout.
#pragma once
#include <cstdint>

#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/utf8.h"

namespace tokamata {

class TextPhases {
 public:
  // Whether some member of e may have a byte with which it is no longer the beginning of a text in UTF-8; true where
  // that is not known. Rules, leaves and lists of texts are taken for text. O(expressions below e), once for each.
  bool Leaves(const Expressions& pool, Expr e);

 private:
  struct Ways {
    uint8_t to[Utf8Phase::kNumPhases] = {};  // by phase before: those after a member, as bits, and maybe more
    uint8_t leaves = 0;                      // the phases in which some member begins that is no text
  };
  static Ways OfBytes(const ByteSet& bytes);
  static Ways Then(const Ways& a, const Ways& b);
  static Ways Repeated(const Ways& turn, bool none);
  Ways Of(const Expressions& pool, Expr e);
  Ways Find(const Expressions& pool, Expr e);

  FlatMap<Expr, Ways> known_;
};

}  // namespace tokamata
