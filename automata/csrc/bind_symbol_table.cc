// SymbolTable in Python: a value that shares its storage with Fsts and copies it when changed.
#include "automata/csrc/bind_symbol_table.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <string>

#include "automata/csrc/bind.h"
#include "automata/csrc/bind_arguments.h"
#include "automata/csrc/errors.h"

namespace nb = nanobind;

namespace tokamata {
namespace {

std::string Text(const nb::bytes& b) { return {b.c_str(), b.size()}; }
nb::bytes Bytes(const std::string& s) { return nb::bytes(s.data(), s.size()); }

int64_t Add(SymbolTableHandle& h, const nb::bytes& symbol, nb::handle key) {
  if (key.is_none()) return h.Mutable().Add(Text(symbol));
  const int64_t number = WholeNumber(key, "SymbolTable.add", "key");
  if (number < 0)
    throw FstError("SymbolTable.add: the key of a symbol must not be negative, got " + std::to_string(number) +
                   "; number symbols from 0, which is epsilon's place");
  return h.Mutable().Add(Text(symbol), number);
}

}  // namespace

void BindSymbolTable(nb::module_& m) {
  nb::class_<SymbolTableHandle>(m, "SymbolTable")
      .def("__init__",
           [](SymbolTableHandle* self, const nb::bytes& name) {
             new (self) SymbolTableHandle{std::make_shared<SymbolTable>(Text(name))};
           }, nb::arg("name"))
      .def("name", [](const SymbolTableHandle& h) { return Bytes(h.table->Name()); })
      .def("__len__", [](const SymbolTableHandle& h) { return h.table->Size(); })
      .def("copy", [](const SymbolTableHandle& h) { return SymbolTableHandle{h.table}; })
      .def("add", &Add, nb::arg("symbol"), nb::arg("key").none() = nb::none(),
           nb::sig("def add(self, symbol: bytes, key: int | None = None) -> int"))
      .def("find_key", [](const SymbolTableHandle& h, const nb::bytes& s) { return h.table->Find(Text(s)); },
           nb::arg("symbol"))
      .def("find_symbol",
           [](const SymbolTableHandle& h, nb::handle key) -> std::optional<nb::bytes> {
             const std::string* s = h.table->Find(WholeNumber(key, "SymbolTable.symbol", "key"));
             if (s == nullptr) return std::nullopt;
             return Bytes(*s);
           }, nb::arg("key").none(), nb::sig("def find_symbol(self, key: int) -> bytes | None"))
      .def("available_key", [](const SymbolTableHandle& h) { return h.table->NextKey(); })
      .def("entry",
           [](const SymbolTableHandle& h, int64_t i) {
             const auto& all = h.table->Entries();
             if (i < 0 || static_cast<size_t>(i) >= all.size())
               throw nb::index_error("SymbolTable.entry: no such entry");
             return nb::make_tuple(all[i].key, Bytes(all[i].symbol));
           }, nb::arg("index"), nb::sig("def entry(self, index: int) -> tuple[int, bytes]"));
}

}  // namespace tokamata
