// Restored: a variable that is something else for a while.
#pragma once

namespace tokamata {

// Gives a variable back the value that it had, however the scope is left.
template <class T>
class Restored {
 public:
  explicit Restored(T* variable) : variable_(variable), before_(*variable) {}
  ~Restored() { *variable_ = before_; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  const T& Before() const { return before_; }

 private:
  T* const variable_;
  const T before_;
};

}  // namespace tokamata
