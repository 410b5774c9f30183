// compose: the relation that leads from the first operand's input through equal middle strings to the second's output.
#pragma once
#include <memory>
#include <vector>

#include "automata/csrc/delayed.h"
#include "automata/csrc/fst.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct ComposeOptions {
  bool connect = true;
  int64_t max_states = kDefaultMaxStates;
  int64_t max_arcs = kDefaultMaxArcs;
};

// Delayed composition with the epsilon-sequencing filter of Mohri, Pereira and Riley, "Weighted automata in text and
// speech processing" (1996): of all ways to interleave epsilons it keeps the one that moves in a first, so each pair of
// paths counts once and weights are right in every semiring. States are triples (state of a, state of b, filter state).
// Throws FstError unless a's arcs are sorted by output label or b's by input label. The operands must outlive it.
class ComposeFst : public DelayedFst {
 public:
  ComposeFst(const Fst& a, const Fst& b, const ComposeOptions& options = {}, const char* operation = "compose");

  SemiringKind Semiring() const override { return a_.Semiring(); }
  StateId Start() override;
  float Final(StateId s) override;
  void Expand(StateId s, std::vector<Arc>* arcs) override;
  StateId NumKnownStates() const override { return static_cast<StateId>(table_.Size()); }
  std::shared_ptr<const SymbolTable> InputSymbols() const override { return a_.InputSymbols(); }
  std::shared_ptr<const SymbolTable> OutputSymbols() const override { return b_.OutputSymbols(); }

 private:
  StateId State(StateId s1, StateId s2, bool b_moved);
  float Times(float x, float y) const;
  void Add(const Arc& first, const Arc& second, std::vector<Arc>* arcs);
  void Match(Span<const Arc> first, Span<const Arc> second, std::vector<Arc>* arcs);

  const Fst& a_;
  const Fst& b_;
  const char* operation_;
  int64_t max_states_;
  bool a_sorted_, b_sorted_;
  KeyTable table_;
};

Fst Compose(const Fst& a, const Fst& b, const ComposeOptions& options = {});

}  // namespace tokamata
