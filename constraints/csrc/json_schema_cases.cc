#include "constraints/csrc/json_schema_cases.h"

#include <algorithm>

#include "automata/csrc/errors.h"
#include "automata/csrc/places.h"
#include "automata/csrc/recall.h"
#include "constraints/csrc/json_phrases.h"
#include "constraints/csrc/json_schema_keywords.h"

namespace tokamata {
namespace {

constexpr size_t kFewCases = 16;  // of an object that is told from others by its keys
constexpr uint32_t kFewSchemas = 16;  // what a schema leads to and is evaluated anew each time

// A non-negative integer of a keyword ("3", "3.0"), clamped to 32 bits; the documents were checked.
uint32_t CountOf(const JsonValue* value, uint32_t absent) {
  if (!value) return absent;
  const JsonNumber n = ParseJsonNumber(value->text);
  if (n.negative || n.digits.empty()) return 0;
  if (n.exponent < 0) return 0;
  if (n.digits.size() + static_cast<uint64_t>(n.exponent) > 9) return kUnbounded - 1;
  uint32_t count = 0;
  for (char c : n.digits) count = count * 10 + static_cast<uint32_t>(c - '0');
  for (int64_t i = 0; i < n.exponent; ++i) count *= 10;
  return count;
}

// Whether a reference hides the keywords beside it.
bool HidesSiblings(const JsonValue& node, const SchemaDialect& dialect) {
  if (dialect.draft > SchemaDraft::k7) return false;
  const JsonValue* ref = node.Find("$ref");
  return ref && ref->IsString();
}

// The same cases, of which nothing counts as an evaluation of members or elements.
Cases Quiet(const Cases& cases) {
  Cases out;
  for (Case c : cases) {
    for (Demand& d : c) switch (d.kind) {
        case DemandKind::kMembers:
        case DemandKind::kUnevaluated:
        case DemandKind::kItems:
        case DemandKind::kUnevaluatedItems:
        case DemandKind::kContains: d.quiet = true; break;
        default: break;
      }
    if (std::find(out.begin(), out.end(), c) == out.end()) out.push_back(std::move(c));
  }
  return out;
}

template <class F>
void ForEachType(const JsonValue& types, F f) {
  if (types.IsString()) return f(types.text);
  for (const JsonValue& t : types) f(t.text);
}

}  // namespace

SchemaCases::SchemaCases(Expressions* pool, SharedDocuments* documents, const JsonSchemaOptions* options,
                         SchemaSets* sets, std::function<bool(SetId, JsonType)> inhabited)
    : pool_(*pool), documents_(*documents), options_(*options), sets_(*sets), inhabited_(std::move(inhabited)),
      numbers_(pool, options->canonical_numbers), nothing_(sets->AnyOf({})) {
  const StringStyle first = options->notation == SchemaNotation::kYaml ? StringStyle::kYamlDouble
                            : options->canonical_strings               ? StringStyle::kJsonCanonical
                                                                       : StringStyle::kJson;
  styles_[0] = std::make_unique<Style>(pool, first);
}

SchemaCases::Style& SchemaCases::Styled(StringStyle style) {
  for (std::unique_ptr<Style>& known : styles_) {
    if (!known) known = std::make_unique<Style>(&pool_, style);
    if (known->strings.style() == style) return *known;
  }
  return *styles_[0];
}

UseId SchemaCases::Child(UseId parent, const JsonValue& node) {
  return sets_.Schema(documents_.Child(sets_.Use(parent).place, node));
}

std::string SchemaCases::Describe(UseId use) const {
  const JsonValue* node = sets_.Use(use).place.node;
  if (!node) return "an alternative";
  const std::string pointer = sets_.Use(use).kind == UseKind::kSchema ? documents_.Describe(*node) : JsonPointer(*node);
  return pointer.empty() ? "the root" : "'" + pointer + "'";
}

void SchemaCases::Unchecked(const JsonValue& at, std::string_view format, const char* note) const {
  throw UnsupportedError("json_schema: format \"" + std::string(format) + "\" at \"" + documents_.Describe(at) +
                         "\" lets more strings through than it should (" + note +
                         ") and so cannot be negated; pass formats=False to treat formats as annotations");
}

// Lists values among which those of a set are, where enum or const say so; false where they don't.
bool SchemaCases::ListedValues(SetId set, std::vector<const JsonValue*>* out) {
  bool listed = false;
  FlatMap<uint64_t, bool> seen;
  const auto list = [&](UseId use, auto&& self, int depth) -> void {
    const SchemaUse& u = sets_.Use(use);
    if (listed || depth > 20 || seen[use]) return;
    seen[use] = true;
    if (u.kind == UseKind::kConstant) {
      out->assign({u.place.node});
      listed = true;
    }
    if (u.kind != UseKind::kSchema || !u.place.node->IsObject()) return;
    const SchemaPlace place = u.place;
    const SchemaDialect dialect = documents_.Dialect(*place.node);
    const bool hidden = HidesSiblings(*place.node, dialect);
    for (uint32_t i = 0; i < place.node->size && !listed; ++i) {
      const JsonValue& value = place.node->elements[i];
      const Keyword keyword = KeywordOf(place.node->keys[i], dialect);
      if (hidden && keyword != Keyword::kRef) continue;
      switch (keyword) {
        case Keyword::kConst: out->assign({&value}), listed = true; break;
        case Keyword::kEnum:
          for (const JsonValue& v : value) out->push_back(&v);
          listed = true;
          break;
        case Keyword::kRef: self(sets_.Schema(documents_.Resolve(place, SchemaReference::kRef)), self, depth + 1); break;
        case Keyword::kAllOf:
          for (const JsonValue& part : value) self(Child(use, part), self, depth + 1);
          break;
        default: break;
      }
    }
  };
  for (const SignedUse& part : sets_.Parts(set))
    if (part.positive) list(part.use, list, 0);
  return listed;
}

// Lists what a value of a set can be, where enum, const or the types null and boolean list it; false where they don't.
bool SchemaCases::FiniteValues(SetId set, std::vector<const JsonValue*>* out) {
  static const JsonValue kNull = [] { JsonValue v; return v; }();
  static const JsonValue kFalse = [] { JsonValue v; v.kind = JsonKind::kBoolean; return v; }();
  static const JsonValue kTrue = [] { JsonValue v; v.kind = JsonKind::kBoolean; v.boolean = true; return v; }();
  std::vector<const JsonValue*> candidates;
  if (!ListedValues(set, &candidates)) {
    if (HasPlainStrings(set) || !pool_.IsEmpty(NumberOf(set)) || HasString(set) || !CasesOf(set, JsonType::kArray).empty() ||
        !CasesOf(set, JsonType::kObject).empty())
      return false;
    candidates = {&kNull, &kFalse, &kTrue};
  }
  for (const JsonValue* c : candidates) {
    if (c->IsString()) {
      std::string spelled;
      if (Contains(StringOf(set), sets_.Key(c->text)) && strings().Spell(c->text, &spelled)) out->push_back(c);
      continue;
    }
    const SetId with = sets_.And(set, SignedUse{sets_.Constant(c), true});
    const JsonType type = c->IsObject() ? JsonType::kObject : c->IsArray() ? JsonType::kArray : c->IsNumber() ? JsonType::kNumber
                                                                                              : JsonType::kSimple;
    if (with != kNoValue && inhabited_(with, type)) out->push_back(c);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------- algebras

// null, false and true as bits.
struct SchemaCases::Bits {
  using Value = uint8_t;
  static constexpr JsonType kType = JsonType::kSimple;
  SchemaCases& owner;
  uint32_t Kept(Value v) { return v; }
  Value Known(uint32_t kept) { return static_cast<Value>(kept); }
  Value True() { return kSimpleBits; }
  Value False() { return 0; }
  bool IsTrue(Value v) { return v == kSimpleBits; }
  bool IsFalse(Value v) { return v == 0; }
  Value And(Value a, Value b) { return a & b; }
  Value Or(Value a, Value b) { return a | b; }
  Value Type(const JsonValue& types, bool positive, SchemaDraft) {
    Value v = 0;
    ForEachType(types, [&](std::string_view t) {
      if (t == "null") v |= kNullBit;
      if (t == "boolean") v |= kFalseBit | kTrueBit;
    });
    return positive ? v : static_cast<Value>(kSimpleBits & ~v);
  }
  Value Constants(const std::vector<const JsonValue*>& values, bool positive, bool = false) {
    Value v = 0;
    for (const JsonValue* c : values) {
      if (c->kind == JsonKind::kNull) v |= kNullBit;
      if (c->IsBoolean()) v |= c->boolean ? kTrueBit : kFalseBit;
    }
    return positive ? v : static_cast<Value>(kSimpleBits & ~v);
  }
  Value Leaf(Keyword, UseId, const JsonValue&, bool positive, bool) { return positive ? True() : False(); }
  Value Comparable(UseId) { return True(); }
  bool Disjoint(UseId, UseId, Value a, Value b, ListId) { return (a & b) == 0; }
};

// Numbers by value, met with texts.
struct SchemaCases::Numbers {
  using Value = NumbersAndTexts;
  static constexpr JsonType kType = JsonType::kNumber;
  SchemaCases& owner;
  uint32_t Kept(const Value& v) {
    owner.kept_numbers_->push_back(v);
    return static_cast<uint32_t>(owner.kept_numbers_->size() - 1);
  }
  Value Known(uint32_t kept) { return (*owner.kept_numbers_)[kept]; }
  Value True() { return Of(owner.numbers_.Number()); }
  Value False() { return Of(kEmpty); }
  Value Of(Expr texts) { return {NumberSet(), texts}; }
  Value Of(NumberSet set) { return {std::move(set), owner.numbers_.Number()}; }
  bool IsTrue(const Value& v) { return v.set.IsAll() && v.texts == owner.numbers_.Number(); }
  bool IsFalse(const Value& v) { return v.texts == kEmpty || v.set.IsSurelyEmpty(); }
  Expr Texts(const Value& v) {
    if (v.set.IsAll()) return v.texts;
    const Expr set = v.set.IsSurelyEmpty() ? Expr{kEmpty} : owner.numbers_.Of(v.set);
    return v.texts == owner.numbers_.Number() ? set : owner.pool_.Intersect(set, v.texts);
  }
  Value And(Value a, const Value& b) {
    const Expr any = owner.numbers_.Number();
    const Expr more = a.set.Meet(b.set) ? b.texts : Texts(b);
    a.texts = a.texts == any ? more : more == any ? a.texts : owner.pool_.Intersect(a.texts, more);
    return a;
  }
  Value Or(const Value& a, const Value& b) {
    if (IsFalse(a) || IsFalse(b)) return IsFalse(a) ? b : a;
    return IsTrue(a) || IsTrue(b) ? True() : Of(owner.pool_.Union(Texts(a), Texts(b)));
  }
  Value Sign(Value v, bool positive) {
    if (positive) return v;
    return IsTrue(v) ? False() : IsFalse(v) ? True() : Of(owner.pool_.Difference(owner.numbers_.Number(), Texts(v)));
  }
  Value Type(const JsonValue& types, bool positive, SchemaDraft draft) {
    bool number = false, integer = false;
    ForEachType(types, [&](std::string_view t) {
      number = number || t == "number";
      integer = integer || t == "integer";
    });
    if (number) return Sign(True(), positive);
    if (!integer) return Sign(False(), positive);
    Value whole = True();
    whole.set.integers = true;
    if (draft == SchemaDraft::k4) {
      if (!owner.options_.canonical_numbers) whole.texts = owner.numbers_.PlainInteger();
      return Sign(std::move(whole), positive);
    }
    if (positive || !owner.options_.canonical_numbers) return Sign(std::move(whole), positive);
    return Sign(Of(NumberSet::MultiplesOf("1")), false);  // 1.0 is an integer, though not written so
  }
  Value Constants(const std::vector<const JsonValue*>& values, bool positive, bool spelled = false) {
    std::vector<Expr> parts;
    for (const JsonValue* c : values)
      if (c->IsNumber())
        parts.push_back(positive && !spelled && owner.options_.canonical_numbers ? owner.numbers_.Text(c->text) : owner.numbers_.Value(c->text));
    return Sign(Of(owner.pool_.Union(std::move(parts))), positive);
  }
  Value Leaf(Keyword keyword, UseId use, const JsonValue& value, bool positive, bool) {
    // A bound that must not hold is one on the other side.
    const auto bound = [&](bool low, bool exclusive) {
      const std::string_view text = value.text;
      const bool open = exclusive == positive;
      return Of(low == positive ? NumberSet::Between(text, "", open) : NumberSet::Between("", text, false, open));
    };
    // In draft 4, the exclusive ones say so of the others.
    const auto open = [&](const char* exclusive) {
      const JsonValue* const beside = owner.sets_.Use(use).place.node->Find(exclusive);
      return beside && beside->IsBoolean() && beside->boolean;
    };
    switch (keyword) {
      case Keyword::kMultipleOf:
        if (!NumberSet::KnowsMultiples(value.text)) return True();  // lenient: Check refuses it otherwise
        return Sign(Of(NumberSet::MultiplesOf(value.text)), positive);
      case Keyword::kMinimum: return bound(true, open("exclusiveMinimum"));
      case Keyword::kMaximum: return bound(false, open("exclusiveMaximum"));
      case Keyword::kExclusiveMinimum:
      case Keyword::kExclusiveMaximum:
        if (!value.IsBoolean()) return bound(keyword == Keyword::kExclusiveMinimum, true);
        break;
      default: break;
    }
    return positive ? True() : False();
  }
  Value Comparable(UseId) { return True(); }  // see NumberOf
  bool Disjoint(UseId, UseId, const Value& a, const Value& b, ListId) {
    return owner.pool_.IsSurelyEmpty(Texts(And(a, b)), kMostSearched);
  }
};

struct SchemaCases::Strings {
  using Value = Expr;
  static constexpr JsonType kType = JsonType::kString;
  SchemaCases& owner;
  Style& style;
  uint32_t Kept(Value v) { return v; }
  Value Known(uint32_t kept) { return kept; }
  Value True() { return style.strings.Any(); }
  Value False() { return kEmpty; }
  bool IsTrue(Value v) { return v == True(); }
  bool IsFalse(Value v) { return v == kEmpty; }
  Value And(Value a, Value b) { return IsTrue(a) ? b : IsTrue(b) ? a : style.strings.Intersect(a, b); }
  Value Or(Value a, Value b) { return IsTrue(a) || IsTrue(b) ? True() : owner.pool_.Union(a, b); }
  Value Sign(Value v, bool positive) {
    if (positive) return v;
    return IsTrue(v) ? kEmpty : IsFalse(v) ? True() : style.strings.Complement(v);
  }
  Value Type(const JsonValue& types, bool positive, SchemaDraft) {
    bool any = false;
    ForEachType(types, [&](std::string_view t) { any = any || t == "string"; });
    return any == positive ? True() : False();
  }
  Value Constants(const std::vector<const JsonValue*>& values, bool positive, bool = false) {
    std::vector<std::string_view> texts;
    for (const JsonValue* c : values)
      if (c->IsString()) texts.push_back(c->text);
    if (texts.empty()) return Sign(False(), positive);
    const Expr e = texts.size() == 1 ? style.strings.Literal(texts[0]) : style.strings.Choice({texts.begin(), texts.end()});
    if (e != kEmpty && !owner.texts_of_->count(e)) {
      if (!std::is_sorted(texts.begin(), texts.end())) std::sort(texts.begin(), texts.end());
      texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
      owner.texts_of_->emplace(e, std::move(texts));
    }
    return Sign(e, positive);
  }
  Value Leaf(Keyword keyword, UseId use, const JsonValue& value, bool positive, bool) {
    const JsonValue& node = *owner.sets_.Use(use).place.node;
    switch (keyword) {
      case Keyword::kMinLength:
      case Keyword::kMaxLength: {
        const JsonValue *low = node.Find("minLength"), *high = node.Find("maxLength");
        const JsonValue* other = &value == low ? high : low;
        if (other && other < &value) break;  // both together, where the first of them stands
        const uint32_t least = CountOf(low, 0), most = CountOf(high, kUnbounded);
        return Sign(least > most ? kEmpty : style.strings.Length(least, most), positive);
      }
      case Keyword::kPattern:
        if (owner.IsWidened(value.text)) return True();
        return Sign(style.strings.Pattern(value.text), positive);
      case Keyword::kFormat: {
        if (!owner.options_.formats || !value.IsString()) break;
        const std::optional<JsonFormat> format = style.formats.Format(value.text);
        if (!format) break;
        if (!positive && value.text == "regex") owner.Unchecked(value, value.text, format->note);
        return Sign(format->language, positive);
      }
      default: break;
    }
    return positive ? True() : False();
  }
  Value Comparable(UseId) { return True(); }
  bool Disjoint(UseId a, UseId b, Value x, Value y, ListId) {
    return owner.ListApart(a, b) || owner.pool_.IsSurelyEmpty(And(x, y), kMostSearched);
  }
};

struct SchemaCases::Compound {
  using Value = Cases;
  SchemaCases& owner;
  const JsonType kType;
  uint32_t Kept(const Value& v) { return owner.KeepCases(v); }
  Value Known(uint32_t kept) { return owner.KeptCases(kept); }
  Value True() { return {{}}; }
  Value False() { return {}; }
  bool IsTrue(const Value& v) { return v.size() == 1 && v[0].empty(); }
  bool IsFalse(const Value& v) { return v.empty(); }
  Value And(Value a, Value b) { return owner.AndCases(std::move(a), std::move(b)); }
  Value Or(Value a, Value b) {
    if (a.empty()) return b;
    for (Case& c : b)
      if (std::find(a.begin(), a.end(), c) == a.end()) a.push_back(std::move(c));
    owner.CheckCases(a.size());
    return a;
  }
  Value Type(const JsonValue& types, bool positive, SchemaDraft) {
    bool any = false;
    ForEachType(types, [&](std::string_view t) { any = any || t == (kType == JsonType::kArray ? "array" : "object"); });
    return any == positive ? True() : False();
  }
  Value Constants(const std::vector<const JsonValue*>& values, bool positive, bool spelled = false) {
    Value all = positive ? False() : True();
    for (const JsonValue* c : values) {
      if (c->kind != (kType == JsonType::kArray ? JsonKind::kArray : JsonKind::kObject)) continue;
      const UseId use = owner.sets_.Constant(c, spelled);
      Case same;  // which evaluates no member and no element
      if (kType == JsonType::kObject) {
        same.push_back({DemandKind::kMembers, use, 0, 0, true});
        for (uint32_t i = 0; i < c->size; ++i) same.push_back({DemandKind::kRequired, owner.sets_.Key(c->keys[i])});
      } else {
        same.push_back({DemandKind::kItems, use, 0, 0, true});
        same.push_back({DemandKind::kLength, 0, c->size, c->size});
      }
      if (positive)
        all = Or(std::move(all), {same});
      else
        all = And(all, owner.NegateCases({same}));
    }
    return all;
  }
  Value Comparable(UseId use) {
    return One({kType == JsonType::kObject ? DemandKind::kMembers : DemandKind::kItems, use, 0, 0, true});
  }
  Value One(Demand d) { return {{d}}; }
  // Between low and high; nothing when that is impossible, everything when it always holds.
  Value Between(DemandKind kind, uint32_t a, uint32_t low, uint32_t high) {
    if (low > high) return False();
    if (low == 0 && high == kUnbounded) return True();
    return One({kind, a, low, high});
  }
  Value Counted(DemandKind kind, uint32_t a, uint32_t low, uint32_t high, bool positive) {
    if (positive) return Between(kind, a, low, high);
    Value v = low ? Between(kind, a, 0, low - 1) : False();
    return high == kUnbounded ? v : Or(std::move(v), Between(kind, a, high + 1, kUnbounded));
  }
  // Whether `value` is the first of some keywords in its schema; they make one group.
  bool First(const JsonValue& node, const JsonValue& value, std::initializer_list<const char*> group) {
    for (const char* name : group)
      if (const JsonValue* other = node.Find(name); other && other < &value) return false;
    return true;
  }
  Value Leaf(Keyword keyword, UseId use, const JsonValue& value, bool positive, bool tracking) {
    const JsonValue& node = *owner.sets_.Use(use).place.node;
    const auto none = [&] { return positive ? True() : False(); };
    if (kType == JsonType::kObject) switch (keyword) {
        case Keyword::kProperties:
        case Keyword::kPatternProperties:
        case Keyword::kAdditionalProperties:
          if (!First(node, value, {"properties", "patternProperties", "additionalProperties"})) return none();
          return positive ? One({DemandKind::kMembers, use, 0, 0, !tracking}) : owner.SomeMember(use, !tracking);
        case Keyword::kPropertyNames:
          return One({positive ? DemandKind::kNames : DemandKind::kSomeName, owner.Child(use, value)});
        case Keyword::kRequired: {
          if (!value.IsArray()) return none();
          Value v = none();
          for (const JsonValue& key : value) {
            const KeyId id = owner.sets_.Key(key.text);
            v = positive ? And(std::move(v), One({DemandKind::kRequired, id})) : Or(std::move(v), One({DemandKind::kForbidden, id}));
          }
          return v;
        }
        case Keyword::kMinProperties:
        case Keyword::kMaxProperties: {
          if (!First(node, value, {"minProperties", "maxProperties"})) return none();
          return Counted(DemandKind::kProperties, 0, CountOf(node.Find("minProperties"), 0),
                         CountOf(node.Find("maxProperties"), kUnbounded), positive);
        }
        case Keyword::kDependentRequired: {
          Value v = none();
          for (uint32_t i = 0; i < value.size; ++i) v = Dependency(v, value.keys[i], value.elements[i], positive);
          return v;
        }
        default: return none();
      }
    switch (keyword) {
      case Keyword::kPrefixItems:
      case Keyword::kItems:
      case Keyword::kAdditionalItems: {
        // A keyword of another draft says nothing, not even first; additionalItems in 2020-12 stands beside items or is none.
        const bool last = owner.documents_.Dialect(node).draft >= SchemaDraft::k2020;
        if (last && keyword == Keyword::kAdditionalItems) return none();
        if (last ? !First(node, value, {"prefixItems", "items"}) : !First(node, value, {"items", "additionalItems"}))
          return none();
        return One({positive ? DemandKind::kItems : DemandKind::kSomeItem, use, 0, 0, !tracking});
      }
      case Keyword::kContains: {
        const bool counts = owner.documents_.Dialect(node).draft >= SchemaDraft::k2019;
        const uint32_t low = counts ? CountOf(node.Find("minContains"), 1) : 1;
        const uint32_t high = counts ? CountOf(node.Find("maxContains"), kUnbounded) : kUnbounded;
        const UseId child = owner.Child(use, value);
        if (positive && tracking && low == 0 && high == kUnbounded) return One({DemandKind::kContains, child, 0, kUnbounded});
        Value v = Counted(DemandKind::kContains, child, low, high, positive);
        for (Case& c : v)
          for (Demand& d : c) d.quiet = !tracking;
        return v;
      }
      case Keyword::kMinItems:
      case Keyword::kMaxItems:
        if (!First(node, value, {"minItems", "maxItems"})) return none();
        return Counted(DemandKind::kLength, 0, CountOf(node.Find("minItems"), 0), CountOf(node.Find("maxItems"), kUnbounded),
                       positive);
      case Keyword::kUniqueItems:
        if (!value.IsBoolean() || !value.boolean) return none();
        return One({positive ? DemandKind::kUnique : DemandKind::kRepeated, use});
      default: return none();
    }
  }
  // v, and: where `key` occurs, all of `keys` do.
  Value Dependency(Value v, std::string_view key, const JsonValue& keys, bool positive) {
    const KeyId id = owner.sets_.Key(key);
    Case together;
    for (const JsonValue& k : keys) together.push_back({DemandKind::kRequired, owner.sets_.Key(k.text)});
    if (positive) {
      if (together.empty()) return v;
      return And(std::move(v), Or(One({DemandKind::kForbidden, id}), {together}));
    }
    return Or(std::move(v), And(One({DemandKind::kRequired, id}), owner.NegateCases({together})));
  }
  bool Disjoint(UseId a, UseId b, const Value& x, const Value& y, ListId required) {
    if (kType == JsonType::kObject) {
      const Tags &of_a = owner.TagsOf(a, x, required), &of_b = owner.TagsOf(b, y, required);
      if (TagsDiffer(of_a, of_b) || owner.RefusesTags(b, y, of_a) || owner.RefusesTags(a, x, of_b)) return true;
    }
    return owner.Disjoint(a, b, kType);
  }
};

// ---------------------------------------------------------------------------------------------- Boolean keywords

// And over n parts, or with positive = false Or over the parts (which are then negated ones).
template <class Algebra, class F>
typename Algebra::Value SchemaCases::All(Algebra& algebra, size_t n, bool positive, F part) {
  auto v = positive ? algebra.True() : algebra.False();
  for (size_t i = 0; i < n; ++i) {
    v = positive ? algebra.And(std::move(v), part(i)) : algebra.Or(std::move(v), part(i));
    if (positive ? algebra.IsFalse(v) : algebra.IsTrue(v)) break;
  }
  return v;
}

// `required`: keys without which an object is not valid anyway, whatever the branches say.
template <class Algebra>
typename Algebra::Value SchemaCases::OneOf(Algebra& algebra, const std::vector<UseId>& uses, bool positive, bool tracking,
                                           ListId required) {
  using Value = typename Algebra::Value;
  std::vector<UseId> live;  // those with values of this type
  std::vector<Value> yes;
  for (UseId use : uses) {
    Value v = Evaluate(algebra, use, true, tracking);
    if (algebra.IsFalse(v)) continue;
    live.push_back(use);
    yes.push_back(std::move(v));
  }
  const size_t n = live.size();
  std::vector<Value> no(n);
  std::vector<uint8_t> has_no(n, 0);
  const auto negated = [&](size_t i) -> const Value& {
    if (!has_no[i]) no[i] = Evaluate(algebra, live[i], false, false);
    has_no[i] = 1;
    return no[i];
  };
  std::vector<uint8_t> disjoint(n * n, 0);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j)
      disjoint[i * n + j] = disjoint[j * n + i] = algebra.Disjoint(live[i], live[j], yes[i], yes[j], required);
  Value result = algebra.False();
  if (positive) {
    for (size_t i = 0; i < n; ++i) {
      Value v = yes[i];
      for (size_t j = 0; j < n && !algebra.IsFalse(v); ++j)
        if (j != i && !disjoint[i * n + j]) v = algebra.And(std::move(v), negated(j));
      result = algebra.Or(std::move(result), v);
    }
    return result;
  }
  Value none = algebra.True();
  for (size_t i = 0; i < n && !algebra.IsFalse(none); ++i) none = algebra.And(none, negated(i));
  result = algebra.Or(std::move(result), none);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j)
      if (!disjoint[i * n + j]) result = algebra.Or(std::move(result), algebra.And(yes[i], yes[j]));
  return result;
}

template <class Algebra>
typename Algebra::Value SchemaCases::Evaluate(Algebra& algebra, UseId use, bool positive, bool tracking) {
  const ListId beside = std::exchange(beside_, kNothingBeside);
  const SchemaUse& u = sets_.Use(use);
  if (u.kind == UseKind::kConstant) return algebra.Constants({u.place.node}, positive, u.place.scope);
  if (u.kind == UseKind::kText) {
    static const JsonValue type = [] {
      JsonValue v;
      v.kind = JsonKind::kString;
      v.text = "string";
      return v;
    }();
    return algebra.Type(type, positive, SchemaDraft::k2020);
  }
  if (u.kind == UseKind::kComparable) return algebra.Comparable(use);
  if (u.kind == UseKind::kAnyOf) {
    const std::vector<UseId> members = u.members;
    return All(algebra, members.size(), !positive, [&](size_t i) { return Evaluate(algebra, members[i], positive, false); });
  }
  const JsonValue& node = *u.place.node;
  if (!node.IsObject()) return node.boolean == positive ? algebra.True() : algebra.False();
  // References share schemas, and some keywords evaluate one twice: without memory that multiplies level by level.
  constexpr bool kStrings = std::is_same_v<Algebra, Strings>;
  uint32_t kind = static_cast<uint32_t>(algebra.kType) << 2 | (tracking && std::is_same_v<Algebra, Compound>) << 1 | positive;
  if constexpr (kStrings) kind |= static_cast<uint32_t>(algebra.style.strings.style()) << 5;
  kind |= static_cast<uint32_t>(product_) << 8 | beside << 16;
  const uint64_t key = PairKey(use, kind);
  if (const uint32_t* const known = evaluated_.Find(key)) return algebra.Known(*known);
  const uint32_t before = evaluations_++;
  if (++nesting_ > options_.max_nesting) {
    nesting_ = 0;
    throw LimitError("json_schema: the limit nesting=" + std::to_string(options_.max_nesting) + " was reached at " + Describe(use) +
                     ": schemas that apply to one value inside one another; is there a reference that leads back to itself?");
  }
  const UseId outer = growing_;
  growing_ = use;
  auto v = EvaluateNode(algebra, use, positive, tracking, beside);
  if (nesting_) --nesting_;
  growing_ = nesting_ ? outer : use;
  if (kStrings || evaluations_ - before > kFewSchemas) evaluated_[key] = algebra.Kept(v);
  return v;
}

template <class Algebra>
typename Algebra::Value SchemaCases::EvaluateNode(Algebra& algebra, UseId use, bool positive, bool tracking, ListId beside) {
  const SchemaPlace place = sets_.Use(use).place;
  const JsonValue& node = *place.node;
  const SchemaDialect dialect = documents_.Dialect(node);
  constexpr bool kCompound = std::is_same_v<Algebra, Compound>;
  if (HidesSiblings(node, dialect))
    return EvaluateKeyword(algebra, use, Keyword::kRef, *node.Find("$ref"), positive, tracking, kNothingBeside);
  const JsonValue* unevaluated = nullptr;
  if constexpr (kCompound) {
    if (dialect.draft >= SchemaDraft::k2019 && dialect.unevaluated)
      unevaluated = node.Find(algebra.kType == JsonType::kArray ? "unevaluatedItems" : "unevaluatedProperties");
    if (unevaluated && !positive) return NegateCases(EvaluateNode(algebra, use, true, false, beside));
  }
  if (const JsonValue* types = dialect.validation ? node.Find("type") : nullptr) {  // decides most types at once
    const auto v = algebra.Type(*types, positive, dialect.draft);
    if (positive ? algebra.IsFalse(v) : algebra.IsTrue(v)) return v;
  }
  auto value = All(algebra, node.size, positive, [&](size_t i) {
    const Keyword keyword = KeywordOf(node.keys[i], dialect);
    if (keyword == Keyword::kNone) return positive ? algebra.True() : algebra.False();
    return EvaluateKeyword(algebra, use, keyword, node.elements[i], positive, tracking || unevaluated, beside);
  });
  if constexpr (kCompound) {
    if (unevaluated) {
      Cases all = Unevaluated(use, *unevaluated, value, algebra.kType);
      return tracking ? all : Quiet(all);  // what it counted for itself is not what whoever asks has evaluated
    }
    if (!positive) MergeLacking(&value);
    if (beside != kNothingBeside) DropLacking(beside, &value);
  }
  return value;
}

template <class Algebra>
typename Algebra::Value SchemaCases::EvaluateKeyword(Algebra& algebra, UseId use, Keyword keyword, const JsonValue& value,
                                                     bool positive, bool tracking, ListId beside) {
  const auto child = [&](const JsonValue& node, bool sign) { return Evaluate(algebra, Child(use, node), sign, tracking); };
  switch (keyword) {
    case Keyword::kRef:
    case Keyword::kDynamicRef:
    case Keyword::kRecursiveRef: {
      const SchemaReference kind = keyword == Keyword::kRef          ? SchemaReference::kRef
                                   : keyword == Keyword::kDynamicRef ? SchemaReference::kDynamicRef
                                                                     : SchemaReference::kRecursiveRef;
      return Evaluate(algebra, sets_.Schema(documents_.Resolve(sets_.Use(use).place, kind)), positive, tracking);
    }
    case Keyword::kAllOf:
      return All(algebra, value.size, positive, [&, required = RequiredBeside(use, beside)](size_t i) {
        const UseId part = Child(use, value.elements[i]);
        beside_ = required;
        return Evaluate(algebra, part, positive, tracking);
      });
    case Keyword::kAnyOf: {
      if (!positive || !tracking)
        return All(algebra, value.size, !positive, [&](size_t i) { return child(value.elements[i], positive); });
      // Every set of branches may hold, and each says what it evaluates.
      auto some = algebra.False();
      for (const JsonValue& branch : value) {
        const auto v = child(branch, true);
        some = algebra.Or(algebra.Or(some, v), algebra.And(some, v));
      }
      return some;
    }
    case Keyword::kOneOf: {
      std::vector<UseId> uses;
      for (const JsonValue& branch : value) uses.push_back(Child(use, branch));
      return OneOf(algebra, uses, positive, tracking, RequiredBeside(use, beside));
    }
    case Keyword::kNot: return Evaluate(algebra, Child(use, value), !positive, false);
    case Keyword::kIf: {
      const JsonValue& node = *sets_.Use(use).place.node;
      const JsonValue *then = node.Find("then"), *otherwise = node.Find("else");
      if (!then && !otherwise && !tracking) break;
      const auto branch = [&](const JsonValue* schema) {
        return schema ? child(*schema, positive) : positive ? algebra.True() : algebra.False();
      };
      auto holds = child(value, true);
      auto fails = Evaluate(algebra, Child(use, value), false, false);
      if (product_ == Product::kClauses && !tracking)  // the same in fewer clauses; but not what it evaluates
        return algebra.And(algebra.Or(std::move(fails), branch(then)), algebra.Or(std::move(holds), branch(otherwise)));
      return algebra.Or(algebra.And(holds, branch(then)), algebra.And(fails, branch(otherwise)));
    }
    case Keyword::kDependentSchemas:
    case Keyword::kDependencies:
      if constexpr (std::is_same_v<Algebra, Compound>) {
        if (algebra.kType != JsonType::kObject || !value.IsObject()) break;
        auto v = positive ? algebra.True() : algebra.False();
        for (uint32_t i = 0; i < value.size; ++i) {
          const JsonValue& what = value.elements[i];
          if (what.IsArray() || what.IsString()) {
            v = algebra.Dependency(std::move(v), value.keys[i], what, positive);
            continue;
          }
          const KeyId key = sets_.Key(value.keys[i]);
          const Cases has{{{DemandKind::kRequired, key}}}, lacks{{{DemandKind::kForbidden, key}}};
          v = positive ? algebra.And(std::move(v), algebra.Or(lacks, algebra.And(has, child(what, true))))
                       : algebra.Or(std::move(v), algebra.And(has, child(what, false)));
        }
        return v;
      }
      break;
    case Keyword::kType: return algebra.Type(value, positive, documents_.Dialect(*sets_.Use(use).place.node).draft);
    case Keyword::kConst: return algebra.Constants({&value}, positive);
    case Keyword::kEnum: {
      std::vector<const JsonValue*> values;
      for (const JsonValue& v : value) values.push_back(&v);
      return algebra.Constants(values, positive);
    }
    default: return algebra.Leaf(keyword, use, value, positive, tracking);
  }
  return positive ? algebra.True() : algebra.False();
}

// A schema that must not hold as the branches that must not: what each of these excludes is known beside what holds
// already, where all of them together multiply.
template <class Algebra>
std::vector<SignedUse> SchemaCases::Spread(Algebra& algebra, SignedUse part) {
  if constexpr (std::is_same_v<Algebra, Compound>) {
    if (part.positive || algebra.kType != JsonType::kObject || sets_.Use(part.use).kind != UseKind::kSchema) return {part};
    constexpr int kMostReferences = 20;
    UseId use = part.use;
    const JsonValue* branches = nullptr;
    bool one_of = false;
    for (int steps = 0; !branches; ++steps) {
      const JsonValue& node = *sets_.Use(use).place.node;
      if (!node.IsObject() || steps == kMostReferences) return {part};
      const SchemaDialect dialect = documents_.Dialect(node);
      bool refers = false;
      for (uint32_t i = 0; i < node.size; ++i) {
        const Keyword keyword = KeywordOf(node.keys[i], dialect);
        if (keyword == Keyword::kNone) continue;
        if (keyword == Keyword::kType && algebra.IsFalse(algebra.Type(node.elements[i], false, dialect.draft))) continue;
        if (branches || refers) return {part};
        refers = keyword == Keyword::kRef;
        one_of = keyword == Keyword::kOneOf;
        if (!refers && !one_of && keyword != Keyword::kAnyOf) return {part};
        if (!refers) branches = &node.elements[i];
      }
      if (!branches && !refers) return {part};
      if (refers) use = sets_.Schema(documents_.Resolve(sets_.Use(use).place, SchemaReference::kRef));
    }
    if (!branches->IsArray()) return {part};
    std::vector<SignedUse> out;
    for (const JsonValue& branch : *branches) out.push_back({Child(use, branch), false});
    if (one_of && !AllDisjoint(algebra, out)) return {part};
    return out;
  }
  return {part};
}

template <class Algebra>
bool SchemaCases::AllDisjoint(Algebra& algebra, const std::vector<SignedUse>& uses) {
  std::vector<typename Algebra::Value> yes;
  for (const SignedUse& u : uses) yes.push_back(Evaluate(algebra, u.use, true, false));
  for (size_t i = 0; i < uses.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!algebra.IsFalse(yes[i]) && !algebra.IsFalse(yes[j]) &&
          !algebra.Disjoint(uses[i].use, uses[j].use, yes[i], yes[j], kNothingBeside))
        return false;
  return true;
}

template <class Algebra>
typename Algebra::Value SchemaCases::OfSet(Algebra& algebra, SetId set) {
  if (set == kNoValue) return algebra.False();
  auto v = algebra.True();
  // The schema that was evaluated last.
  const auto place = [this] { return growing_ == kNoUse ? std::string() : Describe(growing_); };
  for (size_t i = 0, n = sets_.NumParts(set); i < n; ++i) {
    for (const SignedUse& part : Spread(algebra, sets_.Part(set, i))) {
      v = Placed(place, [&] { return algebra.And(std::move(v), Evaluate(algebra, part.use, part.positive, false)); });
      if (algebra.IsFalse(v)) return v;
    }
  }
  return v;
}

uint8_t SchemaCases::SimpleOf(SetId set) {
  Bits algebra{*this};
  return OfSet(algebra, set);
}

Expr SchemaCases::NumberOf(SetId set) {
  if (const Expr* const known = scalars_.Find(PairKey(set, 0))) return *known;
  Numbers algebra{*this};
  const bool any = options_.notation != SchemaNotation::kYaml && !sets_.IsComparable(set);
  const NumbersAndTexts v = OfSet(algebra, set);
  const Expr e = any && algebra.IsTrue(v) ? numbers_.Grammar() : algebra.Texts(v);
  return scalars_[PairKey(set, 0)] = e;
}

Expr SchemaCases::StringOf(SetId set) { return StringOf(set, strings().style()); }

Expr SchemaCases::StringOf(SetId set, StringStyle style) {
  const uint64_t key = PairKey(set, 1 + static_cast<uint32_t>(style));
  if (const Expr* const known = scalars_.Find(key)) return *known;
  Strings algebra{*this, Styled(style)};
  Expr e = OfSet(algebra, set);
  if (!options_.without.empty()) e = algebra.And(e, Allowed(style));
  return scalars_[key] = e;
}

Expr SchemaCases::Allowed(StringStyle style) {
  Style& s = Styled(style);
  if (s.allowed == kEmpty) s.allowed = options_.without.empty() ? s.strings.Any() : StringsWithout(options_.without, &s.strings);
  return s.allowed;
}

const Cases& SchemaCases::CasesOf(SetId set, JsonType type) {
  const uint64_t key = uint64_t{set} << 3 | static_cast<uint8_t>(type);
  if (const uint32_t* known = cases_of_.Find(key)) return KeptCases(*known);
  active_.push_back(key);
  const Product outer = product_;
  const auto done = [&] {
    active_.pop_back();
    product_ = outer;
  };
  try {
    Cases cases = FindCases(set, type);
    done();
    return KeptCases(cases_of_[key] = KeepCases(std::move(cases)));
  } catch (...) {
    done();
    throw;
  }
}

Cases SchemaCases::FindCases(SetId set, JsonType type) {
  Compound algebra{*this, type};
  const uint32_t nesting = nesting_;
  for (const Product product : {Product::kFew, Product::kClauses}) {
    if (type != JsonType::kObject) break;
    product_ = product;
    try {
      Cases cases = OfSet(algebra, set);
      if (product == Product::kFew || FewOwed(cases)) return WithChoiceOfKeys(std::move(cases));
    } catch (const TooManyCases&) {
      nesting_ = nesting;
      beside_ = kNothingBeside;
    }
  }
  product_ = Product::kAll;
  return OfSet(algebra, set);
}

uint32_t SchemaCases::KeepCases(Cases cases) {
  if (cases.empty()) return 0;
  cases_.emplace_back(std::move(cases));
  return static_cast<uint32_t>(cases_.size());
}

const Cases& SchemaCases::KeptCases(uint32_t kept) const {
  static const Cases none;
  return kept ? cases_[kept - 1] : none;
}

// The keys that stand in "required" in the same schema, and those that stand beside it.
ListId SchemaCases::RequiredBeside(UseId use, ListId beside) {
  constexpr ListId kMost = 1 << 16;  // which have room in a key
  const JsonValue& node = *sets_.Use(use).place.node;
  const JsonValue* const required = documents_.Dialect(node).validation ? node.Find("required") : nullptr;
  if (!required || !required->IsArray()) return beside;
  std::vector<uint32_t> keys;
  if (beside != kNothingBeside) keys = sets_.lists.Copy(beside - 1);
  for (const JsonValue& key : *required) keys.push_back(sets_.Key(key.text));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const ListId all = sets_.lists.Intern(keys) + 1;
  return all < kMost ? all : kNothingBeside;
}

// Keys that objects of a use must have, and the strings that their values can be, where the schema says which these are.
const SchemaCases::Tags& SchemaCases::TagsOf(UseId use, const Cases& cases, ListId required) {
  return Recall(&*tags_, PairKey(use, required), Tags(), [&] { return FindTags(use, cases, required); });
}

SchemaCases::Tags SchemaCases::FindTags(UseId use, const Cases& cases, ListId required) {
  constexpr size_t kMostTags = 3, kMostKeys = 16;
  Tags tags;
  if (cases.empty() || cases.size() > kFewCases) return tags;
  std::vector<KeyId> beside, here, both;
  if (required != kNothingBeside) beside = sets_.lists.Copy(required - 1);
  for (const Case& c : cases) {
    here = beside;
    for (const Demand& d : c)
      if (d.kind == DemandKind::kRequired) here.push_back(d.a);
    std::sort(here.begin(), here.end());
    here.erase(std::unique(here.begin(), here.end()), here.end());
    both.clear();
    std::set_intersection(here.begin(), here.end(), tags.keys.begin(), tags.keys.end(), std::back_inserter(both));
    tags.keys = &c == &cases.front() ? here : both;
  }
  tags.keys.resize(std::min(tags.keys.size(), kMostKeys));
  for (const KeyId key : tags.keys) {
    const KeyValues& values = ValuesOf(use, cases, key);
    if (values.listed && tags.listed.size() < kMostTags) tags.listed.push_back({key, &values.texts});
  }
  return tags;
}

// The values that a key has where it occurs, as far as members are said to follow schemas.
const SchemaCases::KeyValues& SchemaCases::ValuesOf(UseId use, const Cases& cases, KeyId key) {
  const auto known = values_of_->find(PairKey(use, key));
  if (known != values_of_->end()) return known->second;
  KeyValues all;  // kept when it is whole: a limit may be reached on the way
  for (const Case& c : cases) {
    SetId values = kAnyValue;
    for (const Demand& group : c) {
      if (group.kind != DemandKind::kMembers) continue;
      TimeLimit::Spend(8);
      values = sets_.And(values, AppliedToKey(group, key));
    }
    if (values == kNoValue) continue;
    all.none = false;
    all.listed = all.listed && values != kAnyValue && ListStrings(values, &all.texts);
    if (!all.listed) break;
  }
  std::sort(all.texts.begin(), all.texts.end());
  return (*values_of_)[PairKey(use, key)] = std::move(all);
}

bool SchemaCases::ListStrings(SetId set, std::vector<std::string>* out) {
  std::vector<const JsonValue*> listed;
  if (ListedValues(set, &listed)) {
    for (const JsonValue* v : listed) {
      if (v->kind != JsonKind::kString) return false;
      out->emplace_back(v->text);
    }
    return true;
  }
  const auto is_string = [&](const SignedUse& part) {
    const SchemaUse& u = sets_.Use(part.use);
    if (!part.positive || u.kind != UseKind::kSchema || !u.place.node->IsObject()) return false;
    const JsonValue* const type = u.place.node->Find("type");  // which no reference hides: sets know what it refers to
    return type && type->kind == JsonKind::kString && type->text == "string";
  };
  const auto& parts = sets_.Parts(set);
  if (std::none_of(parts.begin(), parts.end(), is_string)) return false;
  std::string text;  // a pattern may have one member: in one spelling it is a spine of bytes then
  for (Expr e = StringOf(set, StringStyle::kJsonCanonical);; e = pool_.Tail(e)) {
    const Expr head = pool_.FirstPart(e);
    if (pool_.Kind(head) != ExprKind::kBytes || pool_.First(head).Count() != 1) return false;
    text += static_cast<char>(pool_.First(head).First());
    if (head == e) break;
  }
  if (text.find('\\') != text.npos) return false;
  out->push_back(std::move(text));
  return true;
}

// Whether some key must have different values.
bool SchemaCases::TagsDiffer(const Tags& a, const Tags& b) {
  for (const Tag& x : a.listed)
    for (const Tag& y : b.listed)
      if (x.key == y.key && NoneInBoth(*x.texts, *y.texts)) return true;
  return false;
}

// Whether objects of a use, which need not have these keys, cannot have one of them, or not with such a value.
bool SchemaCases::RefusesTags(UseId use, const Cases& cases, const Tags& tags) {
  if (cases.size() > kFewCases) return false;
  TimeLimit::Spend(static_cast<int64_t>(1 + tags.keys.size()));
  if (std::any_of(tags.keys.begin(), tags.keys.end(), [&](KeyId key) { return ValuesOf(use, cases, key).none; })) return true;
  return std::any_of(tags.listed.begin(), tags.listed.end(), [&](const Tag& tag) {
    const KeyValues& values = ValuesOf(use, cases, tag.key);
    return values.listed && NoneInBoth(values.texts, *tag.texts);
  });
}

bool SchemaCases::Disjoint(UseId a, UseId b, JsonType type) {
  if (a > b) std::swap(a, b);
  const uint64_t key = PairKey(a, b) << 1 | (type == JsonType::kArray);
  return Recall(&*disjoint_, key, false, [&] {
    const SetId both = sets_.And(sets_.And(kAnyValue, SignedUse{a, true}), SignedUse{b, true});
    return both == kNoValue || !inhabited_(both, type);
  });
}

}  // namespace tokamata
