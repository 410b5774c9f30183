// SymbolTable: labels and their names.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tokamata {

// A one-to-one map between labels (int64, as in OpenFst) and byte-string names.
class SymbolTable {
 public:
  explicit SymbolTable(std::string name = "") : name_(std::move(name)) {}
  const std::string& Name() const { return name_; }
  size_t Size() const { return symbols_.size(); }
  // The key of the symbol, adding it under the next free key when new.
  int64_t Add(const std::string& symbol);
  // Adds the symbol under the key; both must be new or already belong together (else FstError).
  int64_t Add(const std::string& symbol, int64_t key);
  // -1 where the symbol is unknown.
  int64_t Find(const std::string& symbol) const;
  // Null where the key is unknown.
  const std::string* Find(int64_t key) const;
  struct Entry {
    int64_t key;
    std::string symbol;
  };
  const std::vector<Entry>& Entries() const { return symbols_; }  // in order of insertion
  int64_t NextKey() const { return next_key_; }
  // Keys below `key` are not given to new symbols.
  void SkipKeys(int64_t key) { next_key_ = key > next_key_ ? key : next_key_; }
  // The same keys with the same symbols, in any order.
  bool SameEntries(const SymbolTable& other) const;

 private:
  std::string name_;
  int64_t next_key_ = 0;
  std::vector<Entry> symbols_;
  std::unordered_map<std::string, size_t> by_symbol_;
  std::unordered_map<int64_t, size_t> by_key_;
};

}  // namespace tokamata
