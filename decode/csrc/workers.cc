#include "decode/csrc/workers.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <system_error>
#include <thread>

namespace tokamata {

struct Workers::Shared {
  std::mutex mutex;
  std::condition_variable wake, done;
  size_t started = 0;  // threads
  size_t active = 0;   // threads that may still call f
  size_t wanted = 0;   // threads that should join this call
  bool stop = false;
  const std::function<void(size_t)>* f = nullptr;  // null between calls
  size_t items = 0;
  std::atomic<size_t> next{0};

  void Take() {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < items;) (*f)(i);
  }
};

Workers::Workers(size_t threads) : threads_(std::max<size_t>(threads, 1)), shared_(std::make_shared<Shared>()) {}

Workers::~Workers() {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->stop = true;
  shared_->wake.notify_all();
}

void Workers::Work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock<std::mutex> lock(shared->mutex);
  for (;;) {
    shared->wake.wait(lock, [&] { return shared->stop || shared->wanted; });
    if (shared->stop) return;
    --shared->wanted;
    ++shared->active;
    lock.unlock();
    shared->Take();
    lock.lock();
    if (!--shared->active) shared->done.notify_one();
  }
}

void Workers::Run(size_t items, const std::function<void(size_t)>& f) {
  const size_t helpers = std::min(threads_, items) - (items ? 1 : 0);
  if (!helpers) {
    for (size_t i = 0; i < items; ++i) f(i);
    return;
  }
  const std::lock_guard<std::mutex> one(calls_);
  Shared& s = *shared_;
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    while (s.started < helpers) {
      try {
        std::thread(Work, shared_).detach();
      } catch (const std::system_error&) {  // no more threads: those that there are do the work
        break;
      }
      ++s.started;
    }
    s.f = &f;
    s.items = items;
    s.next.store(0, std::memory_order_relaxed);
    s.wanted = helpers;
  }
  if (helpers == 1) {
    s.wake.notify_one();
  } else {
    s.wake.notify_all();
  }
  s.Take();
  std::unique_lock<std::mutex> lock(s.mutex);
  s.wanted = 0;  // who wakes up now comes too late
  s.done.wait(lock, [&] { return !s.active; });
  s.f = nullptr;
}

}  // namespace tokamata
