#include "automata/csrc/fst.h"

#include <algorithm>

namespace tokamata {

StateId Fst::AddState() {
  State s;
  s.final = Zero();
  states_.push_back(s);
  return NumStates() - 1;
}

void Fst::AddStates(size_t n) {
  State s;
  s.final = Zero();
  states_.resize(states_.size() + n, s);
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
}

void Fst::DeleteArcs(StateId s) {
  num_arcs_ -= states_[s].count;
  states_[s].count = 0;
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

}  // namespace tokamata
