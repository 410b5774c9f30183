#include "automata/csrc/fst.h"

#include <algorithm>

namespace tokamata {

StateId Fst::AddState() {
  State s;
  s.final = Zero();
  states_.push_back(s);
  known_ = 0;
  return NumStates() - 1;
}

void Fst::AddStates(size_t n) {
  State s;
  s.final = Zero();
  states_.resize(states_.size() + n, s);
  known_ = 0;
}

void Fst::AddArc(StateId s, const Arc& arc) {
  State& state = states_[s];
  if (state.count == state.room) {
    if (state.first + state.room == pool_.size()) {  // the last run grows in place
      pool_.push_back(arc);
      ++state.room;
    } else {
      const uint32_t room = state.room ? state.room * 2 : 1;
      const size_t first = pool_.size();
      pool_.resize(first + room);
      std::copy_n(pool_.begin() + static_cast<ptrdiff_t>(state.first), state.count,
                  pool_.begin() + static_cast<ptrdiff_t>(first));
      state.first = first;
      state.room = room;
    }
  }
  pool_[state.first + state.count++] = arc;
  ++num_arcs_;
  known_ = 0;
}

void Fst::DeleteArcs(StateId s) {
  num_arcs_ -= states_[s].count;
  states_[s].count = 0;
  known_ = 0;
}

void Fst::Compact() {
  std::vector<Arc> pool;
  pool.reserve(num_arcs_);
  for (State& s : states_) {
    const auto from = pool_.begin() + static_cast<ptrdiff_t>(s.first);
    s.first = pool.size();
    pool.insert(pool.end(), from, from + s.count);
    s.room = s.count;
  }
  pool_.swap(pool);
}

Fst Fst::FromPool(SemiringKind semiring, std::vector<Arc> pool, const std::vector<size_t>& offsets,
                  const std::vector<float>& finals, StateId start) {
  Fst fst(semiring);
  fst.pool_ = std::move(pool);
  fst.num_arcs_ = fst.pool_.size();
  fst.start_ = start;
  fst.states_.resize(finals.size());
  for (size_t s = 0; s < finals.size(); ++s) {
    State& state = fst.states_[s];
    state.final = finals[s];
    state.first = offsets[s];
    state.count = state.room = static_cast<uint32_t>(offsets[s + 1] - offsets[s]);
  }
  return fst;
}

}  // namespace tokamata
