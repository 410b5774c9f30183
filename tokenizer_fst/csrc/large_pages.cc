#include "tokenizer_fst/csrc/large_pages.h"

#include <algorithm>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tokamata {

#if defined(__linux__)

void* AllocateLarge(std::size_t bytes) {
  void* memory = nullptr;
  bytes = std::max(bytes, kHugePage);
  if (posix_memalign(&memory, kHugePage, bytes)) throw std::bad_alloc();
  madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // where the system refuses, nothing is lost
  return memory;
}

void FreeLarge(void* memory) noexcept { std::free(memory); }

#else

void* AllocateLarge(std::size_t bytes) { return ::operator new(bytes); }
void FreeLarge(void* memory) noexcept { ::operator delete(memory); }

#endif

}  // namespace tokamata
