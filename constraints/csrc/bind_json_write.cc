// Python binding: the JSON text of plain Python values.
#include <nanobind/nanobind.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include "constraints/csrc/bind.h"
#include "constraints/csrc/json_document.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

constexpr int kMostDepth = 200;
constexpr size_t kMostlyEnough = 4096;  // bytes of a schema

// Lone surrogates have no UTF-8.
bool WriteString(PyObject* value, std::string* out) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value, &size);
  if (!text) {
    PyErr_Clear();
    return false;
  }
  WriteJsonString({text, static_cast<size_t>(size)}, out);
  return true;
}

bool WriteInteger(PyObject* value, std::string* out) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow) return false;
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof text, number).ptr);
  return true;
}

bool WriteFloat(PyObject* value, std::string* out) {
  const double number = PyFloat_AS_DOUBLE(value);
  if (!(number - number == 0)) return false;  // JSON has no infinities
  char* text = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
  if (!text) {
    PyErr_Clear();
    return false;
  }
  *out += text;
  PyMem_Free(text);
  return true;
}

// Recursion is no deeper than kMostDepth. No Python code runs meanwhile, so nothing changes the containers.
bool Write(PyObject* value, int depth, std::string* out) {
  if (PyUnicode_CheckExact(value)) return WriteString(value, out);
  if (value == Py_True || value == Py_False || value == Py_None) {
    *out += value == Py_True ? "true" : value == Py_False ? "false" : "null";
    return true;
  }
  if (PyLong_CheckExact(value)) return WriteInteger(value, out);
  if (PyFloat_CheckExact(value)) return WriteFloat(value, out);
  if (depth == kMostDepth) return false;
  if (PyDict_CheckExact(value)) {
    PyObject *key, *member;
    Py_ssize_t position = 0;
    char before = '{';
    while (PyDict_Next(value, &position, &key, &member)) {
      *out += before;
      before = ',';
      if (!PyUnicode_CheckExact(key) || !WriteString(key, out)) return false;
      *out += ':';
      if (!Write(member, depth + 1, out)) return false;
    }
    *out += before == '{' ? "{}" : "}";
    return true;
  }
  const bool list = PyList_CheckExact(value);
  if (!list && !PyTuple_CheckExact(value)) return false;
  const Py_ssize_t size = list ? PyList_GET_SIZE(value) : PyTuple_GET_SIZE(value);
  *out += '[';
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (i) *out += ',';
    if (!Write(list ? PyList_GET_ITEM(value, i) : PyTuple_GET_ITEM(value, i), depth + 1, out)) return false;
  }
  *out += ']';
  return true;
}

}  // namespace

void BindJsonWrite(nb::module_& m) {
  m.def(
      "write_json",
      [](nb::handle value) -> nb::object {
        std::string text;
        text.reserve(kMostlyEnough);
        if (!Write(value.ptr(), 0, &text)) return nb::none();
        return nb::bytes(text.data(), text.size());
      },
      nb::arg("value").none(), nb::sig("def write_json(value: object) -> bytes | None"),
      "What json.dumps(value, ensure_ascii=False, separators=(\",\", \":\")) writes, in UTF-8. None for values that "
      "need more care: other types than JSON's own and tuples, subclasses, keys that are no str, lone surrogates, "
      "integers beyond 64 bits, infinities, nesting beyond 200.");
}

}  // namespace tokamata
