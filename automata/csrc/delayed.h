// DelayedFst: a machine whose states are made when they are first asked for.
#pragma once
#include <cstdint>
#include <vector>

#include "automata/csrc/fst.h"

namespace tokamata {

// State ids are handed out by Start() and Expand() in order of first appearance.
class DelayedFst {
 public:
  virtual ~DelayedFst() = default;
  virtual SemiringKind Semiring() const = 0;
  // kNoState where nothing is accepted.
  virtual StateId Start() = 0;
  virtual float Final(StateId s) = 0;
  // Replaces arcs by those of s. Makes the states that they lead to.
  virtual void Expand(StateId s, std::vector<Arc>* arcs) = 0;
  // How many ids have been handed out.
  virtual StateId NumKnownStates() const = 0;
  virtual std::shared_ptr<const SymbolTable> InputSymbols() const = 0;
  virtual std::shared_ptr<const SymbolTable> OutputSymbols() const = 0;
};

// All states that the start leads to, under the same ids. Throws LimitError above max_arcs arcs.
Fst Materialize(const char* operation, DelayedFst* delayed, int64_t max_arcs);

}  // namespace tokamata
