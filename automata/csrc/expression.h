// Extended regular expressions over bytes, hash-consed, with derivatives (Brzozowski 1964; Owens, Reppy, Turon 2009).
//
// An expression is an index into a pool in which equal expressions have equal indices: the builders normalize, so a
// derivative that was met before is the same number again, and the expressions reached from a root are the states of a
// delayed deterministic acceptor. Counters stay symbolic: x{2,100000} is one node.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/block_array.h"
#include "automata/csrc/byte_set.h"
#include "automata/csrc/byte_table.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/gradual_table.h"
#include "automata/csrc/leaf_automaton.h"
#include "automata/csrc/small_vector.h"
#include "automata/csrc/text_list.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {

using Expr = uint32_t;
constexpr Expr kEmpty = 0;                   // the empty language
constexpr Expr kEpsilonExpr = 1;             // the language of the empty string
constexpr uint32_t kUnbounded = 0xffffffff;  // Repeat without an upper bound

using ExprList = SmallVector<Expr, 16>;  // operands

// Inclusive ranges of Unicode code points.
using CodePointRanges = std::vector<std::pair<uint32_t, uint32_t>>;
// Sorted, disjoint, non-adjacent; surrogates and what lies above U+10FFFF dropped.
CodePointRanges NormalizeRanges(CodePointRanges ranges);
// All other Unicode scalar values.
CodePointRanges ComplementRanges(const CodePointRanges& ranges);
// What two normalized ones have in common.
CodePointRanges IntersectRanges(const CodePointRanges& a, const CodePointRanges& b);

enum class ExprKind : uint8_t {
  kEmpty,       // no string
  kEpsilon,     // the empty string
  kBytes,       // one byte of a set
  kConcat,      // first, rest; first is never a kConcat
  kUnion,       // two or more, none a kUnion, sorted
  kRepeat,      // x{low,high}
  kIntersect,   // two or more, none a kIntersect, sorted
  kComplement,  // all byte strings but those of x
  kAutomaton,   // the strings that a state of a registered eager automaton accepts
  kCall,        // the language of a rule, whose expression is made when a derivative first needs it
  kLeaf,        // the strings that a state of a registered delayed automaton accepts
  kTexts,       // what is left of the texts of a list that begin alike
  kPaths,       // paths of numbers of arcs, each with texts, from a state of a registered graph; see PathState
};

class BoundedParts;  // bounded_parts.h
class CountedMeets;  // counted_meets.h
class SplitMeets;    // split_meets.h
class SureMeets;     // sure_meets.h
class Expressions;

// Where an approximation of a language lies: kOver has all of its texts and maybe more, kUnder none but its texts. So
// has kWithin, and more than kUnder: once in each place one more of what is remembered may come.
enum class Side : uint8_t { kOver, kUnder, kWithin };

// A place among the texts that a rule reads.
struct RuleText {
  uint32_t words[6];
};

