// JsonSchemaRules: a JSON Schema as rules of a push-down expression.
//
// Boolean keywords act on schemas, not on texts. What is asked of a value is a conjunction of schemas and negated
// schemas (a SetId). The value's first byte fixes its type, and per type the conjunction becomes alternatives: an
// expression for null, booleans, numbers and strings; for objects and arrays cases, each a conjunction of demands.
// A case is read member by member: its state is the case, the position among the keys and what is still owed. Sets,
// cases and states are interned, so equal ones are one rule, and a rule is expanded when decoding reaches it.
// Expressions know texts inside strings, numbers and keys only; all else is calls, unions and concatenations, and so
// stays decidable under recursion.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/csrc/arena.h"
#include "automata/csrc/expression.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/language.h"
#include "automata/csrc/late.h"
#include "automata/csrc/line_keys.h"
#include "automata/csrc/opening_rules.h"
#include "automata/csrc/places.h"
#include "automata/csrc/run.h"
#include "automata/csrc/steady.h"
#include "automata/csrc/text_list.h"
#include "constraints/csrc/json_schema_cases.h"
#include "constraints/csrc/seen_keys.h"

namespace tokamata {

class JsonSchemaRules final : public RuleSource, public RulePlaces, public OpeningRules, public LineKeys {
 public:
  // A language that is built with the rules of a schema.
  static Language Build(std::shared_ptr<SharedDocuments> documents, const JsonSchemaOptions& options,
                        const std::function<Expr(JsonSchemaRules*)>& build, const Limits& limits);

  // Refuses malformed schemas, references that lead nowhere and what cannot be enforced, anywhere below a schema.
  void Check(SchemaPlace root);
  std::string WhyEmpty(SetId set, int depth = 0);
  std::vector<std::string> EmptyPlaces(SchemaPlace root, bool* whole);
  // All texts of values in a set; kEmpty when there is none.
  Expr Texts(SetId set);
  // The schema at a place.
  SetId SetOf(SchemaPlace place);
  // The same; of a root that is nothing but an allOf, as of two schemas that are compared, its parts, side by side.
  SetId SetOfRoot(SchemaPlace root);
  bool Inhabited(SetId set);

  std::string PlaceOf(uint32_t rule, bool before) override;
  Expr Expand(uint32_t rule) override;
  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override;
  size_t MemoryBytes() const override;
  // JSON has no text that begins another one, but for numbers; nor have what is left of objects, arrays and strings.
  bool EndsByItself(uint32_t rule) override;
  End EndOf(uint32_t rule) override;
  bool Step(uint32_t rule, uint8_t byte, Expr* rest) override;
  bool HasMemory() const override { return has_memory_; }
  bool RemembersValues() const override { return has_values_; }
  bool MayRunOut() const override { return may_run_out_; }
  bool Remembers(uint32_t rule) override {
    return rules_[rule].kind == Rule::kFreshKeys || rules_[rule].kind == Rule::kFreshValue || BeginsYamlKey(rule);
  }
  bool Opens(uint32_t rule) override;
  Expr Forget(uint32_t rule) override;
  Expr Bare(uint32_t rule) override;
  bool Since(uint32_t rule, Expr* before, RuleText* place) override;
  Expr Outline(uint32_t rule, uint32_t* slack) override;
  uint32_t LeastLength(uint32_t rule) override;
  bool MayRemember() const override { return IsUnique(); }
  bool HasKeysInLines() const override { return IsUnique() && IsYaml(); }
  bool BeginsKey(uint32_t rule) const override { return BeginsYamlKey(rule); }
  bool IsBetweenBrackets(uint32_t rule) const override;
  Expr LeftOfValue(uint32_t rule) override;
  Expr Approximate(uint32_t rule, Side side) override;
  bool MayBeEmpty(uint32_t rule) const override;
  bool Approximates() const override { return approximates_; }
  bool Texts(uint32_t rule, Expr* model, RuleText* place) override;
  void ForEachText(const RuleText& place, const ByteSet& first, const TextVisitor& visit) override;
  bool ForEachRawByte(const RuleText& place, const ByteVisitor& enter) override;

 private:
  JsonSchemaRules(Expressions* pool, std::shared_ptr<SharedDocuments> documents, const JsonSchemaOptions& options);

  enum class Known : uint8_t { kUnknown, kNo, kYes };

