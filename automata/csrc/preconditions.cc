#include "automata/csrc/preconditions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "automata/csrc/properties.h"

namespace tokamata {
namespace {

bool Holds(const Fst& fst, uint64_t property) { return ComputeProperties(fst, property) & property; }

}  // namespace

bool IsAcceptor(const Fst& fst) { return Holds(fst, kAcceptor); }

bool IsInputEpsilonFree(const Fst& fst) { return Holds(fst, kNoIEpsilons); }

bool IsInputDeterministic(const Fst& fst) { return Holds(fst, kIDeterministic); }

bool IsSorted(const Fst& fst, bool by_output) { return Holds(fst, by_output ? kOLabelSorted : kILabelSorted); }

bool IsPairDeterministic(const Fst& fst) {
  std::vector<std::pair<Label, Label>> pairs;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    pairs.clear();
    bool increasing = true;
    for (const Arc& arc : fst.Arcs(s)) {
      const std::pair<Label, Label> pair{arc.ilabel, arc.olabel};
      increasing = increasing && (pairs.empty() || pairs.back() < pair);
      pairs.push_back(pair);
    }
    if (increasing) continue;
    std::sort(pairs.begin(), pairs.end());
    if (std::adjacent_find(pairs.begin(), pairs.end()) != pairs.end()) return false;
  }
  return true;
}

bool IsUnweighted(const Fst& fst) {
  const float one = fst.One();
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    if (fst.IsFinal(s) && fst.Final(s) != one) return false;
    for (const Arc& arc : fst.Arcs(s)) {
      if (arc.weight != one) return false;
    }
  }
  return true;
}

void RequireAcceptor(const char* operation, const Fst& fst, const char* operand) {
  if (IsAcceptor(fst)) return;
  throw FstError(std::string(operation) + ": " + operand +
                 " must be an acceptor (equal input and output labels), got a transducer; project it to one side "
                 "first");
}

void RequireDeterministicAcceptor(const char* operation, const Fst& fst, const char* operand) {
  RequireAcceptor(operation, fst, operand);
  if (!IsInputEpsilonFree(fst)) {
    throw FstError(std::string(operation) + ": " + operand +
                   " must be epsilon-free, got epsilon arcs; apply rmepsilon (and determinize) first");
  }
  if (!IsInputDeterministic(fst)) {
    throw FstError(std::string(operation) + ": " + operand +
                   " must be deterministic, got two arcs with one label from one state; apply determinize first");
  }
}

void RequirePathSemiring(const char* operation, const Fst& fst) {
  if (fst.Semiring() != SemiringKind::kLog) return;
  throw FstError(std::string(operation) +
                 ": the semiring must have the path property (tropical or boolean), got log, where no single path "
                 "carries the distance; rebuild the machine over the tropical semiring");
}

void RequireSameSymbols(const char* operation, const char* what, const std::shared_ptr<const SymbolTable>& a,
                        const std::shared_ptr<const SymbolTable>& b) {
  if (!a || !b || a == b) return;
  std::string difference;
  if (a->Size() != b->Size()) {
    difference = std::to_string(a->Size()) + " and " + std::to_string(b->Size()) + " symbols";
  } else {
    for (const SymbolTable::Entry& entry : a->Entries()) {
      const std::string* name = b->Find(entry.key);
      if (name && *name == entry.symbol) continue;
      difference = "label " + std::to_string(entry.key) + " named '" + entry.symbol + "' and " +
                   (name ? "'" + *name + "'" : std::string("nothing"));
      break;
    }
  }
  if (difference.empty()) return;
  throw FstError(std::string(operation) + ": " + what + " must have the same symbol table, got " + difference +
                 "; relabel one operand to the other's symbols or drop one table");
}

void FailLimit(const char* operation, const char* limit, int64_t given, const std::string& advice) {
  throw LimitError(std::string(operation) + ": reached " + limit + " (" + std::to_string(given + 1) + "/" +
                   std::to_string(given) + "): " + advice + "; raise it with " + limit + "=");
}

}  // namespace tokamata
