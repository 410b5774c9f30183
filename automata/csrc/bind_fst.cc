#include "automata/csrc/bind.h"

namespace nb = nanobind;

namespace tokamata {

void BindFst(nb::module_&) {}

}  // namespace tokamata
