// SmallVector: a vector that takes no memory from the heap while it is short.
#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tokamata {

// Of trivial elements, the first N of which stand in the object itself. For what is made and thrown away millions of
// times and mostly has a few elements.
template <class T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() : data_(Own()) {}
  template <class It>
  SmallVector(It first, It last) : SmallVector() {
    Append(first, last);
  }
  SmallVector(const std::vector<T>& from) : SmallVector(from.begin(), from.end()) {}
  SmallVector(std::initializer_list<T> from) : SmallVector(from.begin(), from.end()) {}
  SmallVector(const SmallVector& from) : SmallVector(from.begin(), from.end()) {}
  SmallVector(SmallVector&& from) noexcept : SmallVector() { Take(&from); }
  SmallVector& operator=(const SmallVector& from) {
    if (this == &from) return *this;
    clear();
    Append(from.begin(), from.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& from) noexcept {
    if (this == &from) return *this;
    GiveBack();
    Take(&from);
    return *this;
  }
  ~SmallVector() { GiveBack(); }

  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void clear() { size_ = 0; }
  void pop_back() { --size_; }
  void push_back(const T& value) {
    const T copy = value;  // which may be an element of this
    if (size_ == room_) Grow(size_ + 1);
    new (data_ + size_++) T(copy);
  }
  template <class It>
  void Append(It first, It last) {
    const size_t more = static_cast<size_t>(std::distance(first, last));
    if (size_ + more > room_) Grow(size_ + more);
    std::uninitialized_copy(first, last, data_ + size_);
    size_ += more;
  }
  void reserve(size_t size) {
    if (size > room_) Grow(size);
  }
  void resize(size_t size, const T& value = T()) {
    if (size > room_) Grow(size);
    if (size > size_) std::uninitialized_fill(data_ + size_, data_ + size, value);
    size_ = size;
  }
  void erase(T* first, T* last) {
    std::copy(last, end(), first);
    size_ -= static_cast<size_t>(last - first);
  }
  void erase(T* at) { erase(at, at + 1); }
  void swap(SmallVector& other) { std::swap(*this, other); }

 private:
  T* Own() { return reinterpret_cast<T*>(own_); }
  void Grow(size_t least) {
    const size_t room = std::max(least, 2 * room_);
    T* const data = std::allocator<T>().allocate(room);
    std::uninitialized_copy(begin(), end(), data);
    GiveBack();
    data_ = data;
    room_ = room;
  }
  void GiveBack() {
    if (data_ != Own()) std::allocator<T>().deallocate(data_, room_);
  }
  void Take(SmallVector* from) {
    size_ = from->size_;
    if (from->data_ == from->Own()) {
      data_ = Own();
      room_ = N;
      std::uninitialized_copy(from->begin(), from->end(), data_);
    } else {
      data_ = from->data_;
      room_ = from->room_;
      from->data_ = from->Own();
      from->room_ = N;
    }
    from->size_ = 0;
  }

  T* data_;
  size_t size_ = 0, room_ = N;
  alignas(T) unsigned char own_[N * sizeof(T)];
};

}  // namespace tokamata
