// LengthBounds: how many bytes the members of an expression take at least, read off its structure.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

constexpr uint32_t kUnknownLength = 0xffffffff;

// Memoized by expression; the pool may grow between questions. Not thread-safe.
class LengthBounds {
 public:
  explicit LengthBounds(const Expressions* pool) : pool_(pool) {}
  // No member is shorter; exact where there is no intersection, complement or call inside.
  uint32_t Least(Expr e) { return Of(e).least; }
  // From wherever the beginning of a member leads, some end is no farther than this; kUnknownLength where the structure
  // does not tell (intersections, complements, calls, numbers beyond 32 bits).
  uint32_t Most(Expr e) { return Of(e).most; }

 private:
  struct Bounds {
    uint32_t least = 0, most = 0;
    bool known = false;
  };
  const Bounds& Of(Expr e);
  bool PushUnknownParts(Expr e);  // true when all parts are known
  Bounds Combine(Expr e);
  Bounds OfTable(Expr e);

  const Expressions* pool_;
  std::vector<Bounds> bounds_;  // by expression
  std::vector<Expr> stack_;
  struct Distances {
    std::vector<uint32_t> to_final;  // by state of the table
    uint32_t most = 0;
  };
  std::unordered_map<const ByteTable*, Distances> tables_;
};

}  // namespace tokamata
