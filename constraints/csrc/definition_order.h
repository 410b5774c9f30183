// DefinitionOrder: one order of keys where several schemas define an object's members.
#pragma once
#include <cstddef>
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

// Every key once, each list in its own order. What that leaves open goes by mention, and so do all keys in circles of
// lists that contradict one another, and between such circles. O(n log n).
std::vector<KeyId> DefinitionOrder(const KeyLists& lists);

}  // namespace tokamata
