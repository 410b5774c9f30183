#include "automata/csrc/symbol_table.h"

#include <algorithm>
#include <limits>

#include "automata/csrc/errors.h"

namespace tokamata {

int64_t SymbolTable::Add(const std::string& symbol) {
  const int64_t known = Find(symbol);
  return known >= 0 ? known : Add(symbol, next_key_);
}

int64_t SymbolTable::Add(const std::string& symbol, int64_t key) {
  if (key == std::numeric_limits<int64_t>::max())
    throw FstError("SymbolTable.add: key " + std::to_string(key) + " leaves no room for a next one; use a smaller key");
  const auto s = by_symbol_.find(symbol);
  const auto k = by_key_.find(key);
  if (s != by_symbol_.end() || k != by_key_.end()) {
    if (s != by_symbol_.end() && k != by_key_.end() && s->second == k->second) return key;
    throw FstError("SymbolTable.add: symbol \"" + symbol + "\" or key " + std::to_string(key) +
                   " already belongs to another entry; use a new symbol and a new key");
  }
  by_symbol_.emplace(symbol, symbols_.size());
  by_key_.emplace(key, symbols_.size());
  symbols_.push_back({key, symbol});
  next_key_ = std::max(next_key_, key + 1);
  return key;
}

int64_t SymbolTable::Find(const std::string& symbol) const {
  const auto it = by_symbol_.find(symbol);
  return it == by_symbol_.end() ? -1 : symbols_[it->second].key;
}

const std::string* SymbolTable::Find(int64_t key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? nullptr : &symbols_[it->second].symbol;
}

bool SymbolTable::SameEntries(const SymbolTable& other) const {
  if (Size() != other.Size()) return false;
  for (const Entry& e : symbols_) {
    const std::string* s = other.Find(e.key);
    if (s == nullptr || *s != e.symbol) return false;
  }
  return true;
}

}  // namespace tokamata
