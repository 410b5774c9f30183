#include "automata/csrc/intersect.h"

#include "automata/csrc/connect.h"

namespace tokamata {

std::unique_ptr<DelayedFst> MakeIntersectFst(const Fst& a, const Fst& b, const ComposeOptions& options,
                                             const char* operation) {
  RequireAcceptor(operation, a, "the first operand");
  RequireAcceptor(operation, b, "the second operand");
  return std::make_unique<ComposeFst>(a, b, options, operation);
}

Fst Intersect(const Fst& a, const Fst& b, const ComposeOptions& options) {
  const std::unique_ptr<DelayedFst> delayed = MakeIntersectFst(a, b, options);
  Fst result = Materialize("intersect", delayed.get(), options.max_arcs);
  if (options.connect) result = Connect(result);
  return result;
}

}  // namespace tokamata
