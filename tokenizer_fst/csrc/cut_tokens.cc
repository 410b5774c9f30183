#include "tokenizer_fst/csrc/cut_tokens.h"

#include <map>
#include <string_view>
#include <utility>

#include "automata/csrc/utf8.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

// Where the last character of a text of the class begins if it is cut off, and how many characters there are. False for
// texts that end with a whole character or are not of the class.
bool FindCut(std::string_view text, const CharacterClass& c, uint32_t* chars, size_t* cut) {
  uint8_t phase = 0;
  *chars = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t b = static_cast<uint8_t>(text[i]);
    const bool begins = phase == 0;
    if ((begins && !c.first.Has(b)) || !Utf8Step(b, &phase)) return false;
    if (!begins) continue;
    ++*chars;
    *cut = i;
  }
  return phase != 0;
}

// Whether the last character may be cut off: its lead byte is followed by too few others.
bool EndsInside(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const uint8_t b = static_cast<uint8_t>(text[text.size() - back]);
    if (b < 0x80) return false;
    if (b >= 0xC0) return back < (b >= 0xF0 ? 4u : b >= 0xE0 ? 3u : 2u);
  }
  return false;
}

}  // namespace

CutTokens::CutTokens(const Vocabulary& vocabulary, const CharacterClass& c, const Factor& inside) {
  std::vector<uint32_t> count(inside.max_chars + 1);
  for (uint32_t l = 1; l <= inside.max_chars; ++l) count[l] = inside.offsets[l + 1] - inside.offsets[l];
  std::map<std::pair<uint32_t, std::string_view>, size_t> index;
  for (uint32_t id = 0; c.non_ascii && id < vocabulary.Size(); ++id) {
    const std::string_view token = vocabulary.Token(id);
    uint32_t chars = 0;
    size_t cut = 0;
    if (!EndsInside(token) || !FindCut(token, c, &chars, &cut)) continue;
    const std::string_view tail = token.substr(cut);
    const auto [it, added] = index.emplace(std::make_pair(chars, tail), groups.size());
    if (added) groups.push_back({chars, std::string(tail), {}});
    groups[it->second].ids.push_back(id);
    --count[chars];
  }
  for (const uint32_t n : count) whole.push_back(n > 0);
}

}  // namespace tokamata
