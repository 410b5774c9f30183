#include "automata/csrc/difference.h"

#include <algorithm>
#include <string>
#include <utility>

#include "automata/csrc/connect.h"

namespace tokamata {
namespace {

class DifferenceFst : public DelayedFst {
 public:
  DifferenceFst(const Fst& a, const Fst& b, int64_t max_states, const char* operation)
      : a_(a), b_(b), max_states_(max_states), operation_(operation) {}

  SemiringKind Semiring() const override { return a_.Semiring(); }
  StateId Start() override { return a_.Start() == kNoState ? kNoState : State(a_.Start(), b_.Start()); }
  float Final(StateId s) override {
    const auto [s1, s2] = Pair(s);
    return s2 != kNoState && b_.IsFinal(s2) ? a_.Zero() : a_.Final(s1);
  }
  void Expand(StateId s, std::vector<Arc>* arcs) override {
    arcs->clear();
    const auto [s1, s2] = Pair(s);
    for (const Arc& arc : a_.Arcs(s1)) {
      const StateId next = arc.ilabel == kEpsilon || s2 == kNoState ? s2 : Step(s2, arc.ilabel);
      arcs->push_back({arc.ilabel, arc.olabel, arc.weight, State(arc.nextstate, next)});
    }
  }
  StateId NumKnownStates() const override { return static_cast<StateId>(table_.Size()); }
  std::shared_ptr<const SymbolTable> InputSymbols() const override { return a_.InputSymbols(); }
  std::shared_ptr<const SymbolTable> OutputSymbols() const override { return a_.OutputSymbols(); }

 private:
  StateId State(StateId s1, StateId s2) {
    const StateId id = table_.FindOrAdd(static_cast<uint64_t>(s1) << 32 | static_cast<uint32_t>(s2));
    CheckLimit(operation_, "max_states", table_.Size(), max_states_,
               "the product of the operands has too many states; determinize and minimize them first");
    return id;
  }
  std::pair<StateId, StateId> Pair(StateId s) const {
    const uint64_t key = table_.Key(s);
    return {static_cast<StateId>(key >> 32), static_cast<StateId>(static_cast<uint32_t>(key))};
  }
  StateId Step(StateId s, Label label) const {
    const Span<const Arc> arcs = b_.Arcs(s);
    const Arc* arc = std::lower_bound(arcs.begin(), arcs.end(), label,
                                      [](const Arc& x, Label wanted) { return x.ilabel < wanted; });
    return arc != arcs.end() && arc->ilabel == label ? arc->nextstate : kNoState;
  }

  const Fst& a_;
  const Fst& b_;
  int64_t max_states_;
  const char* operation_;
  KeyTable table_;
};

}  // namespace

std::unique_ptr<DelayedFst> MakeDifferenceFst(const Fst& a, const Fst& b, const ComposeOptions& options,
                                              const char* operation) {
  CheckSameSemiring(a, b, operation);
  RequireSameSymbols(operation, "both operands", a.OutputSymbols(), b.InputSymbols());
  RequireAcceptor(operation, a, "the first operand");
  RequireDeterministicAcceptor(operation, b, "the second operand");
  if (!IsUnweighted(b)) {
    throw FstError(std::string(operation) +
                   ": the second operand must be unweighted, got weights other than the semiring's one; rebuild it "
                   "with weights None");
  }
  if (!IsSorted(b, /*by_output=*/false)) {
    throw FstError(std::string(operation) +
                   ": the second operand's arcs must be sorted by input label; apply arcsort(second, \"input\") "
                   "before");
  }
  return std::make_unique<DifferenceFst>(a, b, options.max_states, operation);
}

Fst Difference(const Fst& a, const Fst& b, const ComposeOptions& options) {
  const std::unique_ptr<DelayedFst> delayed = MakeDifferenceFst(a, b, options);
  Fst result = Materialize("difference", delayed.get(), options.max_arcs);
  if (options.connect) result = Connect(result);
  return result;
}

}  // namespace tokamata
