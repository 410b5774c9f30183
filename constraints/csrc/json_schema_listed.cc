// Strings of a long list (enum): a trie that is never written down. Any spelling of a character counts.
#include <algorithm>

#include "constraints/csrc/json_schema_keywords.h"
#include "constraints/csrc/json_schema_rules.h"
#include "constraints/csrc/json_spellings.h"

namespace tokamata {
namespace {

constexpr uint32_t kManyListed = 64;  // as many are written down at once

// The character at the beginning of a text, which is UTF-8; fills its length in bytes.
uint32_t FirstCharacter(std::string_view text, uint32_t* length) {
  const uint8_t lead = static_cast<uint8_t>(text[0]);
  *length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t c = lead < 0x80 ? lead : lead & (0x7Fu >> *length);
  for (uint32_t i = 1; i < *length; ++i) c = c << 6 | (static_cast<uint8_t>(text[i]) & 63);
  return c;
}

}  // namespace

// The strings of a set, sorted, where it is one schema that lists many and says nothing else of strings; else none.
const TextList& JsonSchemaRules::ListedTexts(SetId set) {
  static const TextList none;
  if (IsYaml() || options_.canonical_strings || !options_.without.empty()) return none;
  const std::vector<SignedUse> parts = sets_.Parts(set);
  if (parts.size() != 1 || !parts[0].positive || sets_.Use(parts[0].use).kind != UseKind::kSchema) return none;
  const JsonValue& node = *sets_.Use(parts[0].use).place.node;
  const JsonValue* list = node.IsObject() ? node.Find("enum") : nullptr;
  if (!list || list->size <= kManyListed) return none;
  if (const uint32_t* known = listed_of_.Find(set)) return *known ? listed_[*known - 1] : none;
  listed_of_[set] = 0;
  const SchemaDialect dialect = documents_->Dialect(node);
  const auto is_aside = [&dialect](std::string_view name) {
    const Keyword keyword = KeywordOf(name, dialect);
    return keyword == Keyword::kEnum || keyword == Keyword::kType || SaysNothingOfStrings(keyword);
  };
  if (!dialect.validation || !std::all_of(node.keys, node.keys + node.size, is_aside)) return none;
  if (const JsonValue* type = node.Find("type")) {
    const auto is_string = [](const JsonValue& t) { return t.text == "string"; };
    if (type->IsArray() ? std::none_of(type->begin(), type->end(), is_string) : !is_string(*type)) return none;
  }
  std::vector<std::string_view> texts;
  std::u32string decoded;
  for (const JsonValue& value : *list) {
    if (!value.IsString()) continue;
    const auto is_ascii = [](char c) { return static_cast<uint8_t>(c) < 0x80; };
    // Lone surrogates have no spelling.
    const bool spelled = std::all_of(value.text.begin(), value.text.end(), is_ascii) || DecodeText(value.text, &decoded);
    if (spelled) texts.push_back(value.text);
  }
  listed_.emplace_back(texts);
  listed_of_[set] = static_cast<uint32_t>(listed_.size());
  return listed_.back();
}

Expr JsonSchemaRules::CallListed(const ListedNode& n) {
  static const ByteSet first = ByteSet::Range(0x20, 0x7F) | ByteSet::Range(0xC2, 0xF4);
  const uint32_t words[] = {n.set, n.low, n.high, n.depth};
  return CallRule(Rule::kListed, words, 4, first);
}

// Calls f(character, node below) for the characters that go on from a node of texts.
template <class F>
void JsonSchemaRules::ForEachListedChild(const TextList& texts, const ListedNode& n, F f) {
  for (uint32_t i = n.low + texts.IsFinal({n.low, n.high, n.depth}), end; i < n.high; i = end) {
    uint32_t length;
    const uint32_t c = FirstCharacter(texts.Rest(i, n.depth), &length);
    end = n.high;
    for (uint32_t k = 0; k < length; ++k) end = texts.EndOf(i, end, n.depth + k);
    f(c, ListedNode{n.set, i, end, n.depth + length});
  }
}

// What is left of the texts of a node, and the closing quote.
Expr JsonSchemaRules::ListedBody(const ListedNode& n) {
  const TextList& texts = ListedTexts(n.set);  // stays where it is
  std::vector<Expr> parts;
  if (texts.IsFinal({n.low, n.high, n.depth})) parts.push_back(pool_->Byte('"'));
  ForEachListedChild(texts, n, [&](uint32_t c, const ListedNode& below) {
    parts.push_back(pool_->Concat(cases_.strings().Character(c), CallListed(below)));
  });
  return pool_->Union(std::move(parts));
}

bool JsonSchemaRules::StepListed(const ListedNode& n, uint8_t byte, Expr* rest) {
  if (byte == '\\' || byte >= 0x80) return false;
  const TextList& texts = ListedTexts(n.set);
  *rest = kEmpty;
  if (byte == '"' && texts.IsFinal({n.low, n.high, n.depth})) *rest = kEpsilonExpr;
  if (!IsRawAscii(byte)) return true;
  ForEachListedChild(texts, n, [&](uint32_t c, const ListedNode& below) {
    if (c == byte) *rest = CallListed(below);
  });
  return true;
}

void JsonSchemaRules::ForEachListedText(const ListedNode& n, const ByteSet& first, const TextVisitor& visit) {
  const TextList& texts = ListedTexts(n.set);
  if (first.Has('"') && texts.IsFinal({n.low, n.high, n.depth})) visit("\"", nullptr, kEpsilonExpr);
  ForEachListedChild(texts, n, [&](uint32_t c, const ListedNode& below) {
    VisitSpellings(c, "", first, visit, {{below.set, below.low, below.high, below.depth, kListedPlace, 0}});
  });
}

void JsonSchemaRules::EnterListed(const TextList& texts, TextList::Node n, uint32_t base, const ByteVisitor& enter) const {
  const auto enters = [&](uint8_t byte, uint32_t depth) { return !JsonMustEscape(byte) && enter(depth - base, byte); };
  for (const uint32_t common = texts.CommonLength(n); n.depth < common; ++n.depth)
    if (!enters(static_cast<uint8_t>(texts.Text(n.low)[n.depth]), n.depth)) return;
  texts.ForEachChild(n, [&](uint8_t byte, const TextList::Node& child) {
    if (enters(byte, n.depth)) EnterListed(texts, child, base, enter);
  });
}

}  // namespace tokamata
