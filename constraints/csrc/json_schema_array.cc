// Arrays: a case of demands, read element by element.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "automata/csrc/places.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {

JsonSchemaRules::ArrayPlan& JsonSchemaRules::PreparedArray(uint32_t id) {
  constexpr size_t kFewDemands = 2, kMostContains = 64;
  if (arrays_[id].ready) return arrays_[id];
  const Case demands = array_cases_[id];
  ArrayPlan p;
  uint32_t prefix = 0;
  std::vector<UseId> refused;  // that no element follows
  for (const Demand& d : demands) switch (d.kind) {
      case DemandKind::kItems:
      case DemandKind::kUnevaluatedItems:
        p.groups.push_back(d);
        prefix = std::max(prefix, cases_.PrefixOf(d));
        break;
      case DemandKind::kSomeItem:
      case DemandKind::kSomeUnevaluatedItem:
        p.owed.push_back(d);
        prefix = std::max(prefix, cases_.PrefixOf(d));
        break;
      case DemandKind::kContains:
        if (d.c == 0)
          refused.push_back(d.a);
        else if (d.b || d.c != kUnbounded)
          p.contains.push_back(d);
        break;
      case DemandKind::kLength:
        p.low = std::max(p.low, d.b);
        p.high = std::min(p.high, d.c);
        break;
      case DemandKind::kUnique:
        p.unique = true;
        p.unique_use = d.a;
        break;
      case DemandKind::kRepeated:
        p.repeated = true;
        p.unique_use = d.a;
        break;
      default: break;
    }
  if (p.owed.size() > SchemaCases::kMostOwed)
    throw LimitError("json_schema: the limit owed=" + std::to_string(SchemaCases::kMostOwed) + " was reached at " +
                     cases_.Describe(p.owed.back().a) + ": negated schemas of one array, in a conjunction");
  if (p.contains.size() > kMostContains)
    throw LimitError("json_schema: the limit contains=" + std::to_string(kMostContains) + " was reached at " +
                     cases_.Describe(p.contains.back().a) + ": schemas of some elements of one array, in a conjunction");
  p.many = p.owed.size() + p.contains.size() > kFewDemands;
  if (p.high != kUnbounded) prefix = std::min(prefix, p.high);
  for (uint32_t i = 0; i <= prefix; ++i) {
    SetId value = kAnyValue;
    for (const Demand& g : p.groups)
      if (value != kNoValue) value = sets_.And(value, cases_.AppliedToItem(g, i));
    for (const UseId use : refused) value = sets_.And(value, SignedUse{use, false});
    p.values.push_back(value);
  }
  if (p.high <= 1 || (p.unique && p.repeated)) {  // nothing to compare
    if (p.repeated) p.low = 1, p.high = 0;
    p.unique = p.repeated = false;
  }
  p.ready = true;
  arrays_[id] = std::move(p);
  if (arrays_[id].unique || arrays_[id].repeated) FindChoices(&arrays_[id]);
  return arrays_[id];
}

// With uniqueItems the values that elements may have are listed, or else remembered: the language of distinct elements
// over an unlimited set is not one that a push-down automaton knows.
void JsonSchemaRules::FindChoices(ArrayPlan* p) {
  constexpr size_t kFewChoices = 8, kMostChoices = 256;  // strings, beyond few, are read by tries: see NameOthers
  std::vector<const JsonValue*> found;
  std::unordered_multimap<uint64_t, const JsonValue*> by_hash;
  bool finite = true;
  for (uint32_t i = 0; i < p->values.size() && finite; ++i) {
    if (p->high != kUnbounded && i >= p->high) break;
    std::vector<const JsonValue*> candidates;
    finite = p->values[i] == kNoValue || cases_.FiniteValues(p->values[i], &candidates);
    for (const JsonValue* c : candidates) {
      if (found.size() > kMostChoices) break;
      const uint64_t hash = JsonHash(*c);
      const auto [begin, end] = by_hash.equal_range(hash);
      if (std::any_of(begin, end, [c](const auto& f) { return JsonEqual(*f.second, *c); })) continue;
      by_hash.emplace(hash, c);
      found.push_back(c);
    }
  }
  const auto is_string = [](const JsonValue* f) { return f->IsString(); };
  const bool texts = finite && found.size() > kFewChoices && p->values.size() == 1 && ReadsTexts() &&
                     std::all_of(found.begin(), found.end(), is_string);
  if (texts && p->owed.empty() && ReadDistinct(p)) return;
  if (finite && found.size() <= kMostChoices) {
    for (const JsonValue* f : found) p->choices.push_back(sets_.Constant(f));
    return;
  }
  if (OwesInVain(*p)) {
    p->low = 1, p->high = 0;
    p->unique = p->repeated = false;
    return;
  }
  if (ReadDistinct(p)) return;
  if (options_.lenient && p->unique) {
    p->unique = false;
    return;
  }
  throw UnsupportedError("json_schema: uniqueItems at " + cases_.Describe(p->unique_use) +
                         " cannot be enforced: it is only where there is no end of values that elements may have, or "
                         "all follow the same schema, whose values can be counted (and there is no contains or "
                         "unique_keys=False, nor a not or oneOf that asks for an element which many others may come "
                         "before), or where they have at most " +
                         std::to_string(kMostChoices) + " values, listed by enum, const or type boolean or null; list "
                         "them, set maxItems to 1, drop uniqueItems, or pass lenient=True");
}

