// LearnedClass: what masks can know of a loop over characters that are no class of CharacterClasses().
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/wide_characters.h"
#include "tokenizer_fst/csrc/tables.h"

namespace tokamata {

class Factoring;

struct LearnedClass {
  static constexpr uint32_t kFewChars = 8;

  // The tokens below a node of the trie with respect to loops over characters of `ascii` and `wide`, as they go on after
  // the node. Of those that leave the loop, the ones that do so by a character that begins with one of `exits`: bytes of
  // ASCII that are not in it, and any beyond. Starts with the largest class inside of it that is known.
  LearnedClass(const Factoring& known, uint32_t node, const ByteSet& ascii, std::shared_ptr<const WideCharacters> wide,
               const ByteSet& exits);
  LearnedClass(const LearnedClass&) = delete;

  bool Is(uint32_t n, const ByteSet& a, const WideCharacters& w, const ByteSet& e) const {
    return node == n && ascii == a && exit_bytes == e && (wide.get() == &w || *wide == w);
  }
  size_t MemoryBytes() const;
  // The tokens inside of the class: those of at most so many characters are in the row, but for the ones of Longer.
  const uint32_t* RowOf(uint32_t most) const { return rows[std::min(most, kFewChars)].data(); }
  Span<const uint32_t> Longer(uint32_t most) const {
    const uint32_t from = most < kFewChars ? static_cast<uint32_t>(longer.size())
                                           : offsets[std::min<size_t>(most - kFewChars, offsets.size() - 1)];
    return {longer.data() + from, longer.size() - from};
  }
  // Those of a byte among exit_bytes.
  Span<const FactorExit> ExitsBy(uint8_t b) const {
    const uint32_t* at = exit_offsets.data() + exit_bytes.Rank(b);
    return {exits.data() + at[0], at[1] - at[0]};
  }

  uint32_t node;
  ByteSet ascii, exit_bytes;
  std::shared_ptr<const WideCharacters> wide;
  ByteSet first;  // bytes that begin a character of the class, and no way out
  // Tokens of such characters, the last one maybe cut off (it counts): by how many there are at most, and all.
  std::vector<uint32_t> rows[kFewChars + 1];
  // Those of more than kFewChars characters, ascending by their number: of more than kFewChars + n from offsets[n] on.
  std::vector<uint32_t> longer, offsets;
  // By first byte of what follows the characters: the node after it. Below those beyond ASCII there may be characters of
  // the class, too.
  std::vector<FactorExit> exits;
  std::vector<uint32_t> exit_offsets;  // by rank of that byte
  // Tokens that end inside of a character which begins with one of exit_bytes: it may be the class's, and is in the rows,
  // or what follows. `chars` does not count it.
  struct Cut {
    uint32_t id, chars;
  };
  std::vector<Cut> cut;
};

}  // namespace tokamata
