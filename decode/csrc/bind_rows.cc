#include "decode/csrc/bind_rows.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

// How an array of numpy begins: PyArrayObject_fields, part of its stable binary interface.
struct ArrayFields {
  PyObject_HEAD
  char* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;
};
constexpr int kContiguous = 0x1, kAligned = 0x100, kWriteable = 0x400, kUsable = kContiguous | kAligned | kWriteable;

// numpy.ndarray and numpy.dtype('int32'), which live as long as numpy; null where arrays do not begin like that.
PyTypeObject* numpy_array = nullptr;
PyObject* numpy_int32 = nullptr;

[[noreturn]] void BadBuffer(const std::string& got, size_t words) {
  const std::string text = "fill_mask: expected a writable C-contiguous int32 array or CPU tensor of shape [" +
                           std::to_string(words) + "] or [rows, " + std::to_string(words) + "], got " + got +
                           "; make one with numpy.zeros((rows, " + std::to_string(words) + "), numpy.int32)";
  throw nb::value_error(text.c_str());
}

template <class Size>
std::string ShapeText(int ndim, const Size* shape) {
  std::string s = "shape [";
  for (int i = 0; i < ndim && i < 3; ++i) s += (i ? ", " : "") + (i < 2 ? std::to_string(shape[i]) : "...");
  return s + "]";
}

template <class Size>
uint32_t* CheckedRow(void* data, int ndim, const Size* shape, int64_t row, size_t words) {
  if (ndim < 1 || ndim > 2 || shape[ndim - 1] != static_cast<Size>(words)) BadBuffer(ShapeText(ndim, shape), words);
  if (reinterpret_cast<uintptr_t>(data) % alignof(uint32_t))
    BadBuffer("one that begins between two words of memory", words);
  const int64_t rows = ndim == 2 ? static_cast<int64_t>(shape[0]) : 1;
  if (row < 0 || row >= rows) {
    const std::string text = "fill_mask: expected 0 <= row < " + std::to_string(rows) + ", got row=" + std::to_string(row);
    throw nb::index_error(text.c_str());
  }
  if (!data && words) BadBuffer("one without memory", words);
  return static_cast<uint32_t*>(data) + static_cast<size_t>(row) * words;
}

}  // namespace

void FindNumpy() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("zeros")(nb::make_tuple(2, 3), numpy.attr("int32"));
  const nb::object int32 = array.attr("dtype");
  PyTypeObject* const type = Py_TYPE(array.ptr());
  if (type->tp_basicsize < static_cast<Py_ssize_t>(sizeof(ArrayFields))) return;
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_ND | PyBUF_WRITABLE)) return PyErr_Clear();
  const auto* fields = reinterpret_cast<const ArrayFields*>(array.ptr());
  bool alike = fields->data == view.buf && fields->ndim == 2 && fields->shape[0] == 2 && fields->shape[1] == 3 &&
               fields->dtype == int32.ptr() && (fields->flags & kUsable) == kUsable;
  PyBuffer_Release(&view);
  alike = alike && fields->flags == nb::cast<int>(array.attr("flags").attr("num"));
  array.attr("setflags")("write"_a = false);
  if (!alike || fields->flags & kWriteable) return;
  numpy_array = type;
  numpy_int32 = nb::object(int32).release().ptr();
}

RowIn::RowIn(nb::handle out, int64_t row, size_t words) {
  if (Py_TYPE(out.ptr()) == numpy_array) {
    const auto* fields = reinterpret_cast<const ArrayFields*>(out.ptr());
    if (fields->dtype == numpy_int32 && (fields->flags & kUsable) == kUsable) {
      data_ = CheckedRow(fields->data, fields->ndim, fields->shape, row, words);
      return;
    }
  }
  data_ = PyObject_CheckBuffer(out.ptr()) ? FromBuffer(out, row, words) : FromTensor(out, row, words);
}

uint32_t* RowIn::FromBuffer(nb::handle out, int64_t row, size_t words) {
  if (PyObject_GetBuffer(out.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT)) {
    PyErr_Clear();
    BadBuffer("one that is read-only or not contiguous", words);
  }
  try {
    const char* format = view_.format ? view_.format : "B";
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    const bool int32 = view_.itemsize == 4 && (format[0] == 'i' || format[0] == 'l') && !format[1];
    if (!int32) BadBuffer(std::string("items of format '") + (view_.format ? view_.format : "B") + "'", words);
    uint32_t* const data = CheckedRow(view_.buf, view_.ndim, view_.shape, row, words);
    exported_ = true;
    return data;
  } catch (...) {
    PyBuffer_Release(&view_);
    throw;
  }
}

uint32_t* RowIn::FromTensor(nb::handle out, int64_t row, size_t words) {
  nb::ndarray<>& any = tensor_;
  if (!nb::try_cast(out, any, false)) BadBuffer(std::string("an object of type ") + Py_TYPE(out.ptr())->tp_name, words);
  if (any.device_type() != nb::device::cpu::value) BadBuffer("a tensor on another device than the CPU", words);
  if (any.dtype() != nb::dtype<int32_t>()) BadBuffer("another item type than int32", words);
  int64_t shape[2] = {0, 0}, expected = 1;
  bool contiguous = true;
  for (size_t i = any.ndim(); i-- > 0;) {
    contiguous = contiguous && (any.shape(i) == 1 || any.stride(i) == expected);
    expected *= static_cast<int64_t>(any.shape(i));
    if (i < 2) shape[i] = static_cast<int64_t>(any.shape(i));
  }
  if (!contiguous) BadBuffer("one that is not contiguous", words);
  return CheckedRow(any.data(), static_cast<int>(any.ndim()), shape, row, words);
}

}  // namespace tokamata
