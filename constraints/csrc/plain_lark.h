// PlainLark: grammars in Lark's notation that need nothing of Lark's own loader, read in one go.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constraints/csrc/lark_terminals.h"
#include "constraints/csrc/parser_states.h"

namespace tokamata {

// What lark_source.py and lark_rules.py make of a grammar by way of Lark's loader, number by number; a test compares
// the two. Terminals come in order of precedence; symbols are rules, or ~t for terminal t.
struct PlainLark {
  struct Place {  // both begin with 1; columns count characters
    uint32_t line, column;
  };
  struct Terminal {
    std::string name;
    LarkPattern pattern;  // the empty string: no text at all
    int64_t priority = 0;
    bool ignored = false;
    std::optional<Place> place;
  };
  struct Rule {
    std::string name;
    std::optional<Place> place;
    bool written;
  };
  std::string text, common;  // what patterns show parts of
  std::vector<Terminal> terminals;
  std::vector<Rule> rules;
  std::vector<std::pair<uint32_t, std::vector<int64_t>>> productions;
  uint32_t start = 0;
  std::optional<Indentation> indentation;
  std::vector<std::pair<std::string, Place>> unused;  // terminals that no rule uses
  std::vector<std::pair<uint32_t, uint32_t>> holes;   // terminals that are holes, with the hole's number
};

// Reads rules, terminals, templates, %ignore, %declare of terminals and %import of terminals from `common` (the text of
// Lark's grammar of that name). Null where a grammar has anything else, and where it is wrong: then Lark's loader says
// what. Linear in what the grammar is multiplied out to, but for the bounds of lark_rules.py. So many characters from
// kFirstHole on, each in a string of its own, stand for terminals that the text does not define.
constexpr uint32_t kFirstHole = 0x100000;
std::unique_ptr<const PlainLark> ReadPlainLark(std::string text, const std::string& start, std::string common,
                                               uint32_t holes = 0);

}  // namespace tokamata
