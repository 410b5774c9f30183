// TerminalSets: classes of tokens that one label stands for, equal ones kept once.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

class TerminalSets {
 public:
  explicit TerminalSets(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // The index of a set of distinct token ids, given in any order. `name` is kept when the set is new; an empty one is
  // replaced by what the tokens look like.
  uint32_t Add(const uint32_t* ids, size_t count, const std::string& name = "");
  uint32_t Size() const { return static_cast<uint32_t>(names_.size()); }
  const std::string& Name(uint32_t i) const { return names_[i]; }
  const std::vector<uint32_t>& Ids() const { return ids_; }           // of all sets, those of one rising
  const std::vector<uint64_t>& Offsets() const { return offsets_; }   // set i is Ids()[Offsets()[i] … Offsets()[i + 1])
  size_t MemoryBytes() const { return ids_.size() * sizeof(uint32_t) + names_.size() * 64; }

 private:
  std::string Describe(const uint32_t* ids, size_t count) const;

  const Vocabulary& vocabulary_;
  std::vector<uint32_t> ids_;
  std::vector<uint64_t> offsets_{0};
  std::vector<std::string> names_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
  std::vector<uint32_t> sorted_;  // scratch
  std::vector<uint64_t> bits_;    // scratch, all zero between calls
};

// The bytes of a token as a name without blanks: printable ASCII but the backslash as it is, else \x0a.
std::string TokenName(std::string_view token);
// A character class as in a pattern, without blanks: [0-9a-f], [^"\\], and . for all characters.
std::string ClassName(const ByteSet& ascii, bool non_ascii);

}  // namespace tokamata
