// Python bindings of tokenizer_fst/csrc.
#include "tokenizer_fst/csrc/bind.h"

namespace nb = nanobind;

namespace tokamata {

void BindTokenizerFst(nb::module_& m) {
  BindVocabulary(m);
  BindLexicon(m);
}

}  // namespace tokamata
