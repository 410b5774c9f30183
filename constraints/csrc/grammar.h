// Grammar: productions over terminals and rules, and what follows from them alone.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tokamata {

// A letter is a terminal t < num_terminals, or the call of a rule r as num_terminals + r.
struct Grammar {
  struct Production {
    uint32_t rule;
    std::vector<uint32_t> letters;
  };
  uint32_t num_terminals = 0, num_rules = 0, start = 0;
  std::vector<Production> productions;
  std::vector<uint8_t> terminal_nullable;  // whether its language has the empty text
  std::vector<uint8_t> terminal_nonempty;  // whether it has another text
  std::vector<std::string> terminal_names, rule_names;
  std::vector<std::string> rule_places;  // for texts of errors; may be fewer than there are rules

  bool IsTerminal(uint32_t letter) const { return letter < num_terminals; }
};

// By rule.
struct GrammarFacts {
  std::vector<uint8_t> productive;  // has a member
  std::vector<uint8_t> nullable;    // has the empty text
  std::vector<uint8_t> nonempty;    // has another text
};
// Least fixpoints by counting what is missing; linear in the grammar.
GrammarFacts FactsOf(const Grammar& grammar);

// Components of mutual reachability, numbered so that arcs lead from higher to equal or lower numbers (Tarjan 1972).
// Iterative. *cyclic: whether a node lies on a cycle.
std::vector<uint32_t> Components(const std::vector<std::vector<uint32_t>>& arcs, std::vector<uint8_t>* cyclic);

}  // namespace tokamata
