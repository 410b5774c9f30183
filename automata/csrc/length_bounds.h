// LengthBounds: how many bytes the members of an expression take at least, read off its structure.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/late.h"

namespace tokamata {

constexpr uint32_t kUnknownLength = 0xffffffff;
constexpr uint32_t kNoLength = kUnknownLength - 1;  // there is no member

// Memoized by expression; the pool may grow between questions. A question expands the rules that are called below the
// expression, at most most_rules new ones, and as many as take an eighth of the pool's limit. Not thread-safe.
class LengthBounds {
 public:
  explicit LengthBounds(Expressions* pool) : pool_(pool) {}
  // No member is shorter; kNoLength: there is none. Exact where there is no intersection, complement or rule left
  // unexpanded inside.
  uint32_t Least(Expr e) { return Of(e).least; }
  // From wherever the beginning of a member leads, some end is no farther than this; kUnknownLength where the structure
  // does not tell (intersections, complements, recursive rules, numbers beyond 32 bits).
  uint32_t Most(Expr e) { return Of(e).most; }
  size_t most_rules = 4096;
  // Forgets what was found out, but for the rules that were expanded since, so that the same questions may have better
  // answers; false where there are none.
  bool Renew();

 private:
  struct Bounds {
    uint32_t least = kNoLength, most = kUnknownLength;
    bool known = false;
    bool settled = false;  // most is final: not so where a rule calls itself
    uint32_t visit = 0;    // the last Collect that met it
  };
  const Bounds& Of(Expr e);
  void ExpandBelow(Expr root);
  void Collect(Expr root, std::vector<Expr>* order, bool* calls);
  void Grow();
  uint32_t LeastOf(Expr e);
  uint32_t MostOf(Expr e);
  struct Distances;
  const Distances& TableOf(Expr e);

  Expressions* pool_;
  std::vector<Bounds> bounds_;  // by expression
  uint32_t visit_ = 0;
  bool partial_ = false;  // whether rules were left unexpanded
  struct Body {
    Expr e = kEmpty;
    uint32_t slack = 0;  // that a call may need beyond its body; see RuleSource::Outline
    uint32_t least = 0;  // see RuleSource::LeastLength
  };
  Late<std::unordered_map<Expr, Body>> bodies_;  // of calls that were expanded
  struct Distances {
    std::vector<uint32_t> to_final;  // by state of the table
    uint32_t most = 0;
  };
  Late<std::unordered_map<const ByteTable*, Distances>> tables_;
};

}  // namespace tokamata
