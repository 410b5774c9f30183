#include "constraints/csrc/definition_order.h"

#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace tokamata {

namespace {

// A merge of lists of 0, 1, …: a number is ready where it is the next one in every list that has it.
class Merge {
 public:
  // Of lists one behind the other, in none of which a number occurs twice.
  Merge(const std::vector<uint32_t>& numbers, const std::vector<size_t>& ends, uint32_t count)
      : numbers_(numbers), lists_of_(count), waits_for_(count, 0), done_(count, false) {
    for (const uint32_t n : numbers) ++waits_for_[n];
    for (size_t begin = 0, i = 0; i < ends.size(); begin = ends[i++]) Advance({begin, ends[i]});
  }

  std::vector<uint32_t> Run() {
    std::vector<uint32_t> order;
    for (uint32_t first = 0; order.size() < done_.size();) {
      while (done_[first]) ++first;
      uint32_t next = first;  // where all wait for one another
      if (!ready_.empty()) {
        next = ready_.top();
        ready_.pop();
      }
      done_[next] = true;
      order.push_back(next);
      for (const List& list : std::exchange(lists_of_[next], {})) Advance(list);
    }
    return order;
  }

 private:
  struct List {
    size_t at, end;
  };

  void Advance(List list) {
    while (list.at < list.end && done_[numbers_[list.at]]) ++list.at;
    if (list.at == list.end) return;
    const uint32_t next = numbers_[list.at];
    lists_of_[next].push_back(list);
    if (--waits_for_[next] == 0) ready_.push(next);
  }

  const std::vector<uint32_t>& numbers_;
  std::vector<std::vector<List>> lists_of_;  // by number: those that have it next
  std::vector<uint32_t> waits_for_;          // in how many lists others come before
  std::vector<bool> done_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
};

}  // namespace

std::vector<KeyId> DefinitionOrder(const KeyLists& lists) {
  std::vector<KeyId> keys;                          // as they are mentioned
  std::unordered_map<KeyId, std::pair<uint32_t, size_t>> known;  // their numbers, and the last list that has them
  std::vector<uint32_t> numbers;
  std::vector<size_t> ends;
  size_t at = 0;
  for (size_t list = 0; list < lists.ends.size(); ++list) {
    for (; at < lists.ends[list]; ++at) {
      const KeyId key = lists.keys[at];
      const auto [found, added] = known.try_emplace(key, static_cast<uint32_t>(keys.size()), list);
      if (added) keys.push_back(key);
      if (!added && std::exchange(found->second.second, list) == list) continue;
      numbers.push_back(found->second.first);
    }
    ends.push_back(numbers.size());
  }
  if (keys.size() == numbers.size()) return keys;  // no two lists have to agree
  std::vector<KeyId> order;
  order.reserve(keys.size());
  for (const uint32_t n : Merge(numbers, ends, static_cast<uint32_t>(keys.size())).Run()) order.push_back(keys[n]);
  return order;
}

}  // namespace tokamata
