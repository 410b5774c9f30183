#include "automata/csrc/pdt_replace.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "automata/csrc/id_table.h"

namespace tokamata {
namespace {

constexpr const char* kOperation = "Pdt.from_rules";
using Table = std::shared_ptr<const SymbolTable>;

class Network {
 public:
  Network(const std::vector<std::pair<Label, const Fst*>>& pairs, Label root, const PdtReplaceOptions& options)
      : options_(options) {
    for (const auto& [label, fst] : pairs) {
      if (label == kEpsilon) {
        throw FstError(std::string(kOperation) + ": a rule's label must not be 0 (epsilon); number the labels from 1");
      }
      if (!machine_of_.emplace(label, static_cast<uint32_t>(machines_.size())).second) {
        throw FstError(std::string(kOperation) + ": expected one machine for each label, got two for label " +
                       std::to_string(label) + "; unite them first");
      }
      machines_.push_back(fst);
      labels_.push_back(label);
    }
    const auto found = machine_of_.find(root);
    if (found == machine_of_.end()) {
      throw FstError(std::string(kOperation) + ": the root label " + std::to_string(root) +
                     " has no machine; add a pair for it");
    }
    const Fst& first = *machines_[found->second];
    for (const Fst* fst : machines_) {
      CheckSameSemiring(first, *fst, kOperation);
      RequireSameSymbols(kOperation, "the input sides of all machines", first.InputSymbols(), fst->InputSymbols());
      RequireSameSymbols(kOperation, "the output sides of all machines", first.OutputSymbols(), fst->OutputSymbols());
    }
    offsets_.assign(machines_.size(), kNoState);
    returns_.resize(machines_.size());
    Place(found->second);
  }

  PdtReplaceResult Build() {
    const Fst& root = *machines_[order_[0]];
    PdtReplaceResult result{Fst(root.Semiring()), {}};
    if (root.Start() == kNoState) return result;
    for (size_t i = 0; i < order_.size(); ++i) FindCalls(order_[i]);  // grows while it finds machines
    size_t count = 0;
    for (const auto& places : returns_) count = std::max(count, places.Size());
    const int64_t first = FirstParen(count);
    for (size_t i = 0; i < count; ++i) {
      result.parens.emplace_back(first + static_cast<int64_t>(i), first + static_cast<int64_t>(count + i));
    }
    result.fst.SetInputSymbols(Named(root.InputSymbols(), result.parens));
    result.fst.SetOutputSymbols(root.InputSymbols() == root.OutputSymbols() ? result.fst.InputSymbols()
                                                                            : Named(root.OutputSymbols(), result.parens));
    result.fst.AddStates(static_cast<size_t>(num_states_));
    result.fst.SetStart(root.Start());
    for (uint32_t machine : order_) AddMachine(machine, result.parens, &result.fst);
    return result;
  }

