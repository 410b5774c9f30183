// LarkTokens: the text of a grammar in Lark's notation, cut as Lark's own loader cuts it.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace tokamata {

enum class LarkKind : uint8_t {
  kRule,       // a lower-case name
  kTerminal,   // an upper-case name
  kString,     // with its quotes and flags
  kRegexp,     // with its slashes and flags
  kNumber,
  kModifiers,  // ! and ? before the name of a rule
  kOperator,   // ? * +
  kTilde,
  kOr,         // also one at the beginning of a line
  kTo,
  kDot,
  kRange,
  kComma,
  kColon,
  kOpen, kClose, kOpenMaybe, kCloseMaybe, kOpenUse, kCloseUse,  // ( ) [ ] { }
  kIgnore, kDeclare, kImport,
  kNewline,    // the end of a statement; the last token is one
};

struct LarkToken {
  LarkKind kind;
  uint32_t begin, end;  // bytes
};

// Thrown where a grammar is wrong, or more than what is read here: then Lark's loader has to look at it.
struct NotPlainLark {};

// Blanks and comments are left out. Linear.
std::vector<LarkToken> CutLark(std::string_view text);

}  // namespace tokamata