  // ---- objects
  using Owed = uint64_t;  // demands of a list, as bits; at most SchemaCases::kMostOwed
  static constexpr Owed kAllOwed = ~Owed{0};
  static Owed OwedBit(size_t i) { return Owed{1} << i; }
  struct OwedLiteral {  // of a clause, of one key
    Owed bit;
    Literal::Way way;
    UseId use;
  };
  struct NamedKey {
    KeyId key;
    SetId value;
    bool required;
  };
  struct OtherKeys {  // keys without a name in the schema that match the same patterns
    Expr contents;
    Expr single, plain;  // YAML: the same ones in other styles
    SetId value;
    std::vector<KeyId> patterns;
    Owed settles;      // of the owed kSomeName those that such a key settles
    uint32_t count = kUnbounded;  // how many keys there are; kUnbounded: too many to run out of them
    std::vector<std::string> texts;  // all of them, the shortest first, where there are kFewTexts at most
    bool everything = false;  // in an ordered plan: contents is that of all keys, those with a name included
    Expr counted = kEmpty;    // the same keys in JSON, where they are counted
  };
  // A place in the order of keys at which a kind of others begins to run out: a text at it or little above, and the
  // contents of all texts below.
  struct KeyCut {
    std::u32string at;
    Expr below;
  };
  struct SortedKey {
    std::u32string_view text;
    KeyId key;
    uint32_t named;  // into plan.keys; kUnbounded for keys that must not occur
  };
  struct ObjectPlan {
    bool ready = false, others_ready = false, sorted_ready = false;
    bool plain = false;  // keys are read by tries: see KeyReader
    bool free = false;   // plain, nothing is owed, and any order or nothing depends on how many members there are
    bool any_order = false;  // of keys, those with a name included
    bool ordered = false;  // keys without a name stand between the others: see json_schema_sorted_keys.cc
    bool named_all = false;  // all keys that may occur are in `keys`
    bool open = false;     // YAML: there are keys without a name
    bool endless = false;  // every beginning of a key without a name is that of more keys than may ever occur
    bool array = false;    // of distinct elements, which follow the set `elements`
    bool mixed = false;    // of which some are no strings: they follow `rest`
    SetId elements = kAnyValue, rest = kNoValue;
    SeenKeys::Set names_of_schema = 0;  // YAML, endless: the mentioned keys
    uint32_t next = 0;     // of an array: the plan of the next element
    uint32_t count = 0;    // of an array: how many elements it can have at most; 0: not known yet
    uint32_t rest_count = 0;  // how many that are no strings
    std::vector<Demand> groups, names, owed;
    std::vector<KeyId> mentioned, patterns;
    std::vector<NamedKey> keys;            // in the order in which they are written
    std::vector<uint32_t> required_after;  // how many of keys[i..] are required
    std::vector<Owed> settles;             // what of owed they may settle; kAllOwed: not known yet
    std::vector<Owed> settled_behind;      // … those behind one, and other keys; empty: not known yet
    std::vector<Owed> lacking;             // what of owed is settled where they do not occur; empty: nothing
    std::vector<std::vector<OwedLiteral>> literals;  // of owed kEither, by key; empty: none
    std::vector<OtherKeys> others;
    std::vector<SortedKey> sorted;         // the mentioned ones, by their texts
    std::vector<uint32_t> named_before;    // ordered: how many of sorted[0..i) are in keys
    std::vector<uint32_t> sorted_at;       // where keys[i] stands in sorted
    Span<const uint32_t> every_key{};      // 0, 1, … of sorted, once a reader asked for it
    std::unordered_map<uint64_t, Span<const uint32_t>> coming;  // free: by where keys begin, and where they end
    std::vector<KeyCut> cuts;              // ordered: in order
    bool ascii = true;                     // all of them are ASCII
    uint32_t low = 0, high = kUnbounded;
    bool possible = true;
  };
  struct ObjectState {
    uint32_t plan;
    uint32_t position;   // of the next key; with key order "any" the list of the keys that occurred
    uint32_t low, high;  // members still to come
    Owed owed;           // of plan.owed
    uint32_t depth;      // of indentation, 0 where it makes no difference; and a KeyReading
    uint32_t first;      // 1 before the first member; in YAML before the key of any, 2: which is not remembered
    // Keys without a name in the schema that occurred; of an ordered plan the last key, if it is one. With kOneMoreKey,
    // where CountsLongest, instead how long they may be.
    SeenKeys::Set seen = 0;
  };
  struct Member {  // a member that may come next
    bool named;
    uint32_t index;  // into plan.keys or plan.others
    SetId value;
    ObjectState next;
    Expr contents = kEmpty;  // of a key without a name, between the quotes
    uint32_t slot = 0;       // of an ordered plan: into the reader's slots
  };

  // What is left at a place in an element that must be distinct from others: of the texts of all elements, and of those
  // of elements that occurred, as far as they begin like this one.
  struct ValuePlace {
    Expr left = kEmpty;
    std::vector<Expr> like;
    Known alive = Known::kUnknown;
  };
  struct ValueCount {
    uint32_t least;  // values; kUnbounded: no end of them, or very many
    bool exact;
  };

