// BegunTokens: the tokens that begin inside a character.
#pragma once
#include <cstdint>
#include <vector>

#include "tokenizer_fst/csrc/character_class.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {

// Those that can go on from where a character lacks some bytes, any of 80 to BF, with respect to a class: what follows
// the lacking bytes is factored as w·s, as below a trie node. Tokens that are some of the lacking bytes are inside.
class BegunTokens {
 public:
  // O(tokens that begin inside a character).
  BegunTokens(const Trie& trie, const CharacterClass& c, uint32_t lacking);
  BegunTokens(const BegunTokens&) = delete;
  BegunTokens& operator=(const BegunTokens&) = delete;

  const Factor& Tokens() const { return factor_; }

 private:
  std::vector<uint32_t> inside_, offsets_, exit_offsets_;
  std::vector<FactorExit> exits_;
  Factor factor_{};  // over these
};

}  // namespace tokamata
