// Keys of objects that the schema does not name, in classes of those that match the same patterns.
#include <algorithm>

#include "automata/csrc/errors.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {

// A class that is being split. Its contents are those of `base` that are none of `excluded`.
struct JsonSchemaRules::KeyClass {
  OtherKeys keys;
  Expr base;
  std::vector<Expr> excluded;
};

SetId JsonSchemaRules::OthersOf(const ObjectPlan& p, const std::vector<KeyId>& patterns) {
  SetId value = kAnyValue;
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
  for (const Demand& n : p.names) all = strings.Intersect(all, cases_.StringOf(cases_.SetOf(n.a), style));
  return all;
}

// What has nothing in common with the base is not excluded from it: the expression is simpler, and masks are, too.
Expr JsonSchemaRules::ContentsOf(const KeyClass& c) {
  constexpr size_t kMostSearched = 2'000;
  JsonStrings& strings = cases_.strings();
  Expr contents = c.base;
  for (const Expr e : c.excluded)
    if (!pool_->IsSurelyEmpty(strings.Intersect(c.base, e), kMostSearched)) contents = strings.Difference(contents, e);
  return contents;
}

// Parts each class into keys within a language and those without. Calls mark(keys within, keys without).
template <class Language, class Mark>
void JsonSchemaRules::SplitKeys(const ObjectPlan& p, std::vector<KeyClass>* classes, Language language, Mark mark) {
  const Expr within = language(cases_.strings().style());
  std::vector<KeyClass> next;
  for (KeyClass& out : *classes) {
    KeyClass in = out;
    in.base = cases_.strings().Intersect(out.base, within);
    out.excluded.push_back(within);
    const Expr all = out.keys.contents;
    in.keys.contents = ContentsOf(in);
    out.keys.contents = ContentsOf(out);
    const auto part = [&](StringStyle style, Expr OtherKeys::*keys) {
      if (out.keys.*keys == kEmpty) return;
      JsonStrings& strings = cases_.StringsOf(style);
      const Expr e = language(style);
      in.keys.*keys = strings.Intersect(out.keys.*keys, e);
      out.keys.*keys = strings.Difference(out.keys.*keys, e);
    };
    part(StringStyle::kYamlSingle, &OtherKeys::single);
    part(StringStyle::kYamlPlain, &OtherKeys::plain);
    part(StringStyle::kJsonCanonical, &OtherKeys::counted);
    mark(&in.keys, &out.keys);
    const bool none_in = pool_->IsEmpty(in.keys.contents), none_out = pool_->IsEmpty(out.keys.contents);
    if (none_in) {
      out.keys.contents = all;
      out.excluded.pop_back();
    } else {
      if (none_out) {
        in.keys.contents = all;
        in.base = out.base;
      }
      next.push_back(std::move(in));
    }
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
  const Expr any = AllKeys(p, cases_.strings().style());
  std::vector<KeyClass> classes{{{any, kEmpty, kEmpty, kAnyValue, {}, 0, kUnbounded, {}, false}, any, {}}};
  const bool counts = IsUnique() && IsYaml() && !p.endless;
  if (IsYaml()) {
    OtherKeys* const keys = &classes[0].keys;
    keys->single = AllKeys(p, StringStyle::kYamlSingle);
    keys->plain = pool_->Intersect(YamlPlain(), AllKeys(p, StringStyle::kYamlPlain));
    if (counts) keys->counted = AllKeys(p, StringStyle::kJsonCanonical);
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
                [&](OtherKeys*, OtherKeys* out) { out->settles |= 1u << i; });
  std::vector<OtherKeys> others;
  for (KeyClass& c : classes) {
    OtherKeys o = std::move(c.keys);
    o.value = value_of(o.patterns);
    if (o.value == kNoValue) continue;
    if (!p.ordered && !p.array) LeaveOutNames(p, &o);
    if (pool_->IsEmpty(o.contents)) continue;
    o.everything = o.contents == cases_.strings().Any();
    others.push_back(std::move(o));
  }
  if (IsUnique() && !p.ordered && !p.endless)
    for (OtherKeys& o : others) {
      if (!IsYaml()) o.counted = o.contents;
      o.count = CountTexts(o.counted, nullptr);
      if (o.count <= kFewTexts) o.texts = ListTexts(o.counted);
      if (!IsYaml() || o.count == kUnbounded) continue;  // what is counted may be no longer than in double quotes
      o.single = pool_->Intersect(o.single, cases_.StringsOf(StringStyle::kYamlSingle).Length(0, options_.max_key));
      o.plain = pool_->Intersect(o.plain, cases_.StringsOf(StringStyle::kYamlPlain).Length(0, options_.max_key));
    }
  return others;
}

void JsonSchemaRules::PrepareOthers(uint32_t id) {
  if (Prepared(id).others_ready) return;
  const ObjectPlan p = objects_[id];
  objects_[id].others = FindOthers(p);
  objects_[id].others_ready = true;
  if (p.ordered && IsUnique()) FindCuts(id);
}

}  // namespace tokamata
