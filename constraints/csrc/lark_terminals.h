// LarkTerminals: the terminals of a Lark file as patterns, joined as Lark joins them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "constraints/csrc/lark_file.h"

namespace tokamata {

// A terminal's text: a string, or a regular expression in Python's syntax.
struct LarkPattern {
  bool is_string = true;
  std::string value;
  char flag = 0;    // i, m or s
  std::string raw;  // as written, where it is one literal or range

  std::string ToRegexp() const;
  std::tuple<bool, const std::string&, char> Key() const { return {is_string, value, flag}; }
};

// The least and most characters of what a pattern matches; kWidest where there is no bound.
struct LarkWidth {
  static constexpr uint64_t kWidest = 0xffffffff;
  uint64_t least = 0, most = 0;
};

struct LarkTerminal {
  LarkPattern pattern;
  LarkWidth width;
};

// The number of characters of UTF-8 text.
size_t CountCharacters(std::string_view text);

// Whether a regular expression has lazy quantifiers, lookaround or anchors, or gives back nothing of what it took.
bool LooksAround(const std::string& regexp);

// The terminals of one file, by name, and of trees in it. Throws NotPlainLark.
class LarkTerminals {
 public:
  explicit LarkTerminals(const LarkFile& file);

  // Of a terminal that the file defines.
  const LarkTerminal& Named(std::string_view name);
  bool Has(std::string_view name) const { return definitions_.count(name) != 0; }
  const LarkDefinition& Definition(std::string_view name) const { return file_.definitions[definitions_.at(name)]; }
  // A terminal of another file.
  void Import(std::string_view name, const LarkTerminal& terminal) { known_[name] = terminal; }
  // Of a tree of terminals and literals.
  LarkTerminal Of(uint32_t tree, int depth = 0);

 private:
  LarkTerminal Literal(std::string_view token);
  LarkTerminal Range(const LarkNode& node) const;

  const LarkFile& file_;
  std::map<std::string_view, uint32_t> definitions_;
  std::map<std::string_view, LarkTerminal> known_;
  std::map<std::string_view, LarkTerminal> literals_;
  size_t joined_ = 0;  // bytes of patterns made so far
};

}  // namespace tokamata