// Whether a set has no values whatever the answers to open questions (see Inhabited) are.
bool JsonSchemaRules::IsNothing(SetId set) {
  return set == kNoValue ||
         (set != kAnyValue && !cases_.SimpleOf(set) && pool_->IsEmpty(cases_.NumberOf(set)) && !cases_.HasString(set) &&
          cases_.CasesOf(set, JsonType::kArray).empty() && cases_.CasesOf(set, JsonType::kObject).empty());
}

// Whether something is owed that no element can settle.
bool JsonSchemaRules::OwesInVain(const ArrayPlan& p) {
  for (const Demand& d : p.owed) {
    const Demand group = GroupOf(d);
    bool settled = false;
    for (uint32_t i = 0; i < p.values.size() && !settled; ++i)
      for (UseId use : cases_.AppliedToItem(group, i))
        settled = settled || !IsNothing(sets_.And(p.values[i], SignedUse{use, false}));
    if (!settled) return true;
  }
  return false;
}

// Whether values of two sets are the same, as far as that shows.
bool JsonSchemaRules::IsAlike(SetId a, SetId b) {
  if (a == b) return true;
  return cases_.SimpleOf(a) == cases_.SimpleOf(b) && cases_.NumberOf(a) == cases_.NumberOf(b) && cases_.StringOf(a) == cases_.StringOf(b) &&
         cases_.CasesOf(a, JsonType::kArray) == cases_.CasesOf(b, JsonType::kArray) &&
         cases_.CasesOf(a, JsonType::kObject) == cases_.CasesOf(b, JsonType::kObject);
}

// Splits arrays that owe something by the places at which it is settled first; false where these are too many: where no
// end of elements, or many, may come before that settle nothing.
bool JsonSchemaRules::PlacesOf(const ArrayPlan& p, ElementPlaces begin, Owed owed, std::vector<ElementPlaces>* found) {
  constexpr uint32_t kMostBefore = 8;
  constexpr size_t kMostWays = 64;
  TimeLimit::Spend(16);
  const uint32_t index = static_cast<uint32_t>(begin.values.size());
  const size_t last = p.values.size() - 1;
  if (!owed) {
    begin.low = std::max(begin.low, index);
    begin.values.insert(begin.values.end(), p.values.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(index, last)),
                        p.values.end());
    found->push_back(std::move(begin));
    return found->size() <= kMostWays;
  }
  const SetId all = p.values[std::min<size_t>(index, last)];
  if (index == p.high || all == kNoValue) return true;
  std::vector<std::pair<SetId, Owed>> ways{{all, owed}};
  for (uint32_t i = 0; i < p.owed.size(); ++i) {
    if (!(owed >> i & 1)) continue;
    const std::vector<UseId> uses = cases_.AppliedToItem(GroupOf(p.owed[i]), index);
    std::vector<std::pair<SetId, Owed>> next;
    const auto add = [&](SetId value, Owed open) {
      if (value != kNoValue) next.emplace_back(value, open);
    };
    for (const auto& [value, open] : ways) {
      add(sets_.And(value, uses), open);
      for (const UseId use : uses) add(sets_.And(value, SignedUse{use, false}), open & ~OwedBit(i));
    }
    if (next.size() > kMostWays) return false;
    ways.swap(next);
  }
  for (const auto& [value, open] : ways) {
    if (IsNothing(value)) continue;
    if (open == owed && index >= last && p.high > kMostBefore) {
      const ValueCount count = CountValues(value, 0);
      if (!count.exact || count.least > kMostBefore) return false;
      if (index - last >= count.least) continue;  // all of them came before
    }
    ElementPlaces next = begin;
    next.values.push_back(value);
    if (!PlacesOf(p, std::move(next), open, found)) return false;
  }
  return true;
}

