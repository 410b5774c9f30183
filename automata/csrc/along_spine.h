// AlongSpine: the image of a concatenation, part by part.
#pragma once
#include <cstddef>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"

namespace tokamata {

// The image of e: down the spine of a concatenation to what is known or where stops(e, parts passed) says so, which
// stays as it is, then up again. Without recursion, since spines grow with the nesting of what was read. of_end is the
// image of what is no concatenation, of_head that of the first part of one. O(parts not known).
template <class Stops, class OfEnd, class OfHead>
Expr AlongSpine(Expressions* all, Expr e, FlatMap<Expr, Expr>* known, Stops stops, OfEnd of_end, OfHead of_head) {
  constexpr size_t kShort = 32;  // longer than most, and most are known
  Expr spine[kShort];
  std::vector<Expr> more;
  size_t passed = 0;
  Expr image = e;
  for (;; e = all->Tail(e), ++passed) {
    image = e;
    if (stops(e, passed)) break;
    if (const Expr* const found = known->Find(e)) {
      image = *found;
      break;
    }
    if (all->Kind(e) != ExprKind::kConcat) {
      image = of_end(e);
      (*known)[e] = image;
      break;
    }
    if (passed < kShort)
      spine[passed] = e;
    else
      more.push_back(e);
  }
  while (passed--) {
    const Expr at = passed < kShort ? spine[passed] : more[passed - kShort], head = of_head(all->Head(at));
    image = image == all->Tail(at) && head == all->Head(at) ? at : all->Concat(head, image);
    (*known)[at] = image;
  }
  return image;
}

}  // namespace tokamata
