#include "automata/csrc/replace.h"

#include <string>
#include <unordered_map>

#include "automata/csrc/delayed.h"
#include "automata/csrc/id_table.h"

namespace tokamata {
namespace {

class ReplaceFst : public DelayedFst {
 public:
  ReplaceFst(const std::vector<std::pair<Label, const Fst*>>& pairs, Label root, const ReplaceOptions& options,
             const char* operation)
      : options_(options), operation_(operation) {
    for (const auto& [label, fst] : pairs) {
      if (label == kEpsilon) {
        throw FstError(std::string(operation) +
                       ": a machine's label must not be 0 (epsilon); number the labels from 1");
      }
      if (!machine_of_.emplace(label, static_cast<uint32_t>(machines_.size())).second) {
        throw FstError(std::string(operation) + ": expected one machine for each label, got two for label " +
                       std::to_string(label));
      }
      machines_.push_back(fst);
    }
    const auto found = machine_of_.find(root);
    if (found == machine_of_.end()) {
      throw FstError(std::string(operation) + ": the root label " + std::to_string(root) +
                     " has no machine; add a pair for it");
    }
    root_ = found->second;
    for (const Fst* fst : machines_) {
      CheckSameSemiring(*machines_[root_], *fst, operation);
      RequireSameSymbols(operation, "the input sides of all machines", machines_[root_]->InputSymbols(),
                         fst->InputSymbols());
      RequireSameSymbols(operation, "the output sides of all machines", machines_[root_]->OutputSymbols(),
                         fst->OutputSymbols());
    }
  }

  SemiringKind Semiring() const override { return machines_[root_]->Semiring(); }
  StateId Start() override {
    const StateId start = machines_[root_]->Start();
    return start == kNoState ? kNoState : State(kNoState, root_, start);
  }
  float Final(StateId s) override {
    const auto [stack, machine, state] = Parts(s);
    return stack == kNoState ? machines_[machine]->Final(state) : machines_[machine]->Zero();
  }
  void Expand(StateId s, std::vector<Arc>* arcs) override {
    arcs->clear();
    const auto [stack, machine, state] = Parts(s);
    const Fst& fst = *machines_[machine];
    if (stack != kNoState && fst.IsFinal(state)) {
      const uint64_t frame = frames_.Key(stack);  // where the call returns to, and the stack below
      const uint64_t place = places_.Key(static_cast<StateId>(static_cast<uint32_t>(frame)));
      arcs->push_back({kEpsilon, kEpsilon, fst.Final(state),
                       State(static_cast<StateId>(frame >> 32), static_cast<uint32_t>(place >> 32),
                             static_cast<StateId>(static_cast<uint32_t>(place)))});
    }
    for (const Arc& arc : fst.Arcs(state)) {
      const auto called = arc.olabel == kEpsilon ? machine_of_.end() : machine_of_.find(arc.olabel);
      if (called == machine_of_.end()) {
        arcs->push_back({arc.ilabel, arc.olabel, arc.weight, State(stack, machine, arc.nextstate)});
        continue;
      }
      const StateId start = machines_[called->second]->Start();
      if (start == kNoState) continue;
      const StateId place = Place(machine, arc.nextstate);
      const StateId pushed =
          frames_.FindOrAdd(static_cast<uint64_t>(static_cast<uint32_t>(stack)) << 32 | static_cast<uint32_t>(place));
      arcs->push_back({options_.call_input ? arc.ilabel : kEpsilon, options_.call_output ? arc.olabel : kEpsilon,
                       arc.weight, State(pushed, called->second, start)});
    }
  }
  StateId NumKnownStates() const override { return static_cast<StateId>(states_.Size()); }
  std::shared_ptr<const SymbolTable> InputSymbols() const override { return machines_[root_]->InputSymbols(); }
  std::shared_ptr<const SymbolTable> OutputSymbols() const override { return machines_[root_]->OutputSymbols(); }

 private:
  struct Triple {
    StateId stack;
    uint32_t machine;
    StateId state;
  };
  StateId Place(uint32_t machine, StateId state) {
    return places_.FindOrAdd(static_cast<uint64_t>(machine) << 32 | static_cast<uint32_t>(state));
  }
  StateId State(StateId stack, uint32_t machine, StateId state) {
    const StateId place = Place(machine, state);
    const StateId id =
        states_.FindOrAdd(static_cast<uint64_t>(static_cast<uint32_t>(stack)) << 32 | static_cast<uint32_t>(place));
    CheckLimit(operation_, "max_states", states_.Size(), options_.max_states,
               "the result has too many states, or infinitely many where a machine calls itself; keep recursion out, "
               "or use a push-down machine");
    return id;
  }
  Triple Parts(StateId s) const {
    const uint64_t key = states_.Key(s), place = places_.Key(static_cast<StateId>(static_cast<uint32_t>(key)));
    return {static_cast<StateId>(key >> 32), static_cast<uint32_t>(place >> 32),
            static_cast<StateId>(static_cast<uint32_t>(place))};
  }

  ReplaceOptions options_;
  const char* operation_;
  std::vector<const Fst*> machines_;
  std::unordered_map<Label, uint32_t> machine_of_;
  uint32_t root_ = 0;
  KeyTable places_;  // (machine, state)
  KeyTable frames_;  // stacks: (stack below, place to return to)
  KeyTable states_;  // (stack, place)
};

}  // namespace

std::unique_ptr<DelayedFst> MakeReplaceFst(const std::vector<std::pair<Label, const Fst*>>& pairs, Label root,
                                           const ReplaceOptions& options, const char* operation) {
  return std::make_unique<ReplaceFst>(pairs, root, options, operation);
}

Fst Replace(const std::vector<std::pair<Label, const Fst*>>& pairs, Label root, const ReplaceOptions& options) {
  ReplaceFst delayed(pairs, root, options, "replace");
  return Materialize("replace", &delayed, options.max_arcs);
}

}  // namespace tokamata
