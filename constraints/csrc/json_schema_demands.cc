// Unions of conjunctions of demands: and, not, and what a conjunction has evaluated.
#include <algorithm>
#include <string>
#include <utility>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/json_schema_cases.h"
#include "constraints/csrc/json_schema_keywords.h"

namespace tokamata {
namespace {

constexpr size_t kFewCases = 100;  // of an object, beyond which its alternatives become clauses
constexpr size_t kManyCases = 16;  // of a product, from which it is worth finding out which of them list no value
constexpr size_t kFewMembers = 8;  // of which a condition speaks at most

bool Has(const Case& c, DemandKind kind, uint32_t a) {
  return std::any_of(c.begin(), c.end(), [&](const Demand& d) { return d.kind == kind && d.a == a; });
}

// Whether it matters for unevaluatedProperties or unevaluatedItems which of several cases holds.
bool Evaluates(const Case& c) {
  return std::any_of(c.begin(), c.end(), [](const Demand& d) {
    return !d.quiet && (d.kind == DemandKind::kMembers || d.kind == DemandKind::kItems || d.kind == DemandKind::kContains ||
                        d.kind == DemandKind::kUnevaluated || d.kind == DemandKind::kUnevaluatedItems);
  });
}

// Adds a demand to a conjunction; false on a contradiction.
bool AddDemand(const Demand& d, Case* c) {
  for (Demand& known : *c) {
    if (known == d) return true;
    if (known.kind == d.kind && (d.kind == DemandKind::kProperties || d.kind == DemandKind::kLength ||
                                 (d.kind == DemandKind::kContains && known.a == d.a))) {
      known.b = std::max(known.b, d.b);
      known.c = std::min(known.c, d.c);
      return known.b <= known.c;
    }
    const auto opposed = [&](DemandKind x, DemandKind y) {
      return ((known.kind == x && d.kind == y) || (known.kind == y && d.kind == x)) && known.a == d.a && known.b == d.b;
    };
    if (opposed(DemandKind::kRequired, DemandKind::kForbidden) || opposed(DemandKind::kMembers, DemandKind::kSomeMember) ||
        opposed(DemandKind::kNames, DemandKind::kSomeName) || opposed(DemandKind::kItems, DemandKind::kSomeItem) ||
        opposed(DemandKind::kUnevaluated, DemandKind::kSomeUnevaluated) ||
        opposed(DemandKind::kUnevaluatedItems, DemandKind::kSomeUnevaluatedItem))
      return false;
  }
  c->push_back(d);
  const auto opposed = [&](const Demand& n) {
    if (n.kind != DemandKind::kNotAMember) return false;
    const bool about = n == d || (d.kind == DemandKind::kRequired && d.a == n.b) || (d.kind == DemandKind::kMembers && d.a == n.a);
    return about && Has(*c, DemandKind::kRequired, n.b) && Has(*c, DemandKind::kMembers, n.a);
  };
  return std::none_of(c->begin(), c->end(), opposed);
}

}  // namespace

void SchemaCases::CheckCases(size_t n) const {
  if (product_ == Product::kFew && n > std::min<size_t>(kFewCases, options_.max_cases)) throw TooManyCases();
  if (n <= options_.max_cases) return;
  if (product_ == Product::kClauses) throw TooManyCases();
  throw LimitError("json_schema: the limit schema_cases=" + std::to_string(options_.max_cases) +
                   " was reached" + (growing_ == kNoUse ? "" : " at " + Describe(growing_)) +
                   ": alternatives (anyOf, oneOf, not, if) multiply; make the branches of oneOf disjoint by a "
                   "required key with different constants, use anyOf, or raise it: tokamata.Limits(schema_cases=...)");
}

Cases SchemaCases::AndCases(Cases a, Cases b) {
  const auto is_any = [](const Cases& cases) { return cases.size() == 1 && cases[0].empty(); };
  if (product_ == Product::kClauses && !is_any(a) && !is_any(b)) a = AsClauses(std::move(a)), b = AsClauses(std::move(b));
  if (is_any(a)) return b;
  if (is_any(b)) return a;
  CheckCases(a.size() * b.size() / 8);
  const bool many = a.size() * b.size() >= kManyCases;
  Cases out;
  const bool alike = b.size() > 1 && std::none_of(b.begin(), b.end(), Evaluates);
  for (const Case& x : a) {
    if (alike && std::any_of(b.begin(), b.end(), [&](const Case& y) { return IsSaid(x, y); })) {
      if (std::find(out.begin(), out.end(), x) == out.end()) out.push_back(x);  // the others are no more than that
      continue;
    }
    for (const Case& y : b) {
      Case both = x;
      bool possible = true;
      for (size_t i = 0; possible && i < y.size(); ++i) {
        TimeLimit::Spend(static_cast<int64_t>(1 + both.size() / 8));
        possible = AddDemand(y[i], &both);
      }
      possible = possible && !(many && ListsNothing(&both, y));
      if (possible && std::find(out.begin(), out.end(), both) == out.end()) out.push_back(std::move(both));
      CheckCases(out.size());
    }
  }
  return out;
}

// Whether all that one case demands holds of what another one describes.
bool SchemaCases::IsSaid(const Case& known, const Case& demands) {
  return std::all_of(demands.begin(), demands.end(), [&](const Demand& d) {
    return std::find(known.begin(), known.end(), d) != known.end() || (d.kind == DemandKind::kSomeMember && SurelySome(known, d.a));
  });
}

// Whether some member that a case requires violates what a schema says of members: by its key, or as enum or const list
// other values for it.
bool SchemaCases::SurelySome(const Case& c, UseId use) {
  if (sets_.Use(use).kind != UseKind::kSchema) return false;
  const JsonValue& node = *sets_.Use(use).place.node;
  const JsonValue* const properties = node.Find("properties");
  const JsonValue* const others = node.Find("additionalProperties");
  const bool closed = others && others->IsBoolean() && !others->boolean && !node.Find("patternProperties");
  for (const Demand& d : c) {
    if (d.kind != DemandKind::kRequired) continue;
    TimeLimit::Spend(1);
    const JsonValue* const child = properties ? properties->Find(sets_.KeyText(d.a)) : nullptr;
    if (!child && closed) return true;
    bool alone;
    const Span<const JsonValue> listed = child ? ListedBy(Child(use, *child), &alone) : Span<const JsonValue>{nullptr, 0};
    if (!listed.data) continue;
    for (const Demand& group : c) {
      if (group.kind != DemandKind::kMembers) continue;
      for (const UseId of_key : AppliedToKey({DemandKind::kMembers, group.a}, d.a)) {
        const Span<const JsonValue> among = ListedBy(of_key, &alone);
        const auto has = [&](const JsonValue& v) {
          return std::any_of(listed.begin(), listed.end(), [&v](const JsonValue& l) { return JsonEqual(l, v); });
        };
        if (among.data && std::none_of(among.begin(), among.end(), has)) return true;
      }
    }
  }
  return false;
}

Cases SchemaCases::NegateCases(const Cases& cases) {
  Cases out{{}};
  for (const Case& c : cases) {
    Cases some;
    for (const Demand& d : c) {
      const auto add = [&](DemandKind kind, uint32_t low, uint32_t high) { some.push_back({{kind, d.a, low, high, d.quiet}}); };
      switch (d.kind) {
        case DemandKind::kMembers:
          for (Case& violated : SomeMember(d.a, d.quiet)) some.push_back(std::move(violated));
          break;
        case DemandKind::kSomeMember: add(DemandKind::kMembers, d.b, d.c); break;
        case DemandKind::kUnevaluated: {
          const std::vector<uint32_t> groups = sets_.lists.Copy(d.b);
          if (std::any_of(groups.begin(), groups.end(), [this](UseId g) { return HasWidenedKeys(g); }))
            some.push_back({});
          else
            add(DemandKind::kSomeUnevaluated, d.b, d.c);
          break;
        }
        case DemandKind::kSomeUnevaluated: add(DemandKind::kUnevaluated, d.b, d.c); break;
        case DemandKind::kNames: add(DemandKind::kSomeName, d.b, d.c); break;
        case DemandKind::kSomeName: add(DemandKind::kNames, d.b, d.c); break;
        case DemandKind::kRequired: add(DemandKind::kForbidden, d.b, d.c); break;
        case DemandKind::kForbidden: add(DemandKind::kRequired, d.b, d.c); break;
        case DemandKind::kNotAMember:
          some.push_back({{DemandKind::kRequired, d.b}, {DemandKind::kMembers, d.a, 0, 0, d.quiet}});
          break;
        case DemandKind::kEither: some.push_back(NoneOf(ClauseOf(d))); break;
        case DemandKind::kItems: add(DemandKind::kSomeItem, d.b, d.c); break;
        case DemandKind::kSomeItem: add(DemandKind::kItems, d.b, d.c); break;
        case DemandKind::kUnevaluatedItems: add(DemandKind::kSomeUnevaluatedItem, d.b, d.c); break;
        case DemandKind::kSomeUnevaluatedItem: add(DemandKind::kUnevaluatedItems, d.b, d.c); break;
        case DemandKind::kUnique: add(DemandKind::kRepeated, d.b, d.c); break;
        case DemandKind::kRepeated: add(DemandKind::kUnique, d.b, d.c); break;
        case DemandKind::kProperties:
        case DemandKind::kLength:
        case DemandKind::kContains:
          if (d.b) add(d.kind, 0, d.b - 1);
          if (d.c != kUnbounded) add(d.kind, d.c + 1, kUnbounded);
          break;
        case DemandKind::kDistinct: break;  // of no schema's case
      }
    }
    out = AndCases(std::move(out), std::move(some));
    if (out.empty()) break;
  }
  return out;
}

// Whether a schema says something of members with one key only.
bool SchemaCases::OnlyKey(UseId use, KeyId* key) {
  if (sets_.Use(use).kind != UseKind::kSchema) return false;
  const JsonValue& node = *sets_.Use(use).place.node;
  const JsonValue* const properties = node.Find("properties");
  if (!properties || properties->size != 1 || node.Find("patternProperties") || node.Find("additionalProperties")) return false;
  *key = sets_.Key(properties->keys[0]);
  return true;
}

// Some member violates what a schema says of members.
Cases SchemaCases::SomeMember(UseId use, bool quiet) {
  if (HasWidenedKeys(use)) return {{}};
  KeyId key;
  if (OnlyKey(use, &key)) return {{{DemandKind::kRequired, key}, {DemandKind::kNotAMember, use, key, 0, quiet}}};
  return {{{DemandKind::kSomeMember, use, 0, 0, quiet}}};
}

// That a key does not occur, or has a value that violates a schema, is one case, not two: conditions and negated branches
// of a oneOf would double the cases each.
void SchemaCases::MergeLacking(Cases* cases) {
  for (Case& some : *cases) {
    if (some.size() != 2 || some[1].kind != DemandKind::kNotAMember || !Has(some, DemandKind::kRequired, some[1].b)) continue;
    const Case lacks{{DemandKind::kForbidden, some[1].b}};
    const auto lacking = std::find(cases->begin(), cases->end(), lacks);
    if (lacking == cases->end()) continue;
    some.erase(some.begin());
    cases->erase(lacking);
    return;
  }
}

// Without the cases in which keys do not occur that are required anyway; where the keywords are negated, that is one of
// the other cases.
void SchemaCases::DropLacking(ListId required, Cases* cases) {
  const Span<const uint32_t> keys = sets_.lists.At(required - 1);
  const auto lacks = [&](const Demand& d) {
    return d.kind == DemandKind::kForbidden && std::binary_search(keys.begin(), keys.end(), d.a);
  };
  const auto dropped = [&](const Case& c) { return std::any_of(c.begin(), c.end(), lacks); };
  cases->erase(std::remove_if(cases->begin(), cases->end(), dropped), cases->end());
}

// Whether a key that must occur, and of which one of the operands speaks, has no value left of those that enum or const
// list for it, as where the conditions of several branches ask for different ones. Leaves out what is said already: that
// the key has none of some values, which are not among the few that are left.
bool SchemaCases::ListsNothing(Case* both, const Case& operand) {
  constexpr uint32_t kFewValues = 4;
  struct Refused {
    Span<const JsonValue> listed;
    bool alone;
    size_t demand;
  };
  std::vector<KeyId> keys;
  for (const Demand& d : operand) {
    if (d.kind == DemandKind::kNotAMember) keys.push_back(d.b);
    if (d.kind != DemandKind::kMembers || sets_.Use(d.a).kind != UseKind::kSchema) continue;
    const JsonValue* const properties = sets_.Use(d.a).place.node->Find("properties");
    for (uint32_t i = 0; properties && properties->size <= kFewMembers && i < properties->size; ++i)
      keys.push_back(sets_.Key(properties->keys[i]));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const auto has = [](const Span<const JsonValue>& listed, const JsonValue& value) {
    return std::any_of(listed.begin(), listed.end(), [&](const JsonValue& v) { return JsonEqual(v, value); });
  };
  std::vector<Span<const JsonValue>> among;  // lists of values that it must be among
  std::vector<Refused> refused;
  for (const KeyId key : keys) {
    if (!Has(*both, DemandKind::kRequired, key)) continue;
    TimeLimit::Spend(static_cast<int64_t>(both->size()));
    among.clear(), refused.clear();
    for (size_t i = 0; i < both->size(); ++i) {
      const Demand group = (*both)[i];
      const bool is_refused = group.kind == DemandKind::kNotAMember && group.b == key;
      if (group.kind != DemandKind::kMembers && !is_refused) continue;
      for (const UseId use : AppliedToKey({DemandKind::kMembers, group.a}, key)) {
        bool alone;
        const Span<const JsonValue> listed = ListedBy(use, &alone);
        if (!listed.data) continue;
        if (is_refused)
          refused.push_back({listed, alone, i});
        else
          among.push_back(listed);
      }
    }
    if (among.empty()) continue;
    const auto shorter = [](const Span<const JsonValue>& a, const Span<const JsonValue>& b) { return a.size() < b.size(); };
    const auto excluded = [&](const JsonValue& value) {
      return std::any_of(refused.begin(), refused.end(), [&](const Refused& r) { return r.alone && has(r.listed, value); }) ||
             !std::all_of(among.begin(), among.end(), [&](const auto& listed) { return has(listed, value); });
    };
    const Span<const JsonValue> fewest = *std::min_element(among.begin(), among.end(), shorter);
    if (std::all_of(fewest.begin(), fewest.end(), excluded)) return true;
    if (fewest.size() > kFewValues) continue;
    size_t left_out = both->size();
    for (auto r = refused.rbegin(); r != refused.rend(); ++r) {
      if (r->demand == left_out || std::any_of(fewest.begin(), fewest.end(), [&](const JsonValue& v) { return has(r->listed, v); }))
        continue;
      left_out = r->demand;
      both->erase(both->begin() + static_cast<ptrdiff_t>(left_out));
    }
  }
  return false;
}

// The values of a schema's enum or const, and whether all of them are valid; null where it has neither.
Span<const JsonValue> SchemaCases::ListedBy(UseId use, bool* alone) {
  *alone = true;
  SchemaPlace place = sets_.Use(use).place;
  if (sets_.Use(use).kind == UseKind::kConstant) return {place.node, 1};
  Span<const JsonValue> listed{nullptr, 0};
  if (sets_.Use(use).kind != UseKind::kSchema) return listed;
  SchemaPlace target;
  for (int steps = 0; steps < 20 && documents_.OnlyReference(place, &target); ++steps) place = target;
  const JsonValue& node = *place.node;
  const SchemaDialect dialect = documents_.Dialect(node);
  if (!node.IsObject() || node.Find("$ref")) return listed;  // which may hide what is beside it
  bool typed = false;
  for (uint32_t i = 0; i < node.size; ++i) {
    const JsonValue& value = node.elements[i];
    const Keyword keyword = KeywordOf(node.keys[i], dialect);
    if (keyword == Keyword::kNone) continue;
    if (keyword == Keyword::kConst || keyword == Keyword::kEnum) {
      *alone = *alone && !listed.data;
      listed = keyword == Keyword::kConst ? Span<const JsonValue>{&value, 1} : Span<const JsonValue>{value.elements, value.size};
    } else {
      typed = keyword == Keyword::kType && value.IsString() && value.text == "string";
      *alone = *alone && typed;
    }
  }
  if (typed) *alone = *alone && std::all_of(listed.begin(), listed.end(), [](const JsonValue& v) { return v.IsString(); });
  return listed;
}

// Adds what unevaluatedProperties or unevaluatedItems ask to every case of the schema's other keywords: what a case
// demands of members or elements is what it has evaluated.
Cases SchemaCases::Unevaluated(UseId use, const JsonValue& value, const Cases& base, JsonType type) {
  const UseId rest = Child(use, value);
  Cases out;
  for (const Case& c : base) {
    std::vector<uint32_t> groups;
    bool all = false;
    for (const Demand& d : c) {
      if (d.quiet) continue;
      all = all || d.kind == DemandKind::kUnevaluated || d.kind == DemandKind::kUnevaluatedItems;
      if (d.kind == DemandKind::kMembers) {
        const JsonValue& node = *sets_.Use(d.a).place.node;
        all = all || (sets_.Use(d.a).kind == UseKind::kSchema && node.Find("additionalProperties"));
        groups.push_back(d.a);
      }
      if (d.kind == DemandKind::kItems) groups.push_back(d.a << 1);
      if (d.kind == DemandKind::kContains && documents_.Dialect(*sets_.Use(use).place.node).draft >= SchemaDraft::k2020)
        groups.push_back(d.a << 1 | 1);
    }
    Case with = c;
    const DemandKind kind = type == JsonType::kArray ? DemandKind::kUnevaluatedItems : DemandKind::kUnevaluated;
    if (all || AddDemand({kind, rest, sets_.lists.Intern(groups), 0}, &with)) out.push_back(std::move(with));
  }
  return out;
}

}  // namespace tokamata
