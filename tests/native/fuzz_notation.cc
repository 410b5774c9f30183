// Texts in GBNF and EBNF, most of them damaged: left to Lark, or read into trees of parts in the order that is promised.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/csrc/notation.h"
#include "tests/native/fuzz.h"

namespace tokamata {
namespace {

const std::vector<std::string>& Pieces() {
  static const std::vector<std::string> pieces{
      "root", "a", "b-c", "_", "x1", " ::= ", "::=", "\na ::= ", "\n[1] b ::= ", " | ", "|", "\n| ", "\n", "\r\n",
      "\r", "\f", " ", "\t", "(", ")", "()", "*", "+", "?", "{2}", "{1,3}", "{,}", "{ 4 , }", "{123456789012}",
      "\"x\"", "\"\\\"\"", "\"", "'y'", "'", "[a-z]", "[^\\]]", "[", "]", ".", "<think>", "!<[12]>", "<", "#x41", "#",
      "# c\n", "/* c */", "/*", " - ", "-", "[wfc: x]", "[ VC : ", "\xc3\xa4", "\xe2\x80\x83", "\xff",
  };
  return pieces;
}

void One(Random* r) {
  const Notation notation = r->OneIn(2) ? Notation::kGbnf : Notation::kEbnf;
  std::string text = r->OneIn(3) ? "" : "root ::= ";
  if (r->OneIn(2)) text += "\"a\" (root | [b-c]+)? 'd'\n";
  for (uint32_t n = r->Below(25); n > 0; --n) text += r->Of(Pieces());
  if (r->OneIn(20)) text = "root ::= " + std::string(r->Below(3000), '(') + text + std::string(r->Below(3000), ')');
  if (r->OneIn(2)) text = Mutated(std::move(text), r);
  const std::optional<std::vector<NotationNode>> nodes = ReadNotation(text, notation);
  if (!nodes) return;
  size_t open = 0;  // parts that are not parts of others yet
  for (const NotationNode& n : *nodes) {
    Require(n.begin <= n.end && n.end <= text.size(), "parts lie in the text");
    Require(n.line >= 1 && n.column >= 1, "places begin with 1");
    Require(n.parts <= open, "parts stand before what they are parts of");
    open -= n.parts;
    const bool rule = std::string_view(n.kind) == "rule";
    if (rule) Require(n.parts == 1 && open == 0 && n.begin < n.end, "a rule has a name and one part");
    open += !rule;
  }
  Require(open == 0, "every part belongs to a rule");
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_notation", argc, argv, tokamata::One); }
