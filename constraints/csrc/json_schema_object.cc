// Objects: a case of demands, read member by member.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "automata/csrc/time_limit.h"
#include "automata/csrc/recall.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {
namespace {

std::vector<uint32_t> WordsOf(const Case& demands, uint32_t tag) {
  std::vector<uint32_t> words{tag};
  for (const Demand& d : demands) words.insert(words.end(), {static_cast<uint32_t>(d.kind), d.a, d.b, d.c});
  return words;
}

bool IsText(const std::string& key) {
  if (std::all_of(key.begin(), key.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; })) return true;
  std::u32string characters;
  return DecodeText(key, &characters);
}

}  // namespace

uint32_t JsonSchemaRules::ObjectPlanOf(const Case& demands) {
  const ListId id = plan_index_.Intern(WordsOf(demands, 0));
  if (id == plan_of_.size()) {
    plan_of_.emplace_back(false, static_cast<uint32_t>(objects_.size()));
    object_cases_.push_back(demands);
    objects_.emplace_back();
  }
  return plan_of_[id].second;
}

uint32_t JsonSchemaRules::ArrayPlanOf(const Case& demands) {
  const ListId id = plan_index_.Intern(WordsOf(demands, 1));
  if (id == plan_of_.size()) {
    plan_of_.emplace_back(true, static_cast<uint32_t>(arrays_.size()));
    array_cases_.push_back(demands);
    arrays_.emplace_back();
  }
  return plan_of_[id].second;
}

