// What a set of JSON values asks of one type: an expression for scalars, cases of simple demands for objects and
// arrays.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/late.h"
#include "automata/csrc/steady.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/definition_order.h"
#include "constraints/csrc/json_format.h"
#include "constraints/csrc/json_leaves.h"
#include "constraints/csrc/json_number.h"
#include "constraints/csrc/json_schema_sets.h"
#include "constraints/csrc/json_string.h"

namespace tokamata {

enum class JsonWhitespace : uint8_t { kFlexible, kCompact, kPretty, kAny, kPattern };
enum class KeyOrder : uint8_t { kSchema, kAny, kSorted };
// kBare: JSON, but a value that is a string is its text, without quotes or escapes; see JsonSchemaRules::BareTexts.
enum class SchemaNotation : uint8_t { kJson, kBare, kYaml };
enum class YamlSequences : uint8_t { kAny, kIndented, kFlush };

struct JsonSchemaOptions {
  JsonWhitespace whitespace = JsonWhitespace::kFlexible;
  std::string whitespace_pattern;  // with kPattern: a regular expression
  uint32_t indent = 2;             // with kPretty
  KeyOrder key_order = KeyOrder::kSchema;
  bool canonical_strings = false;
  bool canonical_numbers = true;
  bool formats = true;
  bool unique_keys = true;     // keys that no schema names do not occur twice, either; states remember what occurred
  bool lenient = false;        // widen what cannot be enforced
  std::vector<std::string> without;  // phrases, in UTF-8, that neither strings nor keys contain
  uint32_t max_cases = 2000;   // alternatives of one conjunction of schemas
  uint32_t max_nesting = 300;  // schemas inside schemas that one question may enter
  // ---- YAML: block style, lines indented by two spaces; white space and spellings above say nothing
  SchemaNotation notation = SchemaNotation::kJson;
  YamlSequences sequences = YamlSequences::kAny;  // under a key: indented or not, or either
  uint32_t max_depth = 16;                        // levels of indentation; what is deeper is written in flow style
  uint32_t max_key = 100;                         // characters of keys that the schema does not name
};

enum class DemandKind : uint8_t {
  // of objects
  kMembers,          // members follow properties, patternProperties and additionalProperties of `a`
  kUnevaluated,      // members that no group in the list `b` covers follow `a`
  kNames,            // keys follow `a`
  kRequired,         // key `a` occurs
  kForbidden,        // key `a` does not occur
  kNotAMember,       // key `b`, the only one that `a` says something of, does not occur or violates `a`
  kProperties,       // between `b` and `c` members
  kSomeMember,       // some member violates kMembers of `a`
  kSomeUnevaluated,  // … kUnevaluated of `a`, `b`
  kSomeName,         // … kNames of `a`
  kEither,           // some literal of the clause `a` holds
  kDistinct,         // members are the elements of an array, strings that follow the set `a`: see ReadDistinct
  // of arrays
  kItems,                // elements follow prefixItems, items and additionalItems of `a`
  kUnevaluatedItems,     // elements that the list `b` does not cover follow `a`
  kLength,               // between `b` and `c` elements
  kContains,             // between `b` and `c` elements follow `a`
  kUnique,               // elements are distinct; said by `a`
  kSomeItem,             // some element violates kItems of `a`
  kSomeUnevaluatedItem,  // … kUnevaluatedItems of `a`, `b`
  kRepeated,             // two elements are equal; said by `a`
};

struct Demand {
  DemandKind kind;
  uint32_t a = 0, b = 0, c = 0;
  bool quiet = false;  // what it asks of members or elements does not count as their evaluation (inside `not`)
  bool operator==(const Demand& o) const {
    return kind == o.kind && a == o.a && b == o.b && c == o.c && quiet == o.quiet;
  }
};
// What some member or element is to violate.
inline Demand GroupOf(const Demand& some) {
  const auto kind = [&some] {
    switch (some.kind) {
      case DemandKind::kSomeMember: return DemandKind::kMembers;
      case DemandKind::kSomeUnevaluated: return DemandKind::kUnevaluated;
      case DemandKind::kSomeItem: return DemandKind::kItems;
      case DemandKind::kSomeUnevaluatedItem: return DemandKind::kUnevaluatedItems;
      default: return some.kind;
    }
  };
  return {kind(), some.a, some.b, 0};
}
// What a clause may say of one key.
struct Literal {
  enum Way : uint32_t { kLacks, kOccurs, kValid, kInvalid } way;  // the last two: with a value that follows, or violates, `use`
  KeyId key;
  UseId use = kNoUse;
  bool operator==(const Literal& o) const { return way == o.way && key == o.key && use == o.use; }
};
using Clause = std::vector<Literal>;  // a disjunction
using Case = std::vector<Demand>;  // a conjunction, in the order in which the schema says it
using Cases = std::vector<Case>;   // a union; none: nothing, an empty case: everything

enum class JsonType : uint8_t { kSimple, kNumber, kString, kArray, kObject };
constexpr uint8_t kNullBit = 1, kFalseBit = 2, kTrueBit = 4, kSimpleBits = 7;

// Keywords as the evaluator knows them.
enum class Keyword : uint8_t;

class SchemaCases {
 public:
  // `inhabited` answers whether a set has values of a type; it may say yes when it cannot tell.
  SchemaCases(Expressions* pool, SharedDocuments* documents, const JsonSchemaOptions* options, SchemaSets* sets,
              std::function<bool(SetId, JsonType)> inhabited);

