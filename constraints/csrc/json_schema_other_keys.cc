// Keys of objects that the schema does not name, in classes of those that match the same patterns.
#include <algorithm>

#include "automata/csrc/errors.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {

// A class that is being split.
struct JsonSchemaRules::KeyClass {
  struct Texts {  // those of `base` that are none of `excluded`
    Expr base;
    std::vector<Expr> excluded;
  };
  OtherKeys keys;
  Texts contents, counted;  // the latter where CountsApart
};

// In JSON the same keys, each spelled in one way, tell whether there are any, and how many: that is found sooner.
bool JsonSchemaRules::CountsApart() const { return !IsYaml() && !options_.canonical_strings; }

bool JsonSchemaRules::IsEmpty(const OtherKeys& keys) { return pool_->IsEmpty(CountsApart() ? keys.counted : keys.contents); }

// The values of keys without a name that match exactly these patterns.
SetId JsonSchemaRules::OthersOf(const ObjectPlan& p, const std::vector<KeyId>& patterns) {
  SetId value = p.named_all ? kNoValue : kAnyValue;
  for (const Demand& g : p.groups)
    if (value != kNoValue) value = sets_.And(value, cases_.AppliedToOther(g, patterns));
  return value;
}

// All keys that names of the plan allow, its own ones included.
Expr JsonSchemaRules::AllKeys(const ObjectPlan& p, StringStyle style) {
  JsonStrings& strings = cases_.StringsOf(style);
  if (p.array) return cases_.StringOf(p.elements, style);
  const uint32_t times = style == StringStyle::kYamlPlain ? kPlainTimes : style == StringStyle::kYamlSingle ? kSingleTimes : 1;
  Expr all = IsYaml() ? strings.Length(0, options_.max_key * times) : strings.Any();
  if (!options_.without.empty()) all = strings.Intersect(all, cases_.Allowed(style));
  for (const Demand& n : p.names) all = strings.Intersect(all, cases_.StringOf(cases_.SetOf(n.a), style));
  return all;
}

// Where propertyNames or patterns leave room for few other keys, each becomes one with a name: these are read by tries,
// and what was read of them need not be remembered. So do distinct elements of an array that are strings of a list.
void JsonSchemaRules::NameOthers(ObjectPlan* p, std::vector<uint8_t>* seen, std::vector<KeyId>* order) {
  constexpr uint32_t kFewNames = 64;  // of patterns: more take longer to list than to read
  if (!ReadsTexts() || !options_.unique_keys) return;
  const bool closed = !p->array && OthersOf(*p, {}) == kNoValue;
  if (!p->array && p->names.empty() && (p->patterns.empty() || !closed)) return;
  std::vector<SetId> among;
  if (p->array) among.push_back(p->elements);
  for (const Demand& n : p->names) among.push_back(cases_.SetOf(n.a));
  std::vector<std::string> texts;
  const auto lists = [&](SetId set) {
    texts.clear();
    return cases_.ListStrings(set, &texts);
  };
  if (std::none_of(among.begin(), among.end(), lists)) {
    JsonStrings& strings = cases_.StringsOf(StringStyle::kJsonCanonical);
    Expr keys = AllKeys(*p, StringStyle::kJsonCanonical);
    if (closed) {
      std::vector<Expr> matching;
      for (const KeyId pattern : p->patterns) matching.push_back(strings.Pattern(sets_.KeyText(pattern)));
      keys = strings.Intersect(keys, pool_->Union(std::move(matching)));
    }
    if (CountTexts(keys, nullptr, true) > kFewNames) return;
    texts = ListTexts(keys);
  }
  std::vector<KeyId> more;
  for (const std::string& text : texts) {
    const KeyId key = sets_.Key(text);
    if (key >= seen->size()) seen->resize(key + 1, 0);
    if (std::exchange((*seen)[key], 4) == 0) more.push_back(key);
  }
  const bool in_order = options_.key_order == KeyOrder::kSchema && !p->array;
  if (in_order && !more.empty() && !order->empty()) return;
  p->named_all = true;
  p->any_order = p->any_order || p->array || (in_order && !more.empty());
  order->insert(order->end(), more.begin(), more.end());
}

