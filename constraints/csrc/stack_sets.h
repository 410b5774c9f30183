// StackSets: sets of stacks of a recursive transition network, each kept once.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/id_table.h"
#include "constraints/csrc/rule_automata.h"

namespace tokamata {

// Whether a bit set has a terminal; newlines of some column (see ParserStates) are in none.
inline bool HasTerminal(const std::vector<uint64_t>& set, uint32_t t) {
  return t >> 6 < set.size() && set[t >> 6] >> (t & 63) & 1;
}

// A set is a map from states of rule automata to the sets of what lies below them, or the bottom; hash-consed, so that
// equal sets are one number and all stacks of an ambiguous prefix share what they have in common: a canonical form of
// the graph-structured stack (Tomita 1985). States with nothing left to read are never pushed, so tail calls take no
// room. All walks over stacks are loops: depth is bounded by memory alone.
//
// A set may also have variables, for what lies below a stack that was cut off; questions that need to know them answer
// kUnknown.
class StackSets {
 public:
  using Set = uint32_t;
  static constexpr Set kNone = 0;                // no stack
  static constexpr Set kUnknown = 0xffffffff;    // asks what lies below a variable
  static constexpr uint32_t kBottom = 0xffffffff;

  // `most_nodes` limits the number of different sets, wide ones counting as several: CapacityError.
  StackSets(std::shared_ptr<const RuleAutomata> rules, uint32_t num_terminals, size_t most_nodes);

  Set Start() { return start_; }
  // The stack on which nothing is left to read, and that of one state.
  Set Bottom() const { return bottom_; }
  Set Frame(uint32_t state) { return Push(state, bottom_); }
  // The stacks after a terminal, kNone where none of them takes it; memoized.
  Set Advance(Set p, uint32_t terminal);
  // Whether the text may end here: 0, 1 or kUnknown.
  uint32_t Accepts(Set p);
  // Whether it may end after a terminal: what Accepts says of Advance, mostly without making those stacks.
  bool AcceptsAfter(Set p, uint32_t terminal);
  // The terminals that some stack takes, as the number of a bit set; kUnknown where a variable may take more.
  uint32_t Allowed(Set p);
  const std::vector<uint64_t>& Terminals(uint32_t allowed) const { return allowed_sets_[allowed]; }

  // The number of a bit set of terminals.
  uint32_t InternAllowed(std::vector<uint64_t> set);

  Set Union(Set a, Set b);
  // The stacks cut off `depth` states below the top; what is cut off becomes variables, numbered as they are met.
  Set Truncate(Set p, uint32_t depth);
  bool HasVariables(Set p) const { return nodes_[p].open; }
  // A set of another network of the same rules. `done`, of one other network: what was adopted before.
  Set Adopt(const StackSets& other, Set p, std::unordered_map<Set, Set>* done);
  // The names of rules on top of the stacks, for messages.
  std::vector<uint32_t> TopRules(Set p) const;

  // Calls f(state, set below it) for each stack top.
  template <class F>
  void ForEachTop(Set p, F f) const {
    const Node n = nodes_[p];
    for (uint32_t i = 0; i < n.entries; ++i) f(EntryOf(n, i).state, EntryOf(n, i).below);
  }
  // Whether nothing may be left to read.
  bool HasBottom(Set p) const { return nodes_[p].variables && VariableOf(nodes_[p], nodes_[p].variables - 1) == kBottom; }
  size_t MemoryBytes() const;

 private:
  struct Entry {
    uint32_t state;
    Set below;
  };
  struct Node {  // entries sorted by state, then variables sorted; bottom is the variable kBottom
    uint32_t first = 0, entries = 0, variables = 0;
    bool open = false;  // has a variable that is not the bottom, here or further down
  };
  // A way to read one terminal: the state after it, with the states to return to below it.
  struct Way {
    uint32_t terminal, target;
    uint32_t chain, chain_length;  // innermost last, in chains_
  };
  const std::vector<Way>& WaysOf(uint32_t state);
  void MakeWays(uint32_t state);
  Set TruncateOne(Set p, uint32_t depth);
  Set Intern(const Entry* entries, size_t num_entries, const uint32_t* variables, size_t num_variables);
  Set Intern(const std::vector<Entry>& entries, const std::vector<uint32_t>& variables) {
    return Intern(entries.data(), entries.size(), variables.data(), variables.size());
  }
  Set Variable(uint32_t v) { return Intern(nullptr, 0, &v, 1); }
  // All stacks after some ways, above a variable: its nodes in an order in which those below others come before them.
  struct Shape {
    struct Node {
      uint32_t entries;
      bool ends;  // nothing may be left above the variable
    };
    std::vector<Node> nodes;
    std::vector<Entry> entries;  // of one node after another; below: a node's number, or the variable
  };
  // A union that is being gathered: entries and variables of its members in any order.
  struct Gathered {
    std::vector<Entry> entries;
    std::vector<uint32_t> variables;
  };
  void Gather(Set p, Gathered* out) const;
  Set Unite(Gathered* all);
  Set AdvanceTop(Set p, uint32_t terminal);
  Set Follow(const Way& way, Set below);
  // Whether nothing need be left to read above what is below a state, after a terminal.
  bool MayEndAfter(uint32_t state, uint32_t terminal);
  // The ways that read a terminal: first and past the last.
  std::pair<const Way*, const Way*> WaysOf(uint32_t state, uint32_t terminal);
  const Shape& ShapeOf(uint32_t state, const Way* ways, size_t count);
  void PutOn(const Shape& shape, Set below, Gathered* out);
  Set Push(uint32_t state, Set below);
  Entry EntryOf(const Node& n, uint32_t i) const { return {data_[n.first + 2 * i], data_[n.first + 2 * i + 1]}; }
  uint32_t VariableOf(const Node& n, uint32_t i) const { return data_[n.first + 2 * n.entries + i]; }
  bool TopUnknown(const Node& n) const {
    return n.variables > 1 || (n.variables == 1 && VariableOf(n, 0) != kBottom);
  }
  // Evaluates a function of a set that is defined through those below its final states; known(set) and compute(set).
  template <class Known, class Compute>
  void BottomUp(Set p, Known known, Compute compute);

  std::shared_ptr<const RuleAutomata> rules_;
  const uint32_t num_terminals_;
  const size_t most_nodes_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> data_;
  IdTable table_;
  Set start_ = kNone, bottom_ = kNone;
  std::vector<std::vector<Way>> ways_;  // by state
  std::vector<uint8_t> has_ways_;
  std::vector<uint32_t> chains_;
  FlatMap<uint64_t, uint32_t> shape_ids_;  // by state and terminal
  std::vector<std::unique_ptr<const Shape>> shapes_;
  std::vector<Set> put_;  // for PutOn
  std::vector<Entry> put_entries_;
  Gathered gathered_;  // for AdvanceTop
  std::vector<uint32_t> allowed_;  // by set
  std::vector<uint8_t> accepts_;   // by set
  std::vector<std::vector<uint64_t>> allowed_sets_;
  std::unordered_map<uint64_t, uint32_t> allowed_ids_;  // by hash; equal hashes are told apart by probing
  FlatMap<uint64_t, Set> advanced_, unions_, truncated_;
};

}  // namespace tokamata
