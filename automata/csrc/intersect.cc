#include "automata/csrc/intersect.h"

#include "automata/csrc/connect.h"

namespace tokamata {

Fst Intersect(const Fst& a, const Fst& b, const ComposeOptions& options) {
  RequireAcceptor("intersect", a, "the first operand");
  RequireAcceptor("intersect", b, "the second operand");
  ComposeFst delayed(a, b, options, "intersect");
  Fst result = Materialize("intersect", &delayed, options.max_arcs);
  if (options.connect) result = Connect(result);
  return result;
}

}  // namespace tokamata