  // In a pool that began with the leaves'.
  void Begin(const JsonLeaves& leaves) {
    strings().Begin(leaves.strings());
    numbers_.Begin(leaves.numbers());
  }

  uint8_t SimpleOf(SetId set);
  Expr NumberOf(SetId set);  // texts
  Expr AnyNumber() { return numbers_.Number(); }
  Expr StringOf(SetId set);  // contents between the quotes
  Expr StringOf(SetId set, StringStyle style);
  // Contents of strings and keys without the phrases that the options exclude.
  Expr Allowed(StringStyle style);
  bool HasString(SetId set);
  // Whether all strings, at most of some least length, are in a set, as far as its keywords show.
  bool HasPlainStrings(SetId set);
  const Cases& CasesOf(SetId set, JsonType type);
  // Whether CasesOf(set, type) is being computed.
  bool Active(SetId set, JsonType type) const {
    return std::find(active_.begin(), active_.end(), uint64_t{set} << 3 | static_cast<uint8_t>(type)) != active_.end();
  }

  // ---- groups: kMembers, kUnevaluated; patterns are keys that hold a pattern's source
  // The schemas that apply to a key, or to one without a name in any schema that matches exactly the given patterns.
  std::vector<UseId> AppliedToKey(const Demand& group, KeyId key);
  std::vector<UseId> AppliedToOther(const Demand& group, const std::vector<KeyId>& matched);
  void CollectKeys(const Demand& group, KeyLists* names, std::vector<KeyId>* patterns);
  bool Matches(KeyId pattern, KeyId key);
  // Expressions that are searched, to see whether two languages of strings or numbers exclude each other.
  static constexpr size_t kMostSearched = 2'000;
  // Whether a text is among contents of strings.
  bool Contains(Expr contents, KeyId key);
  // How many texts contents have that are known to list them; 0 where they are not.
  uint32_t NumListed(Expr contents);
  // ---- clauses: kEither
  static constexpr size_t kMostOwed = 63;  // demands of one object that members settle, clauses among them
  Clause ClauseOf(const Demand& either) const;
  // Whether it is easy to tell what violates a schema, or, `deeper`, a schema of few members.
  bool NegatesEasily(UseId use, uint32_t deeper = 0);
  void CheckCases(size_t n) const;  // LimitError
  // ---- groups: kItems, kUnevaluatedItems
  std::vector<UseId> AppliedToItem(const Demand& group, uint32_t index);
  // With `lenient`: whether a pattern cannot be enforced, so that what it says is left out. Keys that such a one may match
  // follow no schema but those of properties and other patterns.
  bool IsWidened(std::string_view pattern);
  bool HasWidenedKeys(UseId use);
  uint32_t PrefixOf(const Demand& group);  // elements with a schema of their own

