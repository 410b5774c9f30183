#include "automata/csrc/bind.h"

namespace nb = nanobind;

namespace tokamata {

void BindExpressions(nb::module_&) {}

}  // namespace tokamata