  // The keys that may come next in a state of an object, as a trie whose nodes are rules: a range of sorted keys that
  // share `depth` characters. So keys and what is no key of the schema are told apart byte by byte without unions and
  // complements, and only where decoding goes.
  struct KeyReader {
    ObjectState state;
    bool ready = false;
    bool others = false;          // whether a key may be another one than those here
    Span<const uint32_t> keys{};  // into plan.sorted; of a free plan some are behind already
    uint32_t limit = 0;           // of a free plan: the first of plan.keys that must not come yet
    bool room[2] = {true, true};  // of a free plan: whether there is room for a key that is not required, or is
    std::vector<Expr> ends;       // else: what follows the closing quote, by key; kEmpty: it must not come
    Expr other_end = kEmpty;      // what follows it after another key
    Expr rest = kEmpty;           // with others: any more characters, and all that follows
    // ---- where other keys must not occur twice
    std::vector<Member> members;  // of others; where patterns or names matter, all
    std::vector<uint8_t> kinds;   // there: whether others may come, by plan.others
    std::vector<Expr> slots;      // of an ordered plan: different contents of members
    // There: what is left after a path of the others that did not occur yet, by plan.others or by slots; in YAML in a
    // style, which is above the path.
    std::unordered_map<uint64_t, std::vector<Expr>> left;
    std::unordered_map<SeenKeys::Path, ValuePlace> places;  // of elements that are no strings, by what was read
  };
  // How keys without a name in the schema are read in approximations, as bits of a depth: kOverKeys, they may occur any
  // number of times; kUnderKeys, none comes but those that are owed, and with kLastKey not even they; with kFixedKey
  // they are ones that can be told from what occurred (see FixedKey). kOneMoreKey, of kUnderKeys: one that is not owed
  // may come, after which none does (see OneMoreKey). kNamedKey: the next key has a name.
  enum KeyReading : uint32_t {
    kNoReading = 0,
    kOverKeys = 1u << 31,
    kUnderKeys = 1u << 30,
    kLastKey = 1u << 29,
    kNamedKey = 1u << 28,
    kFixedKey = 1u << 27,
    kOneMoreKey = 1u << 26,
  };
  static constexpr uint32_t kReadings = kOverKeys | kUnderKeys | kLastKey | kNamedKey | kFixedKey | kOneMoreKey;
  static constexpr uint32_t kOfValues = kOverKeys | kUnderKeys | kOneMoreKey;  // what values are read by, too
  uint32_t ReadingOf(uint32_t depth) const { return IsUnique() ? depth & kReadings : 0; }
  // At a node: after nothing, a backslash, \u; and from the closing quote of the key `low` on, or of another key.
  enum KeyStage : uint32_t { kRawKey, kEscapedKey, kNumberedKey, kKeyEnd, kOtherEnd };
  struct KeyNode {
    uint32_t reader, low, high, depth, stage;
  };

  // A place in a key that must not have occurred yet: the keys of the schema and those that occurred which begin with
  // the path; `spelled`: 0, or 1 + a KeyId, what was read of the spelling of the next character. In YAML depth is the
  // KeyStyle, and what was read may also be what ends a key unless it is spelled on.
  // Bits of a RuleText's depth.
  static constexpr uint32_t kFreshPlace = 1u << 31, kSincePlace = 1u << 30, kValuePlace = 1u << 29;
  struct FreshKey {
    uint32_t reader, low, high, depth;
    SeenKeys::Set seen;
    SeenKeys::Path path;
    uint32_t spelled;
  };

  // A place in a string of a list: the neighbours low..high of it, which begin alike for `depth` bytes.
  static constexpr uint32_t kListedPlace = 8;  // of a RuleText, in the place of a KeyStage
  struct ListedNode {
    SetId set;
    uint32_t low, high, depth;
  };

  struct MemberValue {
    SetId value;
    Owed owed;
  };

  // ---- arrays
  struct ArrayPlan {
    bool ready = false;
    std::vector<Demand> groups, contains, owed;
    std::vector<SetId> values;  // by index, the last one for all that follow
    uint32_t low = 0, high = kUnbounded;
    bool unique = false, repeated = false;
    bool many = false;  // elements are told apart by what they settle: see json_schema_owed_elements.cc
    UseId unique_use = 0;
    std::vector<UseId> choices;  // with unique or repeated: every value that an element may have
    bool distinct = false;       // the elements are read as the members of one of the objects `members`
    std::vector<uint32_t> members;
  };
  struct ArrayState {
    uint32_t plan;
    uint32_t index;      // at most plan.values.size() - 1
    uint32_t low, high;  // elements still to come
    Owed owed;           // of plan.owed, and kRepeatedBit
    uint32_t counts;     // list: elements of each of plan.contains so far, then the choices used
    uint32_t depth, first;
  };
  struct Element {
    SetId value;
    ArrayState next;
  };
  struct ElementKind {
    SetId value;
    Owed owed;        // what it settles of plan.owed
    Owed seen;        // those of plan.contains that it counts for
    uint32_t choice;  // of plan.choices; kUnbounded: none
  };
  struct ElementKinds {
    std::shared_ptr<const std::vector<ElementKind>> all;
    std::shared_ptr<const std::vector<ElementKind>> best;  // without those as good as which there is another one
  };
  struct ElementPlaces {
    std::vector<SetId> values;  // by place, the last one for all that follow
    uint32_t low;               // how many elements there are at least
  };
  struct Rule {
    enum Kind : uint8_t { kValue, kObject, kArray, kKeys, kFreshKeys, kFreshValue, kListed } kind;
    uint32_t words[9];
    Expr call;
  };

