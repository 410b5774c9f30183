// Python binding of grammars.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/grammar.h"
#include "constraints/csrc/lexed_grammar.h"
#include "constraints/csrc/plain_lark.h"
#include "constraints/csrc/regex.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Production = std::pair<uint32_t, std::vector<int64_t>>;
using Guards = std::vector<std::tuple<uint32_t, const Language*, const Language*, const Language*>>;
using MaybePlace = std::optional<std::pair<uint32_t, uint32_t>>;

MaybePlace PlaceOf(const std::optional<PlainLark::Place>& place) {
  return place ? MaybePlace({place->line, place->column}) : std::nullopt;
}

Lexing LexingOf(const std::string& lexer) {
  return lexer == "none" ? Lexing::kNone : lexer == "contextual" ? Lexing::kContextual : Lexing::kBasic;
}

Grammar GrammarOf(std::vector<std::string> terminal_names, std::vector<std::string> rule_names,
                  const std::vector<Production>& productions, uint32_t start) {
  Grammar grammar;
  grammar.num_terminals = static_cast<uint32_t>(terminal_names.size());
  grammar.num_rules = static_cast<uint32_t>(rule_names.size());
  grammar.start = start;
  grammar.terminal_names = std::move(terminal_names);
  grammar.rule_names = std::move(rule_names);
  for (const auto& [rule, symbols] : productions) {
    Grammar::Production p{rule, {}};
    for (const int64_t s : symbols) p.letters.push_back(static_cast<uint32_t>(s < 0 ? ~s : s + grammar.num_terminals));
    grammar.productions.push_back(std::move(p));
  }
  return grammar;
}

// One more terminal, the end of the text, and a rule of the start and it.
void AddEnd(Grammar* grammar) {
  const uint32_t end = grammar->num_terminals++;
  for (Grammar::Production& p : grammar->productions)
    for (uint32_t& letter : p.letters)
      if (letter >= end) ++letter;
  grammar->terminal_names.push_back("the end of the text");
  grammar->rule_names.push_back(grammar->rule_names[grammar->start]);
  const uint32_t start = grammar->num_rules++;
  grammar->productions.push_back({start, {grammar->num_terminals + grammar->start, end}});
  grammar->start = start;
}

// add(pool): the terminals in a pool.
template <class F>
Language Compile(Grammar grammar, const std::vector<uint32_t>& ignored, Lexing lexing, const Indentation* indentation,
                 const Guards& guarded, const Limits& limits, F add) {
  if (!guarded.empty()) AddEnd(&grammar);
  return Language::Build(
      [&](Expressions* pool) {
        auto lexemes = std::make_unique<Expressions>();
        lexemes->limits = limits.expressions;
        lexemes->forgets = true;  // terminals are told apart by intersections
        std::vector<Expr> roots = add(lexemes.get());
        std::vector<Lexer::Guard> guards;
        for (const auto& [terminal, texts, forbidden, allowed] : guarded)
          guards.push_back({terminal, texts->In(lexemes.get()), forbidden->In(lexemes.get()),
                            allowed->In(lexemes.get())});
        if (!guards.empty()) roots.push_back(lexemes->Bytes(ByteSet::Of(Lexer::kEndByte)));
        const auto rules = CompileLexed(std::move(grammar), std::move(lexemes), std::move(roots), ignored, lexing,
                                        indentation, std::move(guards));
        rules->lexer->max_states = limits.states;
        rules->lexer->seconds = limits.seconds;
        auto leaf = std::make_shared<LexedGrammar>(rules);
        const uint32_t state = leaf->Start();
        return state == LexedGrammar::kDead ? kEmpty : pool->Leaf(pool->AddLeaf(leaf), state);
      },
      limits);
}

