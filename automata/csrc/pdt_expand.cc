#include "automata/csrc/pdt_expand.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "automata/csrc/connect.h"
#include "automata/csrc/pdt_balanced.h"
#include "automata/csrc/pdt_depth.h"

namespace tokamata {
namespace {

constexpr const char* kOperation = "Pdt.expand";
constexpr StateId kEmptyStack = 0;

using Queued = std::pair<double, StateId>;
using Queue = std::priority_queue<Queued, std::vector<Queued>, std::greater<Queued>>;

class Expansion {
 public:
  Expansion(const Fst& fst, const Parens& parens, const PdtExpandOptions& options)
      : fst_(fst), parens_(parens), options_(options), weighted_(options.weight != kInfinity), backward_(fst.NumStates()),
        returns_(fst.NumStates()), closers_(parens.Size()), distance_(fst.NumStates(), kInfinity) {
    ReadMoves();
  }

  Fst Run() {
    Fst out(fst_.Semiring());
    out.SetInputSymbols(fst_.InputSymbols());
    out.SetOutputSymbols(fst_.OutputSymbols());
    if (fst_.Start() == kNoState) return out;
    stacks_.push_back({kNoState, 0, 0});
    members_.emplace_back();
    stack_of_.FindOrAdd(~uint64_t{0});
    for (StateId s = 0; s < fst_.NumStates(); ++s) {
      if (fst_.IsFinal(s)) Relax(s, Cost(fst_.Final(s)));
    }
    Settle(kEmptyStack);
    const StateId first = Find(kEmptyStack, fst_.Start());
    if (first == kNoState) return out;
    const double best = pairs_[first].rest;
    if (weighted_) limit_ = best + options_.weight + 1e-5 * std::max(1.0, std::fabs(best));  // room for rounding
    Enter(first, 0.0, &out);
    out.SetStart(0);
    if (weighted_) {
      while (!heap_.empty()) {
        const StateId n = heap_.top().second;
        heap_.pop();
        if (done_[n]) continue;
        done_[n] = true;
        Expand(n, &out);
      }
    } else {
      for (StateId n = 0; n < out.NumStates(); ++n) Expand(n, &out);
    }
    return options_.truncate ? Connect(out) : out;
  }

 private:
  struct Move {
    StateId from;
    double cost;
  };
  struct Return {
    StateId from;
    uint32_t paren;
    double cost;
  };
  struct Closer {
    StateId from, to;
    double cost;
  };
  struct Stack {
    StateId below;
    uint32_t paren;
    int64_t depth;
  };
  struct Pair {  // a stack and a state from which a path empties it and ends
    StateId stack, state;
    double rest;               // cost of the best such path
    StateId number = kNoState;  // of the result's state
  };

  double Cost(float weight) const {
    const double cost = CostOf(fst_, weight);
    return weighted_ || cost == kInfinity ? cost : 0.0;
  }

