// LexedLengths: how many bytes, or characters, a text of a lexed grammar needs at least.
#pragma once
#include <cstdint>
#include <memory>

#include "constraints/csrc/lexed_rules.h"
#include "constraints/csrc/stack_lengths.h"

namespace tokamata {

// Lower bounds: lexemes are counted by the shortest of their terminals, what must stand between them is not.
class LexedLengths {
 public:
  LexedLengths(const LexedRules& rules, Lexer* lexer, ParserStates* stacks) : rules_(rules), lexer_(lexer), stacks_(stacks) {}

  uint32_t Least(const Position& p);
  // Bytes that go on with a character are none.
  uint32_t LeastCharacters(const Position& p);

 private:
  uint32_t Least(const Position& p, bool characters);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  std::unique_ptr<StackLengths> lengths_[2];  // in bytes, in characters
};

}  // namespace tokamata