// Rules by number, each the name of a language; what makes expressions push-down: call(r)·rest is a stack whose top is
// r. A language is regular exactly when finitely many expressions are reached, and nobody has to know in advance.
class RuleSource {
 public:
  virtual ~RuleSource() = default;
  // The language of a rule, in the pool that the source was made for. It may call rules, itself included, but every
  // cycle of calls must read a byte first (no left recursion), and it must not be empty: no alternative that is called
  // may be one.
  virtual Expr Expand(uint32_t rule) = 0;
  // The same rules for another pool, sharing nothing that changes.
  virtual std::shared_ptr<RuleSource> Clone(Expressions* pool) const = 0;
  virtual size_t MemoryBytes() const { return 0; }
  // Whether no rule calls another: then calls are regular languages that are made when they are reached.
  virtual bool IsRegular() const { return false; }
  // Whether it is known without its language that no text of a rule begins another one.
  virtual bool EndsByItself(uint32_t /*rule*/) { return false; }
  // Where texts of a rule are known to end, of whatever source: read from the same place, no text of a rule begins one
  // of another that ends likewise.
  enum class End : uint8_t {
    kUnknown,
    kValue,     // with a value of JSON that is no number
    kAnyValue,  // the same, but for numbers: before what goes on with none
    kBracket,   // with the bracket that closes an object or array of JSON, of which whole members are left
    kQuote,     // with the quote that closes a string of JSON, of which whole characters are left
  };
  virtual End EndOf(uint32_t /*rule*/) { return End::kUnknown; }
  // What a rule has left after a byte, where that is known without its language; kEmpty: nothing begins with the byte.
  virtual bool Step(uint32_t /*rule*/, uint8_t /*byte*/, Expr* /*rest*/) { return false; }
  // ---- rules that remember what was read, such as the keys of an object, so that there is no end of them
  // Whether any rule was asked for that does.
  virtual bool HasMemory() const { return false; }
  // Whether any of these remember values that begin otherwise than with a quote.
  virtual bool RemembersValues() const { return false; }
  // Whether a rule does: its language is then not asked for, and Step always knows.
  virtual bool Remembers(uint32_t /*rule*/) { return false; }
  // A language without what a rule that remembers is about to keep; kEmpty where Texts has it. It has all the texts of
  // the rule, and of others only such as repeat something: with a comma, and two quotes after it.
  virtual Expr Forget(uint32_t /*rule*/) { return kEmpty; }
  // A rule without what it remembers, for what stands behind other things: a beginning of its texts can be extended in
  // the rule exactly when it can there, but for such as repeat something (see Forget). kEmpty: the rule itself.
  virtual Expr Bare(uint32_t /*rule*/) { return kEmpty; }
  // Whether a rule that remembers has the texts of *before, but for those that begin with the ones of *place.
  virtual bool Since(uint32_t /*rule*/, Expr* /*before*/, RuleText* /*place*/) { return false; }
  // Whether any rule may ever remember.
  virtual bool MayRemember() const { return false; }
  // Whether, for any rule that was asked for, a text that was remembered may be the last one with its beginning: after
  // it another text may not begin alike. Otherwise every beginning is one of some text that did not occur yet.
  virtual bool MayRunOut() const { return false; }
  // A language near that of a rule, in which nothing is remembered, nor in anything that it calls; it may be empty
  // where that of the rule is not. kEmpty: it is.
  virtual Expr Approximate(uint32_t /*rule*/, Side) { return kEmpty; }
  // Whether a rule is one of an approximation that may be empty.
  virtual bool MayBeEmpty(uint32_t /*rule*/) const { return false; }
  // Whether any approximation may differ from the rule, as far as these languages were looked at.
  virtual bool Approximates() const { return false; }
  // What to measure instead of a rule: a language with all its texts; where that one can end within n bytes, the rule
  // can within n + *slack. kEmpty: the rule itself.
  virtual Expr Outline(uint32_t /*rule*/, uint32_t* /*slack*/) { return kEmpty; }
  // A number of bytes that each text of a rule has, where a rule knows of more than its outline tells.
  virtual uint32_t LeastLength(uint32_t /*rule*/) { return 0; }
  // Whether a rule has texts of every length from LeastLength on that consist of *bytes, which may be in any text.
  virtual bool HasEveryLength(uint32_t /*rule*/, ByteSet* /*bytes*/) { return false; }
  // ---- hints for masks, as DelayedAcceptor::Texts to ForEachRawByte have them, with expressions for states
  virtual bool Texts(uint32_t /*rule*/, Expr* /*model*/, RuleText* /*place*/) { return false; }
  using TextVisitor = std::function<void(std::string_view text, const RuleText* child, Expr after)>;
  virtual void ForEachText(const RuleText&, const ByteSet& /*first*/, const TextVisitor&) {}
  using ByteVisitor = std::function<bool(uint32_t depth, uint8_t byte)>;
  virtual bool ForEachRawByte(const RuleText&, const ByteVisitor& /*enter*/) { return false; }
};

