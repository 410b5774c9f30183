// Patterns as syntax trees: what the parsers of regex_python.cc and regex_ecma.cc produce and regex.cc lowers.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

enum class RegexSyntax : uint8_t {
  kPython,  // the re module of the running Python, str patterns, plus \p{..}
  kEcma,    // ECMA-262 with the u flag
  kEcmaLenient,  // the same, and where that is malformed, ECMA-262 without the flag (with its Annex B)
};

struct RegexOptions {
  RegexSyntax syntax = RegexSyntax::kPython;
  std::string flags;            // of "aimsx", as if the pattern began with (?flags)
  bool search = false;          // texts that the pattern matches somewhere, not as a whole
  uint32_t depth = 250;         // nesting of groups
  size_t length = 2'000'000;    // code points of the pattern
  uint32_t unrolled = 1000;     // copies of a bounded repetition with an assertion inside
  uint32_t contexts = 200;      // assertion contexts told apart
  // The character of a Unicode name (Python's \N{..}); a value above U+10FFFF: there is none.
  std::function<uint32_t(std::string_view)> lookup_name;
  // Python's syntax: names of groups (?P<NAME>...) that stand for languages of their own. The n-th of them in a pattern
  // is languages[n]; where there are too few, the tree says what they are and cannot be lowered.
  std::vector<std::string> named;
  std::vector<Expr> languages;
};

// A group whose name stands for a language.
struct NamedGroup {
  struct Alternative {
    std::string pattern;
    bool is_text = false;  // it matches exactly one text:
    std::string text;
  };
  std::string name, flags;  // the flags of "aimsx" inside
  uint32_t position = 0;
  std::vector<Alternative> alternatives;
};

enum class RegexKind : uint8_t {
  kEpsilon,
  kNone,         // matches nothing: what stands where an unsupported construct was read
  kCharacter,    // first: code point
  kSet,          // first: index of a set
  kConcat,       // first: child, further ones by next
  kAlternate,    // likewise
  kRepeat,       // first: child; low, high; negated: lazy (the same language unless inside kAtomic)
  kPossessive,   // the same without backtracking
  kGroup,        // first: child; low, high: place and length of the name in the pattern, if it has one
  kAtomic,       // first: child
  kLookahead,    // first: child; negated
  kLookbehind,   // likewise
  kStart,        // nothing before
  kEnd,          // nothing after
  kLastLine,     // nothing after, or one newline (Python's $)
  kLineStart,    // nothing before, or a line terminator (first: index of their set)
  kLineEnd,      // nothing after, or a line terminator (likewise)
  kBoundary,     // first: index of the set of word characters; negated: \B; low, high: see SettleBoundaries
  kWords,        // many texts between bars, as they stand in the pattern. low, high: place and length of that
  kLanguage,     // first: index of a named group
  kReference,    // what a group matched; low: its place in the pattern; first: of ReferenceCase. Gone when parsed,
  kConditional,  // like this one: first: what stands for a group that was read, and what else; low: that group
};

enum ReferenceCase : uint32_t { kReferenceIgnoresCase = 1, kReferenceAscii = 2 };

struct RegexNode {
  RegexKind kind = RegexKind::kEpsilon;
  bool negated = false;
  uint32_t position = 0;  // in code points
  uint32_t first = 0;     // see RegexKind
  uint32_t next = 0;      // the next sibling; 0: none (node 0 is never a sibling)
  uint32_t low = 0, high = 0;
};

struct RegexTree {
  std::vector<RegexNode> nodes{RegexNode{}};  // node 0 is the empty string
  std::vector<CodePointRanges> sets;          // normalized
  uint32_t root = 0;
  std::vector<uint32_t> text;  // the pattern's code points
  std::vector<NamedGroup> named;
  bool refers = false;  // there are kReference or kConditional nodes

  uint32_t Add(RegexKind kind, uint32_t position, uint32_t first) {
    RegexNode n;
    n.kind = kind;
    n.position = position;
    n.first = first;
    nodes.push_back(n);
    return static_cast<uint32_t>(nodes.size() - 1);
  }

  // Makes a node another one without bounds, in its place among its siblings.
  void Become(uint32_t node, RegexKind kind, uint32_t first) {
    RegexNode& n = nodes[node];
    n.kind = kind;
    n.first = first;
    n.negated = false;
    n.low = n.high = 0;
  }
};

// Sets that are added to a tree: those that are equal are one, so that each is lowered once.
class AddedSets {
 public:
  explicit AddedSets(RegexTree* tree) : tree_(*tree) {}
  uint32_t Add(const CodePointRanges& ranges) {
    const auto [at, added] = added_.try_emplace(ranges, static_cast<uint32_t>(tree_.sets.size()));
    if (added) tree_.sets.push_back(ranges);
    return at->second;
  }

 private:
  RegexTree& tree_;
  std::map<CodePointRanges, uint32_t> added_;
};

inline bool Refers(const RegexNode& n) { return n.kind == RegexKind::kReference || n.kind == RegexKind::kConditional; }

RegexTree ParseRegex(std::string_view pattern_utf8, const RegexOptions& options);

// Calls f(begin, end) with the places of the texts of a kWords node.
template <class F>
void ForEachWord(const RegexTree& tree, const RegexNode& words, F f) {
  const uint32_t end = words.low + words.high;
  for (uint32_t begin = words.low, i = begin; i <= end; ++i)
    if (i == end || tree.text[i] == '|') {
      f(begin, i);
      begin = i + 1;
    }
}
// Writes every kWords node as an alternative of concatenations, for whoever looks at single characters.
void SpellWords(RegexTree* tree);

// The pattern as it stands in messages: quoted, cut to what is around the position.
std::string RegexExcerpt(const std::vector<uint32_t>& text, size_t position);
[[noreturn]] void ThrowMalformed(const std::vector<uint32_t>& text, size_t position, const std::string& what,
                                 const std::string& remedy);
[[noreturn]] void ThrowUnsupported(const std::vector<uint32_t>& text, size_t position, const std::string& what,
                                   const std::string& remedy);

// Writes out what kReference and kConditional nodes stand for; UnsupportedError where that is not a few texts.
void ResolveReferences(RegexTree* tree, const RegexOptions& options);

// Rewrites the tree of a pattern to match any text around what it matches (RegexOptions::search).
void SearchRegex(RegexTree* tree);

// Writes lookahead and lookbehind of one character, and boundaries that are such, into what stands beside them, where
// that tells which character it is.
void FoldLookaround(RegexTree* tree);
// Likewise lookahead that forbids characters up to the end of the text, into all that is read behind it.
void FoldForbidden(RegexTree* tree);
// The characters of a node that matches one character and has no name; adds to the steps taken.
std::optional<CodePointRanges> OneCharacterOf(const RegexTree& tree, uint32_t node, size_t* steps);

// Replaces the boundaries of words that hold wherever they are asked for, or nowhere. Where only one side is known, a
// boundary's `low` says which side it depends on, and `high` whether a character of a word has to be there, or none may.
// \B only with `negated_too`: where it does not match in the empty text, that has to be written into the tree first.
enum BoundarySide : uint32_t { kBothSides, kAhead, kBehind };
void SettleBoundaries(RegexTree* tree, bool negated_too);

// Whether a node matches no character, only places (anchors, lookaround, the empty string).
bool IsZeroWidth(const RegexTree& tree, uint32_t node);

}  // namespace tokamata
