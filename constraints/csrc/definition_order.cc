#include "constraints/csrc/definition_order.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace tokamata {

namespace {

// Lists of 0, 1, …, none with a number twice.
struct Lists {
  std::vector<uint32_t> numbers;
  std::vector<size_t> ends;
};

// The numbers behind all those that lists have before them, the least first where there is a choice; without those in
// or behind circles.
std::vector<uint32_t> Merge(const Lists& lists, uint32_t count) {
  struct Rest {
    size_t at, end;
  };
  std::vector<std::vector<Rest>> next(count);  // by number: the lists of which it is the next one
  std::vector<uint32_t> waits_for(count, 0);   // in how many lists others come before
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (const uint32_t n : lists.numbers) ++waits_for[n];
  const auto advance = [&](Rest list) {
    if (list.at == list.end) return;
    const uint32_t n = lists.numbers[list.at++];
    next[n].push_back(list);
    if (--waits_for[n] == 0) ready.push(n);
  };
  for (size_t begin = 0, i = 0; i < lists.ends.size(); begin = lists.ends[i++]) advance({begin, lists.ends[i]});
  std::vector<uint32_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const Rest& list : next[order.back()]) advance(list);
  }
  return order;
}

// What is in or between circles becomes one number while the others are merged.
std::vector<uint32_t> MergeAround(const Lists& lists, uint32_t count, const std::vector<uint32_t>& before) {
  Lists reversed = lists;
  for (size_t begin = 0, i = 0; i < lists.ends.size(); begin = lists.ends[i++])
    std::reverse(reversed.numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                 reversed.numbers.begin() + static_cast<std::ptrdiff_t>(lists.ends[i]));
  std::vector<bool> settled(count, false);
  for (const uint32_t n : before) settled[n] = true;
  for (const uint32_t n : Merge(reversed, count)) settled[n] = true;
  std::vector<uint32_t> between;
  for (uint32_t n = 0; n < count; ++n)
    if (!settled[n]) between.push_back(n);
  Lists others;
  for (size_t at = 0, i = 0; i < lists.ends.size(); ++i) {
    bool has_between = false;
    for (; at < lists.ends[i]; ++at) {
      const uint32_t n = lists.numbers[at];
      if (settled[n])
        others.numbers.push_back(n);
      else if (!std::exchange(has_between, true))
        others.numbers.push_back(between[0]);
    }
    others.ends.push_back(others.numbers.size());
  }
  std::vector<uint32_t> order;
  for (const uint32_t n : Merge(others, count)) {
    if (settled[n])
      order.push_back(n);
    else
      order.insert(order.end(), between.begin(), between.end());
  }
  return order;
}

}  // namespace

std::vector<KeyId> DefinitionOrder(const KeyLists& defined) {
  std::vector<KeyId> keys;  // as they are mentioned
  struct Known {
    uint32_t number;
    size_t list;  // the last one that has it
  };
  std::unordered_map<KeyId, Known> known;
  Lists lists;
  for (size_t at = 0, list = 0; list < defined.ends.size(); ++list) {
    for (; at < defined.ends[list]; ++at) {
      const auto [key, added] = known.try_emplace(defined.keys[at], Known{static_cast<uint32_t>(keys.size()), list});
      if (added) keys.push_back(key->first);
      if (!added && std::exchange(key->second.list, list) == list) continue;
      lists.numbers.push_back(key->second.number);
    }
    lists.ends.push_back(lists.numbers.size());
  }
  if (keys.size() == lists.numbers.size()) return keys;  // no two lists have to agree
  const uint32_t count = static_cast<uint32_t>(keys.size());
  std::vector<uint32_t> order = Merge(lists, count);
  if (order.size() < count) order = MergeAround(lists, count, order);
  std::vector<KeyId> merged;
  merged.reserve(count);
  for (const uint32_t n : order) merged.push_back(keys[n]);
  return merged;
}

}  // namespace tokamata
