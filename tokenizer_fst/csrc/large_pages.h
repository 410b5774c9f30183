// LargePages: an allocator that asks for huge pages, for arrays of megabytes that are read here and there.
#pragma once
#include <cstddef>
#include <new>
#include <string>
#include <vector>

namespace tokamata {

// Memory of at least kLarge bytes begins at a multiple of kHugePage, and the system is asked to back it by huge pages
// where it can (Linux): a mask that looks at scattered tokens then waits for the page table much less. What is smaller
// comes from operator new. Up to a whole huge page the size is rounded up to one. Throws std::bad_alloc.
constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kLarge = kHugePage / 4;
void* AllocateLarge(std::size_t bytes);
void FreeLarge(void* memory) noexcept;

template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}
  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = count * sizeof(T);
    return static_cast<T*>(bytes < kLarge ? ::operator new(bytes) : AllocateLarge(bytes));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count * sizeof(T) < kLarge)
      ::operator delete(memory);
    else
      FreeLarge(memory);
  }
  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }
  template <class U>
  bool operator!=(const LargePages<U>&) const {
    return false;
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;
using LargeString = std::basic_string<char, std::char_traits<char>, LargePages<char>>;

}  // namespace tokamata
