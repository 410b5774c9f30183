// Summaries: which states of a regular language the texts of a push-down one lead between.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/regular_operand.h"

namespace tokamata {

// Whether a push-down and a regular language have a text in common, decided: for a part e of the former and a state r of
// the latter, the states that texts of e lead to from r are the least solution of finitely many equations, one for each
// pair that is met (Bar-Hillel, Perles, Shamir 1961; as summaries: Reps, Horwitz, Sagiv 1995). Rules call one another
// in any way. O(pairs · states) set operations; most_pairs limits the pairs.
class Summaries {
 public:
  Summaries(Expressions* pool, size_t most_pairs) : pool_(pool), operand_(pool), most_pairs_(most_pairs) {}

  enum class Answer { kNo, kYes, kUnknown };  // kUnknown: push-down parts inside intersections or complements
  Answer Meet(Expr push_down, Expr regular);

 private:
  struct Node {
    Expr e, from;
    std::vector<Expr> out;                          // states that texts of e lead to
    std::vector<uint32_t> copies;                   // nodes that have all of out too
    std::vector<std::pair<Expr, uint32_t>> follow;  // what comes next, of which node
  };
  uint32_t NodeOf(Expr e, Expr from);
  void AddOut(uint32_t node, Expr to);
  void AddCopy(uint32_t from, uint32_t to);
  void AddFollow(uint32_t from, Expr next, uint32_t to);
  bool Expand(uint32_t node);
  void ReadRegular(uint32_t node);

  Expressions* pool_;
  RegularOperand operand_;
  const size_t most_pairs_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> node_of_;
  std::vector<uint32_t> fresh_;
  std::vector<std::pair<uint32_t, Expr>> news_;
};

}  // namespace tokamata
