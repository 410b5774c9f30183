// CountedMeets: whether an expression has members of so many characters.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"

namespace tokamata {

// x & c{low,high} has a member where x has one of k characters c, low <= k <= high. A search for it visits every state of
// x once for each count. But for which k a state of x has members repeats itself, as k grows, with a period: what is
// left after k + 1 characters is found from what is left after k by one look at every state, and there are finitely many
// answers for all of them together. (The lengths of a regular language's members are ultimately periodic: Parikh 1966
// for one letter.)
class CountedMeets {
 public:
  enum class Answer { kNo, kYes, kUnknown };
  // Of an intersection that was explored, or that a step of such a one led to; O(preperiod + period).
  Answer Find(Expressions* pool, Expr e) const;
  // Finds the answers for e = x & c{low,high} and all that it leads to at the end of a character, where no member of c
  // begins another one and x has few states. O(states of x, times preperiod and period).
  void Explore(Expressions* pool, Expr e);
  // Texts of x that y has not, as one expression, for x = c{low,high}·rest and y = c{low',high'}·rest, both maybe behind
  // the same characters that were begun: a text has one number of characters, where no c begins another one or like the
  // rest. False where x and y are not of this form, or the numbers are two ranges.
  bool Difference(Expressions* pool, Expr x, Expr y, Expr* left);
  // Whether no text of e, which is regular, begins another one; false where that takes long to find out.
  bool IsCode(Expressions* pool, Expr e);

 private:
  struct Counted {
    Expr others, body;
    uint32_t low, high;
  };
  static bool Split(Expressions* pool, Expr e, Counted* out);
  struct States;
  struct Counts {
    std::vector<std::vector<uint64_t>> has;  // by number of characters: states with members of so many, as bits
    size_t period = 0;                       // after the last, the last so many come again
  };
  bool Count(const States& states, Counts* counts) const;

  struct Place {
    uint32_t counts = 0, state = 0;
  };
  std::vector<Counts> counts_;
  FlatMap<uint64_t, Place> places_;  // by x and c
  FlatMap<uint64_t, bool> failed_;   // the same
  FlatMap<Expr, bool> codes_;        // of which no text begins another one
};

}  // namespace tokamata
