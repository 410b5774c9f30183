#include "automata/csrc/determinize.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "automata/csrc/connect.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/shortestdistance.h"
#include "automata/csrc/string_pool.h"

namespace tokamata {
namespace {

constexpr StateId kEnd = -1;  // where the output that is owed at the end of a string leads

struct Element {
  StateId state;
  float weight;
  int32_t owed;  // an id in the pool of strings
};

// What one arc of one element contributes.
struct Item {
  Label ilabel;
  StateId next;
  float weight;
  Label olabel;
  int32_t owed;
};

bool Before(const Item& a, const Item& b) { return std::tie(a.ilabel, a.next) < std::tie(b.ilabel, b.next); }

}  // namespace

class DeterminizeFst::Subsets {
 public:
  virtual ~Subsets() = default;
  virtual StateId Start() = 0;
  virtual float Final(StateId s) = 0;
  virtual void Expand(StateId s, std::vector<Arc>* arcs) = 0;
  virtual StateId Size() const = 0;
  virtual float Bound(StateId s, const std::vector<float>& distance) const = 0;
};

namespace {

template <class S, bool kTransducer>
class SubsetsOf final : public DeterminizeFst::Subsets {
 public:
  SubsetsOf(const Fst& fst, const DeterminizeOptions& options)
      : fst_(fst), options_(options), singleton_(fst.NumStates(), kNoState) {}

  StateId Start() override {
    if (fst_.Start() == kNoState) return kNoState;
    return Singleton(fst_.Start());
  }

  StateId Size() const override { return static_cast<StateId>(states_.size()); }

  float Final(StateId s) override {
    const State& state = states_[s];
    if (state.kind == Kind::kChain) return state.target == kEnd && state.owed == 0 ? S::One() : S::Zero();
    const auto [weight, owed] = FinalOf(s);
    return owed == 0 ? weight : S::Zero();
  }

  void Expand(StateId s, std::vector<Arc>* arcs) override {
    arcs->clear();
    if (states_[s].kind == Kind::kChain) {
      const State state = states_[s];
      if (state.owed != 0) {
        const auto [label, next] = Emit(state.owed, state.target);
        arcs->push_back({kEpsilon, label, S::One(), next});
      }
      return;
    }
    if (kTransducer) {
      const auto [weight, owed] = FinalOf(s);
      if (owed != 0) {
        const auto [label, next] = Emit(owed, kEnd);
        arcs->push_back({options_.subsequential_label, label, weight, next});
      }
    }
    const State state = states_[s];
    if (!kTransducer && state.count == 1 && ExpandDeterministic(elements_[state.first], arcs)) return;
    items_.clear();
    for (size_t i = state.first; i < state.first + state.count; ++i) {
      const Element element = elements_[i];
      for (const Arc& arc : fst_.Arcs(element.state)) {
        const float weight = S::Times(element.weight, arc.weight);
        if (weight != S::Zero()) items_.push_back({arc.ilabel, arc.nextstate, weight, arc.olabel, element.owed});
      }
    }
    if (!std::is_sorted(items_.begin(), items_.end(), Before)) std::sort(items_.begin(), items_.end(), Before);
    for (size_t begin = 0, end; begin < items_.size(); begin = end) {
      end = begin + 1;
      while (end < items_.size() && items_[end].ilabel == items_[begin].ilabel) ++end;
      AddGroup(begin, end, arcs);
    }
  }

  float Bound(StateId s, const std::vector<float>& distance) const override {
    const State& state = states_[s];
    if (state.kind == Kind::kChain) return state.target == kEnd ? S::One() : Bound(state.target, distance);
    float bound = S::Zero();
    for (size_t i = state.first; i < state.first + state.count; ++i) {
      bound = S::Plus(bound, S::Times(elements_[i].weight, distance[elements_[i].state]));
    }
    return bound;
  }

