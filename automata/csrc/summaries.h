// Summaries: which states of a regular language the texts of a push-down one lead between.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/regular_operand.h"
#include "automata/csrc/summary_graph.h"

namespace tokamata {

// Whether a push-down and a regular language have a text in common, decided: for a part e of the former and a state r
// of the latter, the states that texts of e lead to from r are the least solution of finitely many equations, one for
// each pair that is met (Bar-Hillel, Perles, Shamir 1961; as summaries: Reps, Horwitz, Sagiv 1995). Rules call one
// another in any way. O(pairs · states) set operations; most_pairs limits the pairs.
class Summaries {
 public:
  Summaries(Expressions* pool, size_t most_pairs) : Summaries(pool, most_pairs, nullptr) {}
  // The regular language may be one of another pool.
  Summaries(Expressions* pool, size_t most_pairs, RegularOperand* operand)
      : pool_(pool), rows_(pool), operand_(operand ? operand : &rows_), most_pairs_(most_pairs) {}

  // kUnknown: push-down parts inside intersections or complements, or leaves that cannot tell. With `bounded` such
  // leaves may have more texts (see BoundedLeaf), so that the answer is kNo or kUnknown.
  enum class Answer { kNo, kYes, kUnknown };
  Answer Meet(Expr push_down, Expr regular, bool bounded = false);
  // Adds the states that texts of the former lead to from one of the latter; false where that is unknown.
  bool Ends(Expr push_down, Expr from, std::vector<Expr>* out);

 private:
  using Node = SummaryGraph::Node;
  bool Expand(Node node);
  void ReadRegular(Node node);
  void Spend(size_t pairs, const char* what) const;

  Expressions* pool_;
  RegularOperand rows_;  // of regular parts
  RegularOperand* operand_;
  const size_t most_pairs_;
  bool bounded_ = false;
  SummaryGraph graph_;  // of parts, entered in states
};

}  // namespace tokamata
