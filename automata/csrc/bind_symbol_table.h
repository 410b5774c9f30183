// What Python holds of a symbol table.
#pragma once
#include <memory>
#include <utility>

#include "automata/csrc/symbol_table.h"

namespace tokamata {

// Storage is shared with Fsts and other handles, and copied before a change that others would see.
struct SymbolTableHandle {
  std::shared_ptr<SymbolTable> table;

  static SymbolTableHandle Of(std::shared_ptr<const SymbolTable> t) {
    return {std::const_pointer_cast<SymbolTable>(std::move(t))};
  }
  SymbolTable& Mutable() {
    if (table.use_count() > 1) table = std::make_shared<SymbolTable>(*table);
    return *table;
  }
};

}  // namespace tokamata
