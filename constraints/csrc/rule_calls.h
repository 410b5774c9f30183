// RuleCalls: the rules of a scannerless grammar for expressions to call.
#pragma once
#include <memory>

#include "automata/csrc/expression.h"
#include "constraints/csrc/grammar.h"
#include "constraints/csrc/rule_automata.h"

namespace tokamata {

// The language of a grammar whose terminals are languages, concatenated as they stand; each state of its rule automata
// is a rule. Throws ConstraintError where the grammar has no text.
Expr CompileScannerless(const Grammar& grammar, Expressions* pool, const std::vector<Expr>& terminals);

}  // namespace tokamata
