// Python bindings of decode/csrc.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace tokamata {

void BindDecode(nb::module_&) {}

}  // namespace tokamata
