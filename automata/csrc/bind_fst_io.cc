// Fst in bulk: arrays, files, text.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/binary.h"
#include "automata/csrc/bind.h"
#include "automata/csrc/bind_arguments.h"
#include "automata/csrc/bind_symbol_table.h"
#include "automata/csrc/check.h"
#include "automata/csrc/text.h"

namespace nb = nanobind;

namespace tokamata {
namespace {

template <class T>
nb::bytearray Copy(const std::vector<T>& v) {
  return nb::bytearray(v.data(), v.size() * sizeof(T));
}

// Arcs of one state or of all as the bytes of 16-byte records.
nb::bytearray ArcsOf(const Fst& fst, StateId first, StateId last, size_t arcs) {
  nb::bytearray out(nullptr, 0);
  if (PyByteArray_Resize(out.ptr(), static_cast<Py_ssize_t>(arcs * sizeof(Arc))) != 0) throw nb::python_error();
  char* to = PyByteArray_AsString(out.ptr());
  for (StateId s = first; s < last;) {  // states whose arcs lie behind each other go in one copy
    const Arc* begin = fst.Arcs(s).data;
    size_t n = fst.Arcs(s).size();
    for (++s; s < last && (fst.Arcs(s).empty() || fst.Arcs(s).data == begin + n); ++s) n += fst.Arcs(s).size();
    if (n == 0) continue;
    std::memcpy(to, begin, n * sizeof(Arc));
    to += n * sizeof(Arc);
  }
  return out;
}

nb::bytearray Offsets(const Fst& fst) {
  std::vector<int64_t> offsets{0};
  offsets.reserve(static_cast<size_t>(fst.NumStates()) + 1);
  for (StateId s = 0; s < fst.NumStates(); ++s)
    offsets.push_back(offsets.back() + static_cast<int64_t>(fst.Arcs(s).size()));
  return Copy(offsets);
}

nb::bytearray Finals(const Fst& fst) {
  std::vector<float> finals(fst.NumStates());
  for (StateId s = 0; s < fst.NumStates(); ++s) finals[s] = fst.Final(s);
  return Copy(finals);
}

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Fst FromArrays(const Array<uint8_t>& arcs, const Array<int64_t>& offsets, const Array<float>& finals, nb::handle start_state,
               const std::string& semiring) {
  const SemiringKind kind = ParseSemiring(semiring);
  const int64_t start = WholeNumber(start_state, "Fst.from_arrays", "start");
  const std::string name = "Fst.from_arrays: ";
  const size_t n = finals.shape(0), m = arcs.shape(0) / sizeof(Arc);
  nb::gil_scoped_release release;
  if (arcs.shape(0) % sizeof(Arc) != 0) throw FstError(name + "arcs must be records of 16 bytes");
  if (n > static_cast<size_t>(std::numeric_limits<StateId>::max()))
    throw LimitError(name + "limit states 2147483647 reached: finals has " + std::to_string(n) + " entries");
  if (offsets.shape(0) != n + 1)
    throw FstError(name + "offsets must have one entry more than finals, got " + std::to_string(offsets.shape(0)) +
                   " and " + std::to_string(n));
  std::vector<size_t> first(n + 1);
  for (size_t s = 0; s <= n; ++s) {
    const int64_t o = offsets.data()[s];
    if (o < 0 || static_cast<size_t>(o) > m || (s == 0 && o != 0) || (s > 0 && static_cast<size_t>(o) < first[s - 1]) ||
        (s == n && static_cast<size_t>(o) != m) || (s > 0 && o - first[s - 1] > kMaxArcsOfState))
      throw FstError(name + "offsets must rise from 0 to the number of arcs (" + std::to_string(m) + "), got " +
                     std::to_string(o) + " at index " + std::to_string(s));
    first[s] = static_cast<size_t>(o);
  }
  std::vector<Arc> pool(m);
  if (m > 0) std::memcpy(pool.data(), arcs.data(), m * sizeof(Arc));
  for (size_t i = 0; i < m; ++i) {
    const Arc& a = pool[i];
    if (a.ilabel < 0 || a.olabel < 0 || a.nextstate < 0 || static_cast<size_t>(a.nextstate) >= n ||
        !IsMember(kind, a.weight))
      throw FstError(name + "arc " + std::to_string(i) + " is " + std::to_string(a.ilabel) + ":" +
                     std::to_string(a.olabel) + " with weight " + std::to_string(a.weight) + " to state " +
                     std::to_string(a.nextstate) + "; expected labels of 0 or more, a weight of the " + semiring +
                     " semiring and a state below " + std::to_string(n));
  }
  for (size_t s = 0; s < n; ++s)
    if (!IsMember(kind, finals.data()[s]))
      throw FstError(name + "the final weight of state " + std::to_string(s) + " is " +
                     std::to_string(finals.data()[s]) + "; expected a weight of the " + semiring + " semiring");
  if (start < -1 || start >= static_cast<int64_t>(n))
    throw FstError(name + "start is " + std::to_string(start) + "; expected a state below " + std::to_string(n) +
                   ", or -1 for none");
  return Fst::FromPool(kind, std::move(pool), first, {finals.data(), finals.data() + n},
                       static_cast<StateId>(start));
}

nb::tuple Read(const nb::bytes& data) {
  size_t consumed = 0;
  Fst fst = [&] {
    const auto* p = reinterpret_cast<const uint8_t*>(data.c_str());
    const size_t n = data.size();
    nb::gil_scoped_release release;
    return ReadFst(p, n, &consumed);
  }();
  return nb::make_tuple(std::move(fst), consumed);
}

nb::bytes Write(const Fst& fst, const std::string& kind) {
  FstFileKind k = FstFileKind::kVector;
  if (kind == "const")
    k = FstFileKind::kConst;
  else if (kind == "const_aligned")
    k = FstFileKind::kConstAligned;
  else if (kind != "vector")
    throw FstError("Fst.write: unknown kind \"" + kind + "\"; expected \"vector\", \"const\" or \"const_aligned\"");
  const std::string out = [&] {
    nb::gil_scoped_release release;
    return WriteFst(fst, k);
  }();
  return nb::bytes(out.data(), out.size());
}

TextOptions Options(bool acceptor, const SymbolTableHandle* isymbols, const SymbolTableHandle* osymbols) {
  TextOptions options;
  options.acceptor = acceptor;
  if (isymbols) options.isymbols = isymbols->table;
  if (osymbols) options.osymbols = osymbols->table;
  return options;
}

}  // namespace

void BindFstIo(nb::module_& m) {
  m.def("arcs_of_state",
        [](const Fst& f, nb::handle number) {
          const int64_t s = WholeNumber(number, "Fst.arcs_array", "state");
          if (s < 0 || s >= f.NumStates()) {
            const std::string text = "Fst.arcs_array: state " + std::to_string(s) +
                                     " does not exist; the Fst has " + std::to_string(f.NumStates()) + " states";
            throw nb::index_error(text.c_str());
          }
          const auto state = static_cast<StateId>(s);
          return ArcsOf(f, state, state + 1, f.Arcs(state).size());
        },
        nb::arg("fst"), nb::arg("state").none(), nb::sig("def arcs_of_state(fst: Fst, state: int) -> bytearray"));
  m.def("arcs_of_all", [](const Fst& f) { return ArcsOf(f, 0, f.NumStates(), f.NumArcs()); }, nb::arg("fst"));
  m.def("offsets_of", &Offsets, nb::arg("fst"));
  m.def("finals_of", &Finals, nb::arg("fst"));
  m.def("fst_from_arrays", &FromArrays, nb::arg("arcs"), nb::arg("offsets"), nb::arg("finals"), nb::arg("start").none(),
        nb::arg("semiring"),
        nb::sig("def fst_from_arrays(arcs: object, offsets: object, finals: object, start: int, semiring: str) -> Fst"));
  m.def("read_fst", &Read, nb::arg("data"), nb::sig("def read_fst(data: bytes) -> tuple[Fst, int]"));
  m.def("write_fst", &Write, nb::arg("fst"), nb::arg("kind"));
  m.def("to_boolean", &ToBoolean, nb::arg("fst"), nb::call_guard<nb::gil_scoped_release>());
  m.def("from_text",
        [](const nb::bytes& text, bool acceptor, const std::string& semiring, const SymbolTableHandle* isymbols,
           const SymbolTableHandle* osymbols) {
          TextOptions options = Options(acceptor, isymbols, osymbols);
          options.semiring = ParseSemiring(semiring);
          const std::string_view view(text.c_str(), text.size());
          nb::gil_scoped_release release;
          return FromText(view, options);
        },
        nb::arg("text"), nb::arg("acceptor"), nb::arg("semiring"), nb::arg("isymbols").none(),
        nb::arg("osymbols").none());
  m.def("to_text",
        [](const Fst& fst, bool acceptor, bool numeric, bool show_weight_one) {
          TextOptions options;
          options.acceptor = acceptor;
          options.show_weight_one = show_weight_one;
          if (!numeric) {
            options.isymbols = fst.InputSymbols();
            options.osymbols = fst.OutputSymbols();
          }
          const std::string out = [&] {
            nb::gil_scoped_release release;
            return ToText(fst, options);
          }();
          return nb::bytes(out.data(), out.size());
        },
        nb::arg("fst"), nb::arg("acceptor"), nb::arg("numeric"), nb::arg("show_weight_one"));
}

}  // namespace tokamata
