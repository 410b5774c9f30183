// ParserStates: what a lexed grammar has read in whole lexemes: sets of stacks, and the indentation where that counts.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "constraints/csrc/stack_sets.h"

namespace tokamata {

// Indentation after Python's manner, by terminal. The blanks of a newline lexeme after its last line end are
// its column. Outside brackets a column deeper than the open ones is followed by an indent, one of the open
// ones by dedents as often as blocks end, others are no text; inside brackets newlines count for nothing. At the end of
// the text open blocks are dedented. Neither indents nor dedents have text.
struct Indentation {
  static constexpr uint32_t kNoTerminal = 0xffffffff;
  uint32_t newline = 0, indent = 0, dedent = 0;
  std::vector<uint32_t> opening, closing;
  uint32_t tab_length = 8;
  uint32_t most_columns = 120;  // deeper lines are refused
  uint32_t end = kNoTerminal;   // of the text, where that is a terminal
  std::vector<uint32_t> columns = {};  // that newlines can have, sorted
  uint32_t needed_levels = 0;  // of blocks, with which rules can surely be ended; 0: they need none
};

// Without indentation this is StackSets, number by number. With it a set is a pair of stacks and layout: how many
// brackets are open, and the columns of open blocks. Newlines of different columns are terminals of their own,
// num_terminals + column.
class ParserStates {
 public:
  using Set = StackSets::Set;
  static constexpr Set kNone = StackSets::kNone;
  static constexpr Set kUnknown = StackSets::kUnknown;

  ParserStates(std::shared_ptr<const RuleAutomata> rules, uint32_t num_terminals, size_t most_nodes,
               const Indentation* indentation);

  Set Start() { return start_; }
  Set Advance(Set p, uint32_t terminal) {
    return indentation_ ? AdvanceWithLayout(p, terminal) : stacks_.Advance(p, terminal);
  }
  uint32_t Accepts(Set p) { return indentation_ ? AcceptsWithLayout(p) : stacks_.Accepts(p); }
  bool AcceptsAfter(Set p, uint32_t terminal) {
    if (!indentation_) return stacks_.AcceptsAfter(p, terminal);
    const Set after = AdvanceWithLayout(p, terminal);
    return after != kNone && AcceptsWithLayout(after) == 1;
  }
  // The terminals with text that may come next; newlines as one.
  uint32_t Allowed(Set p) { return indentation_ ? AllowedWithLayout(p) : stacks_.Allowed(p); }
  const std::vector<uint64_t>& Terminals(uint32_t allowed) const { return stacks_.Terminals(allowed); }
  // Whether a union of the two is a set.
  bool CanUnite(Set a, Set b) const { return !indentation_ || pairs_[a].layout == pairs_[b].layout; }
  Set Union(Set a, Set b);
  // Open brackets are cut off where stacks are.
  Set Truncate(Set p, uint32_t depth) {
    return indentation_ ? TruncateWithLayout(p, depth) : stacks_.Truncate(p, depth);
  }
  bool HasVariables(Set p) const {
    return stacks_.HasVariables(StacksOf(p)) || (indentation_ && layouts_[pairs_[p].layout].more_brackets);
  }
  Set StacksOf(Set p) const { return indentation_ ? pairs_[p].stacks : p; }
  StackSets& Stacks() { return stacks_; }
  const StackSets& Stacks() const { return stacks_; }
  bool InBrackets(Set p) const { return indentation_ && layouts_[pairs_[p].layout].brackets > 0; }
  // How many brackets are open, of a set that is not cut off.
  uint32_t Brackets(Set p) const { return indentation_ ? layouts_[pairs_[p].layout].brackets : 0; }
  // How many blocks are open.
  size_t Blocks(Set p) const { return indentation_ ? layouts_[pairs_[p].layout].columns.size() : 0; }
  // By how many levels blocks can still be nested inside each open one, innermost first, where these are few and rules
  // may need them; the last one is for lines outside of blocks.
  const std::vector<uint32_t>& FewLevels(Set p) const {
    static const std::vector<uint32_t> none;
    return indentation_ && p != kNone && p != kUnknown ? layouts_[pairs_[p].layout].few_levels : none;
  }
  static constexpr uint32_t kManyLevels = 8;  // count as any number
  bool HasFewLevels(Set p) const { return !FewLevels(p).empty(); }
  Set Adopt(const ParserStates& other, Set p, std::unordered_map<Set, Set>* done);  // see StackSets
  size_t MemoryBytes() const;

 private:
  struct Layout {
    uint32_t brackets = 0;
    bool more_brackets = false;     // at least so many
    std::vector<uint32_t> columns;  // of open blocks; the outermost, 0, is not listed
    std::vector<uint32_t> few_levels;  // follows from the columns
    friend bool operator<(const Layout& a, const Layout& b) {
      return std::tie(a.brackets, a.more_brackets, a.columns) < std::tie(b.brackets, b.more_brackets, b.columns);
    }
  };
  struct PairNode {
    Set stacks;
    uint32_t layout;
  };
  uint32_t InternLayout(Layout layout);
  uint32_t LevelsInside(uint32_t column) const;
  uint32_t LayoutAfter(uint32_t layout, uint32_t terminal);
  Set Pair(Set stacks, uint32_t layout);
  Set TruncateWithLayout(Set p, uint32_t depth);
  Set AdvanceWithLayout(Set p, uint32_t terminal);
  Set Newline(Set p, uint32_t column);
  uint32_t AcceptsWithLayout(Set p);
  uint32_t AllowedWithLayout(Set p);
  // The stacks when all blocks are ended.
  Set AfterBlocks(Set p);
  // 1 or 0: whether the text may end next, or kUnknown.
  uint32_t MayEnd(Set p);
  // Whether something with text may come next, or the end; unknown counts as yes.
  bool GoesOn(Set p);

  const uint32_t num_terminals_;
  const Indentation* indentation_;
  StackSets stacks_;
  Set start_;
  // What terminals do to the layout; see LayoutAfter.
  enum Effect : uint8_t { kNoEffect, kOpens, kCloses };
  std::vector<Effect> effects_;  // by terminal
  std::vector<Layout> layouts_;
  FlatMap<uint64_t, uint32_t> layout_after_;  // by layout and effect
  std::map<Layout, uint32_t> layout_ids_;
  std::vector<PairNode> pairs_;
  FlatMap<uint64_t, Set> pair_ids_, advanced_;
  FlatMap<uint64_t, uint32_t> allowed_;  // by set
};

}  // namespace tokamata
