// Texts in Lark's notation, most of them damaged: left to Lark's loader, or read into a grammar whose numbers fit.
#include <string>
#include <vector>

#include "constraints/csrc/plain_lark.h"
#include "tests/native/fuzz.h"

namespace tokamata {
namespace {

const std::vector<std::string>& Pieces() {
  static const std::vector<std::string> pieces{
      "start", "a", "_b", "list", "A", "_B", "_NEWLINE", "_INDENT", ": ", " | ", "\n| ", "\n", "\r\n", " ", "(", ")",
      "[", "]", "{", "}", "{x, y}", "{a, \"b\"}", ", ", "?", "*", "+", "~2", "~1..3", "~0..60", " -> name", "\"a\"",
      "\"\\\"\"", "\"\\\\\"", "\"if\"i", "\"\\x41\"", "/[a-z]+/", "/a.*?b/", "/\\//", "/(/", "/[/", "/x/i", "\"a\"..\"z\"",
      ".2", ".-1", "\n%ignore ", "\n%declare _INDENT _DEDENT\n", "\n%import common.WS\n", "\n%import common (INT, WS)\n",
      "// c\n", "# c\n", "\\\n", "!", "?a: ", "\nstart: ", "\nA: ", "\na: ", "\nlist{x, y}: x y", "\xc3\xa4",
      "\"\xc3\xa4\"", "\xff", "\t",
  };
  return pieces;
}

constexpr const char* kCommon = "WS: /[ \\t]/+\nDIGIT: \"0\"..\"9\"\nINT: DIGIT+\n";

void One(Random* r) {
  std::string text = "start: ";
  if (r->OneIn(2)) text = "start: a A | \"x\" list{a, A}\na: A?\nA: /[a-c]/ \"d\"\nlist{x, y}: x (y x)*\n";
  for (uint32_t n = 1 + r->Below(25); n > 0; --n) text += r->Of(Pieces());
  if (r->OneIn(2)) text = Mutated(std::move(text), r);
  const std::unique_ptr<const PlainLark> plain = ReadPlainLark(text, "start", kCommon);
  if (!plain) return;
  const int64_t rules = static_cast<int64_t>(plain->rules.size());
  const int64_t terminals = static_cast<int64_t>(plain->terminals.size());
  Require(plain->start < rules, "the start is a rule");
  for (const auto& [rule, symbols] : plain->productions) {
    Require(rule < rules, "productions are of rules");
    for (const int64_t s : symbols) Require(s < 0 ? ~s < terminals : s < rules, "symbols are rules and terminals");
  }
  for (const PlainLark::Terminal& t : plain->terminals)
    Require(!t.pattern.value.empty() || plain->indentation.has_value(), "terminals have patterns");
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_lark", argc, argv, tokamata::One); }
