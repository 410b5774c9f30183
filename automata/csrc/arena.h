// Arena: memory that is given back all at once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace tokamata {

// Pieces follow one another in a few blocks. Pieces from the heap have neighbours that are read again to give them back,
// each on a line of its own.
class Arena {
 public:
  // Uninitialized memory, aligned for what the heap is; null where blocks would take more than `most` bytes.
  void* Allocate(size_t bytes, size_t most = ~size_t{0}) {
    constexpr size_t kAlign = alignof(std::max_align_t);
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    if (bytes > left_ && !Grow(bytes, most)) return nullptr;
    left_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }
  template <class T>
  T* Copy(const T* from, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* const to = static_cast<T*>(Allocate(count * sizeof(T)));
    std::copy_n(from, count, to);
    return to;
  }
  size_t Bytes() const { return bytes_; }  // of all blocks

 private:
  static constexpr size_t kFirst = 8 << 10, kMost = 256 << 10;

  bool Grow(size_t bytes, size_t most) {
    if (bytes_ >= most || bytes > most - bytes_) return false;
    const size_t size = std::max(bytes, std::min({kMost, std::max(kFirst, bytes_), most - bytes_}));
    blocks_.emplace_back(new char[size]);
    next_ = blocks_.back().get();
    left_ = size;
    bytes_ += size;
    return true;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0, bytes_ = 0;
};

}  // namespace tokamata
