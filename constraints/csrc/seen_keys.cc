#include "constraints/csrc/seen_keys.h"

#include <algorithm>

#include "automata/csrc/utf8.h"
#include "constraints/csrc/json_string.h"

namespace tokamata {

SeenKeys::SeenKeys() : paths_(1) { nodes_.Intern(std::vector<uint32_t>{0}); }

uint32_t SeenKeys::Child(Set set, uint8_t byte) const {
  const Span<const uint32_t> node = nodes_.At(set);
  for (size_t i = 1; i < node.size(); i += 2)
    if (node[i] == byte) return node[i + 1];
  return 0;
}

SeenKeys::Set SeenKeys::With(Set set, std::string_view key) {
  std::vector<Set> way{set};
  for (char c : key) way.push_back(Child(way.back(), static_cast<uint8_t>(c)));
  std::vector<uint32_t> node = nodes_.Copy(way.back());
  node[0] = 1;
  Set made = nodes_.Intern(node);
  for (size_t i = key.size(); i-- > 0;) {
    const uint8_t byte = static_cast<uint8_t>(key[i]);
    node = nodes_.Copy(way[i]);
    size_t at = 1;
    while (at < node.size() && node[at] < byte) at += 2;
    if (at < node.size() && node[at] == byte)
      node[at + 1] = made;
    else
      node.insert(node.begin() + static_cast<std::ptrdiff_t>(at), {byte, made});
    made = nodes_.Intern(node);
  }
  if (made != set) before_.try_emplace(made, set, std::string(key));
  return made;
}

bool SeenKeys::Before(Set set, Set* before, std::string* key, bool* is_value) const {
  const auto known = before_.find(set);
  if (known == before_.end()) return false;
  *before = known->second.first;
  *key = known->second.second;
  *is_value = key->substr(0, 1) == std::string(1, kValueByte);
  return true;
}

SeenKeys::Set SeenKeys::After(Set set, uint32_t code_point) const {
  if (!set) return 0;
  std::string text;
  AppendUtf8(code_point, &text);
  for (char c : text) set = Child(set, static_cast<uint8_t>(c));
  return set;
}

bool SeenKeys::Has(Set set, std::string_view key) const {
  for (size_t i = 0; i < key.size() && set; ++i) set = Child(set, static_cast<uint8_t>(key[i]));
  return set && HasEmpty(set);
}

std::vector<uint32_t> SeenKeys::First(Set set) const {
  struct At {
    Set set;
    uint32_t code_point, missing;
  };
  std::vector<uint32_t> first;
  std::vector<At> open{{set, 0, 0}};
  while (!open.empty()) {
    const At at = open.back();
    open.pop_back();
    const Span<const uint32_t> node = nodes_.At(at.set);
    for (size_t i = node.size(); i > 1; i -= 2) {  // pushed backwards, so that they come in order
      const uint32_t b = node[i - 2];
      if (b == static_cast<uint8_t>(kValueByte)) continue;
      const uint32_t missing = at.missing ? at.missing - 1 : b < 0x80 ? 0 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
      const uint32_t c = at.missing ? at.code_point << 6 | (b & 63) : missing ? b & (0x3F >> missing) : b;
      if (missing)
        open.push_back({node[i - 1], c, missing});
      else
        first.push_back(c);
    }
  }
  std::sort(first.begin(), first.end());
  return first;
}

std::vector<std::string> SeenKeys::Keys(Set set) const {
  std::vector<std::string> keys;
  std::vector<std::pair<Set, std::string>> open{{set, ""}};
  while (!open.empty()) {
    const auto [at, text] = std::move(open.back());
    open.pop_back();
    const Span<const uint32_t> node = nodes_.At(at);
    if (node[0]) keys.push_back(text);
    for (size_t i = 1; i < node.size(); i += 2)
      if (node[i] != static_cast<uint8_t>(kValueByte)) open.emplace_back(node[i + 1], text + static_cast<char>(node[i]));
  }
  return keys;
}

SeenKeys::Path SeenKeys::Longer(Path path, uint32_t code_point) {
  Path& known = path_index_[uint64_t{path} << 32 | code_point];
  if (!known) {  // no longer path is the empty one
    known = static_cast<Path>(paths_.size());
    paths_.emplace_back(path, code_point);
  }
  return known;
}

std::string SeenKeys::Text(Path path) const {
  std::u32string backwards;
  for (; path; path = paths_[path].first) backwards.push_back(paths_[path].second);
  std::string text;
  for (size_t i = backwards.size(); i-- > 0;) AppendUtf8(backwards[i], &text);
  return text;
}

}  // namespace tokamata