JsonSchemaRules::ObjectPlan& JsonSchemaRules::Prepared(uint32_t id) {
  ObjectPlan& plan = objects_[id];
  if (plan.ready) return plan;
  const Case demands = object_cases_[id];
  ObjectPlan p;
  p.any_order = options_.key_order == KeyOrder::kAny;
  KeyLists defined;
  std::vector<KeyId> required, forbidden;
  std::vector<Demand> refused, clauses;
  for (const Demand& d : demands) switch (d.kind) {
      case DemandKind::kMembers:
      case DemandKind::kUnevaluated:
        p.groups.push_back(d);
        cases_.CollectKeys(d, &defined, &p.patterns);
        p.any_order = p.any_order || sets_.IsSpelled(d.a);
        break;
      case DemandKind::kSomeMember:
      case DemandKind::kSomeUnevaluated:
        cases_.CollectKeys(d, &defined, &p.patterns);
        p.owed.push_back(d);
        break;
      case DemandKind::kNotAMember:
        refused.push_back(d);
        cases_.CollectKeys(d, &defined, &p.patterns);
        break;
      case DemandKind::kEither:
        for (const Literal& l : cases_.ClauseOf(d)) {
          defined.keys.push_back(l.key);
          defined.EndList();
        }
        clauses.push_back(d);
        break;
      case DemandKind::kNames: p.names.push_back(d); break;
      case DemandKind::kSomeName: p.owed.push_back(d); break;
      case DemandKind::kRequired: required.push_back(d.a); break;
      case DemandKind::kForbidden: forbidden.push_back(d.a); break;
      case DemandKind::kProperties:
        p.low = std::max(p.low, d.b);
        p.high = std::min(p.high, d.c);
        break;
      case DemandKind::kDistinct:
        p.array = true;
        p.elements = d.a;
        p.next = d.b == kUnbounded ? id : d.b;
        break;
      default: break;
    }
  if (p.owed.size() + clauses.size() > SchemaCases::kMostOwed)
    throw LimitError("json_schema: the limit owed=" + std::to_string(SchemaCases::kMostOwed) + " was reached" +
                     (p.owed.empty() ? "" : " at " + cases_.Describe(p.owed.back().a)) +
                     ": negated schemas of one object, in a conjunction");
  std::vector<KeyId> order = defined.ends.size() < 2 ? std::move(defined.keys) : DefinitionOrder(defined);
  order.insert(order.end(), required.begin(), required.end());
  order.insert(order.end(), forbidden.begin(), forbidden.end());
  std::vector<uint8_t> seen(sets_.NumKeys(), 0);
  order.erase(std::remove_if(order.begin(), order.end(), [&](KeyId key) { return std::exchange(seen[key], 4) != 0; }),
              order.end());
  std::sort(p.patterns.begin(), p.patterns.end());
  p.patterns.erase(std::unique(p.patterns.begin(), p.patterns.end()), p.patterns.end());
  if (p.array) {
    const SetId e = p.elements;
    p.mixed = IsYaml() || cases_.SimpleOf(e) || !pool_->IsEmpty(cases_.NumberOf(e)) ||
              !cases_.CasesOf(e, JsonType::kArray).empty() || !cases_.CasesOf(e, JsonType::kObject).empty();
    p.rest = IsYaml() || !cases_.HasString(e) ? e : sets_.And(e, SignedUse{sets_.Text(), false});
    p.rest = sets_.And(p.rest, SignedUse{sets_.Comparable(), true});
  }
  if (p.owed.empty() && clauses.empty() && !p.mixed && (!p.array || p.next == id)) NameOthers(&p, &seen, &order);
  p.mentioned = order;
  p.keys.reserve(order.size());
  for (KeyId key : required) seen[key] |= 1;
  for (KeyId key : forbidden) seen[key] |= 2;
  if (options_.key_order == KeyOrder::kSorted)
    std::sort(order.begin(), order.end(), [this](KeyId a, KeyId b) { return sets_.KeyText(a) < sets_.KeyText(b); });
  for (KeyId key : order) {
    const bool is_required = seen[key] & 1;
    SetId value = seen[key] & 2 ? kNoValue : kAnyValue;
    for (const Demand& g : p.groups) {
      if (value == kNoValue) break;
      value = sets_.And(value, cases_.AppliedToKey(g, key));
    }
    for (const Demand& n : refused)
      if (value != kNoValue && n.b == key)
        for (UseId u : cases_.AppliedToKey({DemandKind::kMembers, n.a}, key)) value = sets_.And(value, SignedUse{u, false});
    for (const Demand& n : p.names)
      if (value != kNoValue && !cases_.Contains(cases_.StringOf(cases_.SetOf(n.a)), key)) value = kNoValue;
    if (p.array && !cases_.Contains(cases_.StringOf(p.elements), key)) value = kNoValue;
    if (!options_.without.empty() && !cases_.Contains(cases_.Allowed(cases_.strings().style()), key)) value = kNoValue;
    if (IsYaml() && value != kNoValue) CheckYamlKey(sets_.KeyText(key), nullptr);
    if (value != kNoValue && !IsText(sets_.KeyText(key))) value = kNoValue;  // lone surrogates have no spelling
    if (value == kNoValue) {
      p.possible = p.possible && !is_required;
      continue;
    }
    p.keys.push_back({key, value, is_required});
  }
  if (p.named_all) p.names.clear(), p.patterns.clear();
  p.required_after.assign(p.keys.size() + 1, 0);
  for (size_t i = p.keys.size(); i-- > 0;) p.required_after[i] = p.required_after[i + 1] + p.keys[i].required;
  AddClauses(clauses, &p);
  p.settles.assign(p.owed.empty() ? 0 : p.keys.size(), kAllOwed);
  p.ordered = !p.array && options_.key_order == KeyOrder::kSorted && !IsYaml() && (!p.patterns.empty() || OthersOf(p, {}) != kNoValue);
  p.plain = !p.ordered && ReadsTexts() && p.patterns.empty() && p.names.empty() &&
            std::none_of(p.owed.begin(), p.owed.end(), [](const Demand& d) { return d.kind == DemandKind::kSomeName; }) &&
            (!p.array || p.named_all || cases_.StringOf(p.elements) == cases_.strings().Any());
  p.open = IsYaml() && !p.array && (!p.patterns.empty() || OthersOf(p, {}) != kNoValue);
  p.endless = p.plain || (IsYaml() && !p.array && p.patterns.empty() && p.names.empty() &&
                          std::none_of(p.owed.begin(), p.owed.end(), [](const Demand& d) { return d.kind == DemandKind::kSomeName; }));
  if (IsYaml() && p.endless)
    for (KeyId key : p.mentioned) p.names_of_schema = seen_.With(p.names_of_schema, sets_.KeyText(key));
  p.free = p.plain && p.owed.empty() && (p.any_order || (p.low == 0 && p.high == kUnbounded));
  p.ready = true;
  objects_[id] = std::move(p);
  return objects_[id];
}

// Whether some schema of a group that applies to keys without a name is among those that a function tells.
bool JsonSchemaRules::AnyAppliedToOther(const ObjectPlan& p, const Demand& group, const std::function<bool(UseId)>& holds) {
  std::vector<UseId> uses = cases_.AppliedToOther(group, {});
  for (size_t i = 0;; ++i) {
    if (std::any_of(uses.begin(), uses.end(), holds)) return true;
    if (i == p.patterns.size()) return false;
    uses = cases_.AppliedToOther(group, {p.patterns[i]});
  }
}

JsonSchemaRules::ObjectState JsonSchemaRules::StartObject(uint32_t id, uint32_t depth) {
  const ObjectPlan& p = Prepared(id);
  if (p.low) depth &= ~(ReadingOf(depth) & kOneMoreKey);
  return {id, 0, p.low, p.high, OwedBit(p.owed.size()) - 1, depth, 1, 0};
}