// What has nothing in common with the base is not excluded from it: the expression is simpler, and masks are, too.
void JsonSchemaRules::FindContents(KeyClass* c) {
  const bool apart = CountsApart();
  JsonStrings &strings = cases_.strings(), &canonical = cases_.StringsOf(StringStyle::kJsonCanonical);
  c->keys.contents = c->contents.base;
  if (apart) c->keys.counted = c->counted.base;
  for (size_t i = 0; i < c->contents.excluded.size(); ++i) {
    const Expr common = apart ? canonical.Intersect(c->counted.base, c->counted.excluded[i])
                              : strings.Intersect(c->contents.base, c->contents.excluded[i]);
    if (pool_->IsSurelyEmpty(common, SchemaCases::kMostSearched)) continue;
    c->keys.contents = strings.Difference(c->keys.contents, c->contents.excluded[i]);
    if (apart) c->keys.counted = canonical.Difference(c->keys.counted, c->counted.excluded[i]);
  }
}

// Parts each class into keys within a language and those without. Calls mark(keys within, keys without).
template <class Language, class Mark>
void JsonSchemaRules::SplitKeys(const ObjectPlan& p, std::vector<KeyClass>* classes, Language language, Mark mark) {
  const bool apart = CountsApart();
  const Expr within = language(cases_.strings().style());
  const Expr counted = apart ? language(StringStyle::kJsonCanonical) : kEmpty;
  std::vector<KeyClass> next;
  for (KeyClass& out : *classes) {
    const KeyClass all = out;
    KeyClass in = out;
    in.contents.base = cases_.strings().Intersect(all.contents.base, within);
    out.contents.excluded.push_back(within);
    if (apart) {
      in.counted.base = cases_.StringsOf(StringStyle::kJsonCanonical).Intersect(all.counted.base, counted);
      out.counted.excluded.push_back(counted);
    }
    FindContents(&in);
    FindContents(&out);
    const auto part = [&](StringStyle style, Expr OtherKeys::*keys) {
      if (out.keys.*keys == kEmpty) return;
      JsonStrings& strings = cases_.StringsOf(style);
      const Expr e = language(style);
      in.keys.*keys = strings.Intersect(out.keys.*keys, e);
      out.keys.*keys = strings.Difference(out.keys.*keys, e);
    };
    part(StringStyle::kYamlSingle, &OtherKeys::single);
    part(StringStyle::kYamlPlain, &OtherKeys::plain);
    if (!apart) part(StringStyle::kJsonCanonical, &OtherKeys::counted);
    mark(&in.keys, &out.keys);
    const bool none_in = IsEmpty(in.keys), none_out = IsEmpty(out.keys);
    const auto keep_all = [&](KeyClass* c) {
      c->contents = all.contents;
      c->counted = all.counted;
      c->keys.contents = all.keys.contents;
      if (apart) c->keys.counted = all.keys.counted;
    };
    if (none_in) keep_all(&out);
    if (none_out) keep_all(&in);
    if (!none_in) next.push_back(std::move(in));
    if (!none_out) next.push_back(std::move(out));
  }
  if (next.size() > options_.max_cases)
    throw LimitError("json_schema: the limit schema_cases=" + std::to_string(options_.max_cases) +
                     " was reached" + (p.groups.empty() ? "" : " at " + cases_.Describe(p.groups[0].a)) +
                     ": overlapping patternProperties; make the patterns disjoint, or raise it: "
                     "tokamata.Limits(schema_cases=...)");
  classes->swap(next);
}

// Leaves out the plan's own names, at last: most patterns match none of them, and their keys are simple without.
void JsonSchemaRules::LeaveOutNames(const ObjectPlan& p, OtherKeys* keys) {
  constexpr size_t kMany = 100;  // which take longer to look at than to leave out
  const bool all = p.mentioned.size() > kMany || IsYaml() || keys->contents == cases_.strings().Any();
  std::vector<std::string> names;
  for (const KeyId key : p.mentioned)
    if (all || cases_.Contains(keys->contents, key)) names.push_back(sets_.KeyText(key));
  if (names.empty()) return;
  const auto leave_out = [&](StringStyle style, Expr* e) {
    if (*e != kEmpty) *e = pool_->Difference(*e, cases_.StringsOf(style).Choice(names));
  };
  leave_out(cases_.strings().style(), &keys->contents);
  leave_out(StringStyle::kYamlSingle, &keys->single);
  leave_out(StringStyle::kYamlPlain, &keys->plain);
  leave_out(StringStyle::kJsonCanonical, &keys->counted);
}

