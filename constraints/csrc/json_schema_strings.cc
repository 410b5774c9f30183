// Whether a set has strings, without expressions where its schemas list some.
#include <algorithm>
#include <string>
#include <utility>

#include "automata/csrc/time_limit.h"
#include "constraints/csrc/json_schema_cases.h"
#include "constraints/csrc/json_schema_keywords.h"

namespace tokamata {
namespace {

constexpr size_t kFewListed = 64;  // values that are tried one by one

bool NamesString(const JsonValue& types) {
  const auto is_string = [](const JsonValue& t) { return t.text == "string"; };
  return types.IsString() ? is_string(types) : std::any_of(types.begin(), types.end(), is_string);
}

}  // namespace

const SchemaCases::Listing& SchemaCases::ListingOf(UseId id, int depth) {
  const auto known = listings_->find(id);
  if (known != listings_->end()) return known->second;
  Listing found = FindListing(id, depth);
  return (*listings_)[id] = std::move(found);
}

SchemaCases::Listing SchemaCases::FindListing(UseId id, int depth) {
  constexpr int kMostDepth = 8;  // of alternatives
  Listing all;
  const SchemaUse& use = sets_.Use(id);
  const auto list = [&](const JsonValue* values, size_t n) {
    all.lists.emplace_back();
    for (size_t i = 0; i < n; ++i)
      if (values[i].IsString()) all.lists.back().push_back(values[i].text);
    std::sort(all.lists.back().begin(), all.lists.back().end());
  };
  if (use.kind == UseKind::kConstant) list(use.place.node, 1);
  if (use.kind != UseKind::kSchema) {
    all.whole = use.kind == UseKind::kConstant || use.kind == UseKind::kText;
    return all;
  }
  const JsonValue& node = *use.place.node;
  if (!node.IsObject()) {
    all.whole = true;
    if (!node.boolean) list(nullptr, 0);
    return all;
  }
  if (node.Find("$ref")) return all;  // which may hide what is beside it
  all.whole = true;
  const SchemaDialect dialect = documents_.Dialect(node);
  for (uint32_t k = 0; k < node.size; ++k) {
    const JsonValue& value = node.elements[k];
    const Keyword keyword = KeywordOf(node.keys[k], dialect);
    switch (keyword) {
      case Keyword::kType:
        if (!NamesString(value)) list(nullptr, 0);
        break;
      case Keyword::kConst: list(&value, 1); break;
      case Keyword::kEnum: list(value.elements, value.size); break;
      case Keyword::kAnyOf:
      case Keyword::kOneOf: {
        all.whole = false;
        std::vector<std::string_view> some;
        const bool listed = depth < kMostDepth && std::all_of(value.begin(), value.end(), [&](const JsonValue& branch) {
          const std::vector<std::string_view>* const texts = ListingOf(Child(id, branch), depth + 1).Fewest();
          if (texts) some.insert(some.end(), texts->begin(), texts->end());
          return texts != nullptr;
        });
        if (!listed) break;
        std::sort(some.begin(), some.end());
        all.lists.push_back(std::move(some));
        break;
      }
      default: all.whole = all.whole && SaysNothingOfStrings(keyword); break;
    }
  }
  return all;
}

const std::vector<std::string_view>* SchemaCases::Listing::Fewest() const {
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  return lists.empty() ? nullptr : &*std::min_element(lists.begin(), lists.end(), fewer);
}

// Whether two schemas list strings that have none in common.
bool SchemaCases::ListApart(UseId a, UseId b) {
  const std::vector<std::string_view>* const x = ListingOf(a).Fewest();
  const std::vector<std::string_view>* const y = x ? ListingOf(b).Fewest() : nullptr;
  return y && NoneInBoth(*x, *y);
}

// Whether one of the strings that a schema of the set lists is valid for all others; no answer where these say more of
// strings than which they are.
std::optional<bool> SchemaCases::AnyListed(SetId set) {
  constexpr size_t kMostTried = 1'000;
  const std::vector<SignedUse> parts = sets_.Parts(set);
  if (parts.size() < 2 || !options_.without.empty()) return std::nullopt;
  const std::vector<std::string_view>* fewest = nullptr;
  for (const SignedUse& part : parts) {
    const std::vector<std::string_view>* const texts = part.positive ? ListingOf(part.use).Fewest() : nullptr;
    if (texts && (!fewest || texts->size() < fewest->size())) fewest = texts;
  }
  if (!fewest || fewest->size() > kMostTried) return std::nullopt;
  bool sure = true;
  for (const std::string_view text : *fewest) {
    TimeLimit::Spend(static_cast<int64_t>(1 + parts.size()));
    bool valid = true, told = true;
    for (const SignedUse& part : parts) {
      const Listing& all = ListingOf(part.use);
      const auto has = [text](const auto& texts) { return std::binary_search(texts.begin(), texts.end(), text); };
      const bool listed = std::all_of(all.lists.begin(), all.lists.end(), has);
      if (listed) told = told && all.whole;
      valid = part.positive ? listed : !listed || !all.whole;
      if (!valid) break;
    }
    if (!valid) continue;
    std::string spelled;
    if (told && strings().Spell(text, &spelled)) return true;
    sure = sure && told;
  }
  return sure ? std::optional<bool>(false) : std::nullopt;
}

// Where few are listed, they are tried: all spellings of strings that meet are many. So one of each is enough.
bool SchemaCases::HasString(SetId set) {
  if (const std::optional<bool> any = AnyListed(set)) return *any;
  const Expr contents = StringOf(set);
  if (!pool_.MayBeEmpty(contents) || pool_.Nullable(contents)) return contents != kEmpty;
  std::vector<const JsonValue*> values;
  if (pool_.Kind(contents) != ExprKind::kIntersect || !ListedValues(set, &values) || values.size() > kFewListed)
    return !pool_.IsEmpty(options_.notation != SchemaNotation::kYaml ? StringOf(set, StringStyle::kJsonCanonical) : contents);
  return std::any_of(values.begin(), values.end(), [&](const JsonValue* v) {
    std::string spelled;
    return v->IsString() && Contains(contents, sets_.Key(v->text)) && strings().Spell(v->text, &spelled);
  });
}

bool SchemaCases::HasPlainStrings(SetId set) {
  if (set == kNoValue) return false;
  for (size_t i = 0, n = sets_.NumParts(set); i < n; ++i) {
    const SignedUse part = sets_.Part(set, i);
    const SchemaUse& use = sets_.Use(part.use);
    if (!part.positive) return false;
    if (use.kind == UseKind::kText || use.kind == UseKind::kComparable) continue;
    if (use.kind != UseKind::kSchema) return false;
    const JsonValue& node = *use.place.node;
    if (!node.IsObject()) {
      if (!node.boolean) return false;
      continue;
    }
    const SchemaDialect dialect = documents_.Dialect(node);
    for (uint32_t k = 0; k < node.size; ++k) {
      const Keyword keyword = KeywordOf(node.keys[k], dialect);
      const bool any = keyword == Keyword::kType ? NamesString(node.elements[k])
                                                 : keyword == Keyword::kMinLength || SaysNothingOfStrings(keyword);
      if (!any) return false;
    }
  }
  return true;
}

}  // namespace tokamata
