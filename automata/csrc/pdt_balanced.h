// BalancedPaths: between which states a push-down transducer has balanced paths, and the cheapest of them.
#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "automata/csrc/fst.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/pdt.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct BalancedOptions {
  bool weighted = false;          // cheapest paths; else every path costs nothing
  bool keep_derivations = false;  // also those that are not the cheapest
  bool best_only = false;         // end when the cheapest path to a final state is known
  int64_t max_states = kDefaultMaxStates;  // items
  int64_t max_arcs = kPdtMaxArcs;      // combinations
  const char* operation = "Pdt";
};

// Cost of a weight: infinite for the semiring's zero; boolean weights cost nothing.
inline double CostOf(const Fst& fst, float weight) {
  if (weight == fst.Zero()) return kInfinity;
  return fst.Semiring() == SemiringKind::kBoolean ? 0.0 : static_cast<double>(weight);
}

// An item (entry, state) says that a balanced path leads from the entry to the state; entries are the start state and
// the targets of opening arcs that a path from the start reaches. Items are derived by arcs, and by combining a caller
// (an item with an opening arc) with a closer (an item of the callee with a closing arc of the same pair).
//
// Costs of at least 0: items are settled in order of cost (Knuth, "A generalization of Dijkstra's algorithm", 1977), so
// that each combination is looked at once: O(C + E log E) for C combinations and E derivations by arcs. With negative
// ones, items are improved until nothing changes, and a derivation that repeats an item at lower cost throws FstError.
class BalancedPaths {
 public:
  BalancedPaths(const Fst& fst, const Parens& parens, const BalancedOptions& options);

  struct Item {
    StateId entry;            // a state
    StateId state;
    double cost;
    StateId from = kNoState;  // the item before the last arc, or the caller
    StateId inner = kNoState;  // the closer, where the last step was a combination
    uint32_t arc = 0;         // of from's state
    uint32_t close = 0;       // of inner's state
    bool settled = false;     // processed since its cost was last improved
    bool registered = false;  // among the callers and closers
  };
  StateId NumItems() const { return static_cast<StateId>(items_.size()); }
  const Item& At(StateId i) const { return items_[i]; }
  // kNoState where there is no such item.
  StateId Find(StateId entry, StateId state) const;
  // The cheapest item at the end of an accepted path, kNoState where there is none.
  StateId Best() const { return best_; }
  double BestCost() const { return best_cost_; }

  // An arc of an item's state.
  struct Place {
    StateId item;
    uint32_t arc;
  };
  struct Slot {  // the callers and closers of one entry and pair of parentheses
    StateId entry;
    uint32_t paren;
    std::vector<Place> callers, closers;
  };
  const std::vector<Slot>& Slots() const { return slots_; }
  // Every way to derive the item by a combination, once. Needs keep_derivations.
  struct Derivation {
    StateId caller, closer;
    uint32_t open, close;  // arcs of their states
  };
  const std::vector<Derivation>& Derivations(StateId item) const { return derivations_[item]; }
  // 1 for every item that a derivation of an accepted path contains. Needs keep_derivations.
  std::vector<uint8_t> Useful() const;

 private:
  using Queued = std::pair<double, StateId>;
  static uint64_t Key(StateId entry, StateId state) {
    return static_cast<uint64_t>(static_cast<uint32_t>(entry)) << 32 | static_cast<uint32_t>(state);
  }
  void Improve(StateId entry, StateId state, double cost, const Item& how);
  void Process(StateId i);
  void Combine(const Place& caller, const Place& closer);
  uint32_t SlotOf(StateId entry, uint32_t paren);
  double Cost(float weight) const {
    const double cost = CostOf(fst_, weight);
    return options_.weighted || cost == kInfinity ? cost : 0.0;
  }
  void RunInOrder();
  void RunUntilStable();

  const Fst& fst_;
  const Parens& parens_;
  BalancedOptions options_;
  bool negative_ = false;
  std::vector<Item> items_;
  IdTable item_of_;
  KeyTable slot_of_;
  std::vector<Slot> slots_;
  std::vector<std::vector<Derivation>> derivations_;
  std::priority_queue<Queued, std::vector<Queued>, std::greater<Queued>> heap_;
  std::vector<StateId> pending_;
  int64_t combinations_ = 0;
  StateId best_ = kNoState;
  double best_cost_ = kInfinity;
};

}  // namespace tokamata