// A state of a graph whose arcs are turns: languages without the empty text. Where all lead from one state back to it the
// graph is a repetition; where turns lead from one context to another, as assertions tell them apart, they are counted
// whichever way they go.
struct PathState {
  struct Arc {
    uint32_t texts;  // Expr
    uint32_t target;
  };
  std::vector<Arc> arcs;
  uint32_t last = 0;   // Expr: what follows where the last turn leads here
  bool stays = false;  // whether the empty text is a turn, too, from here to here
  // By number of turns that have to be: the fewest to what follows the last one; kUnbounded: none lead there. Kept by the
  // pool, as far as was asked for.
  std::vector<uint32_t> fewest;
};

struct ExpressionLimits {
  size_t nodes = 2'000'000;    // expressions in one pool; eight members of a union or intersection count as one
  uint32_t depth = 1000;       // nesting of operators
  size_t width = 100'000;      // members of one derived union or intersection (a literal choice is not limited)
  size_t emptiness = 200'000;  // expressions that one emptiness question may visit
  uint32_t calls = 5000;       // rules that one derivative may enter, one inside the other
};

class Expressions {
 public:
  struct Term {  // one arc of a deterministic step: on these bytes, go to target
    ByteSet bytes;
    Expr target;
  };

  Expressions();
  // Begins with the expressions of another pool, under the same numbers. That one has no rules, and neither changes nor
  // ends before this one: most of its nodes are shared.
  explicit Expressions(const Expressions* prepared);
  Expressions(const Expressions&) = delete;
  Expressions& operator=(const Expressions&) = delete;

  ExpressionLimits limits;
  // Rules that are imported do not remember (see RuleSource): for intersections and complements, where texts are told
  // apart by their bytes only.
  bool forgets = false;

