#include "automata/csrc/bind_arguments.h"

#include <nanobind/stl/vector.h>

#include <string>

namespace nb = nanobind;

namespace tokamata {
namespace {

nb::object Check(const char* name) { return nb::module_::import_("tokamata.automata.checks").attr(name); }

}  // namespace

int64_t OtherWholeNumber(nb::handle value, const char* function, const char* name) {
  int64_t number;
  if (nb::try_cast(value, number)) return number;
  const nb::object whole = Check("checked_count")(function, name, value);
  return WholeNumber(nb::int_(whole), function, name);
}

std::vector<int64_t> WholeNumbers(nb::handle values, const char* function, const char* several, const char* one) {
  std::vector<int64_t> numbers;
  if (nb::try_cast(values, numbers)) return numbers;
  numbers.clear();
  for (nb::handle value : Check("checked_several")(function, several, values))
    numbers.push_back(WholeNumber(value, function, one));
  return numbers;
}

size_t Count(nb::handle value, const char* function, const char* name) {
  const int64_t number = WholeNumber(value, function, name);
  if (number >= 0) return static_cast<size_t>(number);
  const std::string text = std::string(function) + ": expected 0 <= " + name + ", got " + std::to_string(number) +
                           "; pass a number of at least 0";
  throw nb::value_error(text.c_str());
}

}  // namespace tokamata
