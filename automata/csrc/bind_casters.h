// Argument types of the bindings.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>

namespace tokamata {

// Any Python integer (numpy's too); one beyond 64 bits becomes the nearest int64, so that range checks can refuse it
// with their own text.
struct Integer {
  int64_t value;
};

}  // namespace tokamata

namespace nanobind::detail {

template <>
struct type_caster<tokamata::Integer> {
  NB_TYPE_CASTER(tokamata::Integer, const_name("int"))

  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    if (!PyIndex_Check(src.ptr())) return false;
    PyObject* index = PyNumber_Index(src.ptr());
    if (index == nullptr) {
      PyErr_Clear();
      return false;
    }
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    value.value = overflow > 0   ? std::numeric_limits<int64_t>::max()
                  : overflow < 0 ? std::numeric_limits<int64_t>::min()
                                 : static_cast<int64_t>(v);
    return true;
  }
  static handle from_cpp(const tokamata::Integer& i, rv_policy, cleanup_list*) noexcept {
    return PyLong_FromLongLong(i.value);
  }
};

}  // namespace nanobind::detail
