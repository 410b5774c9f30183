// Checks of arguments that Python gives to native code directly. Errors are those of automata/checks.py.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace tokamata {

// A whole number, of whatever type (numpy's too); one beyond 64 bits becomes the nearest int64, so that range checks can
// refuse it. TypeError, with the names of the function and the argument, for anything else.
int64_t OtherWholeNumber(nanobind::handle value, const char* function, const char* name);

inline int64_t WholeNumber(nanobind::handle value, const char* function, const char* name) {
  if (!PyLong_CheckExact(value.ptr())) return OtherWholeNumber(value, function, name);
  int overflow;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return number;
  return overflow > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// The whole numbers of an iterable, TypeError for anything else; `several` and `one` name them in it.
std::vector<int64_t> WholeNumbers(nanobind::handle values, const char* function, const char* several, const char* one);

// A whole number of at least 0; ValueError for a negative one.
size_t Count(nanobind::handle value, const char* function, const char* name);

}  // namespace tokamata
