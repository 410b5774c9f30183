// Steady: elements that stay where they are while others are added.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tokamata {

// Each element in memory of its own: a std::deque takes two blocks even for none. For large ones, of which there are few.
template <class T>
class Steady {
 public:
  T& operator[](size_t i) { return *elements_[i]; }
  const T& operator[](size_t i) const { return *elements_[i]; }
  T& back() { return *elements_.back(); }
  size_t size() const { return elements_.size(); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    elements_.push_back(std::make_unique<T>(std::forward<Args>(args)...));
    return back();
  }

 private:
  std::vector<std::unique_ptr<T>> elements_;
};

}  // namespace tokamata
