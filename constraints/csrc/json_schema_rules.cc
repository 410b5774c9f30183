#include "constraints/csrc/json_schema_rules.h"

#include "automata/csrc/bounded_parts.h"

#include <algorithm>

#include "constraints/csrc/json_phrases.h"
#include "constraints/csrc/regex.h"

namespace tokamata {
namespace {

constexpr uint32_t kFlexibleIndent = 100;  // spaces or tabs after a line break

const ByteSet& ValueFirst() {
  static const ByteSet first = [] {
    ByteSet set = ByteSet::Range('0', '9');
    for (char c : {'"', '-', '[', '{', 't', 'f', 'n'}) set.Add(static_cast<uint8_t>(c));
    return set;
  }();
  return first;
}

const ByteSet& NextFirst() {  // of what may follow a bracket or a value inside brackets; whitespace included
  static const ByteSet first = [] {
    ByteSet set = ValueFirst();
    for (char c : {',', ']', '}', ' ', '\t', '\n', '\r'}) set.Add(static_cast<uint8_t>(c));
    return set;
  }();
  return first;
}

}  // namespace

JsonSchemaRules::JsonSchemaRules(Expressions* pool, std::shared_ptr<SharedDocuments> documents,
                                 const JsonSchemaOptions& options)
    : pool_(pool), documents_(std::move(documents)), options_(options), sets_(documents_.get()),
      cases_(pool, documents_.get(), &options_, &sets_, [this](SetId set, JsonType type) { return Ask(set, type); }) {
  if (IsYaml()) {
    pool->Parts().look_into_rules = true;  // keys that the schema does not name are bounded
    return;
  }
  Expr space = kEmpty;
  switch (options_.whitespace) {
    case JsonWhitespace::kFlexible: {
      const Expr indent = pool->Repeat(pool->Bytes(ByteSet::Of(' ') | ByteSet::Of('\t')), 0, kFlexibleIndent);
      const Expr broken = pool->Concat(pool->Byte('\n'), indent), blank = pool->Byte(' ');
      line_ = pool->Optional(broken);
      comma_ = pool->Concat(pool->Byte(','), pool->Union({kEpsilonExpr, blank, broken}));
      colon_ = pool->Concat(pool->Byte(':'), pool->Optional(blank));
      return;
    }
    case JsonWhitespace::kCompact: space = kEpsilonExpr; break;
    case JsonWhitespace::kPretty:
      colon_ = pool->Literal(": ");
      return;
    case JsonWhitespace::kAny: {
      ByteSet set;
      for (char c : {' ', '\t', '\n', '\r'}) set.Add(static_cast<uint8_t>(c));
      space = pool->Star(pool->Bytes(set));
      break;
    }
    case JsonWhitespace::kPattern: space = CompileRegex(pool, options_.whitespace_pattern, RegexSyntax::kPython); break;
  }
  line_ = space;
  comma_ = pool->Concat({space, pool->Byte(','), space});
  colon_ = pool->Concat({space, pool->Byte(':'), space});
}

Language JsonSchemaRules::Build(std::shared_ptr<SharedDocuments> documents, const JsonSchemaOptions& given,
                                const std::function<Expr(JsonSchemaRules*)>& build, const Limits& limits) {
  JsonSchemaOptions options = given;
  if (options.notation == SchemaNotation::kYaml) options.canonical_numbers = true;
  const StringStyle style = options.notation == SchemaNotation::kYaml ? StringStyle::kYamlDouble
                            : options.canonical_strings               ? StringStyle::kJsonCanonical
                                                                      : StringStyle::kJson;
  const JsonLeaves& leaves = JsonLeaves::Of(style, options.canonical_numbers);
  const auto build_with = [&](Expressions* pool) {
    std::shared_ptr<JsonSchemaRules> rules(new JsonSchemaRules(pool, documents, options));
    rules->cases_.Begin(leaves);
    rules->source_ = pool->AddRules(rules);
    return build(rules.get());
  };
  return Language::Build(build_with, limits, &leaves.pool());
}

SetId JsonSchemaRules::SetOf(SchemaPlace place) { return sets_.And(kAnyValue, SignedUse{sets_.Schema(place), true}); }

SetId JsonSchemaRules::SetOfRoot(SchemaPlace root) {
  const auto only = [](const JsonValue& schema, std::string_view key) {
    return schema.IsObject() && schema.size == 1 && schema.keys[0] == key ? schema.elements : nullptr;
  };
  const JsonValue* const all = only(*root.node, "allOf");
  if (!all) return SetOf(root);
  SetId set = kAnyValue;
  for (uint32_t i = 0; i < all->size; ++i) {
    SchemaPlace place = documents_->Child(root, all->elements[i]);
    const JsonValue* const negated = only(*place.node, "not");
    if (negated) place = documents_->Child(place, *negated);
    set = sets_.And(set, SignedUse{sets_.Schema(place), !negated});
  }
  return set;
}

Expr JsonSchemaRules::Texts(SetId set) {
  if (!Inhabited(set)) return kEmpty;
  if (IsYaml()) return pool_->Concat(CallValue(set, YamlPlaced(0, kTop)), pool_->Optional(pool_->Byte('\n')));
  if (options_.notation == SchemaNotation::kBare) return BareTexts(set);
  const Expr value = CallValue(set, 0);
  const bool outside = options_.whitespace == JsonWhitespace::kAny || options_.whitespace == JsonWhitespace::kPattern;
  return outside ? pool_->Concat({line_, value, line_}) : value;
}

// Strings as their texts; where a value may also be something else, those that may be read as JSON, and empty ones,
// between quotes, so that a text has one value and a value one style. All else as JSON.
Expr JsonSchemaRules::BareTexts(SetId set) {
  const Expr bare = cases_.StringOf(set, StringStyle::kBare);
  const SetId others = sets_.And(set, SignedUse{sets_.Text(), false});
  std::vector<Expr> parts;
  if (!Inhabited(others)) {
    parts = {bare};
  } else {
    JsonStrings &strings = cases_.strings(), &texts = cases_.StringsOf(StringStyle::kBare);
    const bool any = bare == cases_.Allowed(StringStyle::kBare);
    const Expr quoted = strings.Intersect(cases_.StringOf(set), ReadAsJson(pool_, &strings));
    parts = {CallValue(others, 0), pool_->Concat({pool_->Byte('"'), quoted, pool_->Byte('"')}),
             any ? StringsWithout(options_.without, &texts, true) : texts.Difference(bare, ReadAsJson(pool_, &texts))};
  }
  for (Expr& e : parts)
    if (pool_->IsEmpty(e)) e = kEmpty;
  return pool_->Union(std::move(parts));
}

// Rules are numbers that stand for the same thing in every pool: the tables of a clone begin as these are.
std::shared_ptr<RuleSource> JsonSchemaRules::Clone(Expressions* pool) const {
  std::shared_ptr<JsonSchemaRules> copy(new JsonSchemaRules(pool, documents_, options_));
  copy->forgets_ = forgets_ || pool->forgets;
  copy->sets_ = sets_;
  copy->rules_ = rules_;
  for (Rule& r : copy->rules_) r.call = kEmpty;
  copy->rule_index_ = rule_index_;
  copy->plan_index_ = plan_index_;
  copy->plan_of_ = plan_of_;
  copy->object_cases_ = object_cases_;
  copy->array_cases_ = array_cases_;
  while (copy->objects_.size() < objects_.size()) copy->objects_.emplace_back();
  while (copy->arrays_.size() < arrays_.size()) copy->arrays_.emplace_back();
  copy->inhabited_ = inhabited_;
  copy->state_inhabited_ = state_inhabited_;
  for (size_t i = 0; i < readers_.size(); ++i) copy->readers_.emplace_back().state = readers_[i].state;
  copy->reader_of_ = reader_of_;
  copy->seen_ = seen_;
  copy->values_ = values_;
  if (const auto* const values = values_by_hash_.IfMade()) *copy->values_by_hash_ = *values;
  copy->has_memory_ = has_memory_ && !copy->forgets_;
  copy->has_values_ = has_values_ && !copy->forgets_;
  copy->may_run_out_ = may_run_out_ && !copy->forgets_;
  copy->source_ = static_cast<uint32_t>(pool->NumRuleSources());
  return copy;
}

size_t JsonSchemaRules::MemoryBytes() const {
  size_t bytes = rules_.size() * (sizeof(Rule) + 64) + (objects_.size() + arrays_.size()) * 512 + sets_.NumSets() * 64 +
                 seen_.MemoryBytes() + arena_.Bytes() + sets_.lists.MemoryBytes();
  for (size_t i = 0; i < listed_.size(); ++i) bytes += listed_[i].MemoryBytes();
  return bytes;
}

StateId JsonSchemaRules::FindRule(Rule::Kind kind, const uint32_t* words, size_t n, uint64_t* hash) const {
  *hash = HashWords(words, n) + static_cast<uint64_t>(kind) * 0x9E3779B97F4A7C15ull;
  return rule_index_.Find(*hash, [&](StateId id) {
    const Rule& r = rules_[static_cast<size_t>(id)];
    return r.kind == kind && std::equal(words, words + n, r.words);
  });
}

Expr JsonSchemaRules::CallRule(Rule::Kind kind, const uint32_t* words, size_t n, const ByteSet& first, bool nullable) {
  uint64_t hash = 0;
  const StateId known = FindRule(kind, words, n, &hash);
  const uint32_t id = known != kNoState ? static_cast<uint32_t>(known) : static_cast<uint32_t>(rules_.size());
  if (known == kNoState) {
    rule_index_.Insert(hash, static_cast<StateId>(id));
    Rule r{};
    r.kind = kind;
    std::copy(words, words + n, r.words);
    rules_.push_back(r);
  }
  if (rules_[id].call == kEmpty) {
    const Expr call = pool_->Call(source_, id, nullable, first);
    rules_[id].call = call;
  }
  return rules_[id].call;
}

Expr JsonSchemaRules::CallValue(SetId set, uint32_t depth) {
  const uint32_t words[] = {set, depth};
  return CallRule(Rule::kValue, words, 2, IsYaml() ? YamlValueFirst(depth) : ValueFirst());
}

Expr JsonSchemaRules::CallObject(const ObjectState& s) {
  const uint32_t words[] = {s.plan,  s.position, s.low,  s.high, static_cast<uint32_t>(s.owed),
                            s.depth, s.first,    s.seen, static_cast<uint32_t>(s.owed >> 32)};
  if (!IsYaml()) return CallRule(Rule::kObject, words, 9, NextFirst());
  has_memory_ = has_memory_ || (s.first == 1 && IsUnique() && objects_[s.plan].open);
  const bool ends = !IsFlow(s.depth) && !s.first && ObjectMayEnd(s);  // by what stands on the next line
  return CallRule(Rule::kObject, words, 9, YamlNextFirst(s.depth, s.first), ends);
}

Expr JsonSchemaRules::CallArray(const ArrayState& s) {
  const uint32_t words[] = {s.plan,  s.index, s.low, s.high, static_cast<uint32_t>(s.owed), s.counts,
                            s.depth, s.first, static_cast<uint32_t>(s.owed >> 32)};
  if (!IsYaml()) return CallRule(Rule::kArray, words, 9, NextFirst());
  const bool ends = !IsFlow(s.depth) && !s.first && ArrayMayEnd(s);
  return CallRule(Rule::kArray, words, 9, YamlNextFirst(s.depth, s.first), ends);
}

bool JsonSchemaRules::EndsByItself(uint32_t rule) {
  if (IsYaml() || options_.whitespace == JsonWhitespace::kPattern) return false;  // blanks may be whatever one likes
  const Rule& r = rules_[rule];
  if (r.kind == Rule::kValue) return cases_.NumberOf(r.words[0]) == kEmpty;
  return r.kind == Rule::kObject || r.kind == Rule::kArray || r.kind == Rule::kKeys || r.kind == Rule::kListed;
}

RuleSource::End JsonSchemaRules::EndOf(uint32_t rule) {
  if (IsYaml() || options_.whitespace == JsonWhitespace::kPattern) return End::kUnknown;
  const Rule& r = rules_[rule];
  switch (r.kind) {
    case Rule::kValue: return cases_.NumberOf(r.words[0]) == kEmpty ? End::kValue : End::kAnyValue;
    case Rule::kObject:
    case Rule::kArray: return End::kBracket;
    case Rule::kListed: return End::kQuote;
    default: return End::kUnknown;
  }
}

Expr JsonSchemaRules::Expand(uint32_t rule) {
  const Rule r = rules_[rule];
  const uint32_t* w = r.words;
  switch (r.kind) {
    case Rule::kValue: return IsYaml() ? YamlValue(w[0], w[1]) : ValueBody(w[0], w[1]);
    case Rule::kObject: {
      const ObjectState s = ObjectOf(w);
      return IsYaml() ? YamlObject(s) : ObjectBody(s);
    }
    case Rule::kArray: {
      const ArrayState s = ArrayOf(w);
      return IsYaml() ? YamlArray(s) : ArrayBody(s);
    }
    case Rule::kKeys: return KeysBody({w[0], w[1], w[2], w[3], w[4]});
    case Rule::kListed: return ListedBody({w[0], w[1], w[2], w[3]});
    case Rule::kFreshKeys:
    case Rule::kFreshValue: {  // nobody who knows RuleSource::Remembers asks for that
      std::vector<Expr> parts{pool_->Nullable(r.call) ? kEpsilonExpr : kEmpty};
      for (int b = 0; b < 256; ++b) {
        Expr rest = kEmpty;
        Step(rule, static_cast<uint8_t>(b), &rest);
        parts.push_back(pool_->Concat(pool_->Byte(static_cast<uint8_t>(b)), rest));
      }
      return pool_->Union(std::move(parts));
    }
  }
  return kEmpty;
}

Expr JsonSchemaRules::ValueBody(SetId set, uint32_t depth) {
  std::vector<Expr> parts;
  const uint8_t simple = cases_.SimpleOf(set);
  if (simple & kNullBit) parts.push_back(pool_->Literal("null"));
  if (simple & kFalseBit) parts.push_back(pool_->Literal("false"));
  if (simple & kTrueBit) parts.push_back(pool_->Literal("true"));
  parts.push_back(cases_.NumberOf(set));
  if (const uint32_t listed = ListedTexts(set).Size()) {
    parts.push_back(pool_->Concat(pool_->Byte('"'), CallListed({set, 0, listed, 0})));
  } else if (cases_.HasString(set)) {
    parts.push_back(pool_->Concat({pool_->Byte('"'), cases_.StringOf(set), pool_->Byte('"')}));
  }
  std::vector<Expr> states;
  const Cases& arrays = cases_.CasesOf(set, JsonType::kArray);
  for (const Case& c : arrays) {
    const ArrayState start = StartArray(ArrayPlanOf(c), depth);
    if (ArrayInhabited(start)) states.push_back(CallStart(start));
  }
  parts.push_back(pool_->Concat(pool_->Byte('['), pool_->Union(states)));
  states.clear();
  const Cases& objects = cases_.CasesOf(set, JsonType::kObject);
  for (const Case& c : objects) {
    const ObjectState start = StartObject(ObjectPlanOf(c), depth);
    if (ObjectInhabited(start)) states.push_back(CallObject(start));
  }
  parts.push_back(pool_->Concat(pool_->Byte('{'), pool_->Union(states)));
  for (Expr& e : parts)
    if (pool_->IsEmpty(e)) e = kEmpty;
  return pool_->Union(std::move(parts));
}

// ---------------------------------------------------------------------------------------------- layout

Expr JsonSchemaRules::Line(uint32_t depth) {
  if (options_.whitespace != JsonWhitespace::kPretty) return line_;
  const size_t level = depth & ~ReadingOf(depth);
  const uint32_t blanks = static_cast<uint32_t>(level * options_.indent);  // counted: spelled out, deep lines are long
  return pool_->Concat(pool_->Byte('\n'), pool_->Repeat(pool_->Byte(' '), blanks, blanks));
}

Expr JsonSchemaRules::Comma(uint32_t depth) {
  if (options_.whitespace != JsonWhitespace::kPretty) return comma_;
  return pool_->Concat(pool_->Byte(','), Line(depth));
}

// What ends an object or array whose brackets are at `depth`. An empty one has no line break.
Expr JsonSchemaRules::Close(uint32_t depth, bool empty, char bracket) {
  const bool lines = options_.whitespace == JsonWhitespace::kPretty || options_.whitespace == JsonWhitespace::kFlexible;
  const Expr end = pool_->Byte(static_cast<uint8_t>(bracket));
  return empty && lines ? end : pool_->Concat(Line(depth), end);
}

Expr JsonSchemaRules::QuotedKey(Expr contents) {
  return pool_->Concat({pool_->Byte('"'), contents, pool_->Byte('"'), colon_});
}

Expr JsonSchemaRules::KeyText(KeyId key) {
  const auto known = key_texts_.find(key);
  if (known != key_texts_.end()) return known->second;
  return key_texts_[key] = QuotedKey(cases_.strings().Literal(sets_.KeyText(key)));
}

}  // namespace tokamata
