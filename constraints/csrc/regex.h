// Regular expressions to expressions over UTF-8 bytes: whole-string match, exact.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "automata/csrc/expression.h"
#include "constraints/csrc/character_spelling.h"
#include "constraints/csrc/regex_syntax.h"

namespace tokamata {

// The language of the texts that the whole pattern matches (re.fullmatch). ConstraintError: malformed, with the
// position; UnsupportedError: not regular, or not compiled exactly; LimitError: RegexOptions. Linear in the pattern;
// counters stay symbolic. Assertions inside repetitions cost what their contexts multiply (regex_context.h). With a
// spelling (of the same pool), the language of all spellings of those texts.
Expr CompileRegex(Expressions* pool, std::string_view pattern_utf8, const RegexOptions& options,
                  CharacterSpelling* spelling = nullptr);
Expr CompileRegex(Expressions* pool, std::string_view pattern_utf8, RegexSyntax syntax);

// Lowers a tree. Nodes without assertions mean the same everywhere: Plain. The others go through RegexContext.
class RegexLowering {
 public:
  RegexLowering(Expressions* pool, RegexTree* tree, const RegexOptions& options, CharacterSpelling* spelling);
  Expr Lower();
  // Rewrites the tree so that atomic groups are lookaheads, and leaves out anchors where nothing stands before or after
  // anyway; whether assertions are left.
  bool RemoveAnchors();
  // Repeats once what a loop repeats anyway, from node n of it.
  void DropCounts(uint32_t loop, uint32_t n);

  // The language of a node without assertions.
  Expr Plain(uint32_t node);
  Expr Turns(Expr body, uint32_t low, uint32_t high);
  Expr Set(uint32_t set);
  Expr Character(uint32_t code_point);
  Expr Characters(const CodePointRanges& ranges);
  // What may stand before a place: all texts, or more where that is as good.
  Expr AnyPrefix() { return spelling_ ? spelling_->AnyText() : pool_.AnyBytes(); }
  // The characters that texts are made of.
  const CodePointRanges& Alphabet() const;
  bool SpellsPlainly() const { return !spelling_; }  // as themselves
  // How one of them may be written.
  std::string Spell(uint32_t code_point) const;
  // Whether a node has an assertion inside: an anchor, \b, a lookahead or lookbehind.
  bool Asserts(uint32_t node) const { return asserts_[node]; }
  // Whether the node's texts are single characters; adds these.
  bool ReadsOneCharacter(uint32_t node, CodePointRanges* characters) const;
  [[noreturn]] void Unsupported(uint32_t node, const char* what, const char* remedy) const {
    ThrowUnsupported(tree_.text, tree_.nodes[node].position, what, remedy);
  }

  Expressions& pool() { return pool_; }
  const RegexTree& tree() const { return tree_; }
  const RegexOptions& options() const { return options_; }

 private:
  struct Tempered {  // a repetition of characters, and the texts that may begin at none of them
    Expr turns = kEmpty;
    std::vector<std::u32string> refused;    // of letters
    std::vector<CodePointRanges> letters;   // what each stands for; no two have a character in common
  };

  bool FindAsserts(uint32_t node);
  void SpecifyNonBoundaries();
  void RemoveAtomic(uint32_t node);
  void LowerAtomic(uint32_t node, uint32_t content);
  bool ToPossessive(uint32_t node, uint32_t body, uint32_t low, uint32_t high);
  bool IsPrefixFree(uint32_t node);
  uint32_t Add(RegexKind kind, uint32_t position, uint32_t first = 0);
  void Become(uint32_t node, RegexKind kind, uint32_t first);
  void DropStart(uint32_t node);
  void DropEnd(uint32_t node);
  bool AppendLiteral(uint32_t node, std::string* out) const;
  Expr Words(const RegexNode& words);
  // In regex_tempered.cc.
  bool ListTexts(uint32_t node, Tempered* tempered, std::vector<std::u32string>* texts) const;
  bool FindTempered(uint32_t* node, uint32_t* part, std::vector<uint32_t>* refused) const;
  bool IsTempered(uint32_t node, Tempered* tempered);
  Expr WithoutAssertions(uint32_t node);
  bool LowerTempered(uint32_t node, Expr follow, Expr* made);
  Expr Behind(Expr at, Expr character);
  bool Temper(const Tempered& tempered, Expr rest, Expr follow, Expr* made);
  void PullLookahead(uint32_t node, Expr follow);

  Expressions& pool_;
  RegexTree& tree_;
  const RegexOptions& options_;
  CharacterSpelling* spelling_;
  std::vector<uint8_t> asserts_;
  std::vector<Expr> sets_;
};

}  // namespace tokamata
