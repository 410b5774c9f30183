// BlockArray: grows without copying its elements, for one thread at a time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace tokamata {

// Blocks of elements, which stay where they are: a vector that doubles copies all it has, and touches as much new
// memory, while somebody waits for one more; the last block of a StableArray is as large as the others together, those
// of a std::deque hold a few elements. Memory is touched when elements are added.
template <class T, size_t kBlock = 512>
class BlockArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  BlockArray() = default;
  BlockArray(const BlockArray&) = delete;
  BlockArray& operator=(const BlockArray&) = delete;
  ~BlockArray() { DropBlocks(); }

  T& operator[](size_t i) { return *(blocks_[i / kBlock]->Elements() + i % kBlock); }
  const T& operator[](size_t i) const { return *(blocks_[i / kBlock]->Elements() + i % kBlock); }
  T& back() { return (*this)[size_ - 1]; }
  size_t size() const { return size_; }
  size_t capacity() const { return blocks_.size() * kBlock; }
  bool IsShared(size_t i) const { return i / kBlock < shared_; }
  void push_back(const T& value) {
    if (size_ == capacity()) AddBlock();
    new (&(*this)[size_]) T(value);
    ++size_;
  }
  // Element i; where there is none, elements are added up to it, and some more.
  T& Reach(size_t i, const T& value = T()) {
    while (i >= size_) {
      if (size_ == capacity()) AddBlock();
      std::uninitialized_fill_n(&(*this)[size_], kSome, value);
      size_ += kSome;
    }
    return (*this)[i];
  }
  // Holds what `other` does, which neither changes nor ends before this array: full blocks are the same memory, and
  // their elements are not to be changed.
  void Share(const BlockArray& other) {
    DropBlocks();
    blocks_.assign(other.blocks_.begin(), other.blocks_.begin() + other.size_ / kBlock);
    shared_ = blocks_.size();
    size_ = shared_ * kBlock;
    if (size_ == other.size_) return;
    AddBlock();
    std::uninitialized_copy_n(other.blocks_[shared_]->Elements(), other.size_ - size_, blocks_.back()->Elements());
    size_ = other.size_;
  }

 private:
  static constexpr size_t kSome = 32;
  static_assert(kBlock % kSome == 0);
  struct Block {
    T* Elements() { return reinterpret_cast<T*>(bytes); }
    const T* Elements() const { return reinterpret_cast<const T*>(bytes); }
    alignas(T) unsigned char bytes[kBlock * sizeof(T)];
  };
  void AddBlock() {
    std::unique_ptr<Block> block(new Block);
    blocks_.push_back(block.get());
    block.release();
  }
  void DropBlocks() {
    for (size_t i = shared_; i < blocks_.size(); ++i) delete blocks_[i];
    blocks_.clear();
    size_ = shared_ = 0;
  }

  std::vector<Block*> blocks_;
  size_t size_ = 0;
  size_t shared_ = 0;  // the first blocks, which belong to another array
};

}  // namespace tokamata
