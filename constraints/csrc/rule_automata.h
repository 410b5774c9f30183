// RuleAutomata: a context-free grammar as a recursive transition network without left recursion or empty calls.
#pragma once
#include <cstdint>
#include <vector>

#include "constraints/csrc/grammar.h"

namespace tokamata {

struct RuleAutomataOptions {
  bool inline_calls = true;
  uint32_t inline_states = 250;        // an automaton that grows beyond this by inlining a call keeps the call
  size_t determinize_states = 5'000;   // an automaton that would grow beyond this stays nondeterministic
};

// The states of all automata together. A call reads what its rule accepts, but never the empty text: that way is an arc
// of its own past the call. So every arc reads something, and no rule begins by calling itself.
struct RuleAutomata {
  static constexpr uint32_t kNone = 0xffffffff;
  struct Arc {
    uint32_t letter, state;  // sorted by letter
  };
  struct State {
    std::vector<Arc> arcs;
    uint32_t rule = 0;
    bool final = false;
    bool Ends() const { return final && arcs.empty(); }
  };
  std::vector<State> states;
  std::vector<uint32_t> start_of;  // by rule; kNone where it is not called
  uint32_t start = kNone;          // of the grammar; kNone where it has no text but maybe the empty one
  bool nullable = false;           // whether the grammar has the empty text
};

// Each rule becomes an automaton over letters, determinized and minimized, so common prefixes and suffixes of its
// alternatives are shared. Left recursion of any kind is removed without new rules: the left spines of a rule are a
// regular language over the letters beside them (after Moore, "Removing left recursion from context-free grammars",
// 2000, read as automata). Calls that close no cycle are replaced by what they call. A call of a rule by itself that
// amounts to starting again becomes a jump: E: E "+" E | a is a loop. A rule's automaton is polynomial in its grammar
// before determinization, which is exponential at worst and given up past a limit.
RuleAutomata CompileRules(const Grammar& grammar, const RuleAutomataOptions& options = {});

}  // namespace tokamata
