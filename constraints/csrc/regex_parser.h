// What both pattern syntaxes share: the reader's place, building of nodes, sets and errors.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "constraints/csrc/regex_syntax.h"
#include "constraints/csrc/unicode.h"

namespace tokamata {

constexpr uint32_t kEndOfPattern = 0xffffffff;

class RegexParser {
 public:
  RegexParser(RegexTree* tree, const RegexOptions& options) : tree_(*tree), options_(options), text_(tree->text) {}

 protected:
  // A list of siblings under construction.
  struct Sequence {
    uint32_t first = 0, last = 0;
    uint32_t size = 0;
  };

  uint32_t Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : kEndOfPattern; }
  bool Match(uint32_t c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  static bool IsDigit(uint32_t c) { return c >= '0' && c <= '9'; }
  static bool IsOctal(uint32_t c) { return c >= '0' && c <= '7'; }
  static bool IsLetter(uint32_t c) { return (c | 32) >= 'a' && (c | 32) <= 'z' && c < 128; }
  // Up to `most` hexadecimal digits; the number of digits read.
  size_t ReadHex(size_t most, uint32_t* value);
  std::string Slice(size_t from, size_t to) const;  // as UTF-8

  // What is written instead of what other dialects mean by \c, and by a group that begins with (?c.
  static std::string InsteadOfEscape(uint32_t c);
  static std::string InsteadOfGroup(uint32_t c, bool ecma = false);

  [[noreturn]] void Fail(size_t position, const std::string& what, const std::string& remedy) const {
    ThrowMalformed(text_, position, what, remedy);
  }
  // Remembers the first construct that is well-formed but not enforceable; thrown when the rest parsed.
  void Unsupported(size_t position, const std::string& what, const std::string& remedy);
  void ThrowIfUnsupported() const;
  void CheckDepth(uint32_t depth, size_t position) const;
  // Reads digits; kUnbounded when the number does not fit a repetition.
  uint32_t ReadNumber(bool* any);

  uint32_t Add(RegexKind kind, size_t position, uint32_t first = 0);
  // A kWords node, where nothing but characters and bars comes before the group or the pattern ends; else 0.
  uint32_t ReadWords();
  uint32_t AddSet(CodePointRanges ranges, size_t position, bool normalized = false);
  static void Append(RegexTree* tree, Sequence* sequence, uint32_t node);
  void Append(Sequence* sequence, uint32_t node) { Append(&tree_, sequence, node); }
  // The list as one node of `kind` (a lone member stands for itself).
  uint32_t Finish(const Sequence& sequence, RegexKind kind, size_t position);
  // Wraps the last member.
  void Wrap(Sequence* sequence, const RegexNode& wrapper);

  // Character classes that are used again are kept once.
  enum Class { kWord, kDigitClass, kSpace, kAsciiWord, kAsciiDigit, kAsciiSpace, kEcmaSpace, kClasses };
  const CodePointRanges& ClassRanges(Class c, bool negated);
  uint32_t ClassIndex(Class c, bool negated);
  uint32_t AddClass(Class c, bool negated, size_t position);
  // After "\p" or "\P": the braces and the property; sets are complete (complemented for \P).
  CodePointRanges ReadProperty(size_t escape, bool strict);

  RegexTree& tree_;
  const RegexOptions& options_;
  const std::vector<uint32_t>& text_;
  size_t at_ = 0;

 private:
  uint32_t classes_[2][kClasses] = {};  // index of the set + 1
  bool unsupported_ = false;
  size_t unsupported_at_ = 0;
  std::string unsupported_what_, unsupported_remedy_;
};

void ParsePythonRegex(RegexTree* tree, const RegexOptions& options);
// Without `unicode`: ECMA-262 without the u flag, with Annex B.
void ParseEcmaRegex(RegexTree* tree, const RegexOptions& options, bool unicode);

}  // namespace tokamata
