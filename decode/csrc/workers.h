// Workers: a few threads that share out the items of one call.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

namespace tokamata {

// Threads start with the first call that needs them and sleep between calls. Calls from several threads come one after
// another. After a fork the child has none of them, and its calls run on the calling thread alone.
class Workers {
 public:
  // `threads` in all, the calling one included; at least 1.
  explicit Workers(size_t threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  size_t Threads() const { return threads_; }
  // Calls f(0) ... f(items - 1), each once, in any order and side by side; returns when all have returned. f does not
  // throw. Items are taken one by one, so a slow one delays nobody but the end.
  void Run(size_t items, const std::function<void(size_t)>& f);

 private:
  struct Shared;
  static void Work(const std::shared_ptr<Shared>& shared);

  const size_t threads_;
  std::mutex calls_;
  std::shared_ptr<Shared> shared_;  // outlives this object while a thread still runs
};

}  // namespace tokamata
