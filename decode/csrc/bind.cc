// Python bindings of decode/csrc.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "automata/csrc/bind_arguments.h"
#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "decode/csrc/bind.h"
#include "decode/csrc/bind_rows.h"
#include "decode/csrc/decode_state.h"
#include "decode/csrc/expand_terminals.h"
#include "decode/csrc/token_acceptor.h"
#include "decode/csrc/token_class.h"
#include "decode/csrc/token_automaton.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Row = nb::ndarray<nb::c_contig, nb::device::cpu>;
using Released = nb::call_guard<nb::gil_scoped_release>;

nb::object NewArray(std::initializer_list<size_t> shape, uint32_t** data) {
  size_t size = 1;
  for (size_t n : shape) size *= n;
  uint32_t* memory = new uint32_t[size];
  nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<uint32_t*>(p); });
  *data = memory;
  return nb::cast(nb::ndarray<nb::numpy, int32_t>(memory, shape, owner));
}

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A copy as a numpy array.
template <class T, class From>
nb::object NewVector(const std::vector<From>& from) {
  T* memory = new T[from.size()];
  nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  for (size_t i = 0; i < from.size(); ++i) memory[i] = static_cast<T>(from[i]);
  return nb::cast(nb::ndarray<nb::numpy, T>(memory, {from.size()}, owner));
}

void Fill(const DecodeState& self, uint32_t* row) {
  if (self.CopyMask(row) || self.MakeMaskQuickly(row)) return;
  nb::gil_scoped_release release;
  self.MakeMask(row);
}

// Calls f() without the GIL where a budget may need a search.
template <class F>
auto Searching(const DecodeState& self, F f) {
  if (!self.HasBudget()) return f();
  nb::gil_scoped_release release;
  return f();
}

// The same for a single step.
template <class F>
auto Stepping(const DecodeState& self, F f) {
  return self.IsFar() ? f() : Searching(self, f);
}

std::vector<int64_t> CheckedParents(nb::handle tree, size_t tokens) {
  std::vector<int64_t> parents;
  std::string wrong;
  if (!nb::try_cast(tree, parents))
    wrong = nb::repr(tree).c_str();
  else if (parents.size() != tokens)
    wrong = std::to_string(parents.size()) + " of them for " + std::to_string(tokens) + " tokens";
  for (size_t i = 0; wrong.empty() && i < tokens; ++i)
    if (parents[i] < -1 || parents[i] >= static_cast<int64_t>(i))
      wrong = "parents[" + std::to_string(i) + "]=" + std::to_string(parents[i]);
  if (wrong.empty()) return parents;
  const std::string text = "draft_masks: expected for each token the number of an earlier one, or -1, got " + wrong +
                           "; order the tree so that parents come first";
  throw nb::value_error(text.c_str());
}

nb::dict Captured(const DecodeState& self) {
  std::vector<CaptureValues> values;
  {
    nb::gil_scoped_release release;
    values = self.Captures();
  }
  return ValuesToPython(values);
}