  // ---- builders; all normalize and may throw LimitError
  Expr Bytes(const ByteSet& set);
  Expr Byte(uint8_t b) { return bytes_[b] ? bytes_[b] : bytes_[b] = Bytes(ByteSet::Of(b)); }
  Expr Literal(std::string_view text);
  // The union of many literal strings, as a trie; duplicates are fine. Where they are many, its nodes are made when a
  // derivative first needs them.
  Expr Choice(const std::vector<std::string>& texts) { return Choice(std::make_shared<const TextList>(texts)); }
  Expr Choice(std::shared_ptr<const TextList> texts);
  // What is left of the texts below a node of the trie of one of the lists.
  Expr Texts(uint32_t list, const TextList::Node& node);
  // One Unicode character of the ranges, as its UTF-8 bytes (never overlong, never a surrogate).
  Expr Characters(const CodePointRanges& ranges);
  Expr Concat(Expr a, Expr b);
  Expr Concat(const std::vector<Expr>& parts);
  Expr Union(Expr a, Expr b);
  Expr Union(ExprList parts);
  // low <= high; high may be kUnbounded.
  Expr Repeat(Expr x, uint32_t low, uint32_t high);
  Expr Star(Expr x) { return Repeat(x, 0, kUnbounded); }
  Expr Optional(Expr x) { return Union(x, kEpsilonExpr); }
  Expr Intersect(Expr a, Expr b);
  Expr Intersect(ExprList parts);
  // All byte strings that x does not contain.
  Expr Complement(Expr x);
  Expr Difference(Expr a, Expr b) { return Intersect(a, Complement(b)); }
  // All byte strings, and all UTF-8 texts.
  Expr AnyBytes();
  Expr AnyText();
  // Registers a graph, whose arcs have targets in it and texts; the number of its first state, which the others follow.
  // No language may be empty but kEmpty. Arcs that lead nowhere are dropped.
  uint32_t AddGraph(std::vector<PathState> states);
  // From `low` to `high` turns from a state, then what follows the last one there. The largest `low` costs as many times
  // the arcs of the graph, once.
  Expr Paths(uint32_t state, uint32_t low, uint32_t high);
  // What follows when from `low` to `high` turns are left, which has all members of those of the same series (a number
  // for each, of who asks) with an interval inside that one; known afterwards.
  void Rank(Expr e, uint32_t series, uint32_t low, uint32_t high);
  uint32_t NewSeries(size_t count) { return num_series_ += static_cast<uint32_t>(count), num_series_ - static_cast<uint32_t>(count); }
  // The strings accepted from a state of a table; the table is kept.
  Expr Automaton(const std::shared_ptr<const ByteTable>& table, uint32_t state);
  // Rules of a source are called by its number in this pool.
  uint32_t AddRules(std::shared_ptr<RuleSource> source);
  RuleSource* Rules(uint32_t source) const { return rules_[source].source.get(); }
  size_t NumRuleSources() const { return rules_.size(); }
  bool HasLeaves() const { return !leaves_.empty(); }
  // The language of a rule, which is not empty: whether it has the empty string, and the bytes that members begin with
  // (more does no harm).
  Expr Call(uint32_t source, uint32_t rule, bool nullable, const ByteSet& first);
  // The strings accepted from a state of a delayed automaton, by its number in this pool; there is one.
  uint32_t AddLeaf(std::shared_ptr<LeafAutomaton> leaf);
  Expr Leaf(uint32_t leaf, uint32_t state);
  // What is left of a nested language of the automaton after its first bytes, and then the strings accepted from a
  // state; or of one of several.
  Expr NestedInLeaf(uint32_t leaf, uint32_t nested, std::string_view begun, uint32_t state);
  Expr NestedInLeaf(uint32_t leaf, uint32_t nested, std::string_view begun, uint32_t state,
                    const std::vector<std::pair<uint32_t, uint32_t>>& others) {
    Expr all = NestedInLeaf(leaf, nested, begun, state);
    for (const auto& [language, after] : others) all = Union(all, NestedInLeaf(leaf, language, begun, after));
    return all;
  }
  // What is left after an arc of the automaton.
  Expr AfterArc(uint32_t leaf, const LeafAutomaton::Arc& arc) {
    if (arc.nested == LeafAutomaton::kNotNested) return Leaf(leaf, arc.state);
    const char first = static_cast<char>(arc.bytes.First());
    return NestedInLeaf(leaf, arc.nested, {&first, arc.left ? size_t{0} : size_t{1}}, arc.state, arc.others);
  }
  // What a call stands for.
  Expr Expand(Expr call);
  // Copies an expression of another pool (whose owner must not change it meanwhile).
  Expr Import(const Expressions& other, Expr e);
  // Replaces expressions of another pool by copies here. O(the largest of them), not of their sum.
  void Import(const Expressions& other, std::vector<Expr>* roots);

