// SureMeets: members of intersections with regular languages that are found without a search through all that counts.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/length_bounds.h"
#include "automata/csrc/meeting_leaf.h"
#include "automata/csrc/regular_operand.h"

namespace tokamata {

// x & s·c{low,high} has a member if x & s·c* has one with no more than `high` bytes beyond the fewest of s, and at least
// `low` c; where each c is one character, it has none if members of x have more characters. So what is left of x is
// looked at once, whatever was counted before.
class SureMeets {
 public:
  explicit SureMeets(Expressions* pool) : pool_(pool), lengths_(pool) { lengths_.most_rules = 256; }

  // Whether an intersection of one push-down member and regular ones has a member; nothing where that is not seen soon.
  std::optional<bool> Find(Expr meet);
  // Whether an intersection of a leaf and regular members surely has members wherever strings lead that all of these
  // allow: 0 where that is not found out, kAny: yes, else where each byte costs 1 and what *per_byte says, and strings no
  // more than this.
  static constexpr uint64_t kAny = ~uint64_t{0};
  uint64_t FindWherever(Expr meet, std::array<uint32_t, 256>* per_byte);
  // What is regular, for questions beside it that are worth keeping.
  RegularOperand* Operand();

 private:
  struct Counted {
    Expr x = kEmpty;
    Expr base = kEmpty;        // of the regular members
    uint64_t low = 0;          // as many c, at least
    bool at_once = true;       // no s comes before c where low is not 0
    ByteSet one;               // bytes that are such a c by themselves
    uint64_t most_bytes = kAny;       // a text of base with no more has few enough c
    uint64_t most_characters = kAny;  // a text with more has too many
  };
  using Text = MeetingLeaf::Text;
  bool Split(Expr meet, Counted* out);
  Text FindText(Expr x, Expr base);
  bool CannotEnd(Expr x, const ByteSet& bytes);
  uint64_t LeastCharacters(Expr x);
  MeetingLeaf* LeafOf(Expr leaf);

  Expressions* pool_;
  std::shared_ptr<RegularOperand> operand_;
  LengthBounds lengths_;
  FlatMap<uint64_t, Text> texts_;  // by x and base
  std::vector<std::optional<MeetingLeaf*>> leaves_;  // by number
};

}  // namespace tokamata
