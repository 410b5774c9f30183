// LexedLengths: how many bytes, or characters, a text of a lexed grammar needs at least, and whether some bytes suffice.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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
  // Whether no text from a position has only these bytes: terminals that the stacks need have others in all of their
  // lexemes. False where that is not found out.
  bool CannotEnd(const Position& p, const ByteSet& bytes);

 private:
  uint32_t Least(const Position& p, bool characters);
  uint32_t Least(const Position& p, StackLengths* lengths, bool characters);
  std::unique_ptr<StackLengths> Make(std::vector<uint32_t> of_terminal);
  bool MayBeWritten(uint32_t terminal, const ByteSet& bytes);

  const LexedRules& rules_;
  Lexer* lexer_;
  ParserStates* stacks_;
  std::unique_ptr<StackLengths> lengths_[2];  // in bytes, in characters
  std::vector<std::pair<ByteSet, std::unique_ptr<StackLengths>>> within_;  // with these bytes; null: all can be written
};

}  // namespace tokamata