Language CompileGrammar(const std::vector<const Language*>& terminals, std::vector<std::string> terminal_names,
                        std::vector<std::string> rule_names, const std::vector<Production>& productions, uint32_t start,
                        const std::vector<uint32_t>& ignored, const std::string& lexer, const Indentation* indentation,
                        const Limits* limits, const Guards& guards, std::vector<std::string> rule_places) {
  Grammar grammar = GrammarOf(std::move(terminal_names), std::move(rule_names), productions, start);
  grammar.rule_places = std::move(rule_places);
  return Compile(std::move(grammar), ignored, LexingOf(lexer), indentation, guards, limits ? *limits : Limits(),
                 [&](Expressions* pool) {
                   std::vector<Expr> roots;
                   for (const Language* t : terminals) roots.push_back(t->In(pool));
                   return roots;
                 });
}

// The terminals whose patterns are more than what they match, by number: they have lazy quantifiers, or look around.
std::vector<std::pair<size_t, std::string>> SubtleTerminals(const PlainLark& plain) {
  std::vector<std::pair<size_t, std::string>> found;
  for (size_t t = 0; t < plain.terminals.size(); ++t)
    if (!plain.terminals[t].pattern.is_string && LooksAround(plain.terminals[t].pattern.ToRegexp()))
      found.emplace_back(t, plain.terminals[t].pattern.ToRegexp());
  return found;
}

Language CompilePlain(const PlainLark& plain, const std::string& lexer,
                      const std::vector<std::pair<size_t, const Language*>>& subtle, const Limits* limits,
                      const Guards& guards) {
  std::vector<std::string> terminal_names, rule_names;
  std::vector<uint32_t> ignored;
  for (const PlainLark::Terminal& t : plain.terminals) {
    if (t.ignored) ignored.push_back(static_cast<uint32_t>(terminal_names.size()));
    terminal_names.push_back(t.name);
    if (t.place && plain.holes.empty())  // places in the text as it was written
      terminal_names.back() +=
          " (line " + std::to_string(t.place->line) + ", column " + std::to_string(t.place->column) + ")";
  }
  for (const PlainLark::Rule& r : plain.rules) rule_names.push_back(r.name);
  return Compile(GrammarOf(std::move(terminal_names), std::move(rule_names), plain.productions, plain.start), ignored,
                 LexingOf(lexer), plain.indentation ? &*plain.indentation : nullptr, guards,
                 limits ? *limits : Limits(),
                 [&](Expressions* pool) {
                   std::vector<Expr> roots;
                   size_t next = 0;
                   for (size_t t = 0; t < plain.terminals.size(); ++t) {
                     const LarkPattern& p = plain.terminals[t].pattern;
                     if (next < subtle.size() && subtle[next].first == t)
                       roots.push_back(subtle[next++].second->In(pool));
                     else if (p.is_string && p.value.empty())
                       roots.push_back(kEmpty);
                     else if (p.is_string && !p.flag)
                       roots.push_back(pool->Literal(p.value));
                     else
                       roots.push_back(CompileRegex(pool, p.ToRegexp(), RegexSyntax::kPython));
                   }
                   return roots;
                 });
}

}  // namespace

