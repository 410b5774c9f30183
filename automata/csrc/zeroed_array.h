// ZeroedArray: a fixed number of zeroed elements, whose memory is touched when they are.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tokamata {

struct Freed {
  void operator()(void* p) const { std::free(p); }
};

// Zeroed memory for elements for which all bytes zero is what they begin with. The system hands out large blocks as
// zeroed pages once somebody touches them, so that nobody has to wait for all of one to be written.
template <class T>
T* NewZeroed(size_t size) {
  static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignof(std::max_align_t));
  T* const elements = static_cast<T*>(std::calloc(size ? size : 1, sizeof(T)));
  if (!elements) throw std::bad_alloc();
  return elements;
}

template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ZeroedArray() = default;
  explicit ZeroedArray(size_t size) : elements_(NewZeroed<T>(size)), size_(size) {}
  ZeroedArray(const ZeroedArray& other) : ZeroedArray(other.size_) {
    if (size_) std::memcpy(elements_.get(), other.elements_.get(), size_ * sizeof(T));
  }
  ZeroedArray(ZeroedArray&& other) noexcept { Swap(&other); }
  ZeroedArray& operator=(ZeroedArray other) noexcept {
    Swap(&other);
    return *this;
  }
  T& operator[](size_t i) { return elements_[i]; }
  const T& operator[](size_t i) const { return elements_[i]; }
  size_t size() const { return size_; }
  void Swap(ZeroedArray* other) {
    std::swap(elements_, other->elements_);
    std::swap(size_, other->size_);
  }

 private:
  std::unique_ptr<T[], Freed> elements_;
  size_t size_ = 0;
};

}  // namespace tokamata
