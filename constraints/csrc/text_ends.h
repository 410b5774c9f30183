// TextEnds: where texts of a rule end for sure, so that whoever looks for what may be reached can go past a call.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// A text of a call is left by the first byte with which no longer text of it goes on. Where no text of the rule begins
// another one, as with values in brackets, or where what follows the call begins with none of the bytes that longer
// texts go on with, what is left after any text of it is what followed the call. So searches meet finitely many
// expressions although rules call each other without end.
class TextEnds {
 public:
  explicit TextEnds(Expressions* pool) : pool_(pool) {}

  // Whether that is known to hold for a call with a rest behind it; false where it takes too long to find out.
  bool AreSure(Expr call, Expr rest);
  enum class Answer { kNo, kYes, kUnknown };
  // Whether no text of e begins another one.
  Answer AreUnique(Expr e);

 private:
  struct Facts {
    bool known = false;   // else it is assumed while rules that call each other are looked at
    bool failed = false;  // it takes too long
    ByteSet longer;       // bytes that follow a text of the call in a longer one, or more
  };
  bool AreSure(const Facts& facts, Expr rest) const;
  bool RuleEnds(Expr call) const;
  Answer SearchLonger(Expr e);  // of one that calls nothing
  const Facts& FactsOf(Expr call);
  // The bytes of one call, as far as the facts about others are right; calls without facts are appended to `assumed`.
  // False where `left`, which counts down, is used up.
  bool Explore(Expr call, std::vector<Expr>* assumed, size_t* left, ByteSet* longer);

  Expressions* pool_;
  std::unordered_map<Expr, Facts> facts_;
};

}  // namespace tokamata