  // json_schema_rules.cc: values, layout, interning
  StateId FindRule(Rule::Kind kind, const uint32_t* words, size_t n, uint64_t* hash) const;
  Expr CallRule(Rule::Kind kind, const uint32_t* words, size_t n, const ByteSet& first, bool nullable = false);
  Expr CallValue(SetId set, uint32_t depth);
  Expr CallObject(const ObjectState& s);
  static ObjectState ObjectOf(const uint32_t* w) {
    return {w[0], w[1], w[2], w[3], w[4] | Owed{w[8]} << 32, w[5], w[6], w[7]};
  }
  Expr CallArray(const ArrayState& s);
  static ArrayState ArrayOf(const uint32_t* w) {
    return {w[0], w[1], w[2], w[3], w[4] | Owed{w[8]} << 32, w[5], w[6], w[7]};
  }
  Expr ValueBody(SetId set, uint32_t depth);
  Expr BareTexts(SetId set);
  uint32_t Deeper(uint32_t depth) const {
    const uint32_t reading = ReadingOf(depth), level = depth & ~reading;
    return (reading & kOfValues) | (options_.whitespace == JsonWhitespace::kPretty ? level + 1 : 0);
  }
  Expr Line(uint32_t depth);
  Expr Comma(uint32_t depth);
  Expr Open(uint32_t depth) { return Line(depth); }
  Expr Close(uint32_t depth, bool empty, char bracket);
  Expr KeyText(KeyId key);
  Expr QuotedKey(Expr contents);

  // yaml_schema_rules.cc: block style. A place is where a value stands, at a level of indentation; kFlow: in flow
  // style.
  enum YamlPlace : uint32_t { kTop, kAfterKey, kAfterDash };
  static constexpr uint32_t kFlow = 1u << 24;
  enum KeyStyle : uint32_t { kKeyBegins, kDoubleKey, kSingleKey, kPlainKey };
  // A character takes ten characters at most between double quotes, two between single ones: so keys may be longer
  // there.
  static constexpr uint32_t kSingleTimes = 5, kPlainTimes = 10;
  bool IsYaml() const { return options_.notation == SchemaNotation::kYaml; }
  bool IsFlow(uint32_t depth) const { return (depth & ~kReadings) == kFlow; }
  uint32_t YamlPlaced(uint32_t depth, YamlPlace place) const {
    const uint32_t reading = depth & kOfValues, level = depth & ~kReadings;
    return reading | (level == kFlow ? kFlow : level << 2 | place);
  }
  static const ByteSet& YamlValueFirst(uint32_t placed);
  static const ByteSet& YamlNextFirst(uint32_t depth, bool first);
  Expr YamlNewLine(uint32_t level);
  Expr YamlScalars(SetId set, bool flow);
  Expr YamlStringOf(SetId set, bool flow);
  Expr YamlLines(SetId set, uint32_t level);
  Expr YamlFlow(SetId set, uint32_t reading);
  void AddYamlCollections(Expr before, SetId set, JsonType type, uint32_t depth, std::vector<Expr>* parts);
  bool YamlEmpty(SetId set, JsonType type);
  Expr YamlValue(SetId set, uint32_t placed);
  Expr YamlKey(KeyId key, bool flow);
  Expr YamlOtherKeys(const OtherKeys& o, bool flow);
  Expr YamlObject(const ObjectState& s);
  Expr YamlMember(const Member& m, uint32_t plan);
  Expr YamlArray(const ArrayState& s);
  Expr YamlDistinct(const ObjectState& s);
  Expr YamlPlain();
  void CheckYamlKey(std::string_view text, const JsonValue* at) const;  // at: null where it is not known

