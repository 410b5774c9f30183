// CallGrammars: grammars that are parts of an expression, as rules that it calls.
#pragma once
#include "automata/csrc/expression.h"

namespace tokamata {

// The same language, in which grammars without a lexer are no automata but rules, one for each state of their own
// automata: who looks for the ends of texts can go past a call (see TextEnds), while the states of an automaton that
// nests have no end. Grammars with a lexer stay what they are, for what ends a lexeme in them is no matter of rules; so
// do those whose terminals nest.
Expr CallGrammars(Expressions* pool, Expr e);

}  // namespace tokamata
