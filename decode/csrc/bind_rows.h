// One row of int32 words in an array or tensor that a caller brings.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>

namespace tokamata {

// What the fast way into arrays needs to know of numpy; see RowIn. Called once, when the module is made.
void FindNumpy();

// A row of a caller's array that lives as long as this object: aligned C-contiguous int32 on the CPU, [words] or
// [rows, words]. Arrays of numpy are looked into directly where their layout is the one that this was written for;
// other objects bring the buffer protocol or DLPack. ValueError for another type, shape or layout, IndexError for a row
// outside.
class RowIn {
 public:
  RowIn(nanobind::handle out, int64_t row, size_t words);
  ~RowIn() {
    if (exported_) PyBuffer_Release(&view_);
  }
  RowIn(const RowIn&) = delete;
  RowIn& operator=(const RowIn&) = delete;
  uint32_t* Data() const { return data_; }

 private:
  uint32_t* FromBuffer(nanobind::handle out, int64_t row, size_t words);
  uint32_t* FromTensor(nanobind::handle out, int64_t row, size_t words);

  Py_buffer view_;
  bool exported_ = false;
  nanobind::ndarray<> tensor_;
  uint32_t* data_;
};

}  // namespace tokamata
