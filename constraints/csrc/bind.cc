// Python bindings of constraints/csrc.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace tokamata {

void BindConstraints(nb::module_&) {}

}  // namespace tokamata