// What stays owed where keys[begin..end) do not occur.
JsonSchemaRules::Owed JsonSchemaRules::OwedWithout(const ObjectPlan& p, Owed owed, uint32_t begin, uint32_t end) const {
  if (!p.lacking.empty())
    for (uint32_t i = begin; owed && i < end; ++i) owed &= ~p.lacking[i];
  return owed;
}

// … where no other key occurs.
JsonSchemaRules::Owed JsonSchemaRules::OwedAtEnd(const ObjectState& s) {
  const ObjectPlan& p = Prepared(s.plan);
  if (!s.owed || p.lacking.empty()) return s.owed;
  const uint32_t end = static_cast<uint32_t>(p.keys.size());
  if (!p.any_order) return OwedWithout(p, s.owed, s.position, end);
  const Span<const uint32_t> used = sets_.lists.At(s.position);
  Owed owed = s.owed;
  for (uint32_t i = 0; i < end; ++i)
    if (!std::binary_search(used.begin(), used.end(), i)) owed &= ~p.lacking[i];
  return owed;
}

// Clauses are owed. What is known of keys that must or cannot occur is left out of them.
void JsonSchemaRules::AddClauses(const std::vector<Demand>& clauses, ObjectPlan* p) {
  if (clauses.empty()) return;
  std::unordered_map<KeyId, uint32_t> index;
  for (uint32_t i = 0; i < p->keys.size(); ++i) index.emplace(p->keys[i].key, i);
  p->lacking.assign(p->keys.size(), 0);
  p->literals.assign(p->keys.size(), {});
  for (const Demand& d : clauses) {
    const auto holds = [&](const Literal& l) {
      const auto key = index.find(l.key);
      return key == index.end() ? l.way == Literal::kLacks : l.way == Literal::kOccurs && p->keys[key->second].required;
    };
    const auto fails = [&](const Literal& l) {
      const auto key = index.find(l.key);
      return key == index.end() || (l.way == Literal::kLacks && p->keys[key->second].required);
    };
    Clause clause = cases_.ClauseOf(d);
    if (std::any_of(clause.begin(), clause.end(), holds)) continue;
    clause.erase(std::remove_if(clause.begin(), clause.end(), fails), clause.end());
    if (clause.empty()) p->possible = false;
    const Owed bit = OwedBit(p->owed.size());
    p->owed.push_back(d);
    for (const Literal& l : clause) {
      const uint32_t i = index[l.key];
      if (l.way == Literal::kLacks)
        p->lacking[i] |= bit;
      else
        p->literals[i].push_back({bit, l.way, l.use});
    }
  }
}

bool JsonSchemaRules::ObjectMayEnd(const ObjectState& s) {
  if (s.low || OwedAtEnd(s)) return false;
  const ObjectPlan& p = Prepared(s.plan);
  if (!p.any_order) return p.required_after[s.position] == 0;
  const Span<const uint32_t> used = sets_.lists.At(s.position);
  for (uint32_t i = 0; i < p.keys.size(); ++i)
    if (p.keys[i].required && !std::binary_search(used.begin(), used.end(), i)) return false;
  return true;
}

// The values that a member may have, each with what is owed after it: a member that settles something has a value that
// violates one of the schemas which the owed demand applies to its key. Where there are many such demands, values are
// told apart by what they settle. `now`: what has to be settled by this member.
template <class F>
std::vector<JsonSchemaRules::MemberValue> JsonSchemaRules::ValuesOf(const ObjectPlan& p, SetId value, Owed owed, Owed now,
                                                                    F applied) {
  constexpr size_t kFewDemands = 2;
  std::vector<std::pair<Owed, std::vector<UseId>>> settles;
  for (uint32_t i = 0; i < p.owed.size(); ++i) {
    const Demand& d = p.owed[i];
    if (!(owed >> i & 1) || d.kind == DemandKind::kSomeName || d.kind == DemandKind::kEither) continue;
    std::vector<UseId> uses = applied(GroupOf(d));
    if (!uses.empty()) settles.emplace_back(OwedBit(i), std::move(uses));
  }
  const bool apart = settles.size() > kFewDemands;
  std::vector<MemberValue> values{{value, owed}};
  for (const auto& [bit, uses] : settles)
    for (size_t k = 0, n = values.size(); k < n; ++k) {
      TimeLimit::Spend();
      for (const UseId use : uses) {
        const SetId settled = sets_.And(values[k].value, SignedUse{use, false});
        if (settled != kNoValue && !(apart && !Inhabited(settled))) values.push_back({settled, values[k].owed & ~bit});
        if (!apart) continue;
        const SetId rest = sets_.And(values[k].value, SignedUse{use, true});
        values[k].value = rest != kNoValue && Inhabited(rest) ? rest : SetId{kNoValue};
        if (values[k].value == kNoValue) break;
      }
      if (bit & now) values[k].value = kNoValue;
      cases_.CheckCases(values.size());
    }
  const auto none = [](const MemberValue& v) { return v.value == kNoValue; };
  values.erase(std::remove_if(values.begin(), values.end(), none), values.end());
  return values;
}

