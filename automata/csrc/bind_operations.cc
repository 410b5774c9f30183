#include "automata/csrc/bind.h"

namespace nb = nanobind;

namespace tokamata {

void BindOperations(nb::module_&) {}

}  // namespace tokamata
