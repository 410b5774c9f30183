// Python bindings of constraints/csrc.
#include "constraints/csrc/bind.h"

namespace nb = nanobind;

namespace tokamata {

void BindConstraints(nb::module_& m) {
  BindRegex(m);
  BindJson(m);
  BindJsonSchema(m);
  BindJsonWrite(m);
  BindGrammar(m);
  BindSubstrings(m);
  BindCaptures(m);
  BindDelimited(m);
  BindFreeText(m);
  BindRuleBodies(m);
  BindNotation(m);
  BindJsonLeaves(m);
  BindSchemaDocuments(m);
}

}  // namespace tokamata