  // json_schema_object.cc
  uint32_t ObjectPlanOf(const Case& demands);
  ObjectPlan& Prepared(uint32_t plan);
  void NameOthers(ObjectPlan* p, std::vector<uint8_t>* seen, std::vector<KeyId>* order);
  SetId OthersOf(const ObjectPlan& p, const std::vector<KeyId>& patterns);
  void PrepareOthers(uint32_t plan);
  std::vector<OtherKeys> FindOthers(const ObjectPlan& p);
  Expr AllKeys(const ObjectPlan& p, StringStyle style);
  struct KeyClass;
  bool CountsApart() const;
  bool IsEmpty(const OtherKeys& keys);
  void FindContents(KeyClass* c);
  template <class Language, class Mark>
  void SplitKeys(const ObjectPlan& p, std::vector<KeyClass>* classes, Language language, Mark mark);
  void LeaveOutNames(const ObjectPlan& p, OtherKeys* keys);
  template <class F>
  std::vector<MemberValue> ValuesOf(const ObjectPlan& p, SetId value, Owed owed, Owed now, F applied);
  std::vector<MemberValue> NamedValues(uint32_t plan, uint32_t index, Owed owed);
  void SettleClauses(const ObjectPlan& p, uint32_t index, Owed now, std::vector<MemberValue>* values);
  std::vector<MemberValue> OtherValues(uint32_t plan, uint32_t index, Owed owed);
  bool AnyAppliedToOther(const ObjectPlan& p, const Demand& group, const std::function<bool(UseId)>& holds);
  Owed SettledByKey(uint32_t plan, uint32_t index);
  Owed SettledBehind(uint32_t plan, uint32_t index);
  Owed SettledByOthers(const ObjectPlan& p);
  Owed OwedWithout(const ObjectPlan& p, Owed owed, uint32_t begin, uint32_t end) const;
  Owed OwedAtEnd(const ObjectState& s);
  void AddClauses(const std::vector<Demand>& clauses, ObjectPlan* p);
  struct Settling;
  bool CanSettle(const ObjectState& s, const std::vector<uint32_t>& used);
  ObjectState StartObject(uint32_t plan, uint32_t depth);
  bool ObjectMayEnd(const ObjectState& s);
  void Members(const ObjectState& s, std::vector<Member>* out);
  ObjectState AfterMember(ObjectState s) const;
  ListId WithKey(ListId occurred, uint32_t key);
  bool ObjectInhabited(const ObjectState& s);
  Expr ObjectBody(const ObjectState& s);
  Expr OutlineObject(uint32_t rule, uint32_t* slack);
  Expr AnyMember(uint32_t plan, uint32_t depth);

  // json_schema_keys.cc
  void SortKeys(ObjectPlan* plan);
  Expr KeysOf(const ObjectState& s);
  KeyReader& PreparedReader(uint32_t reader);
  void FillMembers(uint32_t reader);
  void FillFree(uint32_t reader);
  void FillFromMembers(uint32_t reader);
  bool KeyMayCome(const KeyReader& reader, uint32_t index);
  Expr AfterKey(const KeyReader& reader, uint32_t index);
  Expr CallKeys(const KeyNode& n);
  Expr KeysBody(const KeyNode& n);
  Expr OutlineKeys(uint32_t rule);
  Expr RawKeys(const KeyReader& reader, const KeyNode& n);
  Expr EscapedKeys(const KeyReader& reader, const KeyNode& n);
  Expr NumberedKeys(const KeyReader& reader, const KeyNode& n);
  bool KeyEnds(const KeyReader& reader, const KeyNode& n) const;
  Span<const uint32_t> ComingKeys(ObjectPlan* plan, uint32_t position, uint32_t limit);
  void FindRoom(KeyReader* reader);
  bool AnyComes(const KeyReader& reader, uint32_t low, uint32_t high);
  bool IsBehind(const KeyReader& reader, uint32_t named) const;
  void EnterKeys(const KeyReader& reader, KeyNode n, uint32_t base, const ByteVisitor& enter);
  // Calls visit(character, the node after it) for each character that goes on towards a key.
  template <class F>
  void ForEachKeyChild(const KeyReader& r, const KeyNode& n, F visit) {
    const std::vector<SortedKey>& sorted = objects_[r.state.plan].sorted;
    const auto character = [&](uint32_t i) { return static_cast<uint32_t>(sorted[r.keys[i]].text[n.depth]); };
    for (uint32_t i = n.low + KeyEnds(r, n), j = i; i < n.high; i = j) {
      const uint32_t c = character(i);
      j = RunEnd(i, n.high, [&](uint32_t k) { return character(k) == c; });
      if (AnyComes(r, i, j)) visit(c, KeyNode{n.reader, i, j, n.depth + 1, kRawKey});
    }
  }