  JsonStrings& strings() { return styles_[0]->strings; }
  const JsonStrings& strings() const { return styles_[0]->strings; }
  JsonStrings& StringsOf(StringStyle style) { return Styled(style).strings; }
  // Adds strings that have all values of a set among them; false where the schema does not say that there are no others.
  bool ListStrings(SetId set, std::vector<std::string>* out);
  // Lists the values of a set, where the schema lists them; false where it does not.
  bool FiniteValues(SetId set, std::vector<const JsonValue*>* out);
  // The place of a use, for messages.
  std::string Describe(UseId use) const;
  SetId SetOf(UseId use) { return sets_.And(kAnyValue, SignedUse{use, true}); }

  struct Bits;
  struct Numbers;
  struct Strings;
  struct Compound;

 private:
  template <class Algebra>
  typename Algebra::Value Evaluate(Algebra& algebra, UseId use, bool positive, bool tracking);
  template <class Algebra>
  typename Algebra::Value EvaluateNode(Algebra& algebra, UseId use, bool positive, bool tracking, ListId beside);
  template <class Algebra>
  typename Algebra::Value EvaluateKeyword(Algebra& algebra, UseId use, Keyword keyword, const JsonValue& value,
                                          bool positive, bool tracking, ListId beside);
  template <class Algebra, class F>
  typename Algebra::Value All(Algebra& algebra, size_t n, bool positive, F part);
  template <class Algebra>
  typename Algebra::Value OneOf(Algebra& algebra, const std::vector<UseId>& uses, bool positive, bool tracking, ListId required);
  template <class Algebra>
  typename Algebra::Value OfSet(Algebra& algebra, SetId set);
  template <class Algebra>
  std::vector<SignedUse> Spread(Algebra& algebra, SignedUse part);
  template <class Algebra>
  bool AllDisjoint(Algebra& algebra, const std::vector<SignedUse>& uses);
  UseId Child(UseId parent, const JsonValue& node);
  Cases FindCases(SetId set, JsonType type);
  // 1 + their place in cases_; 0: there are none.
  uint32_t KeepCases(Cases cases);
  const Cases& KeptCases(uint32_t kept) const;
  bool ListedValues(SetId set, std::vector<const JsonValue*>* out);
  // What a schema says of strings by listing some. One that is not in all of the lists is not valid; where that is the
  // whole of what it says, every other one is.
  struct Listing {
    std::vector<std::vector<std::string_view>> lists;  // sorted
    bool whole = false;
    const std::vector<std::string_view>* Fewest() const;  // the shortest list, or null
  };
  const Listing& ListingOf(UseId use, int depth = 0);
  Listing FindListing(UseId use, int depth);
  bool ListApart(UseId a, UseId b);
  std::optional<bool> AnyListed(SetId set);
  bool Reads(Expr contents, std::string_view text);
  bool Disjoint(UseId a, UseId b, JsonType type);
  struct KeyValues {
    bool none = true;                // there are none
    bool listed = true;              // all are among these strings
    std::vector<std::string> texts;  // sorted
  };
  struct Tag {
    KeyId key;
    const std::vector<std::string>* texts;
  };
  struct Tags {
    std::vector<KeyId> keys;  // that objects must have, or some of them
    std::vector<Tag> listed;
  };
  ListId RequiredBeside(UseId use, ListId beside);
  const Tags& TagsOf(UseId use, const Cases& cases, ListId required);
  Tags FindTags(UseId use, const Cases& cases, ListId required);
  const KeyValues& ValuesOf(UseId use, const Cases& cases, KeyId key);
  template <class Text>
  static bool NoneInBoth(const std::vector<Text>& a, const std::vector<Text>& b);
  static bool TagsDiffer(const Tags& a, const Tags& b);
  bool RefusesTags(UseId use, const Cases& cases, const Tags& tags);
  [[noreturn]] void Unchecked(const JsonValue& at, std::string_view format, const char* note) const;
  // Where alternatives of objects multiply beyond a few cases, those that speak of single keys stay clauses, each one
  // demand; where that is not possible either, they multiply up to the limit.
  enum class Product : uint8_t { kFew, kClauses, kAll };
  struct TooManyCases {};
  bool FewOwed(const Cases& cases) const;
  Cases AsClauses(Cases cases);
  Cases WithChoiceOfKeys(Cases cases);
  bool Normal(const Cases& cases, std::vector<Clause>* clauses);
  bool NormalOf(const Demand& d, std::vector<Clause>* clauses);
  bool AddAll(const Clause& literals, Clause* clause);
  bool Add(Literal l, Clause* clause);
  Demand Said(const Clause& clause);
  Case NoneOf(const Clause& clause);
  Cases AndCases(Cases a, Cases b);
  Cases NegateCases(const Cases& cases);
  bool OnlyKey(UseId use, KeyId* key);
  Cases SomeMember(UseId use, bool quiet);
  void MergeLacking(Cases* cases);
  void DropLacking(ListId required, Cases* cases);
  bool IsSaid(const Case& known, const Case& demands);
  bool SurelySome(const Case& c, UseId use);
  bool ListsNothing(Case* both, const Case& operand);
  Span<const JsonValue> ListedBy(UseId use, bool* alone);
  Cases Unevaluated(UseId use, const JsonValue& value, const Cases& base, JsonType type);

