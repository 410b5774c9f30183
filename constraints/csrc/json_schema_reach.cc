// What must be said before decoding begins: references that lead nowhere, patterns and distinct elements that cannot be
// enforced. Every schema that can be reached from the root is visited once.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "automata/csrc/flat_map.h"
#include "constraints/csrc/json_schema_keywords.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {

// Calls visit(keyword, place) for each schema that a schema leads to.
template <class F>
void JsonSchemaRules::ForEachBelow(SchemaPlace place, F visit) {
  const JsonValue& node = *place.node;
  const SchemaDialect dialect = documents_->Dialect(node);
  const auto child = [&](Keyword keyword, const JsonValue& v) { visit(keyword, documents_->Child(place, v)); };
  const auto refer = [&](Keyword keyword, SchemaReference kind) { visit(keyword, documents_->Resolve(place, kind)); };
  if (const JsonValue* ref = node.Find("$ref"); ref && ref->IsString() && dialect.draft <= SchemaDraft::k7)
    return refer(Keyword::kRef, SchemaReference::kRef);
  for (uint32_t i = 0; i < node.size; ++i) {
    const JsonValue& v = node.elements[i];
    const Keyword keyword = KeywordOf(node.keys[i], dialect);
    switch (keyword) {
      case Keyword::kRef: refer(keyword, SchemaReference::kRef); break;
      case Keyword::kDynamicRef: refer(keyword, SchemaReference::kDynamicRef); break;
      case Keyword::kRecursiveRef: refer(keyword, SchemaReference::kRecursiveRef); break;
      case Keyword::kPatternProperties:
      case Keyword::kAllOf:
      case Keyword::kAnyOf:
      case Keyword::kOneOf:
      case Keyword::kPrefixItems:
      case Keyword::kProperties:
      case Keyword::kDependentSchemas:
        for (const JsonValue& s : v) child(keyword, s);
        break;
      case Keyword::kItems:
        if (!v.IsArray()) {
          child(keyword, v);
          break;
        }
        for (const JsonValue& s : v) child(keyword, s);
        break;
      case Keyword::kAdditionalItems:
        if (const JsonValue* items = node.Find("items"); items && items->IsArray()) child(keyword, v);
        break;
      case Keyword::kDependencies:
        for (const JsonValue& s : v)
          if (!s.IsArray() && !s.IsString()) child(keyword, s);
        break;
      case Keyword::kNot:
      case Keyword::kIf:
      case Keyword::kThen:
      case Keyword::kElse:
      case Keyword::kAdditionalProperties:
      case Keyword::kPropertyNames:
      case Keyword::kUnevaluatedProperties:
      case Keyword::kContains:
      case Keyword::kUnevaluatedItems: child(keyword, v); break;
      default: break;
    }
  }
}

// Calls visit for a schema and all that it leads to, each once; where it is no `false` or `true`.
template <class F>
void JsonSchemaRules::ForEachSchema(SchemaPlace root, F visit) {
  std::vector<SchemaPlace> open{root};
  open.reserve(32);
  FlatMap<SchemaPlace, bool, SchemaPlaceKeys> seen;
  seen[root] = true;
  while (!open.empty()) {
    const SchemaPlace place = open.back();
    open.pop_back();
    if (!place.node->IsObject()) continue;
    visit(place);
    ForEachBelow(place, [&](Keyword, SchemaPlace p) {
      if (bool& known = seen[p]; !known) known = true, open.push_back(p);
    });
  }
}

// Refuses references that lead back to themselves with nothing but schemas of the same value between.
void JsonSchemaRules::CheckCircles(const std::vector<SchemaPlace>& references) {
  const auto same_value = [](Keyword keyword) {
    switch (keyword) {
      case Keyword::kRef:
      case Keyword::kDynamicRef:
      case Keyword::kRecursiveRef:
      case Keyword::kAllOf:
      case Keyword::kAnyOf:
      case Keyword::kOneOf:
      case Keyword::kNot:
      case Keyword::kIf:
      case Keyword::kThen:
      case Keyword::kElse:
      case Keyword::kDependentSchemas:
      case Keyword::kDependencies: return true;
      default: return false;
    }
  };
  enum : uint8_t { kNew, kOpen, kDone };
  FlatMap<SchemaPlace, uint8_t, SchemaPlaceKeys> known;
  std::vector<SchemaPlace> stack;  // open ones twice: at the second time all below are done
  for (const SchemaPlace& reference : references) {
    stack.push_back(reference);
    while (!stack.empty()) {
      const SchemaPlace place = stack.back();
      uint8_t& state = known[place];
      if (state != kNew) {
        state = kDone;
        stack.pop_back();
        continue;
      }
      state = kOpen;
      if (!place.node->IsObject()) continue;
      ForEachBelow(place, [&](Keyword keyword, SchemaPlace below) {
        if (!same_value(keyword)) return;
        const uint8_t before = known[below];
        if (before == kOpen)
          throw ConstraintError("json_schema: what a reference at \"" + documents_->Describe(*reference.node) +
                                "\" leads to asks \"" + documents_->Describe(*below.node) +
                                "\" of the same value again, without end; let the circle pass through a member or element");
        if (before == kNew) stack.push_back(below);
      });
    }
  }
}

