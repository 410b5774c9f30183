// SplitMeets: whether push-down languages that are read side by side have a common text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// An intersection of a·r with complements of b·s, where a and b are read from the same place and no text of either
// begins one of the other (RuleSource::End, or regular expressions of which that shows), has a text if
//   a & ~b has one, and r has one; or
//   a has one, and r & ~s has one;
// and likewise with more of them, for each choice of those that end along. So what is in brackets is asked about once,
// whatever comes after it, and rules lead to finitely many intersections although calls nest without bound. Which of
// these have a text is the least solution of the equations; everything else is read byte by byte.
class SplitMeets {
 public:
  enum class Answer { kNo, kYes, kUnknown };
  SplitMeets(Expressions* pool, size_t most) : pool_(pool), most_(most) {}
  // kUnknown: past the limit. Keeps what it finds out in the pool.
  Answer Find(Expr meet);

 private:
  using Node = uint32_t;
  struct State {
    Expr e;              // kEmpty: all of what it waits for
    uint32_t missing;    // of what it waits for, until it has a text
    std::vector<Node> readers;
  };
  struct Way {
    Expr head, call, rest;  // the call that head is, or ends with behind blanks; kEmpty: head is regular
  };
  // The ways to begin of a member of an intersection.
  struct Side {
    bool complement = false;
    bool blanks = false;  // before calls are read with them
    std::vector<Way> ways;
    ByteSet others;  // that it may begin with otherwise
    uint32_t visited = 0;
  };

  Node NodeOf(Expr e);
  void AddReader(Node node, Node reader);
  void HasText(Node node);
  void Expand(Node node);
  void ExpandMeet(Node node, Expr e);
  void AddWays(Expr e, Expr rest, Side* side);
  bool SplitCalls(const std::vector<Side>& sides, std::vector<Side>* split, ByteSet* first) const;
  bool SplitRegular(const std::vector<Side>& sides);
  bool AddPairs(Node node, const std::vector<Side>& sides);

  Expressions* pool_;
  const size_t most_;
  std::vector<State> states_;
  std::unordered_map<Expr, Node> nodes_;
  std::vector<Node> work_, news_;
};

}  // namespace tokamata