  Expressions& pool_;
  SharedDocuments& documents_;
  const JsonSchemaOptions& options_;
  SchemaSets& sets_;
  std::function<bool(SetId, JsonType)> inhabited_;
  struct Style {
    Style(Expressions* pool, StringStyle style) : strings(pool, style), formats(&strings) {}
    JsonStrings strings;
    JsonFormats formats;
    Expr allowed = kEmpty;  // see Allowed; kEmpty: not made yet
  };
  Style& Styled(StringStyle style);
  // The first one can write every text, and speaks for all where only the text matters; others when they are needed.
  std::array<std::unique_ptr<Style>, kStringStyles> styles_;
  JsonNumbers numbers_;
  struct NumbersAndTexts {
    NumberSet set;
    Expr texts;
  };
  Late<std::vector<NumbersAndTexts>> kept_numbers_;
  UseId nothing_;
  Steady<Cases> cases_;
  FlatMap<uint64_t, uint32_t> cases_of_;  // by set and type, see KeepCases
  FlatMap<uint64_t, Expr> scalars_;
  // By use, kind of value, style and sign: values of strings, and of schemas that lead to many others.
  FlatMap<uint64_t, uint32_t> evaluated_;
  uint32_t evaluations_ = 0;
  std::vector<uint64_t> active_;
  // Keys that are required beside the schema that is evaluated next, by one whose allOf it is in; 1 more than their list.
  static constexpr ListId kNothingBeside = 0;
  ListId beside_ = kNothingBeside;
  Late<std::unordered_map<uint64_t, Tags>> tags_;  // by use and what is required beside it
  Late<std::unordered_map<uint64_t, KeyValues>> values_of_;  // by use and key
  Late<std::unordered_map<UseId, Listing>> listings_;
  Late<std::unordered_map<uint64_t, bool>> disjoint_;  // false while being asked
  FlatMap<uint64_t, bool> matches_, contained_;
  Late<std::unordered_map<std::string, bool>> widened_;  // by pattern
  // Of contents that list some, sorted, each once.
  Late<std::unordered_map<Expr, std::vector<std::string_view>>> texts_of_;
  uint32_t nesting_ = 0;
  Product product_ = Product::kAll;
  UseId growing_ = kNoUse;  // the schema that was evaluated last, from inside out
};

// Whether two sorted lists have nothing in common.
template <class Text>
bool SchemaCases::NoneInBoth(const std::vector<Text>& a, const std::vector<Text>& b) {
  TimeLimit::Spend(static_cast<int64_t>(1 + (a.size() + b.size()) / 8));
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int order = a[i].compare(b[j]);
    if (order == 0) return false;
    ++(order < 0 ? i : j);
  }
  return true;
}

}  // namespace tokamata
