// AT&T's text format of machines, as fstcompile and fstprint use it.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "automata/csrc/fst.h"

namespace tokamata {

struct TextOptions {
  bool acceptor = false;  // one label column
  SemiringKind semiring = SemiringKind::kTropical;  // reading
  bool show_weight_one = false;                     // writing
  std::shared_ptr<const SymbolTable> isymbols, osymbols;  // null: labels are numbers
};

// Lines "source target ilabel olabel [weight]" (acceptor: "source target label [weight]") and "state [weight]" for
// final states, fields split by blanks and tabs. States are numbered as they occur; the first line's first state is the
// start. The weight is one where left out, "Infinity" is zero; boolean machines are written as tropical ones. FstError
// names the line. O(length).
Fst FromText(std::string_view text, const TextOptions& options);

// The start state's lines first, then the other states' in order; a dead end is listed as final with weight Infinity.
// Nothing where there is no start state. FstError where a label has no name in its table or a name has blanks, and
// where an acceptor is asked for but labels differ. O(states + arcs).
std::string ToText(const Fst& fst, const TextOptions& options);

}  // namespace tokamata
