// DefinitionOrder: one order of keys where several schemas define an object's members.
#pragma once
#include <cstdint>
#include <vector>

#include "constraints/csrc/json_schema_sets.h"

namespace tokamata {

// Keys as schemas define them, one list behind the other.
struct KeyLists {
  std::vector<KeyId> keys;
  std::vector<size_t> ends;  // in keys

  void EndList() {
    if (keys.size() > (ends.empty() ? 0 : ends.back())) ends.push_back(keys.size());
  }
};

// Every key once. Each list's own order holds as far as the lists agree with one another; what they leave open, and where
// they don't agree, who is mentioned first goes first. O(n log n).
std::vector<KeyId> DefinitionOrder(const KeyLists& lists);

}  // namespace tokamata
