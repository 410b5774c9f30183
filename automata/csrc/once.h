// Once: work that is done when it is first asked for.
#pragma once
#include <atomic>
#include <mutex>

namespace tokamata {

// Like std::once_flag, which is a call each time; here only until the work is done.
class Once {
 public:
  template <class F>
  void Do(F work) {
    if (done_.load(std::memory_order_acquire)) return;
    std::call_once(flag_, [&] {
      work();
      done_.store(true, std::memory_order_release);
    });
  }

 private:
  std::once_flag flag_;
  std::atomic<bool> done_{false};
};

}  // namespace tokamata
