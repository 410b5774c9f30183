// Unions of conjunctions of demands: and, not, and what a conjunction has evaluated.
#include <algorithm>
#include <string>
#include <utility>

#include "automata/csrc/errors.h"
#include "constraints/csrc/json_schema_cases.h"

namespace tokamata {

void SchemaCases::CheckCases(size_t n) const {
  if (n > options_.max_cases)
    throw LimitError("json_schema: the limit schema_cases=" + std::to_string(options_.max_cases) +
                     " was reached" + (growing_ == kNoUse ? "" : " at " + Describe(growing_)) +
                     ": alternatives (anyOf, oneOf, not, if) multiply; make the branches of oneOf disjoint by a "
                     "required key with different constants, use anyOf, or raise it: tokamata.Limits(schema_cases=...)");
}

namespace {

bool Has(const Case& c, DemandKind kind, uint32_t a) {
  return std::any_of(c.begin(), c.end(), [&](const Demand& d) { return d.kind == kind && d.a == a; });
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
  return std::none_of(c->begin(), c->end(), [&](const Demand& n) {
    return n.kind == DemandKind::kNotAMember && Has(*c, DemandKind::kRequired, n.b) && Has(*c, DemandKind::kMembers, n.a);
  });
}

}  // namespace

Cases SchemaCases::AndCases(Cases a, Cases b) {
  if (a.size() == 1 && a[0].empty()) return b;
  if (b.size() == 1 && b[0].empty()) return a;
  CheckCases(a.size() * b.size() / 8);
  Cases out;
  for (const Case& x : a)
    for (const Case& y : b) {
      Case both = x;
      bool possible = true;
      for (size_t i = 0; possible && i < y.size(); ++i) possible = AddDemand(y[i], &both);
      if (possible && std::find(out.begin(), out.end(), both) == out.end()) out.push_back(std::move(both));
      CheckCases(out.size());
    }
  return out;
}

Cases SchemaCases::NegateCases(const Cases& cases) {
  Cases out{{}};
  for (const Case& c : cases) {
    Cases some;
    for (const Demand& d : c) {
      const auto add = [&](DemandKind kind, uint32_t low, uint32_t high) { some.push_back({{kind, d.a, low, high, d.quiet}}); };
      switch (d.kind) {
        case DemandKind::kMembers: add(DemandKind::kSomeMember, d.b, d.c); break;
        case DemandKind::kSomeMember: add(DemandKind::kMembers, d.b, d.c); break;
        case DemandKind::kUnevaluated: add(DemandKind::kSomeUnevaluated, d.b, d.c); break;
        case DemandKind::kSomeUnevaluated: add(DemandKind::kUnevaluated, d.b, d.c); break;
        case DemandKind::kNames: add(DemandKind::kSomeName, d.b, d.c); break;
        case DemandKind::kSomeName: add(DemandKind::kNames, d.b, d.c); break;
        case DemandKind::kRequired: add(DemandKind::kForbidden, d.b, d.c); break;
        case DemandKind::kForbidden: add(DemandKind::kRequired, d.b, d.c); break;
        case DemandKind::kNotAMember:
          some.push_back({{DemandKind::kRequired, d.b}, {DemandKind::kMembers, d.a, 0, 0, d.quiet}});
          break;
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

// Where a key does not occur, or what it has violates the only schema of a member, is one case, not two: the negated
// branches of a oneOf that are told apart by their keys would double the cases each.
void SchemaCases::MergeLacking(Cases* cases) {
  const auto is = [](const Case& c, DemandKind kind) { return c.size() == 1 && c[0].kind == kind; };
  for (Case& some : *cases) {
    if (!is(some, DemandKind::kSomeMember) || sets_.Use(some[0].a).kind != UseKind::kSchema) continue;
    const JsonValue& node = *sets_.Use(some[0].a).place.node;
    const JsonValue* const properties = node.Find("properties");
    if (!properties || properties->size != 1 || node.Find("patternProperties") || node.Find("additionalProperties")) continue;
    const KeyId key = sets_.Key(properties->keys[0]);
    const auto lacking = std::find_if(cases->begin(), cases->end(), [&](const Case& c) {
      return is(c, DemandKind::kForbidden) && c[0].a == key;
    });
    if (lacking == cases->end()) continue;
    some[0] = {DemandKind::kNotAMember, some[0].a, key, 0, some[0].quiet};
    cases->erase(lacking);
    return;
  }
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
