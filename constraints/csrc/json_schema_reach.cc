// What must be said before decoding begins: references that lead nowhere, patterns and distinct elements that cannot be
// enforced. Every schema that can be reached from the root is visited once.
#include <set>
#include <string>
#include <utility>

#include "automata/csrc/flat_map.h"
#include "constraints/csrc/json_schema_keywords.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {
namespace {

struct Places {
  static SchemaPlace None() { return {}; }
  static uint64_t Hash(const SchemaPlace& place) {
    return MixHash(reinterpret_cast<uint64_t>(place.node) ^ uint64_t{place.scope} << 48);
  }
};

}  // namespace

void JsonSchemaRules::Check(SchemaPlace root) {
  std::vector<SchemaPlace> open{root};
  open.reserve(32);
  FlatMap<SchemaPlace, bool, Places> seen;
  seen[root] = true;
  bool unique = false;
  while (!open.empty()) {
    const SchemaPlace place = open.back();
    open.pop_back();
    const JsonValue& node = *place.node;
    if (!node.IsObject()) continue;
    const auto push = [&](SchemaPlace p) {
      if (bool& known = seen[p]; !known) known = true, open.push_back(p);
    };
    const auto child = [&](const JsonValue& v) { push(documents_->Child(place, v)); };
    const auto refer = [&](SchemaReference kind) { push(documents_->Resolve(place, kind)); };
    const SchemaDialect dialect = documents_->Dialect(node);
    if (const JsonValue* ref = node.Find("$ref"); ref && ref->IsString() && dialect.draft <= SchemaDraft::k7) {
      refer(SchemaReference::kRef);
      continue;
    }
    for (uint32_t i = 0; i < node.size; ++i) {
      const JsonValue& v = node.elements[i];
      const Keyword keyword = KeywordOf(node.keys[i], dialect);
      if (IsYaml() && keyword == Keyword::kProperties)
        for (uint32_t k = 0; k < v.size; ++k) CheckYamlKey(v.keys[k], &v.elements[k]);
      if (IsYaml() && keyword == Keyword::kRequired && v.IsArray())
        for (const JsonValue& key : v) CheckYamlKey(key.text, &key);
      switch (keyword) {
        case Keyword::kRef: refer(SchemaReference::kRef); break;
        case Keyword::kDynamicRef: refer(SchemaReference::kDynamicRef); break;
        case Keyword::kRecursiveRef: refer(SchemaReference::kRecursiveRef); break;
        case Keyword::kPatternProperties:
          for (uint32_t k = 0; k < v.size; ++k) CheckPattern(v.keys[k], v.elements[k]);
          [[fallthrough]];
        case Keyword::kAllOf:
        case Keyword::kAnyOf:
        case Keyword::kOneOf:
        case Keyword::kPrefixItems:
        case Keyword::kProperties:
        case Keyword::kDependentSchemas:
          for (const JsonValue& s : v) child(s);
          break;
        case Keyword::kItems:
          if (!v.IsArray()) {
            child(v);
            break;
          }
          for (const JsonValue& s : v) child(s);
          break;
        case Keyword::kDependencies:
          for (const JsonValue& s : v)
            if (!s.IsArray() && !s.IsString()) child(s);
          break;
        case Keyword::kNot:
        case Keyword::kIf:
        case Keyword::kThen:
        case Keyword::kElse:
        case Keyword::kAdditionalProperties:
        case Keyword::kPropertyNames:
        case Keyword::kUnevaluatedProperties:
        case Keyword::kAdditionalItems:
        case Keyword::kContains:
        case Keyword::kUnevaluatedItems: child(v); break;
        case Keyword::kPattern: CheckPattern(v.text, v); break;
        case Keyword::kUniqueItems: unique = unique || v.boolean; break;
        default: break;
      }
    }
  }
  if (unique) Explore(SetOf(root));
}

void JsonSchemaRules::CheckPattern(std::string_view pattern, const JsonValue& at) {
  try {
    Placed([&] { return "'" + documents_->Describe(at) + "'"; }, [&] { return cases_.strings().Pattern(pattern); });
  } catch (const UnsupportedError& e) {
    throw UnsupportedError("json_schema: pattern at \"" + documents_->Describe(at) + "\": " + e.what());
  } catch (const ConstraintError& e) {
    throw ConstraintError("json_schema: pattern at \"" + documents_->Describe(at) + "\": " + e.what());
  }
}

