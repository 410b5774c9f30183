// The one native module: each folder binds its own part.
#include <nanobind/nanobind.h>

namespace tokamata {
void BindAutomata(nanobind::module_& m);
void BindConstraints(nanobind::module_& m);
void BindTokenizerFst(nanobind::module_& m);
void BindDecode(nanobind::module_& m);
}  // namespace tokamata

NB_MODULE(_core, m) {
  m.doc() = "Tokamata's native core: automata, constraints, vocabularies and masks. Use the Python packages.";
  tokamata::BindAutomata(m);
  tokamata::BindConstraints(m);
  tokamata::BindTokenizerFst(m);
  tokamata::BindDecode(m);
}