 private:
  enum class Kind : uint8_t { kSubset, kChain };
  // A subset: its run of elements. A chain: output that is still to be written before the target is reached.
  struct State {
    Kind kind;
    size_t first = 0;
    uint32_t count = 0;
    int32_t owed = 0;
    StateId target = kNoState;
  };

  StateId NewState(const State& state) {
    CheckLimit("determinize", "max_states", states_.size() + 1, options_.max_states,
               "the result has too many states, or infinitely many where the weights or outputs of cycles with one "
               "label string differ (no twins property); give weight= to keep only near-best paths");
    states_.push_back(state);
    return static_cast<StateId>(states_.size() - 1);
  }

  StateId Singleton(StateId q) {
    if (singleton_[q] == kNoState) {
      State state{Kind::kSubset};
      state.first = elements_.size();
      state.count = 1;
      singleton_[q] = NewState(state);
      elements_.push_back({q, S::One(), 0});
    }
    return singleton_[q];
  }

  // The elements, in order of state, become a subset.
  StateId Intern(const std::vector<Element>& elements) {
    if (elements.size() == 1 && elements[0].owed == 0) return Singleton(elements[0].state);
    uint64_t hash = elements.size();
    for (const Element& e : elements) {
      const uint64_t label = static_cast<uint64_t>(e.state) << 32 | static_cast<uint32_t>(e.owed);
      hash = MixHash(hash ^ label) + Bits(Quantize(e.weight, options_.delta)) * 0x9e3779b97f4a7c15ull;
    }
    hash = MixHash(hash);
    StateId id = subsets_.Find(hash, [&](StateId other) {
      const State& state = states_[other];
      if (state.count != elements.size()) return false;
      for (size_t i = 0; i < elements.size(); ++i) {
        const Element &x = elements[i], &y = elements_[state.first + i];
        if (x.state != y.state || x.owed != y.owed) return false;
        if (Quantize(x.weight, options_.delta) != Quantize(y.weight, options_.delta)) return false;
      }
      return true;
    });
    if (id == kNoState) {
      State state{Kind::kSubset};
      state.first = elements_.size();
      state.count = static_cast<uint32_t>(elements.size());
      CheckLimit("determinize", "max_elements", elements_.size() + elements.size(), options_.max_elements,
                 "the subsets of states need too much memory; rewrite the machine with less ambiguity");
      id = NewState(state);
      elements_.insert(elements_.end(), elements.begin(), elements.end());
      subsets_.Insert(hash, id);
    }
    return id;
  }

  // Writes the first label of a string that is not empty; the state where the rest is written.
  std::pair<Label, StateId> Emit(int32_t owed, StateId target) {
    const Span<const Label> string = strings_.Get(owed);
    const Label label = string[0];
    const int32_t rest = strings_.Intern(string.data + 1, string.size() - 1);
    if (rest == 0 && target != kEnd) return {label, target};
    const StateId id = chains_.FindOrAdd(static_cast<uint64_t>(rest) << 32 | static_cast<uint32_t>(target));
    chain_states_.resize(chains_.Size(), kNoState);
    if (chain_states_[id] == kNoState) {
      State state{Kind::kChain};
      state.owed = rest;
      state.target = target;
      chain_states_[id] = NewState(state);
    }
    return {label, chain_states_[id]};
  }

  // A single state whose arcs already have different labels, in order: every target is a single state.
  bool ExpandDeterministic(Element element, std::vector<Arc>* arcs) {
    const Span<const Arc> from = fst_.Arcs(element.state);
    for (size_t i = 1; i < from.size(); ++i) {
      if (from[i].ilabel <= from[i - 1].ilabel) return false;
    }
    for (const Arc& arc : from) {
      const float weight = S::Times(element.weight, arc.weight);
      if (weight != S::Zero()) arcs->push_back({arc.ilabel, arc.ilabel, weight, Singleton(arc.nextstate)});
    }
    return true;
  }

