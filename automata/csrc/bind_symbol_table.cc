#include "automata/csrc/bind.h"

namespace nb = nanobind;

namespace tokamata {

void BindSymbolTable(nb::module_&) {}

}  // namespace tokamata
