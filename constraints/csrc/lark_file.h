// LarkFile: the definitions of a grammar in Lark's notation, as trees.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constraints/csrc/lark_tokens.h"

namespace tokamata {

struct LarkNode {
  enum Kind : uint8_t {
    kName,       // of a rule or parameter
    kTerminal,   // likewise
    kLiteral,    // a string or regular expression
    kRange,      // "a".."z": text and last
    kUse,        // of the template `text` with children
    kSequence,   // of children
    kChoice,     // of children
    kRepeat,     // of one child: sign and bounds
    kMaybe,      // [...], of one child
    kAlias,      // ... -> name, of one child
  } kind;
  std::string_view text, last;
  std::vector<uint32_t> children;
  char sign = 0;  // ? * + ~
  uint32_t low = 0, high = 0;
};

struct LarkDefinition {
  std::string_view name;
  bool is_terminal = false;
  std::vector<std::string_view> parameters;
  int64_t priority = 0;
  uint32_t tree = 0;
  uint32_t at = 0;  // the byte where the name stands
};

// As written: names may be missing, or defined more than once.
struct LarkFile {
  struct Import {
    std::string_view name, alias;  // from `common`
    uint32_t at;
  };
  std::string_view text;
  std::vector<LarkToken> tokens;
  std::vector<LarkNode> nodes;
  std::vector<LarkDefinition> definitions;
  struct Ignored {
    uint32_t tree;
    size_t definitions;  // before it
  };
  std::vector<Ignored> ignored;
  std::vector<std::pair<std::string_view, uint32_t>> declared;
  std::vector<Import> imports;
  std::vector<std::string_view> uses;  // names on right-hand sides
};

// Reads a text that outlives the file. Throws NotPlainLark, also where groups are nested deeply. Linear.
LarkFile ReadLarkFile(std::string_view text);

}  // namespace tokamata
