#include "automata/csrc/binary.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "automata/csrc/check.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/properties.h"

namespace tokamata {
namespace {

constexpr int32_t kFstMagic = 2125659606;
constexpr int32_t kSymbolMagic = 2125658996;
constexpr int32_t kHasInputSymbols = 1, kHasOutputSymbols = 2, kIsAligned = 4;
constexpr int32_t kVectorVersion = 2, kConstAlignedVersion = 1, kConstVersion = 2;
constexpr size_t kAlignment = 16;

struct ConstState {
  float final;
  uint32_t first, arcs, iepsilons, oepsilons;
};
static_assert(sizeof(ConstState) == 20, "the file's record of a state");

[[noreturn]] void Refuse(size_t at, const std::string& what) {
  throw FstError("Fst.read: at byte " + std::to_string(at) + ": " + what);
}

class Reader {
 public:
  Reader(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  size_t At() const { return at_; }
  size_t Left() const { return size_ - at_; }

  const uint8_t* Take(size_t n, const char* what) {
    if (n > Left())
      Refuse(at_, std::string("expected ") + what + " (" + std::to_string(n) + " bytes), got " +
                      std::to_string(Left()) + " bytes to the end; the file is truncated or damaged, write it again");
    const uint8_t* p = data_ + at_;
    at_ += n;
    return p;
  }
  template <class T>
  T Get(const char* what) {
    T v;
    std::memcpy(&v, Take(sizeof v, what), sizeof v);
    return v;
  }
  std::string Text(const char* what) {
    const int32_t n = Get<int32_t>(what);
    if (n < 0) Refuse(at_ - 4, std::string("the length of ") + what + " is " + std::to_string(n) + "; file damaged");
    const uint8_t* p = Take(static_cast<size_t>(n), what);
    return {reinterpret_cast<const char*>(p), static_cast<size_t>(n)};
  }
  // A count of records of at least `bytes` bytes each that are still to come.
  size_t Count(int64_t n, size_t bytes, const char* what) {
    if (n < 0 || static_cast<uint64_t>(n) > Left() / bytes)
      Refuse(at_, "expected " + std::to_string(n) + " " + what + ", but " + std::to_string(Left()) +
                      " bytes are left; the file is truncated or damaged, write it again");
    return static_cast<size_t>(n);
  }
  void Align(const char* what) { Take((kAlignment - at_ % kAlignment) % kAlignment, what); }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

std::shared_ptr<const SymbolTable> ReadSymbols(Reader* in) {
  const size_t begin = in->At();
  if (in->Get<int32_t>("a symbol table") != kSymbolMagic)
    Refuse(begin, "expected a symbol table, got other bytes; the file is damaged, write it again");
  auto table = std::make_shared<SymbolTable>(in->Text("the symbol table's name"));
  const auto available = in->Get<int64_t>("the next free key");
  const size_t n = in->Count(in->Get<int64_t>("the number of symbols"), 12, "symbols");
  for (size_t i = 0; i < n; ++i) {
    const size_t at = in->At();
    const std::string symbol = in->Text("a symbol");
    const auto key = in->Get<int64_t>("the key of a symbol");
    if (key < 0 || key == std::numeric_limits<int64_t>::max())
      Refuse(at, "the key of a symbol is " + std::to_string(key) + "; expected 0 or more");
    if (table->Find(key) != nullptr || table->Find(symbol) >= 0)
      Refuse(at, "symbol \"" + symbol + "\" or key " + std::to_string(key) + " comes twice; the file is damaged");
    table->Add(symbol, key);
  }
  if (available > 0 && available < std::numeric_limits<int64_t>::max()) table->SkipKeys(available);
  return table;
}

// Every arc is consistent; `at` is where the first one lies in the file.
void CheckArcs(const Arc* arcs, size_t n, int64_t states, size_t at) {
  for (size_t i = 0; i < n; ++i) {
    const Arc& a = arcs[i];
    if (a.ilabel < 0 || a.olabel < 0)
      Refuse(at + i * sizeof(Arc), "an arc has the labels " + std::to_string(a.ilabel) + ":" +
                                       std::to_string(a.olabel) + "; negative labels are not supported, relabel first");
    if (a.nextstate < 0 || a.nextstate >= states)
      Refuse(at + i * sizeof(Arc), "an arc leads to state " + std::to_string(a.nextstate) + "; the machine has " +
                                       std::to_string(states) + " states");
    if (!IsMember(SemiringKind::kTropical, a.weight))
      Refuse(at + i * sizeof(Arc), "the weight of an arc is NaN or -infinity; expected a member of the semiring");
  }
}

void CheckFinal(float w, size_t at) {
  if (!IsMember(SemiringKind::kTropical, w))
    Refuse(at, "a final weight is NaN or -infinity; expected a member of the semiring");
}

struct Body {
  std::vector<Arc> pool;
  std::vector<size_t> offsets{0};
  std::vector<float> finals;
};

Body ReadVector(Reader* in, int64_t states) {
  Body out;
  const bool open_end = states == -1;  // written to a pipe: states until the end
  const size_t begin = in->At();
  if (!open_end) out.finals.reserve(in->Count(states, 12, "states"));
  for (int64_t s = 0; open_end ? in->Left() > 0 : s < states; ++s) {
    const size_t at = in->At();
    out.finals.push_back(in->Get<float>("a state"));
    CheckFinal(out.finals.back(), at);
    const size_t n = in->Count(in->Get<int64_t>("the number of arcs of a state"), sizeof(Arc), "arcs");
    if (n > kMaxArcsOfState) Refuse(at, "a state has " + std::to_string(n) + " arcs; expected at most 2147483647");
    const uint8_t* p = in->Take(n * sizeof(Arc), "arcs");
    const size_t old = out.pool.size();
    out.pool.resize(old + n);
    if (n > 0) std::memcpy(&out.pool[old], p, n * sizeof(Arc));
    if (!open_end) CheckArcs(out.pool.data() + old, n, states, in->At() - n * sizeof(Arc));
    out.offsets.push_back(out.pool.size());
  }
  if (open_end) {
    if (out.finals.size() > static_cast<size_t>(std::numeric_limits<StateId>::max()))
      Refuse(begin, "more than 2147483647 states");
    CheckArcs(out.pool.data(), out.pool.size(), static_cast<int64_t>(out.finals.size()), begin);
  }
  return out;
}

Body ReadConst(Reader* in, int64_t states, int64_t arcs, bool aligned) {
  Body out;
  if (aligned) in->Align("padding");
  const size_t begin = in->At();
  const size_t n = in->Count(states, sizeof(ConstState), "states");
  const uint8_t* p = in->Take(n * sizeof(ConstState), "states");
  out.finals.reserve(n);
  out.offsets.reserve(n + 1);
  for (size_t s = 0; s < n; ++s) {
    ConstState state;
    std::memcpy(&state, p + s * sizeof state, sizeof state);
    const size_t at = begin + s * sizeof state;
    CheckFinal(state.final, at);
    // An empty state's place does not matter.
    if ((state.arcs > 0 && state.first != out.offsets.back()) || state.arcs > kMaxArcsOfState)
      Refuse(at, "the arcs of state " + std::to_string(s) + " do not follow those of the state before");
    out.finals.push_back(state.final);
    out.offsets.push_back(out.offsets.back() + state.arcs);
  }
  if (arcs < 0 || out.offsets.back() != static_cast<uint64_t>(arcs))
    Refuse(begin, "the header tells of " + std::to_string(arcs) + " arcs, the states of " +
                      std::to_string(out.offsets.back()) + "; the file is damaged, write it again");
  if (aligned) in->Align("padding");
  const size_t m = in->Count(arcs, sizeof(Arc), "arcs");
  const size_t at = in->At();
  p = in->Take(m * sizeof(Arc), "arcs");
  out.pool.resize(m);
  if (m > 0) std::memcpy(out.pool.data(), p, m * sizeof(Arc));
  CheckArcs(out.pool.data(), m, states, at);
  return out;
}

template <class T>
void Put(std::string* out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out->append(bytes, sizeof value);
}

void PutText(std::string* out, const std::string& text) {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw FstError("Fst.write: a symbol has more than 2147483647 bytes; shorten it");
  Put(out, static_cast<int32_t>(text.size()));
  out->append(text);
}

void PutSymbols(std::string* out, const SymbolTable& table) {
  Put(out, kSymbolMagic);
  PutText(out, table.Name());
  Put(out, table.NextKey());
  Put(out, static_cast<int64_t>(table.Size()));
  for (const SymbolTable::Entry& e : table.Entries()) {
    PutText(out, e.symbol);
    Put(out, e.key);
  }
}

void PutAlign(std::string* out) { out->append((kAlignment - out->size() % kAlignment) % kAlignment, '\0'); }

}  // namespace

Fst ReadFst(const uint8_t* data, size_t size, size_t* consumed) {
  Reader in(data, size);
  if (in.Get<int32_t>("the header of an OpenFst file") != kFstMagic)
    Refuse(0, "expected an OpenFst file, got other bytes; for AT&T text use Fst.from_text");
  const std::string type = in.Text("the Fst type"), arc_type = in.Text("the arc type");
  if (type != "vector" && type != "const")
    Refuse(4, "the Fst type is \"" + type.substr(0, 40) +
                  "\"; expected \"vector\" or \"const\"; convert it with fstconvert --fst_type=vector");
  if (arc_type != "standard" && arc_type != "log")
    Refuse(4, "the arc type is \"" + arc_type.substr(0, 40) +
                  "\"; expected \"standard\" or \"log\" (32-bit weights); convert it with fstmap");
  const size_t at = in.At();
  const auto version = in.Get<int32_t>("the version"), flags = in.Get<int32_t>("the flags");
  in.Get<uint64_t>("the properties");  // a claim of the file; computed anew where asked for
  const auto start = in.Get<int64_t>("the start state"), states = in.Get<int64_t>("the number of states"),
             arcs = in.Get<int64_t>("the number of arcs");
  const bool vector = type == "vector";
  if (version != 2 && (vector || version != kConstAlignedVersion))
    Refuse(at, "version " + std::to_string(version) + " of a " + type + " Fst; expected version " +
                   (vector ? "2" : "1 or 2") + "; write it again with OpenFst 1.3 or later");
  if (states < (vector ? -1 : 0) || states > std::numeric_limits<StateId>::max())
    Refuse(at, "the header tells of " + std::to_string(states) + " states; expected 0..2147483647");
  std::shared_ptr<const SymbolTable> isymbols, osymbols;
  if (flags & kHasInputSymbols) isymbols = ReadSymbols(&in);
  if (flags & kHasOutputSymbols) osymbols = ReadSymbols(&in);
  Body body = vector ? ReadVector(&in, states)
                     : ReadConst(&in, states, arcs, version == kConstAlignedVersion || (flags & kIsAligned) != 0);
  if (start < -1 || start >= static_cast<int64_t>(body.finals.size()))
    Refuse(at, "the start state is " + std::to_string(start) + "; the machine has " +
                   std::to_string(body.finals.size()) + " states");
  Fst fst = Fst::FromPool(arc_type == "log" ? SemiringKind::kLog : SemiringKind::kTropical, std::move(body.pool),
                          body.offsets, body.finals, static_cast<StateId>(start));
  if (isymbols && osymbols && isymbols->Name() == osymbols->Name() && isymbols->SameEntries(*osymbols))
    osymbols = isymbols;
  fst.SetInputSymbols(std::move(isymbols));
  fst.SetOutputSymbols(std::move(osymbols));
  if (consumed != nullptr) *consumed = in.At();
  return fst;
}

std::string WriteFst(const Fst& fst, FstFileKind kind) {
  const bool boolean = fst.Semiring() == SemiringKind::kBoolean, vector = kind == FstFileKind::kVector,
             aligned = kind == FstFileKind::kConstAligned;
  if (!vector && fst.NumArcs() > std::numeric_limits<uint32_t>::max())
    throw FstError("Fst.write: a const file holds at most 4294967295 arcs, got " + std::to_string(fst.NumArcs()) +
                   "; write kind \"vector\"");
  const auto weight = [&](float w) { return boolean ? (w != 0.0f ? 0.0f : kInfinity) : w; };
  std::string out;
  out.reserve(fst.NumArcs() * sizeof(Arc) + static_cast<size_t>(fst.NumStates()) * (vector ? 12 : 20) + 256);
  Put(&out, kFstMagic);
  PutText(&out, vector ? "vector" : "const");
  PutText(&out, fst.Semiring() == SemiringKind::kLog ? "log" : "standard");
  Put(&out, vector ? kVectorVersion : aligned ? kConstAlignedVersion : kConstVersion);
  Put(&out, (fst.InputSymbols() ? kHasInputSymbols : 0) | (fst.OutputSymbols() ? kHasOutputSymbols : 0) |
                (aligned ? kIsAligned : 0));
  Put(&out, ComputeProperties(fst) | kExpanded | (vector ? kMutable : 0));
  Put(&out, static_cast<int64_t>(fst.Start()));
  Put(&out, static_cast<int64_t>(fst.NumStates()));
  Put(&out, vector ? int64_t{0} : static_cast<int64_t>(fst.NumArcs()));
  if (fst.InputSymbols()) PutSymbols(&out, *fst.InputSymbols());
  if (fst.OutputSymbols()) PutSymbols(&out, *fst.OutputSymbols());
  const auto put_arcs = [&](StateId s) {
    const Span<const Arc> arcs = fst.Arcs(s);
    if (!boolean) {
      if (!arcs.empty()) out.append(reinterpret_cast<const char*>(arcs.data), arcs.size() * sizeof(Arc));
    } else {
      for (const Arc& a : arcs) Put(&out, Arc{a.ilabel, a.olabel, weight(a.weight), a.nextstate});
    }
  };
  if (vector) {
    for (StateId s = 0; s < fst.NumStates(); ++s) {
      Put(&out, weight(fst.Final(s)));
      Put(&out, static_cast<int64_t>(fst.Arcs(s).size()));
      put_arcs(s);
    }
    return out;
  }
  if (aligned) PutAlign(&out);
  uint32_t first = 0;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    const Span<const Arc> arcs = fst.Arcs(s);
    ConstState state{weight(fst.Final(s)), first, static_cast<uint32_t>(arcs.size()), 0, 0};
    for (const Arc& a : arcs) {
      state.iepsilons += a.ilabel == kEpsilon;
      state.oepsilons += a.olabel == kEpsilon;
    }
    first += state.arcs;
    Put(&out, state);
  }
  if (aligned) PutAlign(&out);
  for (StateId s = 0; s < fst.NumStates(); ++s) put_arcs(s);
  return out;
}

Fst ToBoolean(const Fst& fst) {
  const auto convert = [&](float w) {
    if (w != fst.One() && w != fst.Zero())
      throw FstError("Fst.read: semiring=\"boolean\" expects a machine without weights, got weight " +
                     std::to_string(w) + "; read it with its own semiring, or remove its weights first");
    return w == fst.One() ? 1.0f : 0.0f;
  };
  Fst out(SemiringKind::kBoolean);
  out.AddStates(fst.NumStates());
  out.ReserveArcs(fst.NumArcs());
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    out.SetFinal(s, convert(fst.Final(s)));
    for (const Arc& a : fst.Arcs(s)) out.AddArc(s, {a.ilabel, a.olabel, convert(a.weight), a.nextstate});
  }
  out.SetStart(fst.Start());
  out.SetInputSymbols(fst.InputSymbols());
  out.SetOutputSymbols(fst.OutputSymbols());
  return out;
}

}  // namespace tokamata
