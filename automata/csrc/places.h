// Places in the source of a constraint, for errors about limits: what was being read when one was reached.
#pragma once
#include <cstdint>
#include <string>

#include "automata/csrc/errors.h"

namespace tokamata {

// What rules (see RuleSource) may be besides.
class RulePlaces {
 public:
  virtual ~RulePlaces() = default;
  // The place that a rule reads; with `before`, the one of what has just been read where the rule comes next. Empty
  // where that is not known.
  virtual std::string PlaceOf(uint32_t rule, bool before) = 0;
};

// The text of an error about a limit with the place where it was reached, if that is known and not said yet.
std::string WithPlace(std::string text, const std::string& place);

// f(), whose errors about limits say place().
template <class P, class F>
auto Placed(P place, F f) {
  try {
    return f();
  } catch (const CapacityError& e) {
    throw CapacityError(WithPlace(e.what(), place()));
  } catch (const LimitError& e) {
    throw LimitError(WithPlace(e.what(), place()));
  }
}

}  // namespace tokamata
