// SplitPatterns: the patterns of a pretokenizer, as threads over classes of characters.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// One stage of a pretokenizer: a pattern that cuts a text into its matches, leftmost and in the order of a backtracking
// matcher, and what is between them. A later stage sees each piece of an earlier one as a text of its own.
struct SplitStage {
  std::string pattern;         // in Python's syntax; see decode/pretokenizer.py
  bool keeps_gaps = true;      // what is between matches is a piece; else it would be lost
};

// Immutable. A *place* is where a thread of a matcher stands; thread lists are ordered by priority.
class SplitPatterns {
 public:
  static constexpr uint32_t kClasses = 256, kEnd = 255;  // classes of characters; the end of the text is the last one
  static constexpr uint32_t kMatch = 0xffffffff;
  using Classes = std::bitset<kClasses>;
  // What a place can do: read a character of some classes and go on, or match where the next one is of these classes.
  struct Item {
    Classes next;
    uint32_t target;  // a place or kMatch
  };
  struct Stage {
    std::vector<std::vector<Item>> places;  // by place, in order of priority; 0 is the start
    std::vector<Classes> matches;           // by place: before what it matches
    bool has_gaps = false;                  // some texts do not begin with a match
  };

  // Throws ConstraintError for malformed patterns; UnsupportedError for what is not followed exactly: assertions but
  // for a lookahead at one character and the end, possessive parts but for single characters, unbounded repetitions of
  // what may match the empty text, patterns that match it, and lost gaps; LimitError past 10,000 places or 255 classes.
  explicit SplitPatterns(const std::vector<SplitStage>& stages);

  const std::vector<Stage>& Stages() const { return stages_; }

  // ---- reading UTF-8 byte by byte. Nodes: 0 is between characters.
  static constexpr uint32_t kBad = 0xffffffff, kWhole = 0x80000000;
  // The node after a byte; kWhole plus the class where a character ends; kBad where that is no UTF-8.
  uint32_t Read(uint32_t node, uint8_t byte) const { return nodes_[node][byte]; }
  // The classes of the characters that can be completed from a node.
  const Classes& Below(uint32_t node) const { return below_[node]; }

 private:
  void FindClasses(const std::vector<CodePointRanges>& sets, std::vector<Classes>* classes);
  void BuildNodes(const std::vector<uint8_t>& class_of);
  void AddBelow(const std::array<uint32_t, 256>& node);

  std::vector<Stage> stages_;
  Classes unused_;  // classes that no character has
  std::vector<std::array<uint32_t, 256>> nodes_;
  std::vector<Classes> below_;
};

}  // namespace tokamata