void BindState(nb::module_& m) {
  nb::class_<DecodeState>(m, "DecodeState",
                          "A position in a token automaton: what was written so far, what may come next.\n\n"
                          "Made by TokenAutomaton.start(). One thread at a time; copies are independent.")
      .def(
          "fill_mask",
          [](const DecodeState& self, nb::handle out, nb::handle row) {
            const RowIn into(out, WholeNumber(row, "fill_mask", "row"), self.Automaton().Words());
            Fill(self, into.Data());
          },
          nb::arg("out").none(), nb::arg("row").none() = 0, nb::sig("def fill_mask(self, out: object, row: int = 0) -> None"),
          "Write the mask into a row of a C-contiguous int32 array or CPU tensor, [words] or [rows, words].\n\n"
          "words = ceil(V / 32); token t is bit t % 32 of word t // 32; 1 is allowed. All zero once EOS was consumed.\n"
          "Raises ValueError for another dtype, shape or layout, IndexError for a row outside.")
      .def(
          "mask",
          [](const DecodeState& self) {
            uint32_t* data;
            nb::object out = NewArray({self.Automaton().Words()}, &data);
            Fill(self, data);
            return out;
          },
          nb::sig("def mask(self) -> numpy.typing.NDArray[numpy.int32]"), "The mask as a new int32 array [words].")
      .def(
          "allows",
          [](const DecodeState& self, nb::handle token_id) {
            const int64_t id = WholeNumber(token_id, "allows", "a token id");
            return Stepping(self, [&] { return self.Allows(id); });
          },
          nb::arg("token_id").none(), nb::sig("def allows(self, token_id: int) -> bool"),
          "Whether the token may come next; False for ids outside the vocabulary.")
      .def(
          "advance",
          [](DecodeState& self, nb::handle token_id) {
            const int64_t id = WholeNumber(token_id, "advance", "a token id");
            Stepping(self, [&] { self.Advance(id); });
          },
          nb::arg("token_id").none(), nb::sig("def advance(self, token_id: int) -> None"),
          "Append a token. Raises TokenRejected, with the state unchanged, when it is not allowed.")
      .def(
          "validate",
          [](const DecodeState& self, nb::handle token_ids) {
            const std::vector<int64_t> ids = WholeNumbers(token_ids, "validate", "token ids", "a token id");
            return Searching(self, [&] { return self.Validate(ids); });
          },
          nb::arg("token_ids").none(), nb::sig("def validate(self, token_ids: collections.abc.Sequence[int]) -> int"),
          "The length of the longest prefix of the tokens that would be accepted; the state is unchanged.")
      .def(
          "draft_masks",
          [](const DecodeState& self, nb::handle token_ids, nb::handle tree) {
            const std::vector<int64_t> ids = WholeNumbers(token_ids, "draft_masks", "token ids", "a token id");
            std::vector<int64_t> parents;
            if (!tree.is_none()) parents = CheckedParents(tree, ids.size());
            uint32_t* data;
            nb::object out = NewArray({ids.size() + 1, self.Automaton().Words()}, &data);
            nb::gil_scoped_release release;
            if (tree.is_none())
              self.DraftMasks(ids, data);
            else
              self.DraftTreeMasks(ids, parents, data);
            return out;
          },
          nb::arg("token_ids").none(), nb::arg("parents").none() = nb::none(),
          nb::sig("def draft_masks(self, token_ids: collections.abc.Sequence[int], "
                  "parents: collections.abc.Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.int32]"),
          "Masks before each draft token and after the last, int32 [len(token_ids) + 1, words]; the state is unchanged.\n\n"
          "Rows after the first token that is not allowed are 0. With `parents` the tokens are a draft tree: token i comes\n"
          "after token parents[i] < i, or after the text so far where that is -1; row 0 is the mask of the text so far, row\n"
          "i + 1 the one after token i, 0 where it or a token before it is not allowed. Raises ValueError for other parents.")
      .def(
          "rollback", [](DecodeState& self, nb::handle n) { self.Rollback(WholeNumber(n, "rollback", "n")); },
          nb::arg("n").none(), nb::sig("def rollback(self, n: int) -> None"),
          "Take back the last n tokens (EOS counts as one). O(1). Raises IndexError when there are fewer.")
      .def("copy", [](const DecodeState& self) { return DecodeState(self); }, "An independent copy; O(tokens so far).")
      .def("__copy__", [](const DecodeState& self) { return DecodeState(self); })
      .def("__deepcopy__", [](const DecodeState& self, nb::handle) { return DecodeState(self); }, "memo"_a)
      .def("__repr__",
           [](const DecodeState& self) {
             std::string text = "<tokamata.DecodeState after " + std::to_string(self.NumTokens()) + " tokens";
             if (self.HasBudget()) text += ", " + std::to_string(self.Left()) + " left";
             return text + (self.IsFinished() ? ", finished>" : self.IsFinal() ? ", final>" : ">");
           })
      .def("reset", &DecodeState::Reset, "Back to the beginning.")
      .def_prop_ro(
          "tokens_left",
          [](const DecodeState& self) { return self.HasBudget() ? std::optional<uint32_t>(self.Left()) : std::nullopt; },
          "Tokens that may still follow, EOS included; None without a budget.")
      .def(
          "captures",
          [](const DecodeState& self) {
            nb::dict out;
            for (auto [name, values] : Captured(self)) out[name] = nb::list(values)[nb::len(values) - 1];
            return out;
          },
          nb::sig("def captures(self) -> dict[str, bytes]"),
          "What the named parts of the constraint have read so far, the last piece of each: see `Constraint.captures`.\n\n"
          "Parts that are not at their end yet have what they have so far, if anything, in the first way of reading the\n"
          "text that can be continued; once EOS was consumed, as captures of the whole text. Where a token can be read as text and as\n"
          "a token of a class, text is preferred. O(bytes so far).")
      .def("capture_lists", &Captured, nb::sig("def capture_lists(self) -> dict[str, list[bytes]]"),
           "All pieces that the named parts have read so far; otherwise as `captures`.")
      .def_prop_ro("is_final", &DecodeState::IsFinal, "Whether EOS is allowed here.")
      .def_prop_ro("is_finished", &DecodeState::IsFinished, "Whether EOS was consumed.")
      .def_prop_ro("words", [](const DecodeState& self) { return self.Automaton().Words(); },
                   "int32 words of a mask: ceil(V / 32).")
      .def_prop_ro("num_tokens", &DecodeState::NumTokens, "Tokens consumed so far, EOS included.")
      .def_prop_ro(
          "state_id",
          [](const DecodeState& self) { return self.IsFinished() ? int64_t{-1} : static_cast<int64_t>(self.Current()); },
          "The automaton's number of the state reached, -1 once EOS was consumed.\n\n"
          "Texts with one number have the same continuations. Numbers hold for one generation of the automaton.")
      .def(
          "forced_bytes",
          [](const DecodeState& self, nb::handle limit) {
            const size_t most = Count(limit, "forced_bytes", "limit");
            const std::string s = Searching(self, [&] { return self.ForcedBytes(most); });
            return nb::bytes(s.data(), s.size());
          },
          nb::arg("limit").none() = size_t{1} << 16, nb::sig("def forced_bytes(self, limit: int = 65536) -> bytes"),
          "What every continuation starts with: the bytes up to the first choice or possible end, at most `limit`.\n\n"
          "With a budget: every continuation that fits it. Special tokens are not text: the bytes end before the first\n"
          "one, which `forced_tokens` has where nothing else may follow.")
      .def(
          "forced_tokens",
          [](const DecodeState& self, nb::handle limit) {
            const size_t most = Count(limit, "forced_tokens", "limit");
            return Searching(self, [&] { return self.ForcedTokens(most); });
          },
          nb::arg("limit").none() = size_t{1} << 12,
          nb::sig("def forced_tokens(self, limit: int = 4096) -> list[int]"),
           "The tokens up to the first mask with more than one of them (or a possible end), at most `limit`.\n\n"
           "Forced bytes can usually be spelled by several tokens; then no token is forced.");
}

}  // namespace

