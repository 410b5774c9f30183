// determinize: an equivalent machine in which no state has two arcs with one input label.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "automata/csrc/delayed.h"
#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct DeterminizeOptions {
  float delta = kDelta;           // residual weights that round to one multiple of delta are one
  float weight = kInfinity;       // tropical only: keep what lies on paths within this of the best one
  int64_t nstate = -1;            // with weight: expand at most this many states, the best first; -1: all
  Label subsequential_label = 0;  // input label of the arcs that emit what is left at the end of a transducer's string
  int64_t max_states = kDefaultMaxStates;
  int64_t max_arcs = kDefaultMaxArcs;
  int64_t max_elements = kDefaultMaxElements;
  int64_t max_delay = 1000;       // longest output that a transducer's state may hold back, in labels
};

// Delayed weighted determinization (Mohri, "Finite-state transducers in language and speech processing", 1997): a state
// is a set of states with the weights, and for transducers the output strings, that are still owed. Epsilon on the
// input side is a label like others. Transducers must be functional (one output for each input), else FstError.
// Machines without the twins property have no finite result; eagerly, max_states ends them. The operand must outlive
// it.
class DeterminizeFst : public DelayedFst {
 public:
  explicit DeterminizeFst(const Fst& fst, const DeterminizeOptions& options = {});
  ~DeterminizeFst() override;

  SemiringKind Semiring() const override { return fst_.Semiring(); }
  StateId Start() override;
  float Final(StateId s) override;
  void Expand(StateId s, std::vector<Arc>* arcs) override;
  StateId NumKnownStates() const override;
  std::shared_ptr<const SymbolTable> InputSymbols() const override { return fst_.InputSymbols(); }
  std::shared_ptr<const SymbolTable> OutputSymbols() const override { return fst_.OutputSymbols(); }

  // The least of weight + distance over the subset's states, given each state's distance to the end (tropical).
  float Bound(StateId s, const std::vector<float>& distance) const;

  class Subsets;

 private:
  const Fst& fst_;
  std::unique_ptr<Subsets> subsets_;
};

Fst Determinize(const Fst& fst, const DeterminizeOptions& options = {});

}  // namespace tokamata