 private:
  void Place(uint32_t machine) {
    if (offsets_[machine] != kNoState) return;
    offsets_[machine] = static_cast<StateId>(num_states_);
    num_states_ += machines_[machine]->NumStates();
    CheckLimit(kOperation, "max_states", static_cast<size_t>(num_states_), options_.max_states,
               "the machines have too many states");
    order_.push_back(machine);
  }
  // The machine that an arc calls, -1 for none.
  int64_t Called(const Arc& arc) const {
    if (arc.olabel == kEpsilon) return -1;
    const auto found = machine_of_.find(arc.olabel);
    return found == machine_of_.end() ? int64_t{-1} : static_cast<int64_t>(found->second);
  }
  void FindCalls(uint32_t machine) {
    const Fst& fst = *machines_[machine];
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      for (const Arc& arc : fst.Arcs(s)) {
        highest_ = std::max({highest_, arc.ilabel, arc.olabel});
        const int64_t called = Called(arc);
        if (called < 0) continue;
        if (arc.ilabel != kEpsilon && arc.ilabel != arc.olabel) {
          throw FstError(std::string(kOperation) + ": expected epsilon or the rule's own label on the input side of a " +
                         "call, got " + std::to_string(arc.ilabel) + ":" + std::to_string(arc.olabel) +
                         " in the machine of label " + std::to_string(labels_[machine]) +
                         "; put the input on an arc of its own");
        }
        if (machines_[called]->Start() == kNoState) continue;
        Place(static_cast<uint32_t>(called));
        returns_[called].FindOrAdd(static_cast<uint64_t>(offsets_[machine] + arc.nextstate));
      }
    }
  }
  int64_t FirstParen(size_t count) const {
    int64_t first = options_.first_paren;
    if (first == 0) {
      first = highest_ + int64_t{1};
      for (Label label : labels_) first = std::max(first, label + int64_t{1});
      for (const Table& table : {machines_[order_[0]]->InputSymbols(), machines_[order_[0]]->OutputSymbols()}) {
        if (table) first = std::max(first, table->NextKey());
      }
    }
    CheckLabel(first, kOperation, "the first parenthesis");
    CheckLabel(first + 2 * static_cast<int64_t>(count), kOperation, "the last parenthesis");
    return first;
  }
  Table Named(const Table& table, const ParenPairs& parens) const {
    if (!table) return table;
    auto out = std::make_shared<SymbolTable>(*table);
    for (size_t i = 0; i < parens.size(); ++i) {
      out->Add(options_.open_prefix + std::to_string(i), parens[i].first);
      out->Add(options_.close_prefix + std::to_string(i), parens[i].second);
    }
    return out;
  }
  void AddMachine(uint32_t machine, const ParenPairs& parens, Fst* out) {
    const Fst& fst = *machines_[machine];
    const StateId offset = offsets_[machine];
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      for (const Arc& arc : fst.Arcs(s)) {
        const int64_t called = Called(arc);
        const StateId next = offset + arc.nextstate;
        if (called < 0) {
          CheckFree(arc.ilabel, parens);
          CheckFree(arc.olabel, parens);
          out->AddArc(offset + s, {arc.ilabel, arc.olabel, arc.weight, next});
        } else if (machines_[called]->Start() != kNoState) {
          const Label open = static_cast<Label>(parens[returns_[called].FindOrAdd(static_cast<uint64_t>(next))].first);
          out->AddArc(offset + s, {open, open, arc.weight, offsets_[called] + machines_[called]->Start()});
        }
      }
      if (!fst.IsFinal(s)) continue;
      if (machine == order_[0]) out->SetFinal(offset + s, fst.Final(s));
      for (size_t i = 0; i < returns_[machine].Size(); ++i) {
        const Label close = static_cast<Label>(parens[i].second);
        const StateId next = static_cast<StateId>(returns_[machine].Key(static_cast<StateId>(i)));
        out->AddArc(offset + s, {close, close, fst.Final(s), next});
      }
      CheckLimit(kOperation, "max_arcs", out->NumArcs(), options_.max_arcs,
                 "there are too many places to return to");
    }
  }
  void CheckFree(Label label, const ParenPairs& parens) const {
    if (parens.empty() || label < parens.front().first || label > parens.back().second) return;
    throw FstError(std::string(kOperation) + ": label " + std::to_string(label) + " of an arc lies among the " +
                   "parentheses " + std::to_string(parens.front().first) + ".." + std::to_string(parens.back().second) +
                   "; choose another first parenthesis");
  }

  const PdtReplaceOptions& options_;
  std::vector<const Fst*> machines_;
  std::vector<Label> labels_;
  std::unordered_map<Label, uint32_t> machine_of_;
  std::vector<uint32_t> order_;     // the machines that the root calls, itself first
  std::vector<StateId> offsets_;    // of each machine's states in the result
  std::vector<KeyTable> returns_;   // where calls of each machine return to
  int64_t num_states_ = 0;
  Label highest_ = 0;
};

}  // namespace

PdtReplaceResult PdtReplace(const std::vector<std::pair<Label, const Fst*>>& pairs, Label root,
                            const PdtReplaceOptions& options) {
  return Network(pairs, root, options).Build();
}

}  // namespace tokamata
