// RegularMeets: intersections of regular languages of which every text that all of them can go on with can be ended.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/regular_operand.h"

namespace tokamata {

// Most conditions on one text leave each other room: after any beginning of a text of `(.{1,63}\.)+[a-z]+` without `://`
// there is a way to end both. Then what may come next is what may in each of them, and they are stepped one by one, whose
// states do not multiply. To see it, all combinations of states that bytes lead to are looked at once, with counters that
// are far from their bounds left out: each turn reads a byte, so texts of no more bytes than the least such bound are the
// same with and without these.
class RegularMeets {
 public:
  explicit RegularMeets(Expressions* pool) : pool_(pool) {}

  // Of e = (x & y & ...)·rest: x·rest, y·rest, ..., and so many bytes that a string of no more can be extended to a member
  // of e exactly where it can to one of each; kUnbounded: any. Complements, which might go on where all else ends and the
  // rest begins, are intersected with something wider than one of the others. More is tried where these would be fewer
  // than `enough`. False where none are found.
  bool Split(Expr e, uint32_t enough, ExprList* operands, uint32_t* most_bytes);

 private:
  struct Tuple {  // what is left of the members, sorted
    std::vector<Expr> others, complements;
    void Normalize();
    friend bool operator==(const Tuple& a, const Tuple& b) {
      return a.others == b.others && a.complements == b.complements;
    }
  };
  struct TupleHash {
    size_t operator()(const Tuple& t) const;
  };
  // Where texts end before something that begins with these bytes.
  struct Beside {
    ByteSet first;
    std::unordered_map<Tuple, uint32_t, TupleHash> good;  // from which all can be ended, and the bytes that this takes
    std::unordered_set<Tuple, TupleHash> bad;             // from which some cannot
    uint32_t most = 0;                                    // bytes of all good ones
  };
  struct Wide {
    Expr e = kEmpty;
    uint32_t least = kUnbounded;  // bound that was left out
  };
  Beside* BesideOf(const ByteSet& first);
  struct Known {  // by expression
    FlatMap<Expr, Expr> wide;
    FlatMap<Expr, uint32_t> least;
    size_t in_vain = 0;  // tuples of searches that found nothing
  };
  Wide WithoutFar(Expr e, uint32_t far, Known* known);
  bool Explore(const Tuple& root, Beside* beside, size_t* in_vain);
  RegularOperand* Operand();

  Expressions* pool_;
  std::unique_ptr<RegularOperand> operand_;
  std::vector<std::unique_ptr<Beside>> besides_;
  Known known_[2];  // by which bounds are far
};

}  // namespace tokamata