  // Items [begin, end) have one input label and become one arc.
  void AddGroup(size_t begin, size_t end, std::vector<Arc>* arcs) {
    const Label ilabel = items_[begin].ilabel;
    group_.clear();
    size_t common = 0;
    if (kTransducer) common = CommonPrefix(begin, end);
    float divisor = S::Zero();
    for (size_t i = begin; i < end; ++i) {
      const Item& item = items_[i];
      divisor = S::Plus(divisor, item.weight);
      const int32_t owed = kTransducer ? Rest(item, common) : 0;
      if (!group_.empty() && group_.back().state == item.next) {
        if (group_.back().owed != owed) FailFunctional();
        group_.back().weight = S::Plus(group_.back().weight, item.weight);
      } else {
        group_.push_back({item.next, item.weight, owed});
      }
    }
    for (Element& element : group_) element.weight = S::Divide(element.weight, divisor);
    StateId next = Intern(group_);
    Label olabel = ilabel;
    if (kTransducer) {
      olabel = kEpsilon;
      if (common > 0) std::tie(olabel, next) = Emit(strings_.Intern(prefix_.data(), common), next);
    }
    arcs->push_back({ilabel, olabel, divisor, next});
  }

  // The output of an item is what its element owes and then the arc's label; leaves the first item's in prefix_.
  size_t CommonPrefix(size_t begin, size_t end) {
    Output(items_[begin], &prefix_);
    size_t common = prefix_.size();
    for (size_t i = begin + 1; i < end; ++i) {
      Output(items_[i], &output_);
      common = std::min(common, output_.size());
      common = static_cast<size_t>(
          std::mismatch(prefix_.begin(), prefix_.begin() + static_cast<ptrdiff_t>(common), output_.begin()).first -
          prefix_.begin());
    }
    return common;
  }

  int32_t Rest(const Item& item, size_t common) {
    Output(item, &output_);
    CheckLimit("determinize", "max_delay", output_.size() - common, options_.max_delay,
               "outputs of equal inputs stay apart for too long, or without end where the transducer is not "
               "sequential; project it to the input side first if outputs are not needed");
    return strings_.Intern(output_.data() + common, output_.size() - common);
  }

  void Output(const Item& item, std::vector<Label>* output) const {
    const Span<const Label> owed = strings_.Get(item.owed);
    output->assign(owed.begin(), owed.end());
    if (item.olabel != kEpsilon) output->push_back(item.olabel);
  }

  std::pair<float, int32_t> FinalOf(StateId s) const {
    float weight = S::Zero();
    int32_t owed = 0;
    const State& state = states_[s];
    for (size_t i = state.first; i < state.first + state.count; ++i) {
      const Element& element = elements_[i];
      const float term = S::Times(element.weight, fst_.Final(element.state));
      if (term == S::Zero()) continue;
      if (kTransducer && weight != S::Zero() && element.owed != owed) FailFunctional();
      owed = element.owed;
      weight = S::Plus(weight, term);
    }
    return {weight, owed};
  }

  [[noreturn]] static void FailFunctional() {
    throw FstError(
        "determinize: expected a functional transducer (one output string for each input string), got two outputs for "
        "one input; project to one side first, or connect if the second output leads to no final state");
  }

