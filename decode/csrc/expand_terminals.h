// Terminal labels replaced by the tokens they stand for.
#pragma once
#include <cstdint>

#include "automata/csrc/fst.h"

namespace tokamata {

// The acceptor with every terminal arc replaced by arcs of its tokens, arcs in order of labels. offsets has
// `terminals` + 1 entries. FstError for a label that is no token and no terminal, LimitError past max_arcs.
Fst ExpandTerminals(const Fst& fst, uint32_t num_tokens, const int64_t* offsets, size_t terminals, const int32_t* ids,
                    uint64_t max_arcs);

}  // namespace tokamata
