#include "automata/csrc/pdt_balanced.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tokamata {

BalancedPaths::BalancedPaths(const Fst& fst, const Parens& parens, const BalancedOptions& options)
    : fst_(fst), parens_(parens), options_(options) {
  if (fst.Start() == kNoState) return;
  if (options.weighted) {
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      negative_ = negative_ || Cost(fst.Final(s)) < 0;
      for (const Arc& arc : fst.Arcs(s)) negative_ = negative_ || Cost(arc.weight) < 0;
    }
  }
  Improve(fst.Start(), fst.Start(), 0.0, Item());
  if (negative_) {
    RunUntilStable();
  } else {
    RunInOrder();
  }
  for (StateId i = 0; i < NumItems(); ++i) {
    if (items_[i].entry != fst.Start() || !fst.IsFinal(items_[i].state)) continue;
    const double cost = items_[i].cost + Cost(fst.Final(items_[i].state));
    if (best_ != kNoState && cost >= best_cost_) continue;
    best_ = i;
    best_cost_ = cost;
  }
}

StateId BalancedPaths::Find(StateId entry, StateId state) const {
  return item_of_.Find(MixHash(Key(entry, state)),
                       [&](StateId i) { return items_[i].entry == entry && items_[i].state == state; });
}

std::vector<uint8_t> BalancedPaths::Useful() const {
  std::vector<size_t> first(items_.size() + 1, 0);  // items before each one's arcs without parenthesis, end to end
  std::vector<StateId> before;
  for (const bool counting : {true, false}) {
    std::vector<size_t> next(first.begin(), first.end() - 1);
    for (StateId i = 0; i < NumItems(); ++i) {
      for (const Arc& arc : fst_.Arcs(items_[i].state)) {
        if (arc.weight == fst_.Zero() || parens_.Has(arc.ilabel)) continue;
        const StateId target = Find(items_[i].entry, arc.nextstate);
        if (counting) {
          ++first[static_cast<size_t>(target) + 1];
        } else {
          before[next[target]++] = i;
        }
      }
    }
    if (!counting) break;
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    before.resize(first.back());
  }
  std::vector<uint8_t> useful(items_.size(), 0);
  std::vector<StateId> pending;
  const auto mark = [&](StateId i) {
    if (useful[i]) return;
    useful[i] = 1;
    pending.push_back(i);
  };
  for (StateId i = 0; i < NumItems(); ++i) {
    if (items_[i].entry == fst_.Start() && fst_.IsFinal(items_[i].state)) mark(i);
  }
  while (!pending.empty()) {
    const StateId i = pending.back();
    pending.pop_back();
    for (size_t k = first[i]; k < first[static_cast<size_t>(i) + 1]; ++k) mark(before[k]);
    for (const Derivation& derivation : derivations_[i]) {
      mark(derivation.caller);
      mark(derivation.closer);
    }
  }
  return useful;
}

void BalancedPaths::RunInOrder() {
  double best = kInfinity;
  while (!heap_.empty()) {
    const auto [cost, i] = heap_.top();
    heap_.pop();
    Item& item = items_[i];
    if (item.settled || cost != item.cost) continue;
    if (options_.best_only && cost >= best) break;
    item.settled = true;
    if (item.entry == fst_.Start() && fst_.IsFinal(item.state)) {
      best = std::min(best, cost + Cost(fst_.Final(item.state)));
    }
    Process(i);
  }
}

void BalancedPaths::RunUntilStable() {
  // The best derivation of an item repeats none, so as many rounds as there are items settle everything.
  std::vector<StateId> round;
  for (size_t rounds = 0; !pending_.empty(); ++rounds) {
    if (rounds > items_.size() + 1) {
      const Item& item = items_[pending_.front()];
      throw FstError(std::string(options_.operation) + ": a balanced cycle of negative total weight passes through or " +
                     "leads to state " + std::to_string(item.state) + ", so there is no best path; expected cycles of " +
                     "weight at least 0: reweight or remove the cycle");
    }
    if (static_cast<int64_t>(rounds) > kDefaultMaxVisits) {
      FailLimit(options_.operation, "max_visits", kDefaultMaxVisits,
                "negative weights need too many rounds; add a constant to the weights of all arcs");
    }
    round.swap(pending_);
    pending_.clear();
    for (StateId i : round) items_[i].settled = true;  // until it improves
    for (StateId i : round) Process(i);
  }
}

