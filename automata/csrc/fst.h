// Fst: a weighted finite-state transducer, stored as one pool of arcs.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "automata/csrc/semiring.h"
#include "automata/csrc/symbol_table.h"

namespace tokamata {

using Label = int32_t;
using StateId = int32_t;
constexpr Label kEpsilon = 0;
constexpr StateId kNoState = -1;

struct Arc {
  Label ilabel;
  Label olabel;
  float weight;
  StateId nextstate;
};
static_assert(sizeof(Arc) == 16, "Arc is exchanged with numpy as a 16-byte record");

// A contiguous run of arcs; valid until the Fst is changed.
template <class T>
struct Span {
  T* data;
  size_t count;
  T* begin() const { return data; }
  T* end() const { return data + count; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T& operator[](size_t i) const { return data[i]; }
};

// States 0..NumStates()-1. The arcs of a state are contiguous in one pool; a state that outgrows its room moves to the
// pool's end with twice the room, so adding arcs is amortized O(1) and reading all arcs is one sweep.
class Fst {
 public:
  explicit Fst(SemiringKind semiring = SemiringKind::kTropical) : semiring_(semiring) {}

  SemiringKind Semiring() const { return semiring_; }
  float Zero() const { return semiring_ == SemiringKind::kBoolean ? 0.0f : kInfinity; }
  float One() const { return semiring_ == SemiringKind::kBoolean ? 1.0f : 0.0f; }

  StateId NumStates() const { return static_cast<StateId>(states_.size()); }
  size_t NumArcs() const { return num_arcs_; }
  StateId Start() const { return start_; }
  float Final(StateId s) const { return states_[s].final; }
  bool IsFinal(StateId s) const { return states_[s].final != Zero(); }
  Span<const Arc> Arcs(StateId s) const { return {pool_.data() + states_[s].first, states_[s].count}; }

  StateId AddState();
  void AddStates(size_t n);
  void SetStart(StateId s) {
    start_ = s;
    known_ = 0;
  }
  void SetFinal(StateId s, float weight) {
    states_[s].final = weight;
    known_ = 0;
  }
  void AddArc(StateId s, const Arc& arc);
  void DeleteArcs(StateId s);
  Span<Arc> MutableArcs(StateId s) {
    known_ = 0;
    return {pool_.data() + states_[s].first, states_[s].count};
  }
  void ReserveStates(size_t n) { states_.reserve(n); }
  void ReserveArcs(size_t n) { pool_.reserve(n); }
  // Drops the room that moves have left: afterwards the pool is the arcs of state 0, 1, 2, … without gaps.
  void Compact();
  // Takes the arcs of state 0, 1, 2, … in one pool: those of s are offsets[s]..offsets[s + 1]; finals.size() states.
  // Everything must have been checked.
  static Fst FromPool(SemiringKind semiring, std::vector<Arc> pool, const std::vector<size_t>& offsets,
                      const std::vector<float>& finals, StateId start);

  // Bits of properties.h that hold and are known to hold without looking; any change forgets them.
  uint64_t KnownProperties() const { return known_; }
  void SetKnownProperties(uint64_t bits) { known_ = bits; }

  const std::shared_ptr<const SymbolTable>& InputSymbols() const { return isymbols_; }
  const std::shared_ptr<const SymbolTable>& OutputSymbols() const { return osymbols_; }
  void SetInputSymbols(std::shared_ptr<const SymbolTable> t) { isymbols_ = std::move(t); }
  void SetOutputSymbols(std::shared_ptr<const SymbolTable> t) { osymbols_ = std::move(t); }

 private:
  struct State {
    float final;
    uint32_t count = 0;
    uint32_t room = 0;
    size_t first = 0;
  };
  SemiringKind semiring_;
  StateId start_ = kNoState;
  uint64_t known_ = 0;
  size_t num_arcs_ = 0;
  std::vector<State> states_;
  std::vector<Arc> pool_;
  std::shared_ptr<const SymbolTable> isymbols_, osymbols_;
};

}  // namespace tokamata