void JsonSchemaRules::Check(SchemaPlace root) {
  bool unique = false;
  std::vector<SchemaPlace> references;
  ForEachSchema(root, [&](SchemaPlace place) {
    const JsonValue& node = *place.node;
    const SchemaDialect dialect = documents_->Dialect(node);
    if (node.Find("$ref") || node.Find("$dynamicRef") || node.Find("$recursiveRef")) references.push_back(place);
    if (const JsonValue* ref = node.Find("$ref"); ref && ref->IsString() && dialect.draft <= SchemaDraft::k7) return;
    for (uint32_t i = 0; i < node.size; ++i) {
      const JsonValue& v = node.elements[i];
      const Keyword keyword = KeywordOf(node.keys[i], dialect);
      if (IsYaml() && keyword == Keyword::kProperties)
        for (uint32_t k = 0; k < v.size; ++k) CheckYamlKey(v.keys[k], &v.elements[k]);
      if (IsYaml() && keyword == Keyword::kRequired && v.IsArray())
        for (const JsonValue& key : v) CheckYamlKey(key.text, &key);
      if (keyword == Keyword::kPatternProperties)
        for (uint32_t k = 0; k < v.size; ++k) CheckPattern(v.keys[k], v.elements[k]);
      if (keyword == Keyword::kPattern) CheckPattern(v.text, v);
      if (keyword == Keyword::kMultipleOf && !options_.lenient && !NumberSet::KnowsMultiples(v.text))
        throw UnsupportedError("json_schema: multipleOf at \"" + documents_->Describe(v) +
                               "\" cannot be enforced: it has more than 18 significant digits, or a power of ten beyond "
                               "-2000 or 900; round it, drop it, or pass lenient=True");
      unique = unique || (keyword == Keyword::kUniqueItems && v.boolean);
    }
  });
  CheckCircles(references);
  if (unique) Explore(root);
}

// Schemas that no value is valid against (`false` aside), and branches of anyOf and oneOf from which no value comes
// with what stands beside them, by their pointers; *whole: whether all were decided.
std::vector<std::string> JsonSchemaRules::EmptyPlaces(SchemaPlace root, bool* whole) {
  std::vector<std::string> found;
  std::vector<SchemaPlace> told;
  *whole = true;
  const auto ask = [&](SetId set, SchemaPlace place) {
    try {
      if (Inhabited(set)) return true;
    } catch (const LimitError&) {
      *whole = false;
      return true;
    }
    if (std::find(told.begin(), told.end(), place) != told.end()) return false;
    told.push_back(place);
    found.push_back(documents_->Describe(*place.node));
    return false;
  };
  ForEachSchema(root, [&](SchemaPlace place) {
    const SetId set = SetOf(place);
    if (!ask(set, place)) return;
    ForEachBelow(place, [&](Keyword keyword, SchemaPlace below) {
      if ((keyword == Keyword::kAnyOf || keyword == Keyword::kOneOf) && below.node->IsObject())
        ask(sets_.And(set, SignedUse{sets_.Schema(below), true}), below);
    });
  });
  return found;
}

void JsonSchemaRules::CheckPattern(std::string_view pattern, const JsonValue& at) {
  if (cases_.IsWidened(pattern)) return;
  try {
    Placed([&] { return "'" + documents_->Describe(at) + "'"; }, [&] { return cases_.strings().Pattern(pattern); });
  } catch (const UnsupportedError& e) {
    throw UnsupportedError("json_schema: pattern at \"" + documents_->Describe(at) + "\": " + e.what() + ", or pass lenient=True");
  } catch (const ConstraintError& e) {
    throw ConstraintError("json_schema: pattern at \"" + documents_->Describe(at) + "\": " + e.what());
  }
}

