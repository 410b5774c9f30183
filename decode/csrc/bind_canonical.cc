// Python bindings of canonical tokenizations: byte_pairs.h, split_patterns.h, canonical_state.h.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decode/csrc/bind.h"
#include "decode/csrc/canonical_state.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Released = nb::call_guard<nb::gil_scoped_release>;
using Column = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object Bits(const std::vector<uint32_t>& words) {
  uint32_t* memory = new uint32_t[words.size()];
  std::copy(words.begin(), words.end(), memory);
  nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<uint32_t*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, int32_t>(memory, {words.size()}, owner));
}

std::shared_ptr<BytePairs> FromMerges(uint32_t size, Column left, Column right, Column made, Column rank,
                                      const std::vector<uint32_t>& units, bool whole_pieces) {
  std::vector<Merge> merges;
  if (right.size() != left.size() || made.size() != left.size() || rank.size() != left.size())
    throw nb::value_error("byte_pairs: expected columns of one length");
  for (size_t i = 0; i < left.size(); ++i)
    merges.push_back({static_cast<uint32_t>(left.data()[i]), static_cast<uint32_t>(right.data()[i]),
                      static_cast<uint32_t>(made.data()[i]), rank.data()[i]});
  nb::gil_scoped_release release;
  return std::make_shared<BytePairs>(size, std::move(merges), units, whole_pieces);
}

std::shared_ptr<BytePairs> FromRanks(const std::vector<nb::bytes>& tokens) {
  std::vector<std::string_view> views;
  std::vector<uint32_t> units;
  for (const nb::bytes& token : tokens) {
    if (token.size() == 1) units.push_back(static_cast<uint32_t>(views.size()));
    views.emplace_back(token.c_str(), token.size());
  }
  nb::gil_scoped_release release;
  return std::make_shared<BytePairs>(static_cast<uint32_t>(views.size()), BytePairs::RankedMerges(views), units, true);
}

}  // namespace