  // ---- reading
  ExprKind Kind(Expr e) const { return nodes_[e].kind; }
  bool Nullable(Expr e) const { return nodes_[e].nullable; }
  // Every byte that a member can begin with, and maybe more under intersection and complement.
  const ByteSet& First(Expr e) const { return nodes_[e].first; }
  // Whether the language may be empty although e is not kEmpty: it has an intersection or complement inside.
  bool MayBeEmpty(Expr e) const { return nodes_[e].extended; }
  // Whether a rule is called, or a delayed automaton used, inside: the language may not be regular.
  bool IsPushDown(Expr e) const { return nodes_[e].push_down; }
  // Whether a repetition with numbers beyond 1 stands among the parts of a concatenation or the members of a union, as
  // deep as these are nested.
  bool Counts(Expr e) const { return nodes_[e].counts; }
  // No member is shorter. Not always the length of the shortest one; saturates at 2^32 - 1.
  uint32_t LeastLength(Expr e) const { return nodes_[e].shortest; }
  // kConcat: head and tail. kRepeat: body and bounds. kUnion, kIntersect: members. kComplement: operand.
  Expr Head(Expr e) const { return nodes_[e].a; }
  Expr Tail(Expr e) const { return nodes_[e].b; }
  // Of any expression: its head and tail if it is a concatenation, else itself and ε.
  Expr FirstPart(Expr e) const { return nodes_[e].kind == ExprKind::kConcat ? nodes_[e].a : e; }
  Expr Rest(Expr e) const { return nodes_[e].kind == ExprKind::kConcat ? nodes_[e].b : Expr{kEpsilonExpr}; }
  Expr Body(Expr e) const { return nodes_[e].a; }
  uint32_t Low(Expr e) const { return nodes_[e].b; }
  uint32_t High(Expr e) const { return nodes_[e].c; }
  const Expr* Members(Expr e) const { return members_.data() + nodes_[e].a; }
  uint32_t Rule(Expr e) const { return nodes_[e].b; }  // kCall, of this source:
  uint32_t SourceOfRule(Expr e) const { return nodes_[e].a; }
  uint32_t NumMembers(Expr e) const { return nodes_[e].b; }
  const PathState& PathsFrom(Expr e) const { return path_states_[nodes_[e].a]; }  // kPaths, with Low and High
  // x where e is x|ε with one x, which is how x{0,1} is kept; else kEmpty.
  Expr OptionalOf(Expr e) const {
    const bool is = nodes_[e].kind == ExprKind::kUnion && NumMembers(e) == 2 && Members(e)[0] == kEpsilonExpr;
    return is ? Members(e)[1] : Expr{kEmpty};
  }
  const ByteSet& Set(Expr e) const { return nodes_[e].first; }  // kBytes
  const ByteTable& Table(Expr e) const { return *automata_[nodes_[e].a]; }  // kAutomaton, with TableState
  uint32_t TableState(Expr e) const { return nodes_[e].b; }
  LeafAutomaton* LeafOf(Expr e) const { return leaves_[nodes_[e].a].get(); }  // kLeaf, with LeafState
  uint32_t LeafState(Expr e) const { return nodes_[e].b; }
  uint32_t ListOf(Expr e) const { return nodes_[e].a; }  // kTexts, with TextNodeOf
  TextList::Node TextNodeOf(Expr e) const { return List(ListOf(e)).At(nodes_[e].b, nodes_[e].c); }
  const TextList& List(uint32_t list) const { return *lists_[list]; }
  size_t Size() const { return nodes_.size(); }
  size_t MemoryBytes() const;
  // For messages and tests: a regular-expression-like text, cut off after `limit` characters.
  std::string Describe(Expr e, size_t limit = 200) const;

  // Whether e is a call and what follows it.
  bool SplitCall(Expr e, Expr* call, Expr* rest) const;

  // Whether e is a set of bytes and what follows it, which is not empty.
  bool SplitBytes(Expr e, Expr* bytes, Expr* rest) const;

  // ---- derivatives
  // The deterministic step of e: disjoint byte sets and their targets, none of which is the empty language.
  void Step(Expr e, std::vector<Term>* out);
  // What is left after a byte, where that is known without the languages of the rules that e begins with.
  bool StepByte(Expr e, uint8_t b, Expr* left);
  // What e has left after a byte in any case; kEmpty: nothing begins with it.
  Expr AfterByte(Expr e, uint8_t b);
  // Whether e begins with a rule that remembers, or is a union with such an expression.
  bool Remembers(Expr e) const;
  // Whether texts of e may begin with ones of a rule that remembers.
  bool BeginsRemembering(Expr e) const;
  // e without what rules remember (RuleSource::Bare), nor what those that it begins with are about to keep (Forget).
  Expr Forget(Expr e);
  // e with the approximations of its calls (RuleSource::Approximate); kEmpty where that is surely empty.
  Expr Approximate(Expr e, Side side);
  // Whether a text of e of some bytes is found, where rules of approximations may be empty (RuleSource::MayBeEmpty).
  bool SurelyEnds(Expr e, const ByteSet& bytes);
  // Whether no string is accepted; exact, memoized. LimitError past limits.emptiness.
  bool IsEmpty(Expr e);
  // The same where a search of so many expressions finds out; else false.
  bool IsSurelyEmpty(Expr e, size_t most);
  // What is known of intersections with counters.
  BoundedParts& Parts();
  // And with languages that push.
  SureMeets& Sure();
  // Whether all strings of e are surely ones of a star.
  bool Covers(Expr star, Expr e);
  bool CoversParts(Expr star, Expr e);
  Expr Mixed(Expr x, uint32_t low);
  bool CoversAny(Expr star, const ExprList& parts);
  // Every byte that strings of e may have, and maybe more.
  ByteSet BytesOf(Expr e);

