#include "automata/csrc/properties.h"

#include <algorithm>
#include <vector>

#include "automata/csrc/visit.h"

namespace tokamata {
namespace {

constexpr uint64_t kSearched = kCyclic | kInitialCyclic | kAccessible | kCoAccessible | kWeightedCycles;
constexpr uint64_t kDecisions = 0x555555550000;  // the first bit of every property

uint64_t Decide(uint64_t yes, bool holds) { return holds ? yes : yes << 1; }

bool Repeats(std::vector<Label>* labels, bool sorted) {
  if (!sorted) std::sort(labels->begin(), labels->end());
  return std::adjacent_find(labels->begin(), labels->end()) != labels->end();
}

// All properties that arcs and final weights show one by one.
uint64_t Local(const Fst& fst, bool determinism) {
  const float one = fst.One(), zero = fst.Zero();
  const auto weighted = [&](float w) { return w != one && w != zero; };
  bool acceptor = true, isorted = true, osorted = true, ideterministic = true, odeterministic = true;
  bool epsilons = false, iepsilons = false, oepsilons = false, has_weight = false, top = true;
  bool string = fst.Start() == kNoState || fst.Start() == 0;
  int finals = 0;
  std::vector<Label> labels;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    const Span<const Arc> arcs = fst.Arcs(s);
    bool iup = true, oup = true;
    if (finals > 0) string = false;
    for (size_t i = 0; i < arcs.size(); ++i) {
      const Arc& a = arcs[i];
      acceptor &= a.ilabel == a.olabel;
      epsilons |= a.ilabel == kEpsilon && a.olabel == kEpsilon;
      iepsilons |= a.ilabel == kEpsilon;
      oepsilons |= a.olabel == kEpsilon;
      iup &= i == 0 || arcs[i - 1].ilabel <= a.ilabel;
      oup &= i == 0 || arcs[i - 1].olabel <= a.olabel;
      has_weight |= weighted(a.weight);
      top &= a.nextstate > s;
      string &= a.nextstate == s + 1;
    }
    isorted &= iup;
    osorted &= oup;
    if (fst.IsFinal(s)) {
      has_weight |= weighted(fst.Final(s));
      ++finals;
    } else {
      string &= arcs.size() == 1;
    }
    if (!determinism || arcs.size() < 2) continue;
    if (ideterministic) {
      labels.clear();
      for (const Arc& a : arcs) labels.push_back(a.ilabel);
      ideterministic = !Repeats(&labels, iup);
    }
    if (odeterministic) {
      labels.clear();
      for (const Arc& a : arcs) labels.push_back(a.olabel);
      odeterministic = !Repeats(&labels, oup);
    }
  }
  uint64_t out = Decide(kAcceptor, acceptor) | Decide(kEpsilons, epsilons) | Decide(kIEpsilons, iepsilons) |
                 Decide(kOEpsilons, oepsilons) | Decide(kILabelSorted, isorted) | Decide(kOLabelSorted, osorted) |
                 Decide(kWeighted, has_weight) | Decide(kTopSorted, top) | Decide(kString, string);
  if (determinism) out |= Decide(kIDeterministic, ideterministic) | Decide(kODeterministic, odeterministic);
  return out;
}

uint64_t Searched(const Fst& fst, uint64_t asked) {
  uint64_t out = 0;
  const auto all = [](const std::vector<uint8_t>& bits) {
    return std::find(bits.begin(), bits.end(), uint8_t{0}) == bits.end();
  };
  if (asked & kAccessible) out |= Decide(kAccessible, all(AccessibleStates(fst)));
  if (asked & kCoAccessible) out |= Decide(kCoAccessible, all(CoaccessibleStates(fst)));
  if (!(asked & (kCyclic | kInitialCyclic | kWeightedCycles))) return out;
  const Components components = StronglyConnected(fst);
  bool weighted = false;
  for (StateId s = 0; s < fst.NumStates() && !weighted; ++s) {
    if (!components.cyclic[components.of[s]]) continue;
    for (const Arc& a : fst.Arcs(s))
      weighted |= components.of[a.nextstate] == components.of[s] && a.weight != fst.One() && a.weight != fst.Zero();
  }
  const bool initial = fst.Start() != kNoState && components.cyclic[components.of[fst.Start()]];
  const bool cyclic =
      std::find(components.cyclic.begin(), components.cyclic.end(), uint8_t{1}) != components.cyclic.end();
  return out | Decide(kCyclic, cyclic) | Decide(kInitialCyclic, initial) | Decide(kWeightedCycles, weighted);
}

}  // namespace

uint64_t ComputeProperties(const Fst& fst, uint64_t asked) {
  asked = BothBits(asked & kAllProperties);
  uint64_t found = fst.KnownProperties();
  const auto missing = [&] { return asked & ~BothBits(found) & kDecisions; };
  if (missing() & ~kSearched) found |= Local(fst, (missing() & (kIDeterministic | kODeterministic)) != 0);
  if (missing() & kSearched) found |= Searched(fst, missing());
  return found & asked;
}

}  // namespace tokamata
