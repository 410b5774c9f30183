// CounterClamp: what is left to be read, as far as a few bytes can tell.
#pragma once
#include <cstdint>
#include <functional>

#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"

namespace tokamata {

// Counters behind what is read first, as in an object among "up to 200 objects", make no difference to short texts
// while they are far from their bounds: expressions with smaller numbers there, or without a bound, allow the same ones.
class CounterClamp {
 public:
  // Of texts with at most `bytes` bytes, and most(b) bytes b, in which white space comes no more than blanks() times
  // after something else (see BlankScan).
  CounterClamp(uint32_t bytes, std::function<uint32_t(uint8_t)> most, std::function<uint32_t()> blanks)
      : bytes_(bytes), most_(std::move(most)), blanks_(std::move(blanks)) {}

  // An expression with the same texts of that kind among beginnings of its members, and among its members. Counters at
  // the very front stay.
  Expr Of(Expressions* pool, Expr e);

 private:
  Expr Tail(Expressions* pool, Expr e);
  Expr Part(Expressions* pool, Expr e);
  uint64_t MostTurns(Expressions* pool, Expr body);
  bool EndsWords(Expressions* pool, Expr body);
  bool FindWords(Expressions* pool, Expr body);

  uint32_t bytes_;
  std::function<uint32_t(uint8_t)> most_;
  std::function<uint32_t()> blanks_;
  FlatMap<Expr, uint64_t> turns_;  // by body
  FlatMap<Expr, bool> words_;      // the same
  FlatMap<Expr, Expr> parts_;  // by repetition
  FlatMap<Expr, Expr> tails_;  // by what follows a first part
};

}  // namespace tokamata
