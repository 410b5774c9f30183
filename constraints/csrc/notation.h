// ReadNotation: grammars in GBNF and EBNF as trees of parts.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tokamata {

enum class Notation : uint8_t { kGbnf, kEbnf };

// A part of a grammar, or a rule, whose text is its name. Offsets count characters; lines and columns begin with 1.
struct NotationNode {
  // "rule", "choice" and "sequence" (of several or none), "group", "repeat", "exception", or what one terminal is.
  const char* kind;
  uint32_t begin, end, line, column;
  uint32_t parts = 0;             // of the nodes before, those that are not parts of others yet
  int64_t low = 0, high = kMany;  // of a repetition
  static constexpr int64_t kMany = -1;
};

// What gbnf.lark and ebnf.lark describe, parts before what they are parts of; a test compares the two. Nothing where a
// text is no such grammar, and for what is rare: then Lark says what is wrong, or reads it. Linear.
std::optional<std::vector<NotationNode>> ReadNotation(std::string_view text, Notation notation);

}  // namespace tokamata
