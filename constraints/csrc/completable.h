// Completable: whether a position in a lexed grammar can lead to the end of a text.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "constraints/csrc/lexed_rules.h"

namespace tokamata {

// A grammar that is trimmed still has dead ends under longest match: terminals that would run into each other, with
// nothing that may stand between them. Where a separator can end the lexeme nothing more has to be asked. Elsewhere a
// rule from one of its states on is summarized as a relation between the pending lexer states before and after it, the
// least solution of the network's equations (as summary edges of pushdown systems: Sharir and Pnueli 1981; Reps,
// Horwitz, Sagiv 1995), made where it is needed; stacks are then followed from the top down. Exact; LimitError past
// `most_searched` steps of one question. With contextual lexing relations would depend on the stacks: there, positions
// are searched one by one.
class Completable {
 public:
  Completable(const LexedRules& rules, Lexer* lexer, StackSets* stacks);

  bool Ask(const Position& p);
  // Whether a lexeme that is being read, with nothing pending, can end where the separator does not continue it: then
  // the position can be completed, whatever the stacks are.
  bool EndsFreely(Lexer::State lexer);

 private:
  using Pending = Lexer::State;
  struct Node {  // a state of a rule automaton, with what is pending there
    uint32_t state;
    Pending pending;
    std::vector<Pending> out;                               // what may be pending where the rule ends
    std::vector<uint32_t> copies;                           // nodes that have all of out too
    std::vector<std::pair<uint32_t, uint32_t>> returns;     // callers: state to return to, node of the caller
  };
  bool Search(const Position& p);
  bool SearchPositions(const Position& p);
  // Calls found(terminal, pending) for every way to finish the lexeme at (lexer, pending), with at least one more byte
  // or, where `now`, none; until it returns true.
  template <class F>
  bool ForEachEnd(Lexer::State lexer, Pending pending, bool now, F found);
  const std::vector<Pending>& Ends(Lexer::State lexer, Pending pending);
  void AddEnds(const Lexer::Terminals& wanted, Pending pending, std::vector<Pending>* all);
  const std::vector<Pending>& AfterIgnored(Pending pending);
  const std::vector<Pending>& AfterTerminal(uint32_t terminal, Pending pending);
  uint32_t NodeOf(uint32_t state, Pending pending);
  const std::vector<Pending>& Out(uint32_t state, Pending pending);
  void AddOut(uint32_t node, Pending pending);
  void AddCopy(uint32_t from, uint32_t to);
  void Expand(uint32_t node);
  bool CanEnd(StackSets::Set stacks, Pending pending);
  void Spend(size_t steps);

  const LexedRules& rules_;
  Lexer* lexer_;
  StackSets* stacks_;
  Positions positions_;
  Pending after_separator_ = Lexer::kDead;
  size_t spent_ = 0;
  std::vector<uint8_t> free_;  // by lexer state: 0 unknown, 1 no, 2 yes
  std::unordered_map<uint64_t, std::vector<std::pair<Position, bool>>> known_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> node_of_;
  std::vector<uint32_t> fresh_;                              // nodes to expand
  std::vector<std::pair<uint32_t, Pending>> news_;           // of nodes, to pass on
  std::unordered_map<uint64_t, std::vector<Pending>> ends_;
  std::unordered_map<Pending, std::vector<Pending>> after_ignored_;
  std::unordered_map<uint64_t, std::vector<Pending>> after_terminal_;
  std::unordered_map<uint64_t, bool> can_end_;
};

}  // namespace tokamata