void BindGrammar(nb::module_& m) {
  nb::class_<Indentation>(m, "Indentation", "Indentation after Python's manner, by terminal.")
      .def(
          "__init__",
          [](Indentation* self, uint32_t newline, uint32_t indent, uint32_t dedent, std::vector<uint32_t> opening,
             std::vector<uint32_t> closing, uint32_t tab_length, uint32_t most_columns) {
            new (self) Indentation{newline,    indent,      dedent, std::move(opening), std::move(closing),
                                   tab_length, most_columns};
          },
          "newline"_a, "indent"_a, "dedent"_a, "opening"_a, "closing"_a, "tab_length"_a, "most_columns"_a);
  nb::class_<PlainLark>(m, "PlainLark", "A grammar in Lark's notation that needs nothing of Lark's own loader.")
      .def_static(
          "read",
          [](std::string text, const std::string& start, std::string common,
             uint32_t holes) -> std::shared_ptr<const PlainLark> {
            return ReadPlainLark(std::move(text), start, std::move(common), holes);
          },
          "text"_a, "start"_a, "common"_a, "holes"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
          nb::sig("def read(text: str, start: str, common: str, holes: int = 0) -> PlainLark | None"),
          "None where the grammar has to be read by Lark's loader; `common`: the text of Lark's common.lark; `holes`: "
          "characters from U+100000 on, in strings, for terminals that are given to compile.")
      .def_ro("holes", &PlainLark::holes, "(number of the terminal, number of the hole) of each.")
      .def("compile", &CompilePlain, "lexer"_a, "subtle"_a, "limits"_a = nb::none(), "guards"_a = Guards(),
           nb::call_guard<nb::gil_scoped_release>(), "The language, given those of the subtle terminals and of holes, in order.")
      .def_prop_ro("subtle", &SubtleTerminals,
                   "Numbers and patterns of the terminals that are lazy or look around: more than what they match.")
      .def_prop_ro("terminals",
                   [](const PlainLark& plain) {
                     std::vector<std::tuple<std::string, std::string, bool, int64_t, bool, MaybePlace>> all;
                     for (const PlainLark::Terminal& t : plain.terminals) {
                       const bool text = t.pattern.is_string && !t.pattern.flag;
                       const std::string pattern = text ? t.pattern.value : t.pattern.ToRegexp();
                       all.emplace_back(t.name, pattern, text, t.priority, t.ignored, PlaceOf(t.place));
                     }
                     return all;
                   }, "(name, text or pattern, whether text, priority, whether ignored, place) of each.")
      .def_prop_ro("rules",
                   [](const PlainLark& plain) {
                     std::vector<std::tuple<std::string, MaybePlace, bool>> all;
                     for (const PlainLark::Rule& r : plain.rules) all.emplace_back(r.name, PlaceOf(r.place), r.written);
                     return all;
                   }, "(name, place, whether written) of each.")
      .def_ro("productions", &PlainLark::productions)
      .def_ro("start", &PlainLark::start)
      .def_prop_ro("indentation",
                   [](const PlainLark& plain) {
                     using Terminals = std::vector<uint32_t>;
                     std::optional<std::tuple<uint32_t, uint32_t, uint32_t, Terminals, Terminals>> found;
                     if (const auto& i = plain.indentation)
                       found.emplace(i->newline, i->indent, i->dedent, i->opening, i->closing);
                     return found;
                   }, "Its terminals (newline, indent, dedent, opening, closing), where it counts.")
      .def_prop_ro("unused",
                   [](const PlainLark& plain) {
                     std::vector<std::tuple<std::string, MaybePlace>> all;
                     for (const auto& [name, place] : plain.unused) all.emplace_back(name, PlaceOf(place));
                     return all;
                   }, "(name, place) of the terminals that no rule uses.")
      .def_prop_ro("ignores", [](const PlainLark& plain) {
        return std::any_of(plain.terminals.begin(), plain.terminals.end(), [](const auto& t) { return t.ignored; });
      }, "Whether there are ignored terminals.");
  m.def("grammar", &CompileGrammar, "terminals"_a, "terminal_names"_a, "rule_names"_a, "productions"_a, "start"_a,
        "ignored"_a, "lexer"_a, "indentation"_a = nb::none(), "limits"_a = nb::none(), "guards"_a = Guards(),
        "rule_places"_a = std::vector<std::string>(), nb::call_guard<nb::gil_scoped_release>(),
        "The language of productions (rule, symbols): symbol s >= 0 is a rule, s < 0 the terminal ~s. Guards: terminal, "
        "lexemes, and what must not, or must, follow them: prefixes of the rest of the text with END_BYTE after it. Places "
        "of rules are for texts of errors.");
  m.attr("FIRST_HOLE") = kFirstHole;
  m.attr("END_BYTE") = static_cast<int>(Lexer::kEndByte);
}

}  // namespace tokamata
