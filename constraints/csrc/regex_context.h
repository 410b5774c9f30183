// Assertions compiled away exactly: lookahead through intersection with what follows, lookbehind and anchors through
// the states of a small automaton over what came before.
//
// Every assertion about the text before a place says that this prefix is in a regular language; Prefixes is the
// product of their automata, over classes of characters that no assertion tells apart. A node is lowered with the
// language V[q] of what may follow it when the prefix has led to state q, and yields the same for its own start:
//   P(?=X)S = P·(X·any & S),   P(?!X)S = P·(~(X·any) & S),   P(?<=X)S = the paths of P into states where X ends.
// Where P begins the pattern and counts what paths would have to be unrolled for, P(?<=X)S = (P & any·X)·S instead.
// A repetition that has assertions inside is a matrix over contexts (q, r): r says which of the lookahead languages, and
// which of their derivatives, the text after a place belongs to. Guessing r and checking it on every character is exact
// because each suffix belongs to exactly one r. Contexts that nothing tells apart are merged (those of one q into which
// the same texts lead); where the rest follow each other without loops but of one context, turns are counted as without
// assertions, else they are paths through the graph of contexts, the star of the matrix, or copies.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "constraints/csrc/context_matrix.h"
#include "constraints/csrc/regex.h"

namespace tokamata {

class RegexContext {
 public:
  explicit RegexContext(RegexLowering* lowering);
  using Vector = std::vector<Expr>;  // by prefix state
  Expr Lower(uint32_t root);
  // Afterwards, of an assertion of the tree, without its negation: whether it is about the text before its place, and
  // that text; or the texts after it, which may depend on where the text before it leads (a lookahead that looks back).
  bool IsPrefixAssertion(uint32_t node) const;
  Expr PrefixLanguage(uint32_t node);
  Vector SuffixLanguages(uint32_t node);
  // The texts that lead to each prefix state.
  Vector TextsInto(uint32_t node);

 private:
  static constexpr int kMostSpelled = 1000;  // steps of one language by the bytes of another

  // The suffix languages that one repetition's assertions ask about, and their states from right to left.
  struct Suffixes {
    std::vector<Expr> languages;                // closed under derivatives by character classes
    std::vector<std::vector<uint32_t>> step;    // [language][class]: index of the derivative
    std::map<Expr, uint32_t> index;
    std::vector<std::vector<bool>> states;      // which languages contain the suffix; 0: the empty suffix
    std::vector<std::vector<uint32_t>> before;  // [state][class]: the state one character further left
  };

  const RegexNode& Node(uint32_t node) const { return lowering_.tree().nodes[node]; }

  // ---- classes of characters that assertions do not tell apart
  void CollectSets(uint32_t node, bool inside, std::vector<CodePointRanges>* sets) const;
  void BuildClasses(uint32_t root);
  const std::vector<CodePointRanges>& Pieces(uint32_t node);  // a character or set node, split by class
  Expr Derivative(Expr e, size_t character_class);

  // ---- prefixes
  void CollectPrefixes(uint32_t node);
  Expr ExtendPrefix(uint32_t node, Expr prefix);
  void BuildPrefixes();
  bool Holds(uint32_t node, size_t q) const;  // of an assertion about the prefix, without its negation

  bool LowerFromLeft(uint32_t root, Expr* made);
  void ListParts(uint32_t node, std::vector<uint32_t>* parts) const;
  bool Unrolls(uint32_t node) const;