// Splits values by what they settle of the clauses: into those that follow a schema and those that violate it, unless no
// clause asks for these and they are hard to tell; then into those that must follow it, and all.
void JsonSchemaRules::SettleClauses(const ObjectPlan& p, uint32_t index, Owed now, std::vector<MemberValue>* values) {
  for (const OwedLiteral& l : p.literals[index])
    if (l.way == Literal::kOccurs)
      for (MemberValue& v : *values) v.owed &= ~l.bit;
  std::vector<UseId> uses;
  for (const OwedLiteral& l : p.literals[index])
    if (l.use != kNoUse && std::find(uses.begin(), uses.end(), l.use) == uses.end()) uses.push_back(l.use);
  for (size_t i = 0; i < uses.size(); ++i) {
    const UseId use = uses[i];
    Owed valid = 0, invalid = 0, further = 0;
    for (const OwedLiteral& l : p.literals[index]) {
      if (l.use == use) (l.way == Literal::kValid ? valid : invalid) |= l.bit;
      if (std::find(uses.begin() + i + 1, uses.end(), l.use) != uses.end()) further |= l.bit;
    }
    const Owed must = now & ~further;  // what only this schema settles
    const bool apart = invalid || cases_.NegatesEasily(use);
    std::vector<MemberValue> split;
    const auto add = [&](SetId value, Owed owed) {
      if (!(owed & must) && value != kNoValue && Inhabited(value)) split.push_back({value, owed});
    };
    for (const MemberValue& v : *values) {
      TimeLimit::Spend();
      if (!(v.owed & (valid | invalid))) {
        if (!(v.owed & must)) split.push_back(v);
        continue;
      }
      add(sets_.And(v.value, SignedUse{use, true}), v.owed & ~valid);
      if (apart)
        add(sets_.And(v.value, SignedUse{use, false}), v.owed & ~invalid);
      else if (!(v.owed & must))
        split.push_back(v);
    }
    values->swap(split);
    cases_.CheckCases(values->size());
  }
}

std::vector<JsonSchemaRules::MemberValue> JsonSchemaRules::NamedValues(uint32_t plan, uint32_t index, Owed owed) {
  const ObjectPlan& p = objects_[plan];
  if (!owed || !(SettledByKey(plan, index) & owed)) return {{p.keys[index].value, owed}};
  const KeyId key = p.keys[index].key;
  for (uint32_t k = 0; k < p.owed.size(); ++k)
    if (p.owed[k].kind == DemandKind::kSomeName && (owed >> k & 1) &&
        !cases_.Contains(cases_.StringOf(cases_.SetOf(p.owed[k].a)), key))
      owed &= ~OwedBit(k);
  const Owed now = owed & ~SettledBehind(plan, index);
  std::vector<MemberValue> values =
      ValuesOf(p, p.keys[index].value, owed, now, [&](const Demand& g) { return cases_.AppliedToKey(g, key); });
  if (!p.literals.empty()) SettleClauses(p, index, now, &values);
  return values;
}

std::vector<JsonSchemaRules::MemberValue> JsonSchemaRules::OtherValues(uint32_t plan, uint32_t index, Owed owed) {
  const ObjectPlan& p = objects_[plan];
  const OtherKeys& o = p.others[index];
  return ValuesOf(p, o.value, owed & ~o.settles, 0, [&](const Demand& g) { return cases_.AppliedToOther(g, o.patterns); });
}