 private:
  struct alignas(64) Node {  // a line of the cache
    uint32_t a = 0, b = 0, c = 0;
    ExprKind kind = ExprKind::kEmpty;
    bool nullable = false;
    bool extended = false;
    bool push_down = false;
    bool counts = false;    // see Counts
    bool paths = false;     // the same of kPaths
    bool ranked = false;    // whether it, or a tail, was ranked
    uint8_t emptiness = 0;  // of extended nodes: 0 unknown, 1 empty, 2 not empty
    uint32_t depth = 0;
    uint32_t shortest = 0;  // members are at least so long; set by Intern, as is
    uint32_t hash = 0;
    ByteSet first;
  };
  // TimeLimit::Spend, many steps at a time: that one is a call for every step.
  void Spend(int64_t steps = 1) {
    constexpr int64_t kMany = 64;
    if ((spent_ += steps) < kMany) return;
    TimeLimit::Spend(std::exchange(spent_, 0));
  }
  [[noreturn]] static void ThrowLimit(const char* name, size_t limit, const char* what, const char* more = "");
  Expr Intern(const Node& node, const ExprList* members = nullptr);
  // A concatenation, a state of a table or paths that were made before, as most are when they are asked for; kEmpty: none
  // were.
  Expr Find(ExprKind kind, uint32_t a, uint32_t b, uint32_t c = 0) const;
  Expr AutomatonState(uint32_t automaton, uint32_t state);
  uint32_t LeastLength(const Node& n) const;
  bool SameNode(const Node& x, const Node& y, const ExprList* members) const;
  void Reserve(size_t more);  // room for so many expressions
  void FlattenInto(ExprKind kind, Expr e, ExprList* out) const;
  void MergeRepeats(ExprList* parts);
  Expr MergeTurn(Expr x, Expr rest);
  bool FindPaths(Expr e, Expr* paths, uint64_t* key) const;
  bool SameButPaths(Expr x, Expr y) const;
  Expr WithPaths(Expr e, Expr paths);
  void MergePaths(ExprList* parts);
  size_t GraphOf(uint32_t state) const;
  size_t EndOfGraph(size_t graph) const;
  bool PathsEnd(uint32_t state, uint32_t low, uint32_t high);
  void MergeHeads(ExprList* parts);
  void DropTails(ExprList* parts);
  bool IsBroadStar(Expr e) const;
  void DropCovered(ExprList* parts);
  void DropCounted(ExprList* parts) const;
  bool IsBelow(Expr x, Expr y) const;
  bool IsWithin(Expr x, Expr y, size_t* steps) const;
  void DropAbsorbed(ExprList* parts) const;
  void DropUnbounded(ExprList* parts) const;
  Expr ChoiceOf(const TextList& texts, const TextList::Node& node);
  uint32_t AddList(std::shared_ptr<const TextList> texts);
  Expr Utf8Continuation(const CodePointRanges& ranges, int bytes);
  struct Terms {
    std::vector<Term> out;
    std::unordered_set<uint64_t> seen;  // pairs of expression and rest, when there are many terms
  };
  struct Meet {
    struct Class {
      ByteSet bytes;
      uint32_t last;  // the target of the member that was met last, in links
    };
    struct Link {
      uint32_t before;  // the target of the member before
      Expr target;
    };
    std::vector<Class> classes, next;
    std::vector<Link> links;
    std::vector<Term> steps, terms;
  };
  struct KnownUnion {
    uint32_t first = 0, count = 0;  // of its parts, in known_parts_
    Expr whole = kEmpty;
  };
  Expr Normalize(ExprList parts);  // the union of sorted parts
  void Collect(Expr e, Expr rest, Terms* terms);
  void Partition(Expr e, std::vector<Term>* out);
  // Whether some of the targets are unions of those of several terms.
  bool Determinize(const std::vector<Term>& in, std::vector<Term>* out);
  bool PartitionByHeads(Expr e, std::vector<Term>* out);
  uint32_t StepsOfHead(Expr head);
  void KeepEmptiness(Expr e, bool empty);
  bool SearchEmpty(Expr root);
  bool IsEmptySpine(Expr e);
  int SummarizeEmpty(Expr root);
  int SplitEmpty(Expr root);
  friend class SplitMeets;
  Expr Bare(Expr e);
  void SetTraits(Node* n) const;  // push_down and counts
  bool SurelyNotEmpty(Expr e);

