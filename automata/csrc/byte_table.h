// ByteTable: a deterministic acceptor over bytes as explicit tables, and its makers.
#pragma once
#include <cstdint>
#include <vector>

namespace tokamata {

class DelayedAcceptor;
class Fst;

// A leaf of expressions. State 0 is dead, every other state can reach a final one; next[s * 256 + b] is the successor.
struct ByteTable {
  std::vector<uint32_t> next;
  std::vector<uint8_t> final;
};

// The input labels of an acceptor over bytes (label b for byte b in 1..255, 256 for NUL, 0 for epsilon), determinized
// where it has to be, and trimmed; weights are ignored. Returns the start state, 0 for the empty language. FstError for
// other labels or a transducer, LimitError from most_states on.
uint32_t TableOfFst(const Fst& fst, uint32_t most_states, ByteTable* table);

// The minimal automaton of what an acceptor accepts: as few states as any deterministic one. States are numbered by
// breadth-first search in the order of bytes, so equal languages have equal tables. Returns the start state, 0 for the
// empty language. LimitError past the acceptor's own limits. O(n · (256 + c log n)) for n states and c classes of
// bytes. Source: Hopcroft (1971), see minimize.h.
uint32_t MinimalTable(DelayedAcceptor* acceptor, ByteTable* table);

}  // namespace tokamata