void BindDecode(nb::module_& m) {
  FindNumpy();
  nb::class_<Generations>(m, "TokenAutomaton", "Native side of tokamata.decode.TokenAutomaton.")
      .def(nb::new_([](const Language& language, std::shared_ptr<const Vocabulary> vocabulary,
                       std::optional<size_t> cache_bytes) {
             return std::make_shared<Generations>(
                 std::make_shared<TokenAutomaton>(language.Acceptor(), std::move(vocabulary),
                                                  cache_bytes.value_or(language.OwnLimits().cache_bytes)));
           }),
           "language"_a, "vocabulary"_a, "cache_bytes"_a.none(), Released())
      .def("start", [](const std::shared_ptr<Generations>& self) { return DecodeState(self); })
      .def(
          "start_with_budget",
          [](const std::shared_ptr<Generations>& self, int64_t max_tokens) { return DecodeState(self, max_tokens); },
          "max_tokens"_a, Released())
      .def_prop_ro("words", [](const Generations& self) { return self.Newest()->Words(); })
      .def_prop_ro("num_states", [](const Generations& self) { return self.Newest()->Acceptor().NumStates(); })
      .def_prop_ro("num_masks", [](const Generations& self) { return self.Newest()->NumMasks(); })
      .def_prop_ro("mask_bytes", [](const Generations& self) { return self.Newest()->MaskBytes(); })
      .def_prop_ro("generations", &Generations::Count)
      .def("set_captures", &Generations::SetCaptures, "parts"_a, "markers"_a)
      .def(
          "mask_by_walking",
          [](const Generations& self, uint32_t state) {
            TokenAutomaton& automaton = *self.Newest();
            if (state >= automaton.Acceptor().NumStates()) throw nb::index_error("mask_by_walking: no such state");
            uint32_t* data;
            nb::object out = NewArray({automaton.Words()}, &data);
            nb::gil_scoped_release release;
            automaton.FillMaskByWalking(state, data);
            return out;
          },
          "state"_a, nb::sig("def mask_by_walking(self, state: int) -> numpy.typing.NDArray[numpy.int32]"),
          "The mask of a state found by walking the whole vocabulary: slow, for tests.")
      .def(
          "state_of", [](const Generations&, const DecodeState& state) { return state.Current(); }, "state"_a,
          "The number of the acceptor's state behind a decoding state, for tests.");
  BindState(m);
  BindBatchState(m);
  BindCanonical(m);
  BindDeviceTables(m);
  BindMaskScores(m);
  BindByteState(m);
  m.def(
      "tokens_in",
      [](const Language& language, const Vocabulary& vocabulary) {
        std::vector<uint32_t> ids = [&] {
          nb::gil_scoped_release release;
          return TokensIn(language, vocabulary);
        }();
        return ids;
      },
      "language"_a, "vocabulary"_a, "The tokens of text whose bytes are a member of the language, rising.");
  m.def(
      "token_acceptor",
      [](const Language& language, const Vocabulary& vocabulary, uint32_t min_tokens, uint32_t max_states,
         uint64_t max_bytes) {
        TokenAcceptor made = [&] {
          nb::gil_scoped_release release;
          return MakeTokenAcceptor(language, vocabulary, {min_tokens, max_states, max_bytes});
        }();
        return nb::make_tuple(std::move(made.fst), NewVector<int64_t>(made.offsets), NewVector<int32_t>(made.ids));
      },
      "language"_a, "vocabulary"_a, "min_tokens"_a, "max_states"_a, "max_bytes"_a,
      nb::sig("def token_acceptor(language: Language, vocabulary: Vocabulary, min_tokens: int, max_states: int, "
              "max_bytes: int) -> tuple[Fst, numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32]]"));
  m.def(
      "expand_terminals",
      [](const Fst& fst, uint32_t num_tokens, const Vector<int64_t>& offsets, const Vector<int32_t>& ids,
         uint64_t max_arcs) {
        nb::gil_scoped_release release;
        return ExpandTerminals(fst, num_tokens, offsets.data(), offsets.shape(0) - 1, ids.data(), max_arcs);
      },
      "fst"_a, "num_tokens"_a, "offsets"_a, "ids"_a, "max_arcs"_a,
      nb::sig("def expand_terminals(fst: Fst, num_tokens: int, offsets: numpy.typing.NDArray[numpy.int64], "
              "ids: numpy.typing.NDArray[numpy.int32], max_arcs: int) -> Fst"));
}

}  // namespace tokamata
