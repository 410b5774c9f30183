// ReentrantMutex: a mutex that its owner may lock again.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace tokamata {

// Like std::recursive_mutex, but what its owner does again is a look at one word, not a call: masks ask dozens of
// questions of an acceptor that they hold already.
class ReentrantMutex {
 public:
  void lock() {
    if (Again()) return;
    mutex_.lock();
    owner_.store(ThisThread(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (Again()) return true;
    if (!mutex_.try_lock()) return false;
    owner_.store(ThisThread(), std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    if (again_) {
      --again_;
      return;
    }
    owner_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  static uintptr_t ThisThread() {
#if defined(__linux__) && defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 11
    return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#else
    static thread_local char mine;
    return reinterpret_cast<uintptr_t>(&mine);
#endif
  }
  // Only the owner finds itself there.
  bool Again() {
    if (owner_.load(std::memory_order_relaxed) != ThisThread()) return false;
    ++again_;
    return true;
  }

  std::mutex mutex_;
  std::atomic<uintptr_t> owner_{0};  // 0: nobody
  uint64_t again_ = 0;  // times the owner locked it after the first
};

}  // namespace tokamata