  // json_schema_fresh_keys.cc
  bool IsUnique() const { return options_.unique_keys && !forgets_; }
  // Whether keys can be read by tries: any text may be one, and any of its spellings.
  bool ReadsTexts() const { return !IsYaml() && !options_.canonical_strings && options_.without.empty(); }
  uint32_t ReaderOf(const ObjectState& s);
  uint32_t BareReader(uint32_t reader);
  Expr FreshKeysOf(uint32_t reader);
  Expr CallFresh(const FreshKey& n);
  FreshKey FreshOf(uint32_t rule) const;
  void StepFresh(const FreshKey& n, uint8_t byte, Expr* rest);
  Expr AfterFresh(const FreshKey& n);
  Expr AfterQuote(const ObjectPlan& p, const Member& m, uint32_t depth);
  Expr AfterOther(const KeyReader& reader, SeenKeys::Path path, uint32_t index);
  const std::vector<Expr>& LeftAfter(KeyReader* reader, SeenKeys::Path path, uint32_t style);
  Expr ForgetPath(const FreshKey& n);
  Expr AfterBytes(Expr e, std::string_view bytes);
  bool AnyAfter(const std::vector<Expr>& left, std::string_view bytes);
  std::vector<Expr> LeftOf(const FreshKey& n);
  bool IsAlive(const FreshKey& n);
  static uint32_t ReadingOf(Side side);
  ObjectState Near(ObjectState s, Side side);
  uint32_t LongestKey(SeenKeys::Set seen);
  bool CountsLongest(const ObjectPlan& p) const { return p.endless && !p.ordered && !p.mixed && !IsYaml(); }
  bool MayBeOneMore(const ObjectState& s);
  Expr OneMoreKey(const ObjectState& s);
  bool ShortestText(Expr e, std::string* text);
  bool FixedKey(const ObjectState& s, uint32_t* kind, std::string* key);
  std::vector<std::string> FixedKeys(ObjectState s);
  SeenKeys::Set KeysBelowHigh(const FreshKey& n, ObjectState next, Expr* keys);
  Expr KeysNear(const FreshKey& n, Side side);
  Expr NamedKeysNear(const FreshKey& n, Side side);
  std::vector<std::string> KeysBelow(const FreshKey& n);
  void ForEachFreshText(const RuleText& place, const ByteSet& first, const TextVisitor& visit);
  void ForEachUsedText(const FreshKey& n, const ByteSet& first, const TextVisitor& visit);
  void ForEachSinceText(const RuleText& place, const ByteSet& first, const TextVisitor& visit);
  void VisitUsed(const FreshKey& n, uint32_t c, const FreshKey& below, const ByteSet& first, const TextVisitor& visit,
                 const RuleText& place);
  Expr OthersBut(const ObjectPlan& plan, uint32_t index, SeenKeys::Set seen, uint32_t style);
  static constexpr uint32_t kFewTexts = 256;
  std::vector<std::string> TextsBut(const OtherKeys& others, SeenKeys::Set seen) const;
  std::vector<std::string> ListTexts(Expr contents);
  uint32_t CountTexts(Expr contents, std::string* shortest, bool canonical = false);
  uint32_t OthersLeft(const ObjectState& s, uint32_t index, std::string* some = nullptr);

  // json_schema_fresh_values.cc
  uint32_t CountNumbers(Expr numbers);
  ValueCount CountValues(SetId set, int depth);
  ValueCount FindCount(SetId set, int depth);
  ValueCount CountArrays(uint32_t plan, int depth);
  ValueCount CountObjects(uint32_t plan, int depth);
  ValueCount CountElements(uint32_t plan);
  uint32_t NumberOfValue(const std::string& text, uint32_t depth);
  std::string ReadText(SeenKeys::Path path) const;
  ObjectState AfterElement(const ObjectState& s) const;
  const std::vector<uint32_t>& ValuesOf(SeenKeys::Set set);
  uint32_t ElementPlace(uint32_t depth) const { return IsYaml() ? YamlPlaced(depth, kAfterDash) : Deeper(depth); }
  Expr TextsOfValue(uint32_t id, uint32_t depth);
  bool MayBegin(uint32_t id, uint8_t byte);
  Expr AfterByte(Expr e, uint8_t byte);
  ValuePlace& PlaceOfValue(uint32_t reader, SeenKeys::Path path);
  std::vector<Expr> LikeValues(uint32_t reader, SeenKeys::Path path);
  bool IsAlone(uint32_t reader, SeenKeys::Path path);
  bool AnyOther(Expr left, const std::vector<Expr>& like);
  bool AnyFresh(Expr left, const std::vector<Expr>& like);
  bool IsEndless(Expr left);
  bool FindEndless(Expr left, int depth, uint32_t* places);
  bool IsFreshPlace(uint32_t reader, SeenKeys::Path path);
  bool MayEndValue(uint32_t reader, SeenKeys::Path path);
  bool MayFollowValue(uint32_t reader, Expr left, uint8_t byte);
  Expr CallFreshValue(uint32_t reader, SeenKeys::Path path);
  Expr AfterValue(uint32_t reader, SeenKeys::Path path);
  void StepValue(uint32_t reader, SeenKeys::Path path, uint8_t byte, Expr* rest);
  Expr ValuesOfArray(const ObjectState& s);
  Expr ForgetValue(uint32_t reader, SeenKeys::Path path);
  uint32_t MostElements(uint32_t plan);
  bool SinceValue(uint32_t reader, SeenKeys::Path path, Expr* before, RuleText* place);
  void ForEachValueText(const RuleText& place, const ByteSet& first, const TextVisitor& visit);
  Expr ValueNear(uint32_t reader, SeenKeys::Path path, Side side);

