// WithoutCounters: a wider language with fewer states.
#pragma once
#include "automata/csrc/expression.h"

namespace tokamata {

// A language with all texts of e, in which what is repeated many times is repeated any number of times, and rules are
// their outlines (RuleSource::Outline): what it has not, e has not. Counters in complements stay. O(size of e).
Expr WithoutCounters(Expressions* pool, Expr e);

}  // namespace tokamata
