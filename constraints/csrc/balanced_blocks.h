// BalanceBlocks: the derivations of a grammar with indentation that some text can have.
#pragma once
#include "constraints/csrc/grammar.h"
#include "constraints/csrc/parser_states.h"

namespace tokamata {

// The indents and dedents of a text match like brackets, and newlines between brackets are no terminals. A grammar that
// derives nothing else is returned as it is. Else each rule becomes one rule for each number of blocks that it opens and
// leaves open, or ends without having opened them, inside brackets and outside of them, and what no text can have is left
// out. UnsupportedError for a rule that can do so with any number of blocks, or more than a few: what it needs around
// itself is no context-free language; ConstraintError where nothing is left. Linear in a grammar whose rules end the
// blocks that they open. Brackets that not every alternative of a rule closes after opening them are not looked at.
Grammar BalanceBlocks(Grammar grammar, const Indentation& indentation);

}  // namespace tokamata
