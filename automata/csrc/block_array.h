// BlockArray: grows without copying its elements, for one thread at a time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace tokamata {

// Blocks of 512 elements, which stay where they are: a vector that doubles copies all it has, and touches as much new
// memory, while somebody waits for one more; the last block of a StableArray is as large as the others together, those
// of a std::deque hold a few elements. Memory is touched when elements are added.
template <class T>
class BlockArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  T& operator[](size_t i) { return *(blocks_[i / kBlock]->Elements() + i % kBlock); }
  const T& operator[](size_t i) const { return *(blocks_[i / kBlock]->Elements() + i % kBlock); }
  T& back() { return (*this)[size_ - 1]; }
  size_t size() const { return size_; }
  size_t capacity() const { return blocks_.size() * kBlock; }
  void push_back(const T& value) {
    if (size_ == capacity()) blocks_.push_back(std::unique_ptr<Block>(new Block));
    new (&(*this)[size_]) T(value);
    ++size_;
  }
  // Element i; up to it, and to the end of its block, elements are added where there are none.
  T& Reach(size_t i, const T& value = T()) {
    while (i >= size_) {
      blocks_.push_back(std::unique_ptr<Block>(new Block));
      std::uninitialized_fill_n(blocks_.back()->Elements(), kBlock, value);
      size_ += kBlock;
    }
    return (*this)[i];
  }
  void Assign(const BlockArray& other) {
    blocks_.clear();
    size_ = 0;
    for (const auto& block : other.blocks_) {
      const size_t count = std::min(kBlock, other.size_ - size_);
      blocks_.push_back(std::unique_ptr<Block>(new Block));
      std::uninitialized_copy_n(block->Elements(), count, blocks_.back()->Elements());
      size_ += count;
    }
  }

 private:
  static constexpr size_t kBlock = 512;
  struct Block {
    T* Elements() { return reinterpret_cast<T*>(bytes); }
    const T* Elements() const { return reinterpret_cast<const T*>(bytes); }
    alignas(T) unsigned char bytes[kBlock * sizeof(T)];
  };
  std::vector<std::unique_ptr<Block>> blocks_;
  size_t size_ = 0;
};

}  // namespace tokamata
