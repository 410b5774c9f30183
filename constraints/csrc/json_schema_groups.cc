// Which schemas of a group of keywords apply to a key or to an element.
#include <algorithm>

#include "constraints/csrc/json_schema_cases.h"

namespace tokamata {
namespace {

// The schema of all elements past the prefix, null when there is none.
const JsonValue* RestOfItems(const JsonValue& node) {
  const JsonValue* items = node.Find("items");
  return items && items->IsArray() ? node.Find("additionalItems") : items;
}

const JsonValue* PrefixItems(const JsonValue& node, SchemaDraft draft) {
  const JsonValue* items = node.Find("items");
  if (items && items->IsArray()) return items;
  return draft >= SchemaDraft::k2020 ? node.Find("prefixItems") : nullptr;
}

}  // namespace

// Sets of texts are asked one by one: steps of what they have in common look for its members.
bool SchemaCases::Contains(Expr contents, KeyId key) {
  const bool all = pool_.Kind(contents) == ExprKind::kIntersect;
  if (all || (pool_.Kind(contents) == ExprKind::kUnion && pool_.MayBeEmpty(contents))) {
    const std::vector<Expr> members(pool_.Members(contents), pool_.Members(contents) + pool_.NumMembers(contents));
    return std::any_of(members.begin(), members.end(), [&](Expr m) { return Contains(m, key) != all; }) != all;
  }
  if (const auto listed = texts_of_->find(contents); listed != texts_of_->end())
    return std::binary_search(listed->second.begin(), listed->second.end(), std::string_view(sets_.KeyText(key)));
  const uint64_t id = PairKey(contents, key);
  if (const bool* const known = contained_.Find(id)) return *known;
  return contained_[id] = Reads(contents, sets_.KeyText(key));
}

uint32_t SchemaCases::NumListed(Expr contents) {
  const auto listed = texts_of_->find(contents);
  if (listed == texts_of_->end()) return 0;
  const JsonStrings& canonical = StringsOf(StringStyle::kJsonCanonical);
  return static_cast<uint32_t>(std::count_if(listed->second.begin(), listed->second.end(), [&](std::string_view text) {
    std::string spelled;
    return canonical.Spell(text, &spelled);
  }));
}

bool SchemaCases::Reads(Expr contents, std::string_view text) {
  std::string spelled;
  if (!strings().Spell(text, &spelled)) return false;
  std::vector<Expressions::Term> steps;
  for (char c : spelled) {
    pool_.Step(contents, &steps);
    const auto next = std::find_if(steps.begin(), steps.end(), [c](const auto& t) { return t.bytes.Has(static_cast<uint8_t>(c)); });
    if (next == steps.end()) return false;
    contents = next->target;
  }
  return pool_.Nullable(contents);
}

bool SchemaCases::Matches(KeyId pattern, KeyId key) {
  const uint64_t id = PairKey(pattern, key);
  if (const bool* const known = matches_.Find(id)) return *known;
  const bool matches = Contains(strings().Pattern(sets_.KeyText(pattern)), key);
  return matches_[id] = matches;
}

bool SchemaCases::IsWidened(std::string_view pattern) {
  if (!options_.lenient) return false;
  const auto [known, added] = widened_->emplace(pattern, false);
  if (!added) return known->second;
  try {
    strings().Pattern(pattern);
  } catch (const UnsupportedError&) {
    known->second = true;
  }
  return known->second;
}

bool SchemaCases::HasWidenedKeys(UseId use) {
  if (!options_.lenient || sets_.Use(use).kind != UseKind::kSchema) return false;
  const JsonValue* patterns = sets_.Use(use).place.node->Find("patternProperties");
  return patterns && std::any_of(patterns->keys, patterns->keys + patterns->size, [this](const auto& k) { return IsWidened(k); });
}

std::vector<UseId> SchemaCases::AppliedToKey(const Demand& group, KeyId key) {
  const std::string& text = sets_.KeyText(key);
  if (group.kind == DemandKind::kUnevaluated) {
    const std::vector<uint32_t> groups = sets_.lists.Copy(group.b);
    for (UseId g : groups) {
      if (sets_.Use(g).kind == UseKind::kConstant || HasWidenedKeys(g)) return {};
      const JsonValue& node = *sets_.Use(g).place.node;
      if (const JsonValue* properties = node.Find("properties"); properties && properties->Find(text)) return {};
      if (const JsonValue* patterns = node.Find("patternProperties"))
        for (uint32_t i = 0; i < patterns->size; ++i)
          if (Matches(sets_.Key(patterns->keys[i]), key)) return {};
    }
    return {group.a};
  }
  if (sets_.Use(group.a).kind == UseKind::kComparable) return {group.a};
  const JsonValue& node = *sets_.Use(group.a).place.node;
  if (sets_.Use(group.a).kind == UseKind::kConstant) {
    const JsonValue* value = node.Find(text);
    return {value ? sets_.Constant(value, sets_.Use(group.a).place.scope) : nothing_};
  }
  std::vector<UseId> applied;
  if (const JsonValue* properties = node.Find("properties"))
    if (const JsonValue* schema = properties->Find(text)) applied.push_back(Child(group.a, *schema));
  if (const JsonValue* patterns = node.Find("patternProperties"))
    for (uint32_t i = 0; i < patterns->size; ++i)
      if (!IsWidened(patterns->keys[i]) && Matches(sets_.Key(patterns->keys[i]), key)) applied.push_back(Child(group.a, patterns->elements[i]));
  if (applied.empty() && !HasWidenedKeys(group.a))
    if (const JsonValue* other = node.Find("additionalProperties")) applied.push_back(Child(group.a, *other));
  return applied;
}

std::vector<UseId> SchemaCases::AppliedToOther(const Demand& group, const std::vector<KeyId>& matched) {
  const auto matches = [&](std::string_view pattern) {
    return std::find(matched.begin(), matched.end(), sets_.Key(pattern)) != matched.end();
  };
  if (group.kind == DemandKind::kUnevaluated) {
    const std::vector<uint32_t> groups = sets_.lists.Copy(group.b);
    for (UseId g : groups) {
      if (sets_.Use(g).kind == UseKind::kConstant || HasWidenedKeys(g)) return {};
      if (const JsonValue* patterns = sets_.Use(g).place.node->Find("patternProperties"))
        for (uint32_t i = 0; i < patterns->size; ++i)
          if (matches(patterns->keys[i])) return {};
    }
    return {group.a};
  }
  if (sets_.Use(group.a).kind == UseKind::kComparable) return {group.a};
  const JsonValue& node = *sets_.Use(group.a).place.node;
  if (sets_.Use(group.a).kind == UseKind::kConstant) return {nothing_};
  std::vector<UseId> applied;
  if (const JsonValue* patterns = node.Find("patternProperties"))
    for (uint32_t i = 0; i < patterns->size; ++i)
      if (matches(patterns->keys[i])) applied.push_back(Child(group.a, patterns->elements[i]));
  if (applied.empty() && !HasWidenedKeys(group.a))
    if (const JsonValue* other = node.Find("additionalProperties")) applied.push_back(Child(group.a, *other));
  return applied;
}

void SchemaCases::CollectKeys(const Demand& group, KeyLists* names, std::vector<KeyId>* patterns) {
  std::vector<uint32_t> uses{group.a};
  if (group.kind == DemandKind::kUnevaluated || group.kind == DemandKind::kSomeUnevaluated) uses = sets_.lists.Copy(group.b);
  for (UseId g : uses) {
    if (sets_.Use(g).kind == UseKind::kComparable) continue;
    const JsonValue& node = *sets_.Use(g).place.node;
    if (sets_.Use(g).kind == UseKind::kConstant) {
      for (uint32_t i = 0; i < node.size; ++i) names->keys.push_back(sets_.Key(node.keys[i]));
      names->EndList();
      continue;
    }
    if (const JsonValue* properties = node.Find("properties"))
      for (uint32_t i = 0; i < properties->size; ++i) names->keys.push_back(sets_.Key(properties->keys[i]));
    names->EndList();
    if (const JsonValue* sources = node.Find("patternProperties"))
      for (uint32_t i = 0; i < sources->size; ++i)
        if (!IsWidened(sources->keys[i])) patterns->push_back(sets_.Key(sources->keys[i]));
  }
}

std::vector<UseId> SchemaCases::AppliedToItem(const Demand& group, uint32_t index) {
  if (group.kind == DemandKind::kUnevaluatedItems) {
    std::vector<UseId> any{group.a};
    const std::vector<uint32_t> groups = sets_.lists.Copy(group.b);
    for (uint32_t word : groups) {
      const UseId g = word >> 1;
      if (word & 1) {
        any.push_back(g);
        continue;
      }
      if (sets_.Use(g).kind == UseKind::kConstant) return {};
      const JsonValue& node = *sets_.Use(g).place.node;
      const JsonValue* prefix = PrefixItems(node, documents_.Dialect(node).draft);
      if ((prefix && index < prefix->size) || RestOfItems(node)) return {};
    }
    return {sets_.AnyOf(any)};
  }
  if (sets_.Use(group.a).kind == UseKind::kComparable) return {group.a};
  const JsonValue& node = *sets_.Use(group.a).place.node;
  if (sets_.Use(group.a).kind == UseKind::kConstant) {
    const bool spelled = sets_.Use(group.a).place.scope;
    return {index < node.size ? sets_.Constant(&node.elements[index], spelled) : nothing_};
  }
  const JsonValue* prefix = PrefixItems(node, documents_.Dialect(node).draft);
  if (prefix && index < prefix->size) return {Child(group.a, prefix->elements[index])};
  if (const JsonValue* rest = RestOfItems(node)) return {Child(group.a, *rest)};
  return {};
}

uint32_t SchemaCases::PrefixOf(const Demand& group) {
  uint32_t most = 0;
  const auto add = [&](UseId g) {
    if (sets_.Use(g).kind == UseKind::kComparable) return;
    const JsonValue& node = *sets_.Use(g).place.node;
    if (sets_.Use(g).kind == UseKind::kConstant) {
      most = std::max(most, node.size);
    } else if (const JsonValue* prefix = PrefixItems(node, documents_.Dialect(node).draft)) {
      most = std::max(most, prefix->size);
    }
  };
  if (group.kind == DemandKind::kItems || group.kind == DemandKind::kSomeItem) add(group.a);
  if (group.kind == DemandKind::kUnevaluatedItems || group.kind == DemandKind::kSomeUnevaluatedItem)
    for (uint32_t word : sets_.lists.At(group.b))
      if (!(word & 1)) add(word >> 1);
  return most;
}

}  // namespace tokamata