// An array of distinct elements is read as an object with keys that no schema names and no values: as such strings are,
// and other elements beside them (in YAML strings, too); where places have schemas of their own, each is an object, and
// so it is where something is owed. Before decoding begins it must be known that there are enough values.
bool JsonSchemaRules::ReadDistinct(ArrayPlan* p) {
  if (!options_.unique_keys || !p->unique || p->repeated || !p->contains.empty()) return false;
  std::vector<ElementPlaces> found;
  if (!PlacesOf(*p, {{}, p->low}, OwedBit(p->owed.size()) - 1, &found)) return false;
  std::vector<uint32_t> members;
  for (const ElementPlaces& places : found) {
    uint32_t plan = 0;
    if (!PlanOfDistinct(places, p->high, &plan)) return false;
    members.push_back(plan);
  }
  p->distinct = true;
  p->members = std::move(members);
  return true;
}

bool JsonSchemaRules::PlanOfDistinct(const ElementPlaces& places, uint32_t high, uint32_t* found) {
  constexpr uint32_t kManyElements = 1u << 16;  // more than an array will ever have
  std::vector<SetId> values = places.values;
  const size_t end = static_cast<size_t>(std::find(values.begin(), values.end(), SetId{kNoValue}) - values.begin());
  if (end < values.size()) high = std::min(high, static_cast<uint32_t>(end));
  if (high < values.size()) values.resize(std::max(high, 1u));
  const auto plan_of = [&](SetId value, uint32_t next) {
    return ObjectPlanOf({{DemandKind::kDistinct, value, next}, {DemandKind::kProperties, 0, places.low, high}});
  };
  uint32_t plan = plan_of(values.back(), kUnbounded);
  const ValueCount last = CountElements(plan);
  if (std::all_of(values.begin(), values.end(), [&](SetId v) { return IsAlike(v, values[0]); })) {
    if (!last.exact && last.least != kUnbounded) return false;
  } else {
    if (high > values.size() && last.least < kManyElements) return false;
    for (size_t i = values.size(); i-- > 0;) {
      if (i + 1 < values.size()) plan = plan_of(values[i], plan);
      if (CountElements(plan).least <= i) return false;  // all of them may have occurred
    }
  }
  *found = plan;
  return true;
}

Expr JsonSchemaRules::CallStart(const ArrayState& s) {
  if (!PreparedArray(s.plan).distinct) return CallArray(s);
  const std::vector<uint32_t> members = arrays_[s.plan].members;
  std::vector<Expr> starts;
  for (const uint32_t plan : members)
    if (const ObjectState start = StartObject(plan, s.depth); ObjectInhabited(start)) starts.push_back(CallObject(start));
  return pool_->Union(std::move(starts));
}

JsonSchemaRules::ArrayState JsonSchemaRules::StartArray(uint32_t id, uint32_t depth) {
  const ArrayPlan& p = PreparedArray(id);
  ListId counts = 0;
  if (!p.contains.empty()) counts = sets_.lists.Intern(std::vector<uint32_t>(p.contains.size(), 0));
  const Owed owed = (OwedBit(p.owed.size()) - 1) | (p.repeated ? kRepeatedBit : 0);
  return {id, 0, p.low, p.high, owed, counts, depth, 1};
}

bool JsonSchemaRules::ArrayMayEnd(const ArrayState& s) {
  if (s.low || s.owed) return false;
  const ArrayPlan& p = PreparedArray(s.plan);
  const Span<const uint32_t> counts = sets_.lists.At(s.counts);
  for (size_t i = 0; i < p.contains.size(); ++i)
    if (counts[i] < p.contains[i].b) return false;
  return true;
}

// Nothing but the number of elements is still asked of the array as such.
bool JsonSchemaRules::IsPlain(const ArrayPlan& p, const ArrayState& s) const {
  if (s.owed || p.unique) return false;
  const Span<const uint32_t> counts = sets_.lists.At(s.counts);
  for (size_t i = 0; i < p.contains.size(); ++i)
    if (p.contains[i].c != kUnbounded || counts[i] < p.contains[i].b) return false;
  return true;
}