void JsonSchemaRules::Members(const ObjectState& s, std::vector<Member>* out) {
  out->clear();
  if (s.high == 0) return;
  Prepared(s.plan);
  const ObjectPlan& p = objects_[s.plan];  // stays where it is
  const bool any = p.any_order;
  const uint32_t reading = ReadingOf(s.depth);
  ObjectState base = AfterMember(s);
  if (p.ordered) base.seen = 0;
  const auto add = [&](bool named, uint32_t index, const std::vector<MemberValue>& values, uint32_t position) {
    for (const MemberValue& v : values) {
      if (!Inhabited(v.value)) continue;
      Member m{named, index, v.value, base, named ? kEmpty : p.others[index].contents};
      m.next.position = position;
      m.next.owed = v.owed;
      if (ObjectInhabited(m.next)) out->push_back(m);
    }
  };
  uint32_t rest = s.position;
  Owed owed = s.owed;
  if (any) {
    const std::vector<uint32_t> used = sets_.lists.Copy(s.position);
    for (uint32_t i = 0; i < p.keys.size(); ++i) {
      if (std::binary_search(used.begin(), used.end(), i)) continue;
      add(true, i, NamedValues(s.plan, i, s.owed), WithKey(s.position, i));
    }
  } else {
    for (uint32_t i = s.position; i < p.keys.size(); ++i) {
      add(true, i, NamedValues(s.plan, i, OwedWithout(p, s.owed, s.position, i)), i + 1);
      if (p.keys[i].required && !p.ordered) return;
      if (p.keys[i].required) break;
    }
    rest = static_cast<uint32_t>(p.keys.size());
    owed = OwedWithout(p, s.owed, s.position, rest);
  }
  if (reading & kNamedKey) return;
  if (p.ordered) return OthersInOrder(s, out);
  PrepareOthers(s.plan);
  approximates_ = approximates_ || (reading && !p.others.empty());
  const bool one = IsYaml() && (s.low != 1 || !p.endless);  // else more can be told apart: see FixedKey
  if ((reading & kUnderKeys) && (reading & kLastKey || !s.low || owed || one)) return;
  for (uint32_t i = 0; i < p.others.size(); ++i) {
    std::string some;
    const uint32_t left = OthersLeft(s, i, &some);
    if (!left) continue;
    if (left > kFewTexts) {  // so many that one fewer makes no difference
      add(false, i, OtherValues(s.plan, i, owed), rest);
      continue;
    }
    // Which of them it is makes no difference to whether and how others may follow, only that there is one fewer.
    base.seen = seen_.With(s.seen, some);
    add(false, i, OtherValues(s.plan, i, owed), rest);
    base.seen = s.seen;
  }
}

// All that does not depend on which member it is.
JsonSchemaRules::ObjectState JsonSchemaRules::AfterMember(ObjectState s) const {
  s.depth &= ~(ReadingOf(s.depth) & kNamedKey);
  s.low -= s.low > 0;
  s.high -= s.high != kUnbounded;
  s.first = 0;
  if (objects_[s.plan].array) s.plan = objects_[s.plan].next;
  return s;
}

// The list of the keys that occurred, in any order, with one more.
ListId JsonSchemaRules::WithKey(ListId occurred, uint32_t key) {
  std::vector<uint32_t> more = sets_.lists.Copy(occurred);
  more.insert(std::lower_bound(more.begin(), more.end(), key), key);
  return sets_.lists.Intern(more);
}

bool JsonSchemaRules::ObjectInhabited(const ObjectState& s) {
  const ObjectPlan& p = Prepared(s.plan);
  if (!s.first && !s.owed && s.low == 0 && s.high == kUnbounded) return true;
  if (p.array && (p.mixed || p.next != s.plan)) {  // after the first one the elements were counted
    if (s.low > s.high) return false;
    if (!s.first || s.low == 0) return true;
    if (p.next == s.plan) return (s.low == 1 && Inhabited(p.elements)) || CountElements(s.plan).least >= s.low;
    uint32_t plan = s.plan;
    for (uint32_t i = 0; i < s.low; ++i, plan = objects_[plan].next) {
      if (!Inhabited(Prepared(plan).elements)) return false;
      if (objects_[plan].next == plan) break;
    }
    return true;
  }
  if (s.first) {
    if (!p.possible || p.low > p.high) return false;
    for (uint32_t i = 0; i < p.keys.size(); ++i)
      if (objects_[s.plan].keys[i].required && !Inhabited(objects_[s.plan].keys[i].value)) return false;
  }
  const bool any = p.any_order;
  const std::vector<uint32_t> used = any ? sets_.lists.Copy(s.position) : std::vector<uint32_t>();
  uint32_t required = any ? 0 : p.required_after[s.position];
  if (any)
    for (uint32_t i = 0; i < p.keys.size(); ++i)
      required += p.keys[i].required && !std::binary_search(used.begin(), used.end(), i);
  if (required > s.high) return false;
  if (s.owed && !required && ObjectMayEnd(s)) return true;
  if (!s.owed) {
    if (s.low <= required) return true;
    uint32_t available = 0;
    for (uint32_t i = any ? 0 : s.position; i < p.keys.size() && available < s.low; ++i)
      available += !(any && std::binary_search(used.begin(), used.end(), i)) && Inhabited(p.keys[i].value);
    if (available >= s.low) return true;
    PrepareOthers(s.plan);
    for (uint32_t i = 0; i < p.others.size() && available < s.low; ++i) {
      if (!Inhabited(p.others[i].value)) continue;
      const uint32_t left = OthersLeft(s, i);
      available = left >= s.low ? s.low : available + left;
    }
    return available >= s.low;
  }
  const ListId id = sets_.lists.Intern({0, s.plan, s.position, s.low, s.high, static_cast<uint32_t>(s.owed),
                                       static_cast<uint32_t>(s.owed >> 32), s.seen});
  const auto known = state_inhabited_.find(id);
  if (known != state_inhabited_.end()) return known->second == Known::kYes;
  const bool yes = CanSettle(s, used);
  if (yes || (lowest_ == kNoQuestion && !assumed_)) state_inhabited_[id] = yes ? Known::kYes : Known::kNo;
  return yes;
}

