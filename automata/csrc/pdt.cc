#include "automata/csrc/pdt.h"

#include <algorithm>
#include <string>

namespace tokamata {

Parens::Parens(const char* operation, const ParenPairs& pairs) {
  const auto add = [&](int64_t label, ParenKind kind, uint32_t index) {
    const Label checked = CheckLabel(label, operation, "a parenthesis");
    if (checked == kEpsilon) {
      throw FstError(std::string(operation) + ": a parenthesis must not be label 0 (epsilon); number the labels from 1");
    }
    if (!roles_.emplace(checked, Role{kind, index}).second) {
      throw FstError(std::string(operation) + ": expected each parenthesis in one pair only, got label " +
                     std::to_string(label) + " twice; give every pair labels of its own");
    }
    return checked;
  };
  for (const auto& [open, close] : pairs) {
    const uint32_t index = static_cast<uint32_t>(pairs_.size());
    const Label opening = add(open, ParenKind::kOpen, index), closing = add(close, ParenKind::kClose, index);
    if (pairs_.empty()) low_ = high_ = opening;
    low_ = std::min({low_, opening, closing});
    high_ = std::max({high_, opening, closing});
    pairs_.emplace_back(opening, closing);
  }
}

void RequirePdt(const char* operation, const Fst& fst, const Parens& parens) {
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    for (const Arc& arc : fst.Arcs(s)) {
      if (arc.ilabel == arc.olabel || (!parens.Has(arc.ilabel) && !parens.Has(arc.olabel))) continue;
      throw FstError(std::string(operation) + ": expected a parenthesis on both sides of its arc, got " +
                     std::to_string(arc.ilabel) + ":" + std::to_string(arc.olabel) + " at state " + std::to_string(s) +
                     "; split the arc in two");
    }
  }
}

}  // namespace tokamata