void BalancedPaths::Improve(StateId entry, StateId state, double cost, const Item& how) {
  StateId i = Find(entry, state);
  if (i == kNoState) {
    i = NumItems();
    items_.push_back(how);
    items_[i].entry = entry;
    items_[i].state = state;
    item_of_.Insert(MixHash(Key(entry, state)), i);
    if (options_.keep_derivations) derivations_.emplace_back();
    CheckLimit(options_.operation, "max_states", items_.size(), options_.max_states,
               "there are too many pairs of states with a balanced path; use a smaller machine");
    items_[i].settled = true;
  } else {
    const double old = items_[i].cost;
    if (!(cost < old) || (negative_ && old - cost <= 1e-9 * std::max(1.0, std::fabs(old)))) return;
    items_[i].from = how.from;
    items_[i].inner = how.inner;
    items_[i].arc = how.arc;
    items_[i].close = how.close;
  }
  items_[i].cost = cost;
  if (!negative_) {
    items_[i].settled = false;
    heap_.emplace(cost, i);
  } else if (items_[i].settled) {
    items_[i].settled = false;
    pending_.push_back(i);
  }
}

uint32_t BalancedPaths::SlotOf(StateId entry, uint32_t paren) {
  const uint32_t slot = static_cast<uint32_t>(slot_of_.FindOrAdd(static_cast<uint64_t>(entry) << 32 | paren));
  if (slot == slots_.size()) slots_.push_back({entry, paren, {}, {}});
  return slot;
}

void BalancedPaths::Process(StateId i) {
  const StateId entry = items_[i].entry, state = items_[i].state;
  const double cost = items_[i].cost;
  const bool first = !items_[i].registered;
  items_[i].registered = true;
  const Span<const Arc> arcs = fst_.Arcs(state);
  for (uint32_t k = 0; k < arcs.size(); ++k) {
    const double weight = Cost(arcs[k].weight);
    if (weight == kInfinity) continue;
    const Parens::Role role = parens_.Find(arcs[k].ilabel);
    if (role.kind == ParenKind::kNone) {
      Item how;
      how.from = i;
      how.arc = k;
      Improve(entry, arcs[k].nextstate, cost + weight, how);
      continue;
    }
    const Place place{i, k};
    if (role.kind == ParenKind::kOpen) {
      const StateId callee = arcs[k].nextstate;
      if (first && Find(callee, callee) == kNoState) Improve(callee, callee, 0.0, Item());
      const uint32_t slot = SlotOf(callee, role.index);
      if (first) slots_[slot].callers.push_back(place);
      for (size_t n = 0; n < slots_[slot].closers.size(); ++n) Combine(place, Place(slots_[slot].closers[n]));
    } else {
      const uint32_t slot = SlotOf(entry, role.index);
      if (first) slots_[slot].closers.push_back(place);
      for (size_t n = 0; n < slots_[slot].callers.size(); ++n) Combine(Place(slots_[slot].callers[n]), place);
    }
  }
}

void BalancedPaths::Combine(const Place& caller, const Place& closer) {
  CheckLimit(options_.operation, "max_arcs", static_cast<size_t>(++combinations_), options_.max_arcs,
             "there are too many ways to open and close parentheses; use a smaller machine");
  const Arc& open = fst_.Arcs(items_[caller.item].state)[caller.arc];
  const Arc& close = fst_.Arcs(items_[closer.item].state)[closer.arc];
  Item how;
  how.from = caller.item;
  how.inner = closer.item;
  how.arc = caller.arc;
  how.close = closer.arc;
  const double cost =
      items_[caller.item].cost + Cost(open.weight) + items_[closer.item].cost + Cost(close.weight);
  const StateId entry = items_[caller.item].entry;
  Improve(entry, close.nextstate, cost, how);
  if (options_.keep_derivations) {
    derivations_[Find(entry, close.nextstate)].push_back({caller.item, closer.item, caller.arc, closer.arc});
  }
}

}  // namespace tokamata
