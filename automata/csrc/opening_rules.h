// What rules (see RuleSource) may be besides: such as read values, one after another, that must not occur twice.
#pragma once
#include <cstdint>

namespace tokamata {

class OpeningRules {
 public:
  virtual ~OpeningRules() = default;
  // Whether a rule that remembers is about to read such a value from its beginning on.
  virtual bool Opens(uint32_t rule) = 0;
};

}  // namespace tokamata
