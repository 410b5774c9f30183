#include "automata/csrc/pdt_shortestdistance.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/csrc/pdt_balanced.h"
#include "automata/csrc/shortestdistance.h"
#include "automata/csrc/visit.h"

namespace tokamata {
namespace {

constexpr const char* kOperation = "Pdt.shortestdistance";

// The sums of all items, entry by entry.
class Sums {
 public:
  Sums(const Fst& fst, const Parens& parens, const BalancedPaths& paths, const PdtShortestDistanceOptions& options)
      : fst_(fst), parens_(parens), paths_(paths), options_(options), sum_(paths.NumItems(), Log::Zero()) {
    std::unordered_map<StateId, StateId> frame_of;  // by entry
    place_.resize(sum_.size());
    frame_.resize(sum_.size());
    useful_ = paths.Useful();  // sums of others need not be finite
    for (StateId i = 0; i < paths.NumItems(); ++i) {
      if (!useful_[i]) continue;
      const auto [found, added] = frame_of.emplace(paths.At(i).entry, static_cast<StateId>(members_.size()));
      if (added) members_.emplace_back();
      frame_[i] = found->second;
      place_[i] = static_cast<StateId>(members_[found->second].size());
      members_[found->second].push_back(i);
    }
    // Frames and which of them call which.
    Fst calls(SemiringKind::kLog);
    calls.AddStates(members_.size());
    calls.SetStart(0);
    for (StateId i = 0; i < paths.NumItems(); ++i) {
      if (!useful_[i]) continue;
      for (const auto& derivation : paths.Derivations(i)) {
        calls.AddArc(frame_[i], {kEpsilon, kEpsilon, 0.0f, frame_[derivation.closer]});
      }
    }
    const Components components = StronglyConnected(calls);
    std::vector<std::vector<StateId>> circles(components.cyclic.size());
    for (StateId f = 0; f < calls.NumStates(); ++f) circles[components.of[f]].push_back(f);
    for (size_t c = circles.size(); c-- > 0;) {  // callees first
      if (!components.cyclic[c]) {
        for (StateId f : circles[c]) Sum(f);
        continue;
      }
      int64_t rounds = 0;
      for (bool changed = true; changed;) {
        if (++rounds > options.max_visits) {
          FailLimit(kOperation, "max_visits", options.max_visits,
                    "the sum over rules that call themselves has not converged, and has no finite value where their "
                    "probabilities grow without bound");
        }
        changed = false;
        for (StateId f : circles[c]) changed = Sum(f) || changed;
      }
    }
  }

  float Total() const {
    float total = Log::Zero();
    for (StateId i = 0; i < paths_.NumItems(); ++i) {
      const auto& item = paths_.At(i);
      if (item.entry == fst_.Start()) total = Log::Plus(total, Log::Times(sum_[i], fst_.Final(item.state)));
    }
    return total;
  }

 private:
  // Whether a sum of the frame has changed by more than delta.
  bool Sum(StateId frame) {
    const std::vector<StateId>& items = members_[frame];
    Fst machine(SemiringKind::kLog);
    machine.AddStates(items.size());
    machine.SetStart(place_[paths_.Find(paths_.At(items[0]).entry, paths_.At(items[0]).entry)]);
    for (StateId i : items) {
      const auto& item = paths_.At(i);
      for (const Arc& arc : fst_.Arcs(item.state)) {
        if (arc.weight == Log::Zero() || parens_.Has(arc.ilabel)) continue;
        const StateId target = paths_.Find(item.entry, arc.nextstate);
        if (useful_[target]) machine.AddArc(place_[i], {kEpsilon, kEpsilon, arc.weight, place_[target]});
      }
      for (const auto& call : paths_.Derivations(i)) {
        if (sum_[call.closer] == Log::Zero()) continue;
        const Arc& open = fst_.Arcs(paths_.At(call.caller).state)[call.open];
        const Arc& close = fst_.Arcs(paths_.At(call.closer).state)[call.close];
        const float weight = Log::Times(Log::Times(open.weight, sum_[call.closer]), close.weight);
        machine.AddArc(place_[call.caller], {kEpsilon, kEpsilon, weight, place_[i]});
      }
    }
    ShortestDistanceOptions options;
    options.delta = options_.delta;
    options.max_visits = options_.max_visits;
    options.operation = kOperation;
    const std::vector<float> sums = ShortestDistance(machine, options);
    bool changed = false;
    for (StateId i : items) {
      const float old = sum_[i], now = sums[place_[i]];
      if (!(now > -1e30f)) {
        throw FstError(std::string(kOperation) + ": the sum over the paths that enter state " +
                       std::to_string(paths_.At(i).entry) + " by a parenthesis has no finite value; raise the weights");
      }
      // A relative change of delta is a difference of delta between logarithms, and rounding can part neighbours.
      changed = changed || (now != old && !(std::fabs(now - old) <= options_.delta + 1e-6f * std::fabs(now)));
      sum_[i] = now;
    }
    return changed;
  }

  const Fst& fst_;
  const Parens& parens_;
  const BalancedPaths& paths_;
  const PdtShortestDistanceOptions& options_;
  std::vector<uint8_t> useful_;
  std::vector<float> sum_;
  std::vector<StateId> place_, frame_;         // of each item: its number within its frame, and the frame
  std::vector<std::vector<StateId>> members_;  // of each frame
};

}  // namespace

float PdtShortestDistance(const Fst& fst, const Parens& parens, const PdtShortestDistanceOptions& options) {
  RequirePdt(kOperation, fst, parens);
  const bool log = fst.Semiring() == SemiringKind::kLog;
  BalancedOptions balanced;
  balanced.weighted = balanced.best_only = !log;
  balanced.keep_derivations = log;
  balanced.max_states = options.max_states;
  balanced.max_arcs = options.max_arcs;
  balanced.operation = kOperation;
  const BalancedPaths paths(fst, parens, balanced);
  if (paths.Best() == kNoState) return fst.Zero();
  if (log) return Sums(fst, parens, paths, options).Total();
  return fst.Semiring() == SemiringKind::kBoolean ? fst.One() : static_cast<float>(paths.BestCost());
}

}  // namespace tokamata