void JsonSchemaRules::Elements(const ArrayState& s, std::vector<Element>* out) {
  out->clear();
  if (s.high == 0) return;
  PreparedArray(s.plan);
  const ArrayPlan& p = arrays_[s.plan];
  const uint32_t last = static_cast<uint32_t>(p.values.size()) - 1;
  ArrayState base = s;
  base.index = std::min(s.index + 1, last);
  base.low = s.low ? s.low - 1 : 0;
  base.high = s.high == kUnbounded ? kUnbounded : s.high - 1;
  base.first = 0;
  if (p.many) return ElementsApart(s, base, out);
  struct Option {
    SetId value;
    Owed owed;
    std::vector<uint32_t> counts;
  };
  std::vector<Option> options;
  const std::vector<uint32_t> counts = sets_.lists.Copy(s.counts);
  const SetId value = p.values[s.index];
  if (value == kNoValue) return;
  if (p.unique || p.repeated) {
    const size_t n = p.contains.size();
    for (uint32_t c = 0; c < p.choices.size(); ++c) {
      const bool used = std::binary_search(counts.begin() + static_cast<std::ptrdiff_t>(n), counts.end(), c);
      if (used && p.unique) continue;
      Option o{sets_.And(value, SignedUse{p.choices[c], true}), s.owed, counts};
      if (used)
        o.owed &= ~kRepeatedBit;
      else
        o.counts.insert(std::lower_bound(o.counts.begin() + static_cast<std::ptrdiff_t>(n), o.counts.end(), c), c);
      options.push_back(std::move(o));
    }
  } else {
    options.push_back({value, s.owed, counts});
  }
  for (uint32_t i = 0; i < p.owed.size(); ++i) {
    if (!(s.owed >> i & 1)) continue;
    const std::vector<UseId> uses = cases_.AppliedToItem(GroupOf(p.owed[i]), s.index);
    for (size_t k = 0, n = options.size(); k < n; ++k)
      for (UseId use : uses) {
        TimeLimit::Spend(1);
        Option o{sets_.And(options[k].value, SignedUse{use, false}), options[k].owed & ~OwedBit(i), options[k].counts};
        if (o.value != kNoValue) options.push_back(std::move(o));
      }
  }
  for (size_t i = 0; i < p.contains.size(); ++i) {
    const Demand& d = p.contains[i];
    const uint32_t seen = counts[i];
    const bool bounded = d.c != kUnbounded;
    if (!bounded && seen >= d.b) continue;  // enough
    std::vector<Option> next;
    for (Option& o : options) {
      TimeLimit::Spend(1);  // they double with every keyword
      if (seen < d.c) {
        Option match = o;
        match.value = sets_.And(o.value, SignedUse{d.a, true});
        ++match.counts[i];
        if (match.value != kNoValue) next.push_back(std::move(match));
      }
      if (bounded) o.value = sets_.And(o.value, SignedUse{d.a, false});
      if (o.value != kNoValue) next.push_back(std::move(o));
    }
    options.swap(next);
  }
  TimeLimit::Spend(static_cast<int64_t>(1 + options.size()));
  for (const Option& o : options) {
    if (!Inhabited(o.value)) continue;
    Element e{o.value, base};
    e.next.owed = o.owed;
    e.next.counts = o.counts == counts ? s.counts : sets_.lists.Intern(o.counts);
    if (ArrayInhabited(e.next)) out->push_back(e);
  }
}

// Where only numbers are left to be asked for, whether the elements to come suffice: one kind of them, of which there
// are enough, or so many that the choices which were not used yet suffice. Nothing where more has to be looked at.
std::optional<bool> JsonSchemaRules::EnoughAhead(const ArrayState& s) {
  const ArrayPlan& p = arrays_[s.plan];
  if (s.owed || p.repeated || s.index + 1 < p.values.size()) return std::nullopt;
  const SetId value = p.values.back();
  if (value == kNoValue) return std::nullopt;
  const std::vector<uint32_t> counts = sets_.lists.Copy(s.counts);
  uint32_t most_owed = 0, owing = 0, use = 0;
  for (size_t i = 0; i < p.contains.size(); ++i) {
    if (p.contains[i].c != kUnbounded) return std::nullopt;
    if (counts[i] >= p.contains[i].b) continue;
    most_owed = p.contains[i].b - counts[i];
    use = p.contains[i].a;
    ++owing;
  }
  if (owing > 1 || (owing && p.unique)) return std::nullopt;
  if (owing) return most_owed <= s.high && Inhabited(sets_.And(value, SignedUse{use, true}));
  if (!p.unique) return std::nullopt;
  const auto used = counts.begin() + static_cast<std::ptrdiff_t>(p.contains.size());
  const std::vector<UseId> choices = p.choices;
  uint32_t available = 0;
  for (uint32_t c = 0; c < choices.size() && available < s.low; ++c)
    available += !std::binary_search(used, counts.end(), c) && Inhabited(sets_.And(value, SignedUse{choices[c], true}));
  return available >= s.low;
}