  const Fst& fst_;
  DeterminizeOptions options_;
  std::vector<State> states_;
  std::vector<Element> elements_;
  IdTable subsets_;
  std::vector<StateId> singleton_;  // the subset {(q, one, nothing owed)}
  StringPool strings_;
  KeyTable chains_;
  std::vector<StateId> chain_states_;  // by id in chains_; kNoState where the limit left no room for it
  std::vector<Item> items_;
  std::vector<Element> group_;
  std::vector<Label> prefix_, output_;
};

// Best first: the states of the result in order of the best whole path through them. What is left out lies only on
// paths that are worse by more than the threshold. The machine is connected: states on no path to the end would keep
// subsets apart.
Fst DeterminizePruned(const Fst& fst, const DeterminizeOptions& options) {
  if (fst.Semiring() != SemiringKind::kTropical) {
    throw FstError(std::string("determinize: weight= and nstate= need the tropical semiring, got ") +
                   SemiringName(fst.Semiring()) + "; leave them out or rebuild the machine");
  }
  ShortestDistanceOptions to_end;
  to_end.reverse = true;
  to_end.operation = "determinize";
  const std::vector<float> rest = ShortestDistance(fst, to_end);
  DeterminizeFst delayed(fst, options);
  Fst result(fst.Semiring());
  result.SetInputSymbols(fst.InputSymbols());
  result.SetOutputSymbols(fst.OutputSymbols());
  const StateId start = delayed.Start();
  if (start == kNoState) return result;
  const float best = delayed.Bound(start, rest);
  if (best == kInfinity || options.nstate == 0) return result;
  const float limit = Tropical::Times(best, options.weight) + RoundingOf(rest);

  using Entry = std::pair<float, StateId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> heap;
  std::vector<float> distance{Tropical::One()};
  std::vector<bool> done;
  heap.emplace(best, start);
  std::vector<Arc> arcs;
  int64_t expanded = 0;
  while (!heap.empty()) {
    const StateId s = heap.top().second;
    heap.pop();
    done.resize(delayed.NumKnownStates());
    if (done[s]) continue;
    if (options.nstate >= 0 && expanded >= options.nstate) break;
    ++expanded;
    done[s] = true;
    delayed.Expand(s, &arcs);
    distance.resize(delayed.NumKnownStates(), kInfinity);
    if (result.NumStates() < delayed.NumKnownStates()) result.AddStates(delayed.NumKnownStates() - result.NumStates());
    const float final = delayed.Final(s);
    if (Tropical::Times(distance[s], final) <= limit) result.SetFinal(s, final);
    for (const Arc& arc : arcs) {
      const float to = Tropical::Times(distance[s], arc.weight);
      const float bound = Tropical::Times(to, delayed.Bound(arc.nextstate, rest));
      if (!(bound <= limit) || bound == kInfinity) continue;
      result.AddArc(s, arc);
      if (to < distance[arc.nextstate]) {
        distance[arc.nextstate] = to;
        heap.emplace(bound, arc.nextstate);
      }
    }
    CheckLimit("determinize", "max_arcs", result.NumArcs(), options.max_arcs, "the result has too many arcs");
  }
  result.SetStart(start);
  result = Connect(result);
  return result;
}

}  // namespace

DeterminizeFst::DeterminizeFst(const Fst& fst, const DeterminizeOptions& options) : fst_(fst) {
  const bool acceptor = IsAcceptor(fst);
  subsets_ = VisitSemiring(fst.Semiring(), [&](auto semiring) -> std::unique_ptr<Subsets> {
    using S = decltype(semiring);
    if (acceptor) return std::make_unique<SubsetsOf<S, false>>(fst, options);
    return std::make_unique<SubsetsOf<S, true>>(fst, options);
  });
}

DeterminizeFst::~DeterminizeFst() = default;

StateId DeterminizeFst::Start() { return subsets_->Start(); }
float DeterminizeFst::Final(StateId s) { return subsets_->Final(s); }
void DeterminizeFst::Expand(StateId s, std::vector<Arc>* arcs) { subsets_->Expand(s, arcs); }
StateId DeterminizeFst::NumKnownStates() const { return subsets_->Size(); }
float DeterminizeFst::Bound(StateId s, const std::vector<float>& distance) const {
  return subsets_->Bound(s, distance);
}

Fst Determinize(const Fst& fst, const DeterminizeOptions& options) {
  if (options.weight != kInfinity || options.nstate >= 0) return DeterminizePruned(Connect(fst), options);
  DeterminizeFst delayed(fst, options);
  return Materialize("determinize", &delayed, options.max_arcs);
}

}  // namespace tokamata
