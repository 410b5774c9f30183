// The one native module: each folder binds its own part.
#include <nanobind/nanobind.h>

#include <cstdlib>

namespace tokamata {
void BindAutomata(nanobind::module_& m);
void BindConstraints(nanobind::module_& m);
void BindTokenizerFst(nanobind::module_& m);
void BindDecode(nanobind::module_& m);
}  // namespace tokamata

NB_MODULE(_core, m) {
  // What daemon threads still hold when Python ends is no leak that its user could mend; tests ask for it.
  nanobind::set_leak_warnings(std::getenv("TOKAMATA_LEAK_WARNINGS") != nullptr);
  m.doc() = "Tokamata's native core: automata, constraints, vocabularies and masks. Use the Python packages.";
  tokamata::BindAutomata(m);
  tokamata::BindConstraints(m);
  tokamata::BindTokenizerFst(m);
  tokamata::BindDecode(m);
}