  BlockArray<Node, 128> nodes_;
  std::vector<Expr> members_;
  GradualTable table_;  // of nodes
  std::vector<std::shared_ptr<const ByteTable>> automata_;
  std::unordered_map<const ByteTable*, uint32_t> automaton_index_;
  Expr bytes_[256] = {};  // of single bytes; 0 unknown
  std::shared_ptr<BoundedParts> parts_;
  std::shared_ptr<CountedMeets> counted_;
  std::shared_ptr<SureMeets> sure_;
  Expr any_bytes_ = 0, any_text_ = 0;
  Expr utf8_full_[4] = {0, 0, 0, 0};
  struct RuleTable {
    std::shared_ptr<RuleSource> source;
    std::vector<Expr> bodies;  // by rule; kEmpty: not expanded yet
  };
  std::vector<RuleTable> rules_;
  std::vector<std::shared_ptr<LeafAutomaton>> leaves_;
  std::vector<std::shared_ptr<const TextList>> lists_;
  std::vector<PathState> path_states_;
  std::vector<uint32_t> path_graphs_;  // their first states
  struct RankOf {
    uint32_t series, low, high;
  };
  FlatMap<Expr, RankOf> ranks_;
  uint32_t num_series_ = 0;
  std::vector<KnownUnion> known_unions_;  // found again by a hash; the derivatives of one state repeat them
  std::vector<Expr> known_parts_;
  std::vector<std::unique_ptr<Terms>> terms_;  // scratch of Partition
  std::vector<std::unique_ptr<Meet>> meets_;   // the same, for intersections
  std::vector<LeafAutomaton::Arc> leaf_arcs_;  // scratch of Collect
  // Steps of what concatenations begin with, which are the same whatever follows: by expression, where they lie in
  // head_steps_, a term with their number first; kept when asked for again.
  static constexpr uint32_t kNotAsked = 0, kAskedOnce = 1, kNotKept = 2, kFirstKept = 3;
  BlockArray<uint32_t> steps_of_head_;
  BlockArray<Term> head_steps_;
  struct EndSearch;
  bool FindEnd(Expr e, EndSearch* search, int depth);
  FlatMap<Expr, bool> ends_[2];  // known answers of SurelyEnds, of all bytes and of those asked for last
  ByteSet ends_of_;
  FlatMap<uint64_t, bool> covered_;  // known answers of Covers, by star and expression
  bool covering_ = false;            // inside of Covers
  FlatMap<Expr, Expr> bare_;  // known answers of Bare
  FlatMap<Expr, ByteSet> bytes_of_;  // of BytesOf
  FlatMap<Expr, Expr> approximations_[3];  // known ones, by Side
  int64_t spent_ = 0;  // steps
  uint32_t call_depth_ = 0;  // of rules entered by Collect
  int merge_depth_ = 0;  // of nested unions inside MergeRepeats
};

}  // namespace tokamata