// Those that may occur, with how many there are.
std::vector<JsonSchemaRules::OtherKeys> JsonSchemaRules::FindOthers(const ObjectPlan& p) {
  const auto value_of = [&](const std::vector<KeyId>& patterns) { return OthersOf(p, patterns); };
  if (p.plain) {
    const SetId value = value_of({});
    if (value == kNoValue) return {};
    return {{kEmpty, kEmpty, kEmpty, value, {}, 0, kUnbounded, {}, false}};
  }
  if ((p.array && IsYaml()) || (p.patterns.empty() && value_of({}) == kNoValue)) return {};
  const bool counts = CountsApart() || (IsUnique() && IsYaml() && !p.endless);
  const Expr any = AllKeys(p, cases_.strings().style());
  const Expr counted = counts ? AllKeys(p, StringStyle::kJsonCanonical) : kEmpty;
  std::vector<KeyClass> classes{
      {{any, kEmpty, kEmpty, kAnyValue, {}, 0, kUnbounded, {}, false, counted}, {any, {}}, {counted, {}}}};
  if (IsYaml()) {
    classes[0].keys.single = AllKeys(p, StringStyle::kYamlSingle);
    classes[0].keys.plain = pool_->Intersect(YamlPlain(), AllKeys(p, StringStyle::kYamlPlain));
  }
  const bool any_others = p.owed.empty() && !p.patterns.empty() && value_of({}) == kAnyValue;
  for (const KeyId pattern : p.patterns) {
    if (any_others && value_of({pattern}) == kAnyValue) continue;  // says nothing
    SplitKeys(p, &classes, [&](StringStyle style) { return cases_.StringsOf(style).Pattern(sets_.KeyText(pattern)); },
              [&](OtherKeys* in, OtherKeys*) { in->patterns.push_back(pattern); });
  }
  for (size_t i = 0; i < p.owed.size(); ++i)
    if (p.owed[i].kind == DemandKind::kSomeName)
      SplitKeys(p, &classes, [&](StringStyle style) { return cases_.StringOf(cases_.SetOf(p.owed[i].a), style); },
                [&](OtherKeys*, OtherKeys* out) { out->settles |= OwedBit(i); });
  std::vector<OtherKeys> others;
  for (KeyClass& c : classes) {
    OtherKeys o = std::move(c.keys);
    o.value = value_of(o.patterns);
    if (o.value == kNoValue) continue;
    if (!p.ordered && !p.array) LeaveOutNames(p, &o);
    if (IsEmpty(o)) continue;
    o.everything = o.contents == cases_.strings().Any();
    others.push_back(std::move(o));
  }
  if (IsUnique() && !p.ordered && !p.endless)
    for (OtherKeys& o : others) {
      if (!counts) o.counted = o.contents;
      o.count = CountTexts(o.counted, nullptr, true);
      if (o.count <= kFewTexts) o.texts = ListTexts(o.counted);
      if (!IsYaml() || o.count == kUnbounded) continue;  // what is counted may be no longer than in double quotes
      o.single = pool_->Intersect(o.single, cases_.StringsOf(StringStyle::kYamlSingle).Length(0, options_.max_key));
      o.plain = pool_->Intersect(o.plain, cases_.StringsOf(StringStyle::kYamlPlain).Length(0, options_.max_key));
    }
  return others;
}

void JsonSchemaRules::PrepareOthers(uint32_t id) {
  if (Prepared(id).others_ready) return;
  ObjectPlan& p = objects_[id];  // stays where it is
  p.others = FindOthers(p);
  p.others_ready = true;
  if (p.ordered && IsUnique()) FindCuts(id);
}

}  // namespace tokamata
