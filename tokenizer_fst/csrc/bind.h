// One binding function per topic, each in its own bind_*.cc.
#pragma once
#include <nanobind/nanobind.h>

namespace tokamata {
void BindVocabulary(nanobind::module_& m);  // bind_vocabulary.cc
void BindLexicon(nanobind::module_& m);     // bind_lexicon.cc
}  // namespace tokamata