  // Moves that leave the stack as it is, whole calls included, and moves that pop, by target.
  void ReadMoves() {
    BalancedOptions balanced;
    balanced.weighted = weighted_;
    balanced.max_states = std::max(options_.max_states, kDefaultMaxStates);
    balanced.max_arcs = std::max(options_.max_arcs, kPdtMaxArcs);
    balanced.operation = kOperation;
    const BalancedPaths paths(fst_, parens_, balanced);
    std::vector<uint8_t> reached(fst_.NumStates(), 0);
    for (StateId i = 0; i < paths.NumItems(); ++i) reached[paths.At(i).state] = 1;
    for (StateId s = 0; s < fst_.NumStates(); ++s) {
      if (!reached[s]) continue;
      for (const Arc& arc : fst_.Arcs(s)) {
        const double cost = Cost(arc.weight);
        if (cost == kInfinity) continue;
        const Parens::Role role = parens_.Find(arc.ilabel);
        if (role.kind == ParenKind::kNone) backward_[arc.nextstate].push_back({s, cost});
        if (role.kind == ParenKind::kClose) {
          returns_[arc.nextstate].push_back({s, role.index, cost});
          closers_[role.index].push_back({s, arc.nextstate, cost});
        }
      }
    }
    std::vector<std::pair<StateId, double>> from, to;  // the ends of the slot's calls, each once with its best cost
    for (const auto& slot : paths.Slots()) {
      from.clear();
      to.clear();
      for (const auto& place : slot.callers) {
        const StateId s = paths.At(place.item).state;
        from.emplace_back(s, Cost(fst_.Arcs(s)[place.arc].weight));
      }
      for (const auto& place : slot.closers) {
        const auto& item = paths.At(place.item);
        const Arc& arc = fst_.Arcs(item.state)[place.arc];
        to.emplace_back(arc.nextstate, item.cost + Cost(arc.weight));
      }
      KeepBest(&from);
      KeepBest(&to);
      calls_ += static_cast<int64_t>(from.size() * to.size());
      CheckLimit(kOperation, "max_arcs", static_cast<size_t>(calls_), options_.max_arcs,
                 "there are too many ways to open and close parentheses; use a smaller machine");
      for (const auto& [t, after] : to) {
        for (const auto& [s, before] : from) backward_[t].push_back({s, before + after});
      }
    }
  }
  static void KeepBest(std::vector<std::pair<StateId, double>>* ends) {
    std::sort(ends->begin(), ends->end());
    ends->erase(std::unique(ends->begin(), ends->end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
                ends->end());
  }

  static uint64_t Hash(StateId stack, StateId state) {
    return MixHash(static_cast<uint64_t>(static_cast<uint32_t>(stack)) << 32 | static_cast<uint32_t>(state));
  }
  StateId Find(StateId stack, StateId state) const {
    return pair_of_.Find(Hash(stack, state),
                         [&](StateId p) { return pairs_[p].stack == stack && pairs_[p].state == state; });
  }

  void Relax(StateId s, double cost) {
    if (!(cost < distance_[s])) return;
    if (distance_[s] == kInfinity) touched_.push_back(s);
    distance_[s] = cost;
    queue_.emplace(cost, s);
  }
  // Makes the pairs of a stack, from the states and costs that Relax was given.
  void Settle(StateId stack) {
    while (!queue_.empty()) {
      const auto [cost, s] = queue_.top();
      queue_.pop();
      if (cost != distance_[s] || Find(stack, s) != kNoState) continue;
      const StateId pair = static_cast<StateId>(pairs_.size());
      pairs_.push_back({stack, s, cost});
      pair_of_.Insert(Hash(stack, s), pair);
      members_[stack].push_back(pair);
      // Pairs are states of the result or of the machine read backwards: a few for each state of the result.
      CheckLimit(kOperation, "max_states", pairs_.size() / 8, options_.max_states + fst_.NumStates(), kAdvice);
      for (const Move& move : backward_[s]) Relax(move.from, cost + move.cost);
    }
    for (StateId s : touched_) distance_[s] = kInfinity;
    touched_.clear();
  }

  // The stack with one more parenthesis; kNoState where that is too deep to be kept.
  StateId Push(StateId stack, uint32_t paren) {
    const int64_t depth = stacks_[stack].depth + 1;
    if (options_.truncate && depth > options_.max_depth) return kNoState;
    const StateId pushed = stack_of_.FindOrAdd(static_cast<uint64_t>(static_cast<uint32_t>(stack)) << 32 | paren);
    if (pushed < static_cast<StateId>(stacks_.size())) return pushed;
    stacks_.push_back({stack, paren, depth});
    members_.emplace_back();
    if (closers_[paren].size() < members_[stack].size()) {
      for (const Closer& closer : closers_[paren]) {
        const StateId pair = Find(stack, closer.to);
        if (pair != kNoState) Relax(closer.from, closer.cost + pairs_[pair].rest);
      }
    } else {
      for (StateId pair : members_[stack]) {
        for (const Return& back : returns_[pairs_[pair].state]) {
          if (back.paren == paren) Relax(back.from, back.cost + pairs_[pair].rest);
        }
      }
    }
    Settle(pushed);
    return pushed;
  }

  // The result's state of a pair that is reached at this cost.
  StateId Enter(StateId pair, double cost, Fst* out) {
    StateId& number = pairs_[pair].number;
    if (number == kNoState) {
      number = out->AddState();
      CheckLimit(kOperation, "max_states", static_cast<size_t>(out->NumStates()), options_.max_states, kAdvice);
      pair_of_state_.push_back(pair);
      if (weighted_) {
        cost_.push_back(kInfinity);
        done_.push_back(false);
      }
    }
    if (weighted_ && cost < cost_[number]) {
      cost_[number] = cost;
      heap_.emplace(cost + pairs_[pair].rest, number);
    }
    return number;
  }

  void Expand(StateId n, Fst* out) {
    const StateId stack = pairs_[pair_of_state_[n]].stack, state = pairs_[pair_of_state_[n]].state;
    const double so_far = weighted_ ? cost_[n] : 0.0;
    if (stack == kEmptyStack && fst_.IsFinal(state) && so_far + Cost(fst_.Final(state)) <= limit_) {
      out->SetFinal(n, fst_.Final(state));
    }
    for (const Arc& arc : fst_.Arcs(state)) {
      const double cost = so_far + Cost(arc.weight);
      if (cost == kInfinity) continue;
      const Parens::Role role = parens_.Find(arc.ilabel);
      StateId next = stack;
      if (role.kind == ParenKind::kOpen) {
        next = Push(stack, role.index);
        if (next == kNoState) continue;
      } else if (role.kind == ParenKind::kClose) {
        if (stack == kEmptyStack || stacks_[stack].paren != role.index) continue;
        next = stacks_[stack].below;
      }
      const StateId pair = Find(next, arc.nextstate);
      if (pair == kNoState || cost + pairs_[pair].rest > limit_) continue;
      if (options_.max_depth >= 0 && stacks_[next].depth > options_.max_depth) {
        FailLimit(kOperation, "max_depth", options_.max_depth, kDeeper);
      }
      const bool hidden = role.kind != ParenKind::kNone && !options_.keep_parentheses;
      const StateId target = Enter(pair, cost, out);
      out->AddArc(n, {hidden ? kEpsilon : arc.ilabel, hidden ? kEpsilon : arc.olabel, arc.weight, target});
    }
    CheckLimit(kOperation, "max_arcs", out->NumArcs(), options_.max_arcs, kAdvice);
  }

  static constexpr const char* kAdvice =
      "the expansion is too large; leave out deep or heavy paths with max_depth and truncate=True, or with weight";

 public:
  static constexpr const char* kDeeper =
      "the stack gets deeper; leave out the deeper paths with truncate=True";

 private:
  const Fst& fst_;
  const Parens& parens_;
  const PdtExpandOptions& options_;
  const bool weighted_;
  std::vector<std::vector<Move>> backward_;
  std::vector<std::vector<Return>> returns_;
  std::vector<std::vector<Closer>> closers_;
  int64_t calls_ = 0;

  std::vector<Stack> stacks_;
  KeyTable stack_of_;
  std::vector<std::vector<StateId>> members_;  // the pairs of each stack
  std::vector<Pair> pairs_;
  IdTable pair_of_;
  std::vector<double> distance_;  // of the stack being settled
  std::vector<StateId> touched_;
  Queue queue_;

  double limit_ = kInfinity;
  std::vector<StateId> pair_of_state_;
  std::vector<double> cost_;  // from the start
  std::vector<bool> done_;
  Queue heap_;
};

}  // namespace

Fst PdtExpand(const Fst& fst, const Parens& parens, const PdtExpandOptions& options) {
  RequirePdt(kOperation, fst, parens);
  const bool pruned = options.weight != kInfinity;
  if (pruned) {
    RequirePathSemiring(kOperation, fst);
    if (!(options.weight >= 0)) {
      throw FstError(std::string(kOperation) + ": weight must be at least 0, got " + std::to_string(options.weight));
    }
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      for (const Arc& arc : fst.Arcs(s)) {
        if (CostOf(fst, arc.weight) >= 0) continue;
        throw FstError(std::string(kOperation) + ": expected weights of at least 0 where weight is given, got " +
                       std::to_string(arc.weight) + " at state " + std::to_string(s) +
                       "; leave weight out, or add a constant to the weights of all arcs");
      }
    }
  }
  if (!options.truncate && !pruned) {
    PdtDepthOptions depth;
    depth.max_states = std::max(options.max_states, kDefaultMaxStates);
    depth.max_arcs = std::max(options.max_arcs, kPdtMaxArcs);
    depth.operation = kOperation;
    const PdtDepthResult found = PdtDepth(fst, parens, depth);
    const bool unbounded = found.depth == kUnboundedDepth;
    if (options.max_depth >= 0 && (unbounded || found.depth > options.max_depth)) {
      FailLimit(kOperation, "max_depth", options.max_depth, Expansion::kDeeper);
    }
    if (unbounded) {
      throw LimitError(std::string(kOperation) + ": no max_depth is great enough: the stack grows without bound through " +
                       "state " + std::to_string(found.state) + ", so there is no finite expansion; leave out deep or " +
                       "heavy paths with max_depth and truncate=True, or with weight");
    }
  }
  return Expansion(fst, parens, options).Run();
}

}  // namespace tokamata
