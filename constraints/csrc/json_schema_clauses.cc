// Alternatives of objects as conjunctions of clauses, each about single keys: n of them are n demands, where cases would
// be the product of all.
#include <algorithm>

#include "automata/csrc/time_limit.h"
#include "constraints/csrc/json_schema_cases.h"
#include "constraints/csrc/json_schema_keywords.h"

namespace tokamata {
namespace {

constexpr size_t kMostClauses = 16;  // of one union of cases
constexpr size_t kMostProduct = 64;  // of clauses, before those that others imply are dropped
constexpr uint32_t kMostKeys = 16;   // of which one schema's properties speak
constexpr ptrdiff_t kMostValues = 32;  // schemas of values in a clause: what settles it is told by trying each

bool Implies(const Literal& a, const Literal& b) {
  return a == b || (a.key == b.key && a.way != Literal::kLacks && b.way == Literal::kOccurs);
}

bool Implies(const Clause& a, const Clause& b) {
  const auto in_b = [&b](const Literal& l) {
    return std::any_of(b.rbegin(), b.rend(), [&l](const Literal& other) { return Implies(l, other); });
  };
  return std::all_of(a.rbegin(), a.rend(), in_b);  // clauses of a product begin alike
}

// Without literals that say that a key does not occur which does.
void LeaveOutLacking(std::vector<Clause>* clauses) {
  const auto occurs = [&](const Literal& l) {
    const auto says = [&l](const Clause& c) { return c.size() == 1 && Implies(c[0], {Literal::kOccurs, l.key}); };
    return l.way == Literal::kLacks && std::any_of(clauses->begin(), clauses->end(), says);
  };
  for (Clause& c : *clauses) {
    Clause left;
    for (const Literal& l : c)
      if (!occurs(l)) left.push_back(l);
    c.swap(left);
  }
}

}  // namespace

// Whether no case owes more than states have room for.
bool SchemaCases::FewOwed(const Cases& cases) const {
  return std::all_of(cases.begin(), cases.end(), [](const Case& c) {
    const auto is_owed = [](const Demand& d) {
      return d.kind == DemandKind::kEither || d.kind == DemandKind::kSomeMember || d.kind == DemandKind::kSomeUnevaluated ||
             d.kind == DemandKind::kSomeName;
    };
    return static_cast<size_t>(std::count_if(c.begin(), c.end(), is_owed)) <= kMostOwed;
  });
}

Clause SchemaCases::ClauseOf(const Demand& either) const {
  Clause clause;
  const Span<const uint32_t> words = sets_.lists.At(either.a);
  for (size_t i = 0; i < words.size(); i += 3)
    clause.push_back({static_cast<Literal::Way>(words[i]), words[i + 1], words[i + 2]});
  return clause;
}

Demand SchemaCases::Said(const Clause& clause) {
  if (clause.size() == 1 && clause[0].way == Literal::kOccurs) return {DemandKind::kRequired, clause[0].key};
  if (clause.size() == 1 && clause[0].way == Literal::kLacks) return {DemandKind::kForbidden, clause[0].key};
  std::vector<uint32_t> words;
  for (const Literal& l : clause) words.insert(words.end(), {static_cast<uint32_t>(l.way), l.key, l.use});
  return {DemandKind::kEither, sets_.lists.Intern(words)};
}

// The objects for which no literal of a clause holds.
Case SchemaCases::NoneOf(const Clause& clause) {
  Case none;
  for (const Literal& l : clause) switch (l.way) {
      case Literal::kLacks: none.push_back(Said({{Literal::kOccurs, l.key}})); break;
      case Literal::kOccurs: none.push_back(Said({{Literal::kLacks, l.key}})); break;
      case Literal::kValid: none.push_back(Said({{Literal::kLacks, l.key}, {Literal::kInvalid, l.key, l.use}})); break;
      case Literal::kInvalid: none.push_back(Said({{Literal::kLacks, l.key}, {Literal::kValid, l.key, l.use}})); break;
    }
  return none;
}

// A clause with one more literal, without any that others say; false where it holds of every object.
bool SchemaCases::Add(Literal l, Clause* clause) {
  const auto has = [clause](Literal::Way way, KeyId key, UseId use) {
    return std::find(clause->begin(), clause->end(), Literal{way, key, use}) != clause->end();
  };
  if (l.use != kNoUse) {
    const SetId values = sets_.And(kAnyValue, SignedUse{l.use, l.way == Literal::kValid});
    if (values == kNoValue || has(Literal::kOccurs, l.key, kNoUse)) return true;
    if (values == kAnyValue || has(l.way == Literal::kValid ? Literal::kInvalid : Literal::kValid, l.key, l.use))
      l = {Literal::kOccurs, l.key};
  }
  if (has(l.way, l.key, l.use)) return true;
  if (l.way == Literal::kOccurs) {
    const auto implied = [&l](const Literal& known) { return known.key == l.key && known.use != kNoUse; };
    clause->erase(std::remove_if(clause->begin(), clause->end(), implied), clause->end());
  }
  clause->push_back(l);
  return !(l.use == kNoUse && has(l.way == Literal::kOccurs ? Literal::kLacks : Literal::kOccurs, l.key, kNoUse));
}

bool SchemaCases::AddAll(const Clause& literals, Clause* clause) {
  return std::all_of(literals.begin(), literals.end(), [&](const Literal& l) { return Add(l, clause); });
}

// The clauses that a demand is; false where it is none, or where its members count as evaluated.
bool SchemaCases::NormalOf(const Demand& d, std::vector<Clause>* clauses) {
  const auto add = [&](const Clause& literals) {
    Clause clause;
    if (AddAll(literals, &clause)) clauses->push_back(std::move(clause));
  };
  switch (d.kind) {
    case DemandKind::kRequired: add({{Literal::kOccurs, d.a}}); return true;
    case DemandKind::kForbidden: add({{Literal::kLacks, d.a}}); return true;
    case DemandKind::kEither: add(ClauseOf(d)); return true;
    case DemandKind::kMembers:
    case DemandKind::kNotAMember:
    case DemandKind::kSomeMember: break;
    default: return false;
  }
  if (sets_.Use(d.a).kind != UseKind::kSchema || (d.kind == DemandKind::kMembers && !d.quiet)) return false;
  const JsonValue& node = *sets_.Use(d.a).place.node;
  const JsonValue* const properties = node.Find("properties");
  if (!properties || properties->size > kMostKeys) return false;
  if (node.Find("patternProperties") || node.Find("additionalProperties")) return false;
  Clause some;
  for (uint32_t i = 0; i < properties->size; ++i) {
    const KeyId key = sets_.Key(properties->keys[i]);
    const UseId child = Child(d.a, properties->elements[i]);
    if (d.kind == DemandKind::kMembers) add({{Literal::kLacks, key}, {Literal::kValid, key, child}});
    if (d.kind == DemandKind::kNotAMember) add({{Literal::kLacks, key}, {Literal::kInvalid, key, child}});
    if (d.kind == DemandKind::kSomeMember) some.push_back({Literal::kInvalid, key, child});
  }
  if (d.kind == DemandKind::kSomeMember) add(some);
  return true;
}

// The conjunctive normal form of a union of cases, without clauses that others imply; false where there is none, or none
// that is small.
bool SchemaCases::Normal(const Cases& cases, std::vector<Clause>* clauses) {
  clauses->assign(1, {});
  std::vector<Clause> of_case, product;
  for (const Case& c : cases) {
    of_case.clear();
    for (const Demand& d : c)
      if (!NormalOf(d, &of_case)) return false;
    LeaveOutLacking(&of_case);
    if (clauses->size() * of_case.size() > kMostProduct) return false;
    product.clear();
    for (const Clause& a : *clauses)
      for (const Clause& b : of_case) {
        TimeLimit::Spend(static_cast<int64_t>(1 + a.size() * b.size() / 8));
        Clause both = a;
        if (!AddAll(b, &both)) continue;
        if (std::count_if(both.begin(), both.end(), [](const Literal& l) { return l.use != kNoUse; }) > kMostValues) return false;
        product.push_back(std::move(both));
      }
    clauses->clear();
    for (size_t i = 0; i < product.size(); ++i) {
      bool implied = false;  // of those that say the same the first one stays
      for (size_t k = 0; k < product.size() && !implied; ++k)
        implied = k != i && Implies(product[k], product[i]) && (k < i || !Implies(product[i], product[k]));
      if (!implied) clauses->push_back(product[i]);
    }
  }
  return clauses->size() <= kMostClauses;
}

// Whether what violates a schema is told without looking inside arrays, and inside objects only so deep, and by keywords
// all of which can be negated.
bool SchemaCases::NegatesEasily(UseId use, uint32_t deeper) {
  constexpr uint32_t kFewMembers = 2;
  const SchemaUse& u = sets_.Use(use);
  if (u.kind != UseKind::kSchema || !u.place.node->IsObject()) return u.kind == UseKind::kSchema;
  const JsonValue& node = *u.place.node;
  const SchemaDialect dialect = documents_.Dialect(node);
  for (uint32_t i = 0; i < node.size; ++i) switch (KeywordOf(node.keys[i], dialect)) {
      case Keyword::kNone:
      case Keyword::kType:
      case Keyword::kMinLength:
      case Keyword::kMaxLength:
      case Keyword::kPattern:
      case Keyword::kMinimum:
      case Keyword::kMaximum:
      case Keyword::kExclusiveMinimum:
      case Keyword::kExclusiveMaximum:
      case Keyword::kMultipleOf: break;
      case Keyword::kConst:
        if (node.elements[i].IsObject() || node.elements[i].IsArray()) return false;
        break;
      case Keyword::kEnum:
        for (const JsonValue& v : node.elements[i])
          if (v.IsObject() || v.IsArray()) return false;
        break;
      case Keyword::kRequired:
        if (!deeper || node.elements[i].size > kFewMembers) return false;
        break;
      case Keyword::kProperties:
        if (!deeper || node.elements[i].size > kFewMembers) return false;
        for (const JsonValue& v : node.elements[i])
          if (!NegatesEasily(Child(use, v), deeper - 1)) return false;
        break;
      default: return false;
    }
  return true;
}

// The same objects as one case where they differ in nothing but which keys occur, and few clauses say which: what is read
// side by side takes as many states for each key as there are cases.
Cases SchemaCases::WithChoiceOfKeys(Cases cases) {
  constexpr size_t kSideBySide = 4;
  if (cases.size() <= kSideBySide) return cases;
  Case all;
  Cases rests(cases.size());
  const auto in_all = [&cases](const Demand& d) {
    return std::all_of(cases.begin(), cases.end(), [&d](const Case& c) {
      TimeLimit::Spend(static_cast<int64_t>(1 + c.size() / 8));
      return std::find(c.begin(), c.end(), d) != c.end();
    });
  };
  for (const Demand& d : cases[0])
    if (in_all(d)) all.push_back(d);
  for (size_t i = 0; i < cases.size(); ++i)
    for (const Demand& d : cases[i]) {
      TimeLimit::Spend(static_cast<int64_t>(1 + all.size() / 8));
      if (std::find(all.begin(), all.end(), d) != all.end()) continue;
      if (d.kind != DemandKind::kRequired && d.kind != DemandKind::kForbidden) return cases;
      rests[i].push_back(d);
    }
  const Cases rest = AsClauses(std::move(rests));
  if (rest.size() != 1 || rest[0].size() > cases.size() / kSideBySide) return cases;
  all.insert(all.end(), rest[0].begin(), rest[0].end());
  return FewOwed({all}) ? Cases{all} : cases;
}

// The same objects as one case where that is possible.
Cases SchemaCases::AsClauses(Cases cases) {
  std::vector<Clause> clauses;
  if (cases.size() < 2 || !Normal(cases, &clauses)) return cases;
  Case all;
  for (const Clause& clause : clauses) {
    if (clause.empty()) return {};
    all.push_back(Said(clause));
  }
  return {all};
}

}  // namespace tokamata