// Prepares every object and array that can be reached, so that what cannot be enforced is refused now.
void JsonSchemaRules::Explore(SetId root) {
  std::vector<SetId> open{root};
  std::set<SetId> seen{root};
  const auto push = [&](SetId set) {
    if (set != kNoValue && seen.insert(set).second) open.push_back(set);
  };
  while (!open.empty()) {
    const SetId set = open.back();
    open.pop_back();
    const Cases &arrays = cases_.CasesOf(set, JsonType::kArray), &objects = cases_.CasesOf(set, JsonType::kObject);
    for (const Case& c : arrays)
      for (SetId value : PreparedArray(ArrayPlanOf(c)).values) push(value);
    for (const Case& c : objects) {
      const uint32_t plan = ObjectPlanOf(c);
      for (const NamedKey& key : Prepared(plan).keys) push(key.value);
      PrepareOthers(plan);
      for (const OtherKeys& o : objects_[plan].others) push(o.value);
    }
  }
}

// The pointers of a set's schemas; empty for any value.
std::string JsonSchemaRules::PlaceOf(SetId set) const {
  std::string place;
  for (const SignedUse& part : sets_.Parts(set))
    if (sets_.Use(part.use).kind != UseKind::kText && sets_.Use(part.use).kind != UseKind::kComparable)
      place.append(place.empty() ? "" : " with ").append(part.positive ? "" : "not ").append(cases_.Describe(part.use));
  return place;
}

// With `before`, what was read last stands at the position before a state's, where that is one member only.
std::string JsonSchemaRules::PlaceOf(uint32_t rule, bool before) {
  const Rule r = rules_[rule];
  const uint32_t* w = r.words;
  const auto place_of = [this](const Case& demands) {
    for (const Demand& d : demands) {
      if (d.kind == DemandKind::kMembers || d.kind == DemandKind::kSomeMember || d.kind == DemandKind::kItems ||
          d.kind == DemandKind::kSomeItem || d.kind == DemandKind::kUnique) {
        if (sets_.Use(d.a).kind != UseKind::kComparable) return cases_.Describe(d.a);
      }
    }
    return std::string();
  };
  try {
    switch (r.kind) {
      case Rule::kValue:
      case Rule::kListed: return PlaceOf(SetId{w[0]});
      case Rule::kArray: {
        const std::vector<SetId>& values = PreparedArray(w[0]).values;
        if (before && w[1] > 0 && w[1] + 1 < values.size()) return PlaceOf(values[w[1] - 1]);
        if (before && values.size() == 1) return PlaceOf(values[0]);
        return place_of(array_cases_[w[0]]);
      }
      case Rule::kObject: {
        const std::vector<NamedKey>& keys = Prepared(w[0]).keys;
        const bool named = w[1] > 0 && !w[7] && (w[1] < keys.size() || (IsUnique() && w[1] == keys.size()));
        if (before && named && options_.key_order != KeyOrder::kAny) return PlaceOf(keys[w[1] - 1].value);
        return place_of(object_cases_[w[0]]);
      }
      default: return place_of(object_cases_[readers_[w[0]].state.plan]);
    }
  } catch (const LimitError&) {  // the very one that is being told of
    return {};
  }
}

// Why a set has no values: along the members that must be there to what contradicts itself.
std::string JsonSchemaRules::WhyEmpty(SetId set, int depth) {
  std::string at = PlaceOf(set);
  if (at.empty()) at = "false";
  const Cases objects = set == kNoValue ? Cases() : cases_.CasesOf(set, JsonType::kObject);
  if (depth < 8)
    for (const Case& c : objects) {
      const ObjectPlan& p = Prepared(ObjectPlanOf(c));
      for (const NamedKey& key : p.keys)
        if (key.required && !Inhabited(key.value))
          return at + ", whose required member \"" + sets_.KeyText(key.key) + "\" has no value: " + WhyEmpty(key.value, depth + 1);
    }
  return at;
}

}  // namespace tokamata
