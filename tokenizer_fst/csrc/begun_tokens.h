// BegunTokens: the tokens that begin inside a character.
#pragma once
#include <cstdint>
#include <vector>

#include "tokenizer_fst/csrc/character_class.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {

// Those that can go on from a phase of UTF-8 (from 1 on), with respect to a class: what follows the bytes that the
// character lacks is factored as w·s, as below a trie node. Tokens that are some of these bytes are inside.
class BegunTokens {
 public:
  // O(tokens that begin inside a character).
  BegunTokens(const Trie& trie, const CharacterClass& c, uint8_t phase);
  BegunTokens(const BegunTokens&) = delete;
  BegunTokens& operator=(const BegunTokens&) = delete;

  const Factor& Tokens() const { return factor_; }

 private:
  std::vector<uint32_t> inside_, offsets_, exit_offsets_;
  std::vector<FactorExit> exits_;
  Factor factor_{};  // over these
};

}  // namespace tokamata
