// Python binding of grammars.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/grammar.h"
#include "constraints/csrc/lexed_grammar.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Production = std::pair<uint32_t, std::vector<int64_t>>;

Language CompileGrammar(const std::vector<const Language*>& terminals, std::vector<std::string> terminal_names,
                        std::vector<std::string> rule_names, const std::vector<Production>& productions, uint32_t start,
                        const std::vector<uint32_t>& ignored, const std::string& lexer, const Indentation* indentation,
                        const Limits* given) {
  const Limits limits = given ? *given : Limits();
  Grammar grammar;
  grammar.num_terminals = static_cast<uint32_t>(terminals.size());
  grammar.num_rules = static_cast<uint32_t>(rule_names.size());
  grammar.start = start;
  grammar.terminal_names = std::move(terminal_names);
  grammar.rule_names = std::move(rule_names);
  for (const auto& [rule, symbols] : productions) {
    Grammar::Production p{rule, {}};
    for (const int64_t s : symbols) p.letters.push_back(static_cast<uint32_t>(s < 0 ? ~s : s + grammar.num_terminals));
    grammar.productions.push_back(std::move(p));
  }
  const Lexing lexing = lexer == "none" ? Lexing::kNone : lexer == "contextual" ? Lexing::kContextual : Lexing::kBasic;
  return Language::Build(
      [&](Expressions* pool) {
        auto lexemes = std::make_unique<Expressions>();
        lexemes->limits = limits.expressions;
        std::vector<Expr> roots;
        for (const Language* t : terminals)
          roots.push_back(t->Acceptor()->WithPool(
              [&](const Expressions& other) { return lexemes->Import(other, t->Acceptor()->Root()); }));
        const auto rules = CompileLexed(std::move(grammar), std::move(lexemes), std::move(roots), ignored, lexing, indentation);
        rules->lexer->max_states = limits.states;
        rules->lexer->seconds = limits.seconds;
        auto leaf = std::make_shared<LexedGrammar>(rules);
        const uint32_t state = leaf->Start();
        return state == LexedGrammar::kDead ? kEmpty : pool->Leaf(pool->AddLeaf(leaf), state);
      },
      limits);
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
  m.def("grammar", &CompileGrammar, "terminals"_a, "terminal_names"_a, "rule_names"_a, "productions"_a, "start"_a,
        "ignored"_a, "lexer"_a, "indentation"_a = nb::none(), "limits"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
        "The language of productions (rule, symbols): symbol s >= 0 is a rule, s < 0 the terminal ~s.");
}

}  // namespace tokamata
