// NearestFirst: places of what is to be visited, by cost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace tokamata {

// Those with the least cost first, and these in the order of their places.
class NearestFirst {
 public:
  void Push(uint64_t cost, size_t place) { queue_.emplace(cost, place); }
  size_t Pop() {
    const size_t place = queue_.top().second;
    queue_.pop();
    return place;
  }
  bool IsEmpty() const { return queue_.empty(); }
  uint64_t Least() const { return queue_.top().first; }

 private:
  using Entry = std::pair<uint64_t, size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace tokamata
