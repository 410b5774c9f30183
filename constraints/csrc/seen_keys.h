// SeenKeys: sets of object keys or of elements of arrays, and beginnings of keys, as numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "constraints/csrc/json_schema_sets.h"

namespace tokamata {

// A set is a trie over UTF-8 whose nodes are interned, so equal sets are one number, sets share what they have in
// common, and to add a key costs its length. A path is what was read of a key so far.
class SeenKeys {
 public:
  using Set = uint32_t;  // of keys, or of what is left of them; 0: none
  using Path = uint32_t;  // 0: nothing yet

  SeenKeys();
  Set With(Set set, std::string_view key);
  // Elements that are no strings have numbers, which stand beside the keys: behind a byte that UTF-8 does not have.
  Set WithValue(Set set, uint32_t value) { return With(set, kValueByte + std::to_string(value)); }
  bool HasValue(Set set, uint32_t value) const { return Has(set, kValueByte + std::to_string(value)); }
  static uint32_t ValueOf(const std::string& key) { return static_cast<uint32_t>(std::stoul(key.substr(1))); }
  // The set that a set was first made of, and what it has beside, a key or a value; false for the empty one.
  bool Before(Set set, Set* before, std::string* key, bool* is_value) const;
  // What is left of the keys that begin with a character; 0: no key does.
  Set After(Set set, uint32_t code_point) const;
  bool Has(Set set, std::string_view key) const;
  bool HasEmpty(Set set) const { return nodes_.At(set)[0] != 0; }
  // The characters that keys of the set begin with, in order.
  std::vector<uint32_t> First(Set set) const;
  std::vector<std::string> Keys(Set set) const;  // no values

  Path Longer(Path path, uint32_t code_point);
  Path Shorter(Path path) const { return paths_[path].first; }
  uint32_t Last(Path path) const { return paths_[path].second; }
  std::string Text(Path path) const;
  size_t MemoryBytes() const { return nodes_.Size() * 64 + before_.size() * 80 + paths_.size() * 8 + path_index_.MemoryBytes(); }

 private:
  static constexpr char kValueByte = '\xFF';
  uint32_t Child(Set set, uint8_t byte) const;

  WordLists nodes_;  // whether a key ends here; then a byte and what is left after it, sorted by the bytes
  std::unordered_map<Set, std::pair<Set, std::string>> before_;
  std::vector<std::pair<Path, uint32_t>> paths_;
  FlatMap<uint64_t, Path> path_index_;  // by a path and what is read after it
};

}  // namespace tokamata
