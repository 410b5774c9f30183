// D, the detokenizing transducer: token ids in, bytes out.
#pragma once
#include "automata/csrc/fst.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

constexpr Label kNulLabel = 256;  // label 0 is epsilon, so byte 0 is label 256 and byte b is label b
inline Label ByteLabel(uint8_t byte) { return byte ? byte : kNulLabel; }
inline Label TokenLabel(uint32_t token) { return static_cast<Label>(token + 1); }

// The prefix trie of the tokens' bytes with arcs epsilon:byte, and an arc token:epsilon from the end of each token's
// path to the root, which is start and final (Koo, Liu & He 2024, §2.3). States are the trie's nodes in depth-first
// preorder, the root is 0. Tokens with equal bytes are parallel arcs; special and empty tokens have no arc. A state's
// arcs are sorted by output label: tokens first (by id), then bytes, NUL last. Tropical, all weights one.
// O(nodes + tokens) after sorting the tokens.
Fst Lexicon(const Vocabulary& vocabulary);

}  // namespace tokamata
