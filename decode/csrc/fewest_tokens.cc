#include "decode/csrc/fewest_tokens.h"

#include <algorithm>

#include "automata/csrc/time_limit.h"

namespace tokamata {

std::vector<uint32_t> FewestTokens(const Trie& trie, std::string_view text) {
  constexpr uint32_t kNone = 0xffffffff;
  std::vector<uint32_t> tokens(text.size() + 1, kNone);
  tokens.back() = 0;
  for (size_t i = text.size(); i-- > 0;) {
    TimeLimit::Spend(8);
    uint32_t node = 0;
    for (size_t j = i; j < text.size(); ++j) {
      node = trie.Child(node, static_cast<uint8_t>(text[j]));
      if (node == kNoIndex) break;
      if (trie.TokensBegin(node) != trie.TokensEnd(node) && tokens[j + 1] != kNone)
        tokens[i] = std::min(tokens[i], tokens[j + 1] + 1);
    }
  }
  return tokens;
}

}  // namespace tokamata
