// One binding function per topic, each in its own bind_*.cc.
#pragma once
#include <nanobind/nanobind.h>

namespace tokamata {
void BindFst(nanobind::module_& m);          // bind_fst.cc: Fst, Arc, reading, writing, bulk access
void BindFstIo(nanobind::module_& m);        // bind_fst_io.cc: arrays, files, text
void BindSymbolTable(nanobind::module_& m);  // bind_symbol_table.cc
void BindOperations(nanobind::module_& m);   // bind_operations.cc: union ... randgen, properties
void BindAlgorithms(nanobind::module_& m);   // bind_algorithms.cc: rmepsilon ... replace
void BindPdt(nanobind::module_& m);          // bind_pdt.cc: push-down transducers
void BindExpressions(nanobind::module_& m);  // bind_expressions.cc: Constraint's native side
}  // namespace tokamata