// Whether members still to come, and keys that do not occur, can settle what is owed, in any order that is allowed (the
// order makes no difference to that): a search key by key, what leaves least open first.
struct JsonSchemaRules::Settling {
  struct Way {
    Owed owed;
    uint32_t members;
    bool operator<(const Way& o) const { return owed != o.owed ? owed < o.owed : members < o.members; }
  };
  Settling(JsonSchemaRules* owner, const ObjectState& s, const ObjectPlan& p) : rules(*owner), state(s), plan(p) {}
  JsonSchemaRules& rules;
  const ObjectState& state;
  const ObjectPlan& plan;
  std::vector<uint32_t> keys;  // those that may settle something
  // Of keys[i..]: what they may settle, how many are required, and how many may occur besides.
  std::vector<Owed> settles;
  std::vector<uint32_t> required, optional;
  uint32_t others_required = 0, others_optional = 0;  // of the other keys that have a name
  bool others_known = false;
  Owed by_others = 0;

  Owed ByOthers() {
    if (!others_known) by_others = rules.SettledByOthers(plan);
    others_known = true;
    return by_others;
  }

  // What may be left open by the next key; none: there is no way.
  std::vector<Way> Next(uint32_t i, const Way& way) {
    const uint32_t key = keys[i];
    std::vector<Way> next;
    if (!plan.keys[key].required) next.push_back({way.owed & ~(plan.lacking.empty() ? 0 : plan.lacking[key]), way.members});
    for (const MemberValue& v : rules.NamedValues(state.plan, key, way.owed))
      if (rules.Inhabited(v.value)) next.push_back({v.owed, way.members + 1});
    std::stable_sort(next.begin(), next.end(), [](const Way& a, const Way& b) {  // the last one is tried first
      return __builtin_popcountll(a.owed) > __builtin_popcountll(b.owed);
    });
    return next;
  }

  bool Any() {
    std::vector<std::pair<uint32_t, Way>> ways{{0, {state.owed, 0}}};
    std::set<std::tuple<uint32_t, Owed, uint32_t>> tried;
    while (!ways.empty()) {
      const auto [i, way] = ways.back();
      ways.pop_back();
      TimeLimit::Spend(4);
      if (way.owed & ~settles[i] && way.owed & ~(settles[i] | ByOthers())) continue;
      if (uint64_t{way.members} + others_required + required[i] > state.high) continue;
      if (way.owed == 0 || i == keys.size()) {
        if (End(i, way)) return true;
        continue;
      }
      if (!tried.insert({i, way.owed, way.members}).second) continue;
      for (const Way& w : Next(i, way)) ways.emplace_back(i + 1, w);
    }
    return false;
  }

  // With keys without a name, which are looked at only where they may make a difference, and settle more the more there
  // are: the fewest members by what stays owed.
  bool End(uint32_t i, Way way) {
    const uint64_t members = uint64_t{way.members} + others_required + required[i];
    const uint64_t most = members + others_optional + optional[i];
    if (way.owed == 0 && state.low <= most) return true;
    rules.PrepareOthers(state.plan);
    uint64_t available = 0;
    std::vector<Way> ways{{way.owed, 0}}, next;
    for (uint32_t k = 0; k < plan.others.size(); ++k) {
      if (!rules.Inhabited(plan.others[k].value)) continue;
      const uint32_t left = rules.OthersLeft(state, k);
      available += left;
      const uint32_t times = std::min(static_cast<uint32_t>(plan.owed.size()), left);
      for (uint32_t t = 0; t < times && (ways[0].owed || state.high != kUnbounded); ++t) {
        next = ways;
        for (const Way& w : ways) {
          TimeLimit::Spend(4);
          for (const MemberValue& v : rules.OtherValues(state.plan, k, w.owed))
            if (v.owed != w.owed && rules.Inhabited(v.value)) next.push_back({v.owed, w.members + 1});
        }
        std::sort(next.begin(), next.end());
        const auto alike = [](const Way& a, const Way& b) { return a.owed == b.owed; };
        next.erase(std::unique(next.begin(), next.end(), alike), next.end());
        const auto same = [](const Way& a, const Way& b) { return a.owed == b.owed && a.members == b.members; };
        if (std::equal(next.begin(), next.end(), ways.begin(), ways.end(), same)) break;
        ways.swap(next);
      }
    }
    return ways[0].owed == 0 && members + ways[0].members <= state.high && state.low <= most + available;
  }
};

