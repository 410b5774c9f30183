// Canonical tokenizations over small random vocabularies and pretokenizers: masks = token by token, no dead end, and
// what is written is what a plain matcher and encoder make of the text.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decode/csrc/canonical_state.h"
#include "tests/native/generate.h"

namespace tokamata {
namespace {

// The classes of the characters of a text, and where each begins.
struct Characters {
  std::vector<uint32_t> classes;
  std::vector<size_t> begins;
};

Characters Read(const SplitPatterns& patterns, std::string_view text) {
  Characters found;
  uint32_t node = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!node) found.begins.push_back(i);
    node = patterns.Read(node, static_cast<uint8_t>(text[i]));
    Require(node != SplitPatterns::kBad, "texts are UTF-8");
    if (node & SplitPatterns::kWhole) {
      found.classes.push_back(node & ~SplitPatterns::kWhole);
      node = 0;
    }
  }
  Require(node == 0, "texts end between characters");
  found.begins.push_back(text.size());
  return found;
}

// The end of the match that a backtracking matcher finds at `from`; `from` where there is none.
size_t Match(const SplitPatterns::Stage& stage, const std::vector<uint32_t>& classes, size_t from, size_t end) {
  struct Way {
    uint32_t place;
    size_t at, item;
  };
  std::vector<Way> ways{{0, from, 0}};
  std::vector<std::vector<bool>> failed(stage.places.size(), std::vector<bool>(end - from + 1));
  while (!ways.empty()) {
    Way& way = ways.back();
    const std::vector<SplitPatterns::Item>& items = stage.places[way.place];
    if (way.item == items.size()) {
      failed[way.place][way.at - from] = true;
      ways.pop_back();
      continue;
    }
    const SplitPatterns::Item& item = items[way.item++];
    if (!item.next[way.at < end ? classes[way.at] : SplitPatterns::kEnd]) continue;
    if (item.target == SplitPatterns::kMatch) return way.at;
    const size_t next = way.at + 1;
    if (way.at < end && !failed[item.target][next - from]) ways.push_back({item.target, next, 0});
  }
  return from;
}

// Cuts [begin, end) by the stages from k on.
void Cut(const SplitPatterns& patterns, size_t k, const std::vector<uint32_t>& classes, size_t begin, size_t end,
         std::vector<size_t>* ends) {
  if (k == patterns.Stages().size()) {
    if (end > begin) ends->push_back(end);
    return;
  }
  size_t gap = begin;
  for (size_t at = begin; at < end;) {
    const size_t to = Match(patterns.Stages()[k], classes, at, end);
    if (to == at) {
      ++at;
      continue;
    }
    Cut(patterns, k + 1, classes, gap, at, ends);
    Cut(patterns, k + 1, classes, at, to, ends);
    gap = at = to;
  }
  Cut(patterns, k + 1, classes, gap, end, ends);
}

std::string SplitPattern(Random* r) {
  if (r->OneIn(3)) return RandomPattern(r, 3, false);
  return r->Of({"'s|'t| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
                "(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
                " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
                "\\p{N}{1,3}", "[一-龥]+", "ab|abb+c", "a(?!b)|b+\\Z| +(?=\\S)", "(?s:.+)", "a++b|[^a]"});
}

// Texts; often such as read many characters of a class, and count them, or such as remember keys and elements.
Language SomeLanguage(Random* r, const Limits& limits) {
  if (r->OneIn(3)) {
    const std::string schema = RandomRootSchema(r, 2);
    Input(schema);
    return SchemaLanguage(schema, RandomSchemaOptions(r), limits);
  }
  if (r->OneIn(2)) {
    const Language text =
        Language::Build([](Expressions* pool) { return CompileRegex(pool, "(?s:.*)", RegexSyntax::kPython); }, limits);
    return Language::Intersect({RandomLanguage(r, limits), text});
  }
  std::string pattern = r->Of({"(?s:.)", "[^\"]", "[a-z ]", "[^a]", "[\\x00-\\x7f]", "(?:[^\\\\b]|\\\\.)"});
  pattern += r->Of({"*", "+", "{0,1}", "{1,2}", "{0,3}", "{2,4}", "{3}", "{4,}", "{1,7}"});
  pattern = r->Of({"", "a", "\"", " "}) + pattern + r->Of({"", "a", "\"", "1", "[a-z]{1,2}", " ?"});
  Input(pattern);
  return Language::Build([&](Expressions* pool) { return CompileRegex(pool, pattern, RegexSyntax::kPython); }, limits);
}

