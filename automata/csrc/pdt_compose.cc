#include "automata/csrc/pdt_compose.h"

#include <memory>
#include <string>

#include "automata/csrc/arcsort.h"
#include "automata/csrc/connect.h"

namespace tokamata {
namespace {

constexpr const char* kOperation = "Pdt.compose";
using Table = std::shared_ptr<const SymbolTable>;

void RequireNoParens(const Fst& fst, const Parens& parens) {
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    for (const Arc& arc : fst.Arcs(s)) {
      if (!parens.Has(arc.ilabel) && !parens.Has(arc.olabel)) continue;
      throw FstError(std::string(kOperation) + ": expected no parentheses in the Fst, got label " +
                     std::to_string(parens.Has(arc.ilabel) ? arc.ilabel : arc.olabel) + " at state " +
                     std::to_string(s) + "; give the parentheses labels that the Fst does not use");
    }
  }
}

// The table without the names of parentheses, which only one operand may know.
Table WithoutParens(const Table& table, const Parens& parens) {
  if (!table) return table;
  auto out = std::make_shared<SymbolTable>(table->Name());
  for (const auto& entry : table->Entries()) {
    const bool label = entry.key >= 0 && entry.key <= 0x7fffffff;
    if (!label || !parens.Has(static_cast<Label>(entry.key))) out->Add(entry.symbol, entry.key);
  }
  return out;
}

// The Fst's table with the names that the push-down transducer's has for parentheses.
Table WithParens(const Table& table, const Table& named, const Parens& parens) {
  if (!table || !named) return table;
  auto out = std::make_shared<SymbolTable>(*table);
  for (const auto& entry : named->Entries()) {
    const bool label = entry.key >= 0 && entry.key <= 0x7fffffff;
    if (label && parens.Has(static_cast<Label>(entry.key))) out->Add(entry.symbol, entry.key);
  }
  return out;
}

// Parentheses become epsilons on the side where the operands meet; the other side still tells them.
Fst Hide(const Fst& pdt, const Parens& parens, bool left_pdt) {
  Fst out = pdt;
  for (StateId s = 0; s < out.NumStates(); ++s) {
    for (Arc& arc : out.MutableArcs(s)) {
      if (!parens.Has(arc.ilabel)) continue;
      (left_pdt ? arc.olabel : arc.ilabel) = kEpsilon;
    }
  }
  if (left_pdt) {
    out.SetOutputSymbols(WithoutParens(out.OutputSymbols(), parens));
  } else {
    out.SetInputSymbols(WithoutParens(out.InputSymbols(), parens));
  }
  return ArcSort(out, left_pdt ? SortSide::kOutput : SortSide::kInput);
}

}  // namespace

Fst PdtCompose(const Fst& a, const Fst& b, const Parens& parens, bool left_pdt, const ComposeOptions& options) {
  const Fst& pdt = left_pdt ? a : b;
  RequirePdt(kOperation, pdt, parens);
  RequireNoParens(left_pdt ? b : a, parens);
  const Fst hidden = Hide(pdt, parens, left_pdt);
  Fst other = left_pdt ? b : a;
  if (left_pdt) {
    other.SetInputSymbols(WithoutParens(other.InputSymbols(), parens));
  } else {
    other.SetOutputSymbols(WithoutParens(other.OutputSymbols(), parens));
  }
  ComposeFst delayed(left_pdt ? hidden : other, left_pdt ? other : hidden, options, kOperation);
  Fst result = Materialize(kOperation, &delayed, options.max_arcs);
  if (options.connect) result = Connect(result);
  for (StateId s = 0; s < result.NumStates(); ++s) {
    for (Arc& arc : result.MutableArcs(s)) {
      const Label label = left_pdt ? arc.ilabel : arc.olabel;
      if (parens.Has(label)) arc.ilabel = arc.olabel = label;
    }
  }
  if (left_pdt) {
    result.SetInputSymbols(a.InputSymbols());
    result.SetOutputSymbols(WithParens(b.OutputSymbols(), a.InputSymbols(), parens));
  } else {
    result.SetInputSymbols(WithParens(a.InputSymbols(), b.OutputSymbols(), parens));
    result.SetOutputSymbols(b.OutputSymbols());
  }
  return result;
}

}  // namespace tokamata