  // yaml_fresh_keys.cc
  StringStyle StyleOf(uint32_t style) const;
  bool BeginsYamlKey(uint32_t rule) const;
  bool IsFarFromEnd(const FreshKey& n);
  bool MayGoOn(const FreshKey& n, std::string_view text, bool fresh);
  struct YamlPath {
    uint32_t length, plain;  // characters; state of YAML's plain strings
  };
  const YamlPath& YamlPathOf(SeenKeys::Path path);
  Expr ForgetYamlKey(uint32_t rule);
  void StepYamlKey(FreshKey n, uint8_t byte, Expr* rest);
  bool MayBeMarked(const FreshKey& n);
  Expr YamlKeys(const FreshKey& n, bool fresh, const std::vector<Member>& members);
  void ForEachYamlKeyText(FreshKey n, const ByteSet& first, const TextVisitor& visit);
  void VisitYamlCharacter(const FreshKey& n, uint32_t c, std::string_view begun, const ByteSet& first, const TextVisitor& visit);

  // json_schema_sorted_keys.cc
  // What is greatest in a set of texts: one of them; or the limit of greater and greater ones, begun by a text whose
  // end, from `circle` on, comes again and again; or nothing, as those are above every text.
  enum class Top : uint8_t { kNone, kText, kLimit, kUnbounded };
  Top Greatest(Expr contents, std::u32string* text, size_t* circle);
  void FindCuts(uint32_t plan);
  Expr Unnamed(const ObjectPlan& p, const OtherKeys& others);
  bool LastKey(const ObjectState& s, std::u32string* text);
  uint32_t OthersAbove(const ObjectState& s, uint32_t index);
  bool MayFollow(const ObjectState& s);
  void OthersInOrder(const ObjectState& s, std::vector<Member>* out);
  void AddInOrder(Member m, const std::u32string_view* low, const std::u32string_view* high, std::vector<Member>* out);

  // json_schema_listed.cc
  const TextList& ListedTexts(SetId set);
  Expr CallListed(const ListedNode& n);
  template <class F>
  void ForEachListedChild(const TextList& texts, const ListedNode& n, F f);
  Expr ListedBody(const ListedNode& n);
  bool StepListed(const ListedNode& n, uint8_t byte, Expr* rest);
  void ForEachListedText(const ListedNode& n, const ByteSet& first, const TextVisitor& visit);
  void EnterListed(const TextList& texts, TextList::Node n, uint32_t base, const ByteVisitor& enter) const;

  // json_schema_array.cc
  static constexpr Owed kRepeatedBit = Owed{1} << 63;  // of owed: two equal elements
  uint32_t ArrayPlanOf(const Case& demands);
  void FindChoices(ArrayPlan* p);
  bool IsNothing(SetId set);
  bool OwesInVain(const ArrayPlan& p);
  bool IsAlike(SetId a, SetId b);
  bool ReadDistinct(ArrayPlan* p);
  bool PlacesOf(const ArrayPlan& p, ElementPlaces begin, Owed owed, std::vector<ElementPlaces>* found);
  bool HasEndlessMember(const ObjectState& start, int depth);
  bool PlanOfDistinct(const ElementPlaces& places, uint32_t high, uint32_t* found);
  Expr CallStart(const ArrayState& s);
  ArrayPlan& PreparedArray(uint32_t plan);
  ArrayState StartArray(uint32_t plan, uint32_t depth);
  bool ArrayMayEnd(const ArrayState& s);
  void Elements(const ArrayState& s, std::vector<Element>* out);
  bool ArrayInhabited(const ArrayState& s);
  std::optional<bool> EnoughAhead(const ArrayState& s);
  Expr ArrayBody(const ArrayState& s);
  Expr ArrayLoop(const ArrayState& s, SetId value, Expr end);
  Expr OutlineArray(uint32_t rule, uint32_t* slack);
  bool IsPlain(const ArrayPlan& plan, const ArrayState& s) const;

  // json_schema_owed_elements.cc
  std::optional<SignedUse> SettlingUse(const ArrayPlan& p, uint32_t index, uint32_t demand);
  bool IsToldApart(const ArrayPlan& p, uint32_t demand);
  std::vector<ElementKind> FindKinds(uint32_t plan, uint32_t index);
  ElementKinds KindsOf(uint32_t plan, uint32_t index, bool* certain);
  SetId ValueOfKind(uint32_t plan, uint32_t index, const std::vector<ElementKind>& all, const ElementKind& kind, Owed open, Owed counted);
  void ElementsApart(const ArrayState& s, const ArrayState& base, std::vector<Element>* out);
  struct SettlingElements;
  bool CanSettleElements(const ArrayState& s);
  static void CheckAhead(size_t elements);  // that are looked at, each inside of the one before