  // ---- what follows
  Expr SuffixLanguage(uint32_t node, size_t q);  // of an assertion about the suffix, without its negation
  Vector Before(uint32_t node, const Vector& after);
  Vector BeforeRepeat(uint32_t node, const Vector& after);
  // Any number of repetitions, in groups or not, or repetitions of these.
  bool IsStar(uint32_t node) const;
  // `together`: what all turns together have to be.
  Vector BeforeStar(uint32_t body, const Vector& after, Expr together);
  // Of a repetition of single characters (`one`), each between assertions; without copies and, if possible, without the
  // star of a matrix. False where it is none, or that star needs too many contexts.
  bool BeforeCharacters(uint32_t node, const Vector& after, Vector* out);
  // Its parts: what the assertions of a turn refuse, whether that is made of the turn's characters, and the two ways.
  void ListRefused(uint32_t node, Expr before, Expr one, std::vector<Expr>* refused);
  bool RefusesWithin(uint32_t node, Expr one);
  bool BeforeOneSplit(uint32_t node, Expr one, const Vector& after, Vector* out);
  bool BeforeCounted(uint32_t node, Expr one, const Vector& after, Vector* out);
  // Of many turns, without a copy for each. False where contexts do not follow each other that simply.
  bool BeforeTurns(uint32_t node, const Vector& after, Vector* out);
  // Of all members; -1 where they differ, are very many, or that is not known.
  int64_t NumCharacters(const Vector& languages);
  Expr Filter(uint32_t node, size_t q, Expr after);
  Expr BeforeSide(uint32_t node, bool word, Expr after);
  Expr Word(uint32_t node) { return lowering_.Set(Node(node).first); }
  Expr NoWord(uint32_t node);  // any other character

  // ---- repetitions with assertions inside
  struct Turns {
    MergedContexts contexts;  // and texts of a turn that are not empty, see Transfer
    ContextMatrix turn;       // of these texts, before any contexts were merged
    std::vector<bool> stays;  // by context there: whether the empty text is a turn
    ContextMatrix star;       // of any number of turns, between classes; of size 0 until that is asked for
    Vector suffixes;          // by state of these: the texts that belong to exactly its languages
  };
  Turns& TurnsOf(uint32_t body, size_t most);  // contexts
  const Turns* TryTurnsOf(uint32_t body, size_t most);
  // By class: what follows where the last turn ends in one of its contexts.
  Vector AfterTurns(const MergedContexts& classes, const Vector& suffixes, const Vector& after);
  bool CopiesAreSimple(const Turns& turns, uint32_t low, uint32_t high) const;
  bool BeforePaths(const Turns& turns, uint32_t low, uint32_t high, const Vector& after, Vector* out);
  void CollectSuffixes(uint32_t node, Suffixes* suffixes);
  void CloseSuffixes(uint32_t body, size_t most, Suffixes* suffixes);
  ContextMatrix Transfer(uint32_t node, const Suffixes& suffixes);
  Expr OnceMore(Expr x, Expr turns);
  bool TransferTurns(uint32_t node, const ContextMatrix& body, ContextMatrix* out);
  // The contexts that Transfer is about: states of what came before, each with those of the suffix.
  std::vector<uint32_t> StateOfContext(size_t num_contexts) const;
  ContextMatrices Matrices(uint32_t node);
  Expr Meet(Expr bytes, Expr e, int most);
  Expr SpelledOut(Expr e);
  Expr SpelledOut(Expr e, int* left);
  [[noreturn]] void TooManyContexts(uint32_t node) const;
  [[noreturn]] void LooksInto(uint32_t node) const;
  void CheckGrowth(uint32_t node) const;
  void Spend(uint32_t node, size_t visits = 1);  // bounds the copies of what is unrolled

  RegexLowering& lowering_;
  Expressions& pool_;
  size_t size_at_start_;
  size_t num_states_ = 1;
  size_t spent_ = 0;
  std::map<uint32_t, Vector> suffix_languages_;  // of lookaheads
  std::map<uint32_t, Expr> no_words_;  // by set
  std::vector<CodePointRanges> classes_;
  std::vector<Expr> prefix_languages_;
  std::map<uint32_t, size_t> prefix_of_node_;
  std::vector<std::vector<uint32_t>> next_;  // [state][class]
  std::vector<std::vector<bool>> holds_;     // [state][prefix language]
  std::map<uint32_t, std::vector<CodePointRanges>> pieces_;
  std::map<uint32_t, Turns> turns_;  // by body of a repetition
  std::set<std::pair<uint32_t, size_t>> without_turns_;
};

}  // namespace tokamata
