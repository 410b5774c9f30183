// Recall: what is known of a key, or what is found out about it now. Where that throws, as work without an end does, the
// map has nothing of the key: asked again, it is found out again.
#pragma once
#include <utility>

namespace tokamata {

// Of a map whose values stay where they are. `find()` may ask the map for other keys.
template <class Map, class F>
typename Map::mapped_type& Recall(Map* map, const typename Map::key_type& key, F find) {
  const auto known = map->find(key);
  if (known != map->end()) return known->second;
  auto found = find();
  return map->emplace(key, std::move(found)).first->second;
}

// The same where find() may come back to the key, which is `meanwhile` until it returns.
template <class Map, class F>
typename Map::mapped_type& Recall(Map* map, const typename Map::key_type& key, typename Map::mapped_type meanwhile,
                                  F find) {
  const auto [known, added] = map->emplace(key, std::move(meanwhile));
  typename Map::mapped_type& value = known->second;
  if (!added) return value;
  try {
    value = find();
  } catch (...) {
    map->erase(key);
    throw;
  }
  return value;
}

}  // namespace tokamata