void BindCanonical(nb::module_& m) {
  nb::class_<BytePairs>(m, "BytePairs", "The merges of a byte-pair encoder; see byte_pairs.h.")
      .def_static("from_merges", &FromMerges, "size"_a, "left"_a, "right"_a, "made"_a, "rank"_a, "units"_a,
                  "whole_pieces"_a,
                  nb::sig("def from_merges(size: int, left: numpy.typing.NDArray[numpy.int32], "
                          "right: numpy.typing.NDArray[numpy.int32], made: numpy.typing.NDArray[numpy.int32], "
                          "rank: numpy.typing.NDArray[numpy.int32], units: Sequence[int], whole_pieces: bool) -> "
                          "BytePairs"),
                  "Merges as columns of ids and ranks.")
      .def_static("from_ranks", &FromRanks, "tokens"_a,
                  "Tokens whose places are their ranks; empty ones are none. Whole pieces that are tokens are these.")
      .def_prop_ro("size", &BytePairs::Size, "Tokens.")
      .def_prop_ro("whole_pieces", &BytePairs::WholePieces, "Whether a piece that is a token is that token.")
      .def("written", &BytePairs::Written, "token"_a, "Whether the encoder writes the token for the token's text.")
      .def("neighbours", &BytePairs::Neighbours, "left"_a, "right"_a,
           "Whether the encoder writes the two tokens for the text of both.")
      .def(
          "after", [](const BytePairs& self, uint32_t token) { return Bits(*self.After(token)); }, "token"_a,
          nb::sig("def after(self, token: int) -> numpy.typing.NDArray[numpy.int32]"),
          "Which tokens may follow, packed as masks are, int32 [words].")
      .def("encode", &BytePairs::Encode, "units"_a, "What the encoder writes for units.");

  nb::class_<SplitPatterns>(m, "SplitPatterns", "The patterns of a pretokenizer; see split_patterns.h.")
      .def(
          "__init__",
          [](SplitPatterns* self, const std::vector<std::pair<std::string, bool>>& stages) {
            std::vector<SplitStage> all;
            for (const auto& [pattern, keeps_gaps] : stages) all.push_back({pattern, keeps_gaps});
            new (self) SplitPatterns(all);
          },
          "stages"_a, Released(), "(pattern, whether what is between matches is kept) of each stage.");

  nb::class_<CanonicalTokens>(m, "CanonicalTokens", "What is known of a tokenizer; see canonical_tokens.h.")
      .def(
          "__init__",
          [](CanonicalTokens* self, std::shared_ptr<const Vocabulary> vocabulary, std::shared_ptr<BytePairs> pairs,
             std::shared_ptr<SplitPatterns> patterns, bool cuts) {
            new (self) CanonicalTokens(std::move(vocabulary), std::move(pairs), std::move(patterns), cuts);
          },
          "vocabulary"_a, "pairs"_a, "patterns"_a, "cuts"_a, Released(), "`cuts`: whether the patterns cut any text.")
      .def("written", &CanonicalTokens::Written, "token"_a,
           "Whether merges make the token and some text goes on after it.")
      .def("whole_only", &CanonicalTokens::WholeOnly, "token"_a,
           "Whether it is written only where it is a whole piece.");

  nb::class_<CanonicalTexts>(m, "CanonicalTexts", "The texts that a tokenizer leaves alone; see canonical_texts.h.")
      .def(
          "__init__",
          [](CanonicalTexts* self, const Language& texts, std::shared_ptr<const Vocabulary> vocabulary) {
            new (self) CanonicalTexts(texts, std::move(vocabulary));
          },
          "texts"_a, "vocabulary"_a, Released(), "LimitError past the limits of the language.");

  nb::class_<CanonicalAutomaton>(m, "CanonicalAutomaton", "See canonical_automaton.h.")
      .def(
          "__init__",
          [](CanonicalAutomaton* self, const Language& language, std::shared_ptr<CanonicalTexts> texts,
             std::shared_ptr<CanonicalTokens> tokens, size_t cache_bytes, size_t max_nodes) {
            new (self) CanonicalAutomaton(language, std::move(texts), std::move(tokens), {cache_bytes, max_nodes});
          },
          "language"_a, "texts"_a.none(), "tokens"_a, "cache_bytes"_a, "max_nodes"_a, Released(),
          "The members of a language as the tokenizer writes them, or those that are among some texts as well.")
      .def_prop_ro("words", &CanonicalAutomaton::Words, "int32 words of a mask.")
      .def_prop_ro("num_states", &CanonicalAutomaton::NumStates, "Places in pieces that are known now.")
      .def_prop_ro("num_renewals", &CanonicalAutomaton::NumRenewals, "How often all that was known was forgotten.");

  nb::class_<CanonicalState>(m, "CanonicalState", "A position among canonical tokenizations; see canonical_state.h.")
      .def(nb::init<std::shared_ptr<CanonicalAutomaton>>(), "automaton"_a, "At the beginning.")
      .def_prop_ro("is_final", &CanonicalState::IsFinal, Released(), "Whether EOS is allowed here.")
      .def_prop_ro("is_finished", &CanonicalState::IsFinished, "Whether EOS was consumed.")
      .def_prop_ro("num_tokens", &CanonicalState::NumTokens, "Tokens consumed so far, EOS included.")
      .def(
          "fill",
          [](const CanonicalState& self, nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> row) {
            if (row.size() != self.Automaton().Words()) throw nb::value_error("fill: expected [words] of uint32");
            nb::gil_scoped_release release;
            self.FillMask(row.data());
          },
          "row"_a, nb::sig("def fill(self, row: numpy.typing.NDArray[numpy.uint32]) -> None"),
          "Write the mask into a row.")
      .def("allows", &CanonicalState::Allows, "token_id"_a, Released(), "Whether the token may come next.")
      .def("advance", &CanonicalState::Advance, "token_id"_a, Released(), "Append a token; TokenRejected.")
      .def("validate", &CanonicalState::Validate, "token_ids"_a, Released(),
           "How many tokens would be accepted in order.")
      .def("rollback", &CanonicalState::Rollback, "n"_a, "Take back the last n tokens; IndexError.")
      .def("reset", &CanonicalState::Reset, "Back to the beginning.")
      .def("copy", [](const CanonicalState& self) { return CanonicalState(self); }, "An independent copy.");
}

}  // namespace tokamata
