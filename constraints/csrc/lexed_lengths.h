// LexedLengths: how many bytes a text of a lexed grammar needs at least.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "constraints/csrc/lexed_rules.h"

namespace tokamata {

// Lower bounds: lexemes are counted by the shortest of their terminals, what must stand between them is not. The least
// solution for rules (Knuth 1977), added up along the stacks; memoized.
class LexedLengths {
 public:
  LexedLengths(const LexedRules& rules, Lexer* lexer, ParserStates* stacks) : rules_(rules), lexer_(lexer), stacks_(stacks) {}

  uint32_t Least(const Position& p);

 private:
  void MakeRules();
  uint32_t OfStacks(StackSets::Set stacks);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  std::vector<uint32_t> of_state_;  // of the rule automata
  std::unordered_map<StackSets::Set, uint32_t> of_stacks_;
};

}  // namespace tokamata