bool JsonSchemaRules::CanSettle(const ObjectState& s, const std::vector<uint32_t>& used) {
  constexpr uint32_t kMostTried = 8;  // keys, one of which may settle all: the search reads all keys before it begins
  const ObjectPlan& p = objects_[s.plan];  // stays where it is
  uint32_t tried = s.low || s.high != kUnbounded || p.any_order ? kMostTried : 0;
  for (uint32_t i = s.position; tried < kMostTried && i < p.keys.size(); ++i) {
    if (s.owed & ~SettledByKey(s.plan, i)) continue;
    ++tried;
    for (const MemberValue& v : NamedValues(s.plan, i, s.owed))
      if (!v.owed && Inhabited(v.value)) return true;
  }
  Settling search(this, s, p);
  for (uint32_t i = p.any_order ? 0 : s.position; i < p.keys.size(); ++i) {
    if (p.any_order && std::binary_search(used.begin(), used.end(), i)) continue;
    const Owed settles = SettledByKey(s.plan, i) | (p.lacking.empty() ? 0 : p.lacking[i]);
    const bool possible = (!p.keys[i].required && !s.low) || Inhabited(p.keys[i].value);
    if (!possible && p.keys[i].required) return false;
    if (settles & s.owed) {
      search.keys.push_back(i);
      search.settles.push_back(settles);
      search.required.push_back(p.keys[i].required);
      search.optional.push_back(possible && !p.keys[i].required);
    } else {
      search.others_required += p.keys[i].required;
      search.others_optional += possible && !p.keys[i].required;
    }
  }
  search.settles.push_back(0);
  search.required.push_back(0);
  search.optional.push_back(0);
  for (size_t i = search.keys.size(); i-- > 0;) {
    search.settles[i] |= search.settles[i + 1];
    search.required[i] += search.required[i + 1];
    search.optional[i] += search.optional[i + 1];
  }
  return search.Any();
}

// What is owed that a key may settle, as bits.
JsonSchemaRules::Owed JsonSchemaRules::SettledByKey(uint32_t plan, uint32_t index) {
  ObjectPlan& p = objects_[plan];  // stays where it is
  if (p.owed.empty()) return 0;
  if (p.settles[index] != kAllOwed) return p.settles[index];
  const KeyId key = p.keys[index].key;
  Owed bits = 0;
  if (!p.literals.empty())
    for (const OwedLiteral& l : p.literals[index]) bits |= l.bit;
  for (size_t i = 0; i < p.owed.size(); ++i) {
    const Demand& d = p.owed[i];
    if (d.kind == DemandKind::kEither) continue;
    const auto violable = [&](UseId use) {
      const SetId value = sets_.And(p.keys[index].value, SignedUse{use, false});
      return value != kNoValue && Inhabited(value);
    };
    const auto some_member = [&] {
      const std::vector<UseId> uses = cases_.AppliedToKey(GroupOf(d), key);
      return std::any_of(uses.begin(), uses.end(), violable);
    };
    const bool may = d.kind == DemandKind::kSomeName ? !cases_.Contains(cases_.StringOf(cases_.SetOf(d.a)), key) : some_member();
    if (may) bits |= OwedBit(i);
  }
  return p.settles[index] = bits;
}

// What may be settled by what comes behind one of the keys that the schema names.
JsonSchemaRules::Owed JsonSchemaRules::SettledBehind(uint32_t plan, uint32_t index) {
  ObjectPlan& p = objects_[plan];  // stays where it is
  if (p.any_order || p.array) return kAllOwed;
  if (p.settled_behind.empty()) {
    std::vector<Owed> behind(p.keys.size(), SettledByOthers(p));
    for (size_t i = p.keys.size(); --i > 0;)
      behind[i - 1] = behind[i] | SettledByKey(plan, static_cast<uint32_t>(i)) | (p.lacking.empty() ? 0 : p.lacking[i]);
    p.settled_behind = std::move(behind);
  }
  return p.settled_behind[index];
}

// What is owed that keys without a name may settle, as bits.
JsonSchemaRules::Owed JsonSchemaRules::SettledByOthers(const ObjectPlan& p) {
  Owed bits = 0;
  for (size_t i = 0; i < p.owed.size(); ++i) {
    const Demand& d = p.owed[i];
    if (d.kind == DemandKind::kEither) continue;
    if (d.kind == DemandKind::kSomeName || AnyAppliedToOther(p, GroupOf(d), [](UseId) { return true; })) bits |= OwedBit(i);
  }
  return bits;
}

