// Python bindings of tokenizer_fst/csrc.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace tokamata {

void BindTokenizerFst(nb::module_&) {}

}  // namespace tokamata
