// One binding function per topic, each in its own bind_*.cc.
#pragma once
#include <nanobind/nanobind.h>

namespace tokamata {
void BindBatchState(nanobind::module_& m);    // bind_batch_state.cc
void BindByteState(nanobind::module_& m);     // bind_byte_state.cc
void BindCanonical(nanobind::module_& m);     // bind_canonical.cc
void BindDeviceTables(nanobind::module_& m);  // bind_device_tables.cc
void BindMaskScores(nanobind::module_& m);    // bind_mask_scores.cc
}  // namespace tokamata
