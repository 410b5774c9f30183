// LeafAutomaton: a delayed deterministic automaton as a leaf of expressions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "automata/csrc/byte_set.h"

namespace tokamata {

class Expressions;
class RegularOperand;

// What has states of its own and is no expression, but wants the algebra of expressions around it. Used under the lock
// of the acceptor that owns the pool.
class LeafAutomaton {
 public:
  static constexpr uint32_t kNotNested = 0xffffffff;
  struct Arc {
    ByteSet bytes;
    uint32_t state;
    // A language that begins with each of the bytes, in one way, or, with `left`, what such a one has left then: what is
    // left comes before what is accepted from the state.
    uint32_t nested = kNotNested;
    bool left = false;
    std::vector<std::pair<uint32_t, uint32_t>> others{};  // further nested languages that begin so, with their states
  };
  virtual ~LeafAutomaton() = default;
  // Replaces *out by the arcs of a state: disjoint bytes, and only states from which some final one can be reached.
  virtual void Arcs(uint32_t state, std::vector<Arc>* out) = 0;
  virtual bool IsFinal(uint32_t state) = 0;
  // A nested language by its number, in the pool that the automaton is a leaf of.
  virtual uint32_t Nested(uint32_t /*number*/, Expressions*) { return 0; }
  // What is read in a state, for errors about limits; empty where that is not known.
  virtual std::string PlaceOf(uint32_t /*state*/) const { return {}; }
  // No string of fewer bytes is accepted from a state; some string is accepted that is no longer than Most, from there
  // and from wherever it leads (0xffffffff: not known).
  virtual uint32_t Least(uint32_t state) { return IsFinal(state) ? 0 : 1; }
  virtual uint32_t Most(uint32_t) { return 0xffffffff; }

  // The states of a regular language that strings accepted from a state lead to from `from`. False where that cannot be
  // told.
  virtual bool EndsBeside(uint32_t /*state*/, RegularOperand*, uint32_t /*from*/, std::vector<uint32_t>* /*ends*/) {
    return false;
  }

  // The same automaton for another pool, without states; Adopt turns states of an automaton of the same origin into its
  // own: all that are wanted at once, as what they share is made once then.
  virtual std::shared_ptr<LeafAutomaton> Clone() const = 0;
  virtual const void* Origin() const = 0;
  virtual void Adopt(const LeafAutomaton& other, std::vector<uint32_t>* states) = 0;
  virtual size_t MemoryBytes() const = 0;
};

}  // namespace tokamata