// The schemas that lead to one with uniqueItems.
FlatMap<SchemaPlace, bool, SchemaPlaceKeys> JsonSchemaRules::PlacesToUnique(SchemaPlace root) {
  FlatMap<SchemaPlace, bool, SchemaPlaceKeys> found;
  std::vector<std::pair<SchemaPlace, SchemaPlace>> steps;  // a schema below, and the one above
  std::vector<SchemaPlace> open;
  ForEachSchema(root, [&](SchemaPlace place) {
    const JsonValue* unique = place.node->Find("uniqueItems");
    if (unique && unique->boolean) found[place] = true, open.push_back(place);
    ForEachBelow(place, [&](Keyword, SchemaPlace below) { steps.emplace_back(below, place); });
  });
  const auto by_place = [](const auto& a, const auto& b) {
    return std::make_pair(a.first.node, a.first.scope) < std::make_pair(b.first.node, b.first.scope);
  };
  std::sort(steps.begin(), steps.end(), by_place);
  while (!open.empty()) {
    const auto above = std::make_pair(open.back(), SchemaPlace());
    const auto [begin, end] = std::equal_range(steps.begin(), steps.end(), above, by_place);
    open.pop_back();
    for (auto step = begin; step != end; ++step)
      if (bool& known = found[step->second]; !known) known = true, open.push_back(step->second);
  }
  return found;
}

// Prepares every object and array from which distinct elements can be reached, so that what cannot be enforced is
// refused now.
void JsonSchemaRules::Explore(SchemaPlace root) {
  const FlatMap<SchemaPlace, bool, SchemaPlaceKeys> places = PlacesToUnique(root);
  const auto leads = [&](UseId id, auto&& self) -> bool {
    const SchemaUse& use = sets_.Use(id);
    if (use.kind == UseKind::kAnyOf)
      return std::any_of(use.members.begin(), use.members.end(), [&](UseId m) { return self(m, self); });
    return use.kind == UseKind::kSchema && places.Find(use.place);
  };
  std::vector<SetId> open;
  std::set<SetId> seen;
  const auto push = [&](SetId set) {
    if (set == kNoValue) return;
    for (size_t i = 0, n = sets_.NumParts(set); i < n; ++i)
      if (leads(sets_.Part(set, i).use, leads)) {
        if (seen.insert(set).second) open.push_back(set);
        return;
      }
  };
  push(SetOfRoot(root));
  while (!open.empty()) {
    const SetId set = open.back();
    open.pop_back();
    const Cases &arrays = cases_.CasesOf(set, JsonType::kArray), &objects = cases_.CasesOf(set, JsonType::kObject);
    // What is owed is settled by a value that violates a schema.
    const auto settle = [&](SetId value, const std::vector<UseId>& uses) {
      for (const UseId use : uses) push(sets_.And(value, SignedUse{use, false}));
    };
    for (const Case& c : arrays) {
      const ArrayPlan& p = PreparedArray(ArrayPlanOf(c));
      for (uint32_t i = 0; i < p.values.size(); ++i) {
        push(p.values[i]);
        for (const Demand& d : p.owed)
          settle(p.values[i], cases_.AppliedToItem(GroupOf(d), i));
        for (const Demand& d : p.contains) {
          push(sets_.And(p.values[i], SignedUse{d.a, true}));
          if (d.c != kUnbounded) settle(p.values[i], {d.a});
        }
      }
    }
    for (const Case& c : objects) {
      const uint32_t plan = ObjectPlanOf(c);
      const ObjectPlan& p = Prepared(plan);  // stays where it is
      const auto lead = [&](const Demand& d) {
        if (d.kind == DemandKind::kSomeName || d.kind == DemandKind::kEither) return false;
        const bool all = d.kind == DemandKind::kMembers || d.kind == DemandKind::kSomeMember;
        const Demand group{all ? DemandKind::kMembers : DemandKind::kUnevaluated, d.a, d.b, 0};
        return AnyAppliedToOther(p, group, [&](UseId use) { return leads(use, leads); });
      };
      if (std::any_of(p.groups.begin(), p.groups.end(), lead) || std::any_of(p.owed.begin(), p.owed.end(), lead))
        PrepareOthers(plan);
      for (const NamedKey& key : p.keys) push(key.value);
      for (const OtherKeys& o : p.others) push(o.value);
      for (uint32_t i = 0; i < p.literals.size(); ++i)
        for (const OwedLiteral& l : p.literals[i])
          if (l.use != kNoUse) push(sets_.And(p.keys[i].value, SignedUse{l.use, l.way == Literal::kValid}));
      for (const Demand& d : p.owed) {
        if (d.kind == DemandKind::kSomeName || d.kind == DemandKind::kEither) continue;
        const Demand group = GroupOf(d);
        for (const NamedKey& key : p.keys) settle(key.value, cases_.AppliedToKey(group, key.key));
        for (const OtherKeys& o : p.others) settle(o.value, cases_.AppliedToOther(group, o.patterns));
      }
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
        if (before && named && !objects_[w[0]].any_order) return PlaceOf(keys[w[1] - 1].value);
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