// Where keys may come in any order, there are too many states to look at: the required members, which are the least. From
// inside some member all of them may still have to come, so that one is any.
Expr JsonSchemaRules::OutlineObject(uint32_t rule, uint32_t* slack) {
  constexpr size_t kMostKeys = 5;
  constexpr uint32_t kLayout = 16;  // what white space may differ by
  const uint32_t* w = rules_[rule].words;
  const ObjectState s = ObjectOf(w);
  const ObjectPlan& p = Prepared(s.plan);  // stays where it is
  if (IsYaml() || !p.any_order || p.keys.size() <= kMostKeys) return kEmpty;
  const uint32_t inner = Deeper(s.depth);
  const Expr any = s.owed ? Expr{kEmpty} : AnyMember(s.plan, inner);
  const std::vector<uint32_t> used = sets_.lists.Copy(s.position);
  std::vector<Expr> parts;
  uint32_t count = 0;
  for (uint32_t i = 0; p.required_after[0] && i < p.keys.size(); ++i) {
    if (!p.keys[i].required || std::binary_search(used.begin(), used.end(), i)) continue;
    parts.push_back(s.first && parts.empty() ? Open(inner) : Comma(inner));
    parts.push_back(KeyText(p.keys[i].key));
    parts.push_back(CallValue(p.keys[i].value, inner));
    ++count;
  }
  parts.push_back(Close(s.depth, s.first && parts.empty(), p.array ? ']' : '}'));
  *slack = any == kEmpty || s.low > count ? kUnbounded : kLayout;
  if (*slack == kLayout) parts.insert(parts.begin(), pool_->Union(kEpsilonExpr, any));
  return pool_->Concat(parts);
}

// A comma and any member; kEmpty where there are keys without a name.
Expr JsonSchemaRules::AnyMember(uint32_t plan, uint32_t depth) {
  return Recall(&*any_member_, PairKey(plan, depth), kEmpty, [&] {
    PrepareOthers(plan);
    const ObjectPlan& p = objects_[plan];  // stays where it is
    if (!p.others.empty()) return Expr{kEmpty};
    std::vector<Expr> members;
    for (const NamedKey& k : p.keys) {
      if (!Inhabited(k.value)) continue;
      members.push_back(p.array ? KeyText(k.key) : pool_->Concat(KeyText(k.key), CallValue(k.value, depth)));
    }
    return pool_->Concat(Comma(depth), pool_->Union(std::move(members)));
  });
}

Expr JsonSchemaRules::ObjectBody(const ObjectState& s) {
  const uint32_t inner = Deeper(s.depth);
  const char bracket = Prepared(s.plan).array ? ']' : '}';
  if (Prepared(s.plan).plain) {
    const Expr texts = pool_->Concat(pool_->Byte('"'), KeysOf(s));
    const Expr next = Prepared(s.plan).mixed ? pool_->Union(texts, ValuesOfArray(s)) : texts;
    Expr body = pool_->Concat(s.first ? Open(inner) : Comma(inner), next);
    if (ObjectMayEnd(s)) body = pool_->Union(body, Close(s.depth, s.first, bracket));
    return body;
  }
  std::vector<Member> members;
  std::vector<Expr> parts;
  const uint32_t reading = ReadingOf(s.depth);
  const bool under = reading & kUnderKeys, fresh = IsUnique() && !reading;
  if (under) {
    const uint32_t reader = ReaderOf(s);
    members = PreparedReader(reader).members;
    if (PreparedReader(reader).others) parts.push_back(pool_->Concat(pool_->Byte('"'), KeysNear({reader, 0, 0, 0, s.seen, 0, 0}, Side::kUnder)));
  } else if (fresh) {
    const uint32_t reader = ReaderOf(s);
    members = PreparedReader(reader).members;
    const Expr keys = FreshKeysOf(reader);
    if (keys != kEmpty) parts.push_back(pool_->Concat(pool_->Byte('"'), keys));
  } else {
    Members(s, &members);
  }
  for (const Member& m : members) {
    if ((fresh || under) && !m.named) continue;
    const ObjectPlan& p = objects_[s.plan];
    if (m.named)
      parts.push_back(pool_->Concat({KeyText(p.keys[m.index].key), CallValue(m.value, inner), CallObject(m.next)}));
    else
      parts.push_back(pool_->Concat({pool_->Byte('"'), m.contents, pool_->Byte('"'), AfterQuote(p, m, inner)}));
  }
  if (MayBeOneMore(s)) parts.push_back(pool_->Concat(pool_->Byte('"'), OneMoreKey(s)));
  if (Prepared(s.plan).mixed) parts.push_back(ValuesOfArray(s));
  Expr body = pool_->Concat(s.first ? Open(inner) : Comma(inner), pool_->Union(std::move(parts)));
  if (ObjectMayEnd(s)) body = pool_->Union(body, Close(s.depth, s.first, bracket));
  return body;
}

}  // namespace tokamata