void JsonSchemaRules::CheckAhead(size_t elements) {
  constexpr size_t kMostAhead = 3000;
  if (elements > kMostAhead)
    throw LimitError("json_schema: the limit ahead=" + std::to_string(kMostAhead) +
                     " was reached: elements that keywords of one array ask for together; ask for fewer of them");
}

bool JsonSchemaRules::ArrayInhabited(const ArrayState& s) {
  const ArrayPlan& p = PreparedArray(s.plan);
  if (p.distinct) {
    const std::vector<uint32_t> members = p.members;
    return std::any_of(members.begin(), members.end(), [&](uint32_t m) { return ObjectInhabited(StartObject(m, s.depth)); });
  }
  if (s.low > s.high) return false;
  if (IsPlain(p, s)) {
    for (uint32_t i = 0; i < s.low; ++i) {
      const size_t index = std::min<size_t>(s.index + i, p.values.size() - 1);
      if (!Inhabited(arrays_[s.plan].values[index])) return false;
      if (index + 1 == p.values.size()) break;  // all that follow are alike
    }
    return true;
  }
  if (ArrayMayEnd(s)) return true;
  if (const std::optional<bool> enough = EnoughAhead(s)) return *enough;
  const ListId id = sets_.lists.Intern({1, s.plan, s.index, s.low, s.high, static_cast<uint32_t>(s.owed),
                                       static_cast<uint32_t>(s.owed >> 32), s.counts, s.first});
  const auto place = [&] {
    const ArrayPlan& a = arrays_[s.plan];
    return cases_.Describe(!a.contains.empty() ? a.contains[0].a : !a.owed.empty() ? a.owed[0].a : a.unique_use);
  };
  return AnswerOfState(id, [&] {
    if (p.many || p.unique || p.repeated) return Placed(place, [&] { return CanSettleElements(s); });
    std::vector<Element> elements;
    Placed(place, [&] {
      CheckAhead(ahead_);
      Elements(s, &elements);
    });
    return !elements.empty();
  });
}

// Elements that differ in nothing that is asked of them; kEmpty for `end` where the array may not end here.
Expr JsonSchemaRules::ArrayLoop(const ArrayState& s, SetId value, Expr end) {
  const uint32_t inner = Deeper(s.depth);
  const Expr call = CallValue(value, inner), next = pool_->Concat(Comma(inner), call), close = Close(s.depth, false, ']');
  if (!s.first) return pool_->Concat(pool_->Repeat(next, s.low, s.high), close);
  const uint32_t low = s.low ? s.low - 1 : 0, high = s.high == kUnbounded ? kUnbounded : s.high - 1;
  return pool_->Union(pool_->Concat({Open(inner), call, pool_->Repeat(next, low, high), close}), end);
}

// Where distinct elements have many values, there are too many states to look at: here they may repeat.
Expr JsonSchemaRules::OutlineArray(uint32_t rule, uint32_t* slack) {
  constexpr size_t kMostChoices = 10;
  const uint32_t* w = rules_[rule].words;
  const ArrayState s = ArrayOf(w);
  const ArrayPlan& p = PreparedArray(s.plan);
  if (!p.unique || p.choices.size() <= kMostChoices || s.owed || !p.contains.empty()) return kEmpty;
  if (s.index + 1 < p.values.size() || !s.high) return kEmpty;
  *slack = kUnbounded;
  return ArrayLoop(s, p.values.back(), ArrayMayEnd(s) ? Close(s.depth, s.first, ']') : kEmpty);
}

Expr JsonSchemaRules::ArrayBody(const ArrayState& s) {
  const uint32_t inner = Deeper(s.depth);
  PreparedArray(s.plan);
  const ArrayPlan& p = arrays_[s.plan];
  const Expr end = ArrayMayEnd(s) ? Close(s.depth, s.first, ']') : kEmpty;
  if (s.index + 1 == p.values.size() && IsPlain(p, s)) {  // a counted loop
    const SetId value = p.values.back();
    if (s.high == 0 || !Inhabited(value)) return end;
    return ArrayLoop(s, value, end);
  }
  std::vector<Element> elements;
  Elements(s, &elements);
  std::vector<Expr> parts;
  for (const Element& e : elements) parts.push_back(pool_->Concat(CallValue(e.value, inner), CallArray(e.next)));
  return pool_->Union(pool_->Concat(s.first ? Open(inner) : Comma(inner), pool_->Union(std::move(parts))), end);
}

}  // namespace tokamata
