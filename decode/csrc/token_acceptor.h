// TokenAcceptor: the reachable part of D ∘ A as an explicit acceptor over tokens, wildcards as terminal labels.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/fst.h"
#include "automata/csrc/language.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// Label t + 1 is token t. Label Size() + 1 + i of the vocabulary's size is terminal i: the tokens
// ids[offsets[i]] … ids[offsets[i + 1] - 1], rising. The sets out of one state are disjoint, so that with every
// terminal replaced by its tokens the machine is deterministic.
struct TokenAcceptor {
  Fst fst{SemiringKind::kTropical};
  std::vector<uint64_t> offsets{0};
  std::vector<uint32_t> ids;
};

struct TokenAcceptorOptions {
  uint32_t min_tokens;  // smaller sets are plain arcs
  uint32_t max_states;
  uint64_t max_bytes;   // of arcs, sets and what is looked up for each kind of loop, together
};

// States are those of the acceptor that tokens reach, in the order of a breadth-first search, without dead ends; arcs
// are in order of labels. The language's own acceptor gets no new states. LimitError past a limit, of time too. Source:
// Koo et al. 2024, §2.5.1 (there terminals are a heuristic; here they are exact). O(states · (longest token + tokens
// that leave a loop)), and a sweep over the trie for each class of characters and each state that allows much without
// looping.
TokenAcceptor MakeTokenAcceptor(const Language& language, const Vocabulary& vocabulary,
                                const TokenAcceptorOptions& options);

}  // namespace tokamata