void One(Random* r) {
  Limits limits = SmallLimits();
  const auto vocabulary = RandomVocabulary(r);
  Tolerate([&] {
    std::vector<SplitStage> stages;
    for (uint32_t n = 1 + r->Below(3); n > 0; --n) {
      stages.push_back({SplitPattern(r), true});
      Input(stages.back().pattern);
    }
    const auto patterns = std::make_shared<SplitPatterns>(stages);
    std::vector<std::string_view> tokens;
    std::vector<uint32_t> units;
    uint32_t unit_of[256];
    std::fill(unit_of, unit_of + 256, 0xffffffff);
    for (uint32_t t = 0; t < vocabulary->Size(); ++t) {
      const std::string_view token = vocabulary->Token(t);
      tokens.push_back(token);
      if (token.size() != 1 || unit_of[static_cast<uint8_t>(token[0])] != 0xffffffff) continue;
      unit_of[static_cast<uint8_t>(token[0])] = t;
      units.push_back(t);
    }
    std::vector<Merge> merges = BytePairs::RankedMerges(tokens);
    const bool whole = r->OneIn(2);
    if (r->OneIn(2))
      for (Merge& m : merges) m.rank = static_cast<int32_t>(r->Below(merges.size()));
    if (r->OneIn(3)) merges.resize(r->Below(merges.size() + 1));
    const auto pairs = std::make_shared<BytePairs>(vocabulary->Size(), merges, units, whole);
    const auto known = std::make_shared<CanonicalTokens>(vocabulary, pairs, patterns, true);
    const Language language = SomeLanguage(r, limits);
    const CanonicalOptions options{r->OneIn(3) ? 0 : size_t{1} << 20, 50'000, r->OneIn(4) ? 4096u : 0u};
    std::shared_ptr<CanonicalTexts> texts;  // null: all
    if (r->OneIn(3)) {
      const std::string pattern = r->Of({"[^b]*", "(?s:(?!ab)(?:.(?!ab))*)", "[^,]*(?:,[^,]*){0,2}", "[\\x00-\\x7f]*",
                                         "[^é😀]*", "(?:[^日]|日[a0])*"});
      Input(pattern);
      const auto build = [&](Expressions* pool) { return CompileRegex(pool, pattern, RegexSyntax::kPython); };
      texts = std::make_shared<CanonicalTexts>(Language::Build(build, limits), vocabulary);
    }
    const auto automaton = std::make_shared<CanonicalAutomaton>(language, texts, known, options);

    CanonicalState state(automaton);
    const uint32_t words = automaton->Words();
    std::vector<uint32_t> row(words), other(words), written;
    std::string so_far;
    std::vector<std::vector<uint32_t>> rows;
    for (int step = 0; step < 16 && !state.IsFinished(); ++step) {
      const std::string place = " after " + std::to_string(step) + " tokens";
      state.FillMask(row.data());
      rows.push_back(row);
      const std::vector<uint32_t> allowed = AllowedTokens(&state, *vocabulary, row, place);
      const uint32_t eos = vocabulary->EosIds()[0];
      const uint32_t token = Has(row, eos) && step > 3 ? eos : r->Of(allowed);
      state.Advance(token);
      if (token == eos) break;
      written.push_back(token);
      so_far += vocabulary->Token(token);
    }
    if (state.IsFinished()) {
      Require(language.Accepts(so_far), "what is written is a member");
      Require(!texts || texts->Texts().Accepts(so_far), "what is written is among the texts");
      const Characters characters = Read(*patterns, so_far);
      std::vector<size_t> ends;
      Cut(*patterns, 0, characters.classes, 0, characters.classes.size(), &ends);
      std::vector<uint32_t> expected;
      size_t begin = 0;
      for (const size_t end : ends) {
        const size_t from = characters.begins[begin];
        const std::string_view piece = std::string_view(so_far).substr(from, characters.begins[end] - from);
        const auto same = std::find(tokens.begin(), tokens.end(), piece);
        std::vector<uint32_t> bytes;
        for (const char c : piece) bytes.push_back(unit_of[static_cast<uint8_t>(c)]);
        if (whole && same != tokens.end())
          expected.push_back(static_cast<uint32_t>(same - tokens.begin()));
        else
          for (const uint32_t t : pairs->Encode(bytes)) expected.push_back(t);
        begin = end;
      }
      Require(expected == written, "what is written is the tokenizer's");
    }
    state.Rollback(static_cast<int64_t>(state.NumTokens()));
    state.FillMask(row.data());
    Require(row == rows[0], "rollback leads back");
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_canonical", argc, argv, tokamata::One); }
