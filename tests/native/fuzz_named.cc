// Named groups: pieces of a text, single tokens beside text, captures. Members are the pieces; masks are those of a
// walk, and tokens are allowed where a mask has them; named parts are inside the text and read the same, whole or byte
// by byte.
#include <memory>
#include <set>

#include "automata/csrc/utf8.h"
#include "constraints/csrc/capture_parts.h"
#include "constraints/csrc/substrings.h"
#include "decode/csrc/decode_state.h"
#include "decode/csrc/token_automaton.h"
#include "tests/native/generate.h"

namespace tokamata {
namespace {

Language PiecesOf(const std::string& text, TextUnit unit, const Limits& limits) {
  const auto automaton = std::make_shared<const SuffixAutomaton>(text, unit);
  Require(automaton->NumNodes() <= 2 * text.size() + 1, "at most 2n nodes");
  Require(automaton->NumEdges() <= 3 * text.size() + 1, "at most 3n edges");
  return Language::Build(
      [&](Expressions* pool) {
        return pool->Leaf(pool->AddLeaf(std::make_shared<Substrings>(automaton)), Substrings::kStart);
      },
      limits);
}

void WalkMasks(const Language& language, const std::shared_ptr<const Vocabulary>& vocabulary, Random* r) {
  const auto generations = std::make_shared<Generations>(
      std::make_shared<TokenAutomaton>(language.Acceptor(), vocabulary, size_t{1} << 20));
  DecodeState state(generations);
  std::vector<uint32_t> row(vocabulary->ModelWords()), walked(row.size());
  for (int step = 0; step < 8 && !state.IsFinished(); ++step) {
    state.FillMask(row.data());
    state.Automaton().FillMaskByWalking(state.Current(), walked.data());
    Require(row == walked, "mask = mask by walking");
    std::vector<uint32_t> allowed;
    for (uint32_t t = 0; t < vocabulary->ModelSize(); ++t) {
      const bool has = row[t / 32] >> (t % 32) & 1;
      if (vocabulary->ModelSize() < 700) Require(has == state.Allows(t), "mask = allows");
      if (has) allowed.push_back(t);
    }
    Require(!allowed.empty(), "no dead end");
    state.Advance(r->Of(allowed));
  }
}

void Pieces(Random* r) {
  std::string text;
  for (uint32_t n = r->Below(r->OneIn(6) ? 400 : 20); n > 0; --n)
    text += r->Of({"a", "b", "a", " ", "\n", "é", "日", "ab ", "\t", "\x01"});
  Input(text);
  const TextUnit unit = r->OneIn(3) ? TextUnit::kWords : r->OneIn(2) ? TextUnit::kLines : TextUnit::kCharacters;
  const Language pieces = PiecesOf(text, unit, SmallLimits());
  const size_t at = r->Below(text.size() + 1);
  const std::string piece = text.substr(at, r->Below(8));
  if (unit == TextUnit::kCharacters) {
    const auto begins = [&](size_t i) { return i >= text.size() || !IsContinuationByte(static_cast<uint8_t>(text[i])); };
    Require(pieces.Accepts(piece) == (piece.empty() || (begins(at) && begins(at + piece.size()))), "pieces are members");
  }
  for (const std::string& member : pieces.Examples(3, r->Next()))
    Require(text.find(member) != std::string::npos, "members are pieces: " + Printable(member));
  Tolerate([&] {
    const Limits limits = SmallLimits();
    const Language quoted = Language::Concat({Language::Build([](Expressions* p) { return p->Literal("\""); }, limits),
                                              pieces, RandomLanguage(r, limits)});
    WalkMasks(r->OneIn(2) ? pieces : quoted, RandomVocabulary(r), r);
  });
}

void Classes(Random* r) {
  const auto plain = RandomVocabulary(r);
  std::vector<Vocabulary::TokenClass> classes;
  const std::set<uint32_t> eos(plain->EosIds().begin(), plain->EosIds().end());
  for (const char* name : {"x", "y"}) {
    std::vector<int64_t> ids;
    for (uint32_t t = 0; t < plain->Size(); ++t)
      if (!eos.count(t) && r->OneIn(3)) ids.push_back(t);
    if (ids.empty()) return;
    classes.emplace_back(name, std::move(ids));
  }
  const auto vocabulary = plain->WithMarkers({}, classes);
  const Limits limits = SmallLimits();
  Tolerate([&] {
    std::vector<Language> parts;
    for (uint32_t n = 1 + r->Below(3); n > 0; --n) {
      parts.push_back(RandomLanguage(r, limits));
      const std::string marker = r->OneIn(2) ? "\xffx\xff" : "\xffy\xff";
      const Language one = Language::Build([&](Expressions* p) { return p->Literal(marker); }, limits);
      parts.push_back(Language::Repeat(one, r->Below(2), 1 + r->Below(3)));
    }
    WalkMasks(r->OneIn(2) ? Language::Concat(parts) : Language::Union(parts), vocabulary, r);
  });
}

void Captures(Random* r) {
  std::string pattern = RandomPattern(r, 1 + r->Below(5), r->OneIn(4)), named;
  int groups = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool opens = pattern[i] == '(' && (i == 0 || pattern[i - 1] != '\\') && i + 1 < pattern.size();
    named.push_back(pattern[i]);
    if (opens && pattern[i + 1] != '?') named += "?P<g" + std::to_string(groups++) + ">";
  }
  if (r->OneIn(8)) named = Mutated(named, r);
  Input(named);
  Limits limits = SmallLimits();
  Tolerate([&] {
    auto node = std::make_shared<CaptureNode>();
    node->kind = CaptureNode::Kind::kRegex;
    node->name = named;
    node->max_depth = 250;
    node->lookup_name = [](std::string_view) { return uint32_t{'a'}; };
    RegexOptions options;
    options.lookup_name = node->lookup_name;
    const Language language = RegexLanguage(named, options, limits);
    CaptureTree tree = node;
    if (r->OneIn(3)) tree = CaptureRepeat(CaptureName(tree, "all"), 1, 1, false);
    if (r->OneIn(3)) tree = CaptureInside(language, {tree, CaptureHide(tree)});
    const TimeLimit time("captures", "search_seconds", limits.search_seconds);
    const auto program = CaptureParts(tree).Program();
    std::vector<std::string> texts = language.Examples(3, r->Next());
    texts.push_back(Mutated(texts.empty() ? "ab" : texts[0], r));
    for (const std::string& text : texts) {
      CaptureRun run(program), slow(program);
      run.Read(text);
      for (size_t i = 0; i < text.size(); ++i) {
        slow.ReadToken({{std::string_view(text).substr(i, 1), r->OneIn(2)}}, 1);
        slow.Spans(text.substr(0, i + 1), false);
      }
      const auto spans = run.Spans(text, true), again = slow.Spans(text, true);
      Require(spans.has_value() == language.Accepts(text), "members have captures: " + Printable(text));
      Require(again.has_value() == spans.has_value(), "byte by byte");
      if (!spans) continue;
      Require(spans->size() == again->size(), "as many");
      for (size_t i = 0; i < spans->size(); ++i) {
        const CaptureSpan &a = (*spans)[i], &b = (*again)[i];
        Require(a.closed && a.begin <= a.end && a.end <= text.size(), "inside the text");
        Require(a.name == b.name && a.begin == b.begin && a.end == b.end, "the same");
      }
      ValuesOf(text, *spans, true);
    }
  });
}

void One(Random* r) {
  switch (r->Below(3)) {
    case 0: return Pieces(r);
    case 1: return Classes(r);
    default: return Captures(r);
  }
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_named", argc, argv, tokamata::One); }
