#include "automata/csrc/bind.h"

namespace nb = nanobind;

namespace tokamata {

void BindAlgorithms(nb::module_&) {}

}  // namespace tokamata