  // json_schema_reach.cc
  std::string PlaceOf(SetId set) const;
  void CheckCircles(const std::vector<SchemaPlace>& references);
  void CheckPattern(std::string_view pattern, const JsonValue& at);
  template <class F>
  void ForEachBelow(SchemaPlace place, F visit);
  template <class F>
  void ForEachSchema(SchemaPlace root, F visit);
  FlatMap<SchemaPlace, bool, SchemaPlaceKeys> PlacesToUnique(SchemaPlace root);
  void Explore(SchemaPlace root);

  // json_schema_inhabited.cc
  template <class F>
  bool Answer(uint64_t question, bool* final, F answer);
  bool IsNoForNow(uint64_t question);
  bool AnswerOfState(ListId state, const std::function<bool()>& answer);
  bool Inhabited(SetId set, JsonType type);
  bool Ask(SetId set, JsonType type);
  bool IsKnown(SetId set, Known answer) const;

  Expressions* pool_;
  std::shared_ptr<SharedDocuments> documents_;
  const JsonSchemaOptions options_;
  SchemaSets sets_;
  SchemaCases cases_;
  uint32_t source_ = 0;

  Arena arena_;  // of what plans and readers show to
  std::vector<Rule> rules_;
  IdTable rule_index_;
  WordLists plan_index_;
  std::vector<std::pair<bool, uint32_t>> plan_of_;  // of a list in plan_index_: is an array's, number
  std::vector<Case> object_cases_, array_cases_;
  Steady<ObjectPlan> objects_;
  Steady<ArrayPlan> arrays_;
  FlatMap<uint64_t, Known> inhabited_;  // by set and type
  std::vector<uint64_t> asking_;  // the stack of questions: about sets, and about states of arrays
  static constexpr uint32_t kNoQuestion = 0xffffffff;
  uint32_t lowest_ = kNoQuestion;  // the lowest open question that the current one has met
  // Questions whose answer is "no" unless an open one that they met turns out to be "yes": the lowest of these, and all
  // in the order in which they were asked.
  Late<std::unordered_map<uint64_t, uint32_t>> no_for_now_;
  std::vector<uint64_t> asked_for_now_;
  uint32_t ahead_ = 0;  // elements of arrays that are looked at, each after the one before
  bool assumed_ = false;                           // an answer was assumed to be yes
  std::unordered_map<ListId, Known> state_inhabited_;
  Late<std::unordered_map<uint64_t, ElementKinds>> kinds_of_;  // by plan and index
  Expr line_ = kEmpty, comma_ = kEmpty, colon_ = kEmpty;
  std::unordered_map<KeyId, Expr> key_texts_;
  Late<std::unordered_map<uint64_t, Expr>> any_member_;  // by plan and depth
  Late<std::unordered_map<uint32_t, Expr>> yaml_lines_;
  Expr yaml_plain_ = kEmpty, yaml_number_ = kEmpty;
  Steady<KeyReader> readers_;
  FlatMap<uint64_t, uint32_t> reader_of_;  // by list, 1 + the number
  SeenKeys seen_;
  std::vector<std::shared_ptr<const JsonDocument>> values_;  // of elements that occurred, by number
  Late<std::unordered_map<uint64_t, std::vector<uint32_t>>> values_by_hash_;
  Late<std::unordered_map<SeenKeys::Set, std::vector<uint32_t>>> values_of_;
  Late<std::unordered_map<SetId, ValueCount>> value_counts_;
  int counting_elements_ = 0;  // arrays of distinct arrays that are being counted
  Late<std::unordered_map<uint64_t, Expr>> texts_of_values_;  // by number and depth
  FlatMap<uint64_t, Expr> after_byte_;                  // by expression and byte
  FlatMap<Expr, bool> endless_;
  Late<std::unordered_map<SeenKeys::Set, uint32_t>> longest_keys_;
  Late<std::unordered_map<ListId, uint32_t>> others_above_;  // by plan, kind, position and last key
  Steady<TextList> listed_;
  FlatMap<uint64_t, uint32_t> listed_of_;  // by set: 1 + the number in listed_; 0: none
  std::vector<YamlPath> yaml_paths_;  // by path
  Late<std::unordered_map<uint64_t, bool>> yaml_characters_;  // by text and style: whether it begins or is a character
  Late<std::unordered_map<Expr, std::vector<Expressions::Term>>> steps_;
  bool forgets_ = false;  // a clone beside other languages: what occurred is not remembered
  bool has_memory_ = false, has_values_ = false, may_run_out_ = false, approximates_ = false;
};

}  // namespace tokamata
