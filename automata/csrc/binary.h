// OpenFst's binary file format: vector and const machines over the standard and log arc types, with symbol tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "automata/csrc/fst.h"

namespace tokamata {

// Reads an Fst of type "vector" (version 2) or "const" (versions 1, aligned, and 2) and arc type "standard" (tropical)
// or "log". Everything is checked before it is used or allocated for: whatever the bytes, the result is a consistent
// Fst or FstError, in memory proportional to size. *consumed (where not null) receives where the Fst ends; bytes behind
// are not looked at. O(size).
Fst ReadFst(const uint8_t* data, size_t size, size_t* consumed = nullptr);

enum class FstFileKind {
  kVector,
  kConst,         // arcs in one block: OpenFst loads it faster
  kConstAligned,  // the same at offsets divisible by 16: OpenFst can map it into memory
};

// The file's bytes. Properties in the header are computed, all of them. A boolean machine is written as "standard" with
// one = 0 and zero = infinity. O(states + arcs), plus sorting for determinism.
std::string WriteFst(const Fst& fst, FstFileKind kind = FstFileKind::kVector);

// The same machine over the boolean semiring; FstError where it has weights.
Fst ToBoolean(const Fst& fst);

}  // namespace tokamata
