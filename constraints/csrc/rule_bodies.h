// RuleBodies: rules whose bodies are given as trees of regular languages, operators and calls.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// The bodies in one arena, in which operands stand before what is made of them; shared by all copies of the rules, and
// never changed once they are checked.
struct RuleBodies {
  enum class Kind : uint8_t { kLeaf, kConcat, kUnion, kRepeat, kCall };
  struct Node {
    Kind kind = Kind::kLeaf;
    std::vector<uint32_t> operands;  // kConcat, kUnion: any number; kRepeat: one; otherwise none
    uint32_t low = 0, high = 0;      // kRepeat; high may be kUnbounded
    uint32_t index = 0;              // kLeaf: into leaf_texts; kCall: a rule
  };
  Expressions leaves;
  std::vector<Expr> leaf_texts;  // in `leaves`; without rules and delayed automata
  std::vector<Node> nodes;
  std::vector<uint32_t> bodies;  // by rule: a node
  std::vector<std::string> names;

  // Filled by CheckRuleBodies, by rule.
  struct Facts {
    bool productive = false, nullable = false;
    ByteSet first;
  };
  std::vector<Facts> facts;
};

// Least fixpoint of the facts; O(rounds · nodes), few rounds where callers stand before what they call. Throws
// ConstraintError for operands that do not stand before their node, and for a rule that can call itself before it has
// read anything.
void CheckRuleBodies(RuleBodies* bodies);

// The body of the first rule, where nothing is called and the leaves are of the pool. Throws as CheckRuleBodies does.
Expr FirstBody(Expressions* pool, const RuleBodies& bodies);

// The language of the first rule; kEmpty where it has no member. The pool gets a rule source.
Expr CallFirstRule(Expressions* pool, std::shared_ptr<const RuleBodies> bodies);

}  // namespace tokamata
