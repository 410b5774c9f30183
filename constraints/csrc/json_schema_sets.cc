#include "constraints/csrc/json_schema_sets.h"

#include <algorithm>
#include <functional>

namespace tokamata {

SchemaPlace SharedDocuments::Root() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const SchemaTarget root = documents_->Root();
  return {root.schema, root.scope};
}

SchemaDialect SharedDocuments::Dialect(const JsonValue& schema) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return documents_->DialectOf(schema);
}

SchemaPlace SharedDocuments::Child(SchemaPlace parent, const JsonValue& schema) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {&schema, documents_->Enter(parent.scope, schema)};
}

SchemaPlace SharedDocuments::Resolve(SchemaPlace place, SchemaReference keyword) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const SchemaTarget target = documents_->Resolve(*place.node, keyword, place.scope);
  return {target.schema, target.scope};
}

bool SharedDocuments::OnlyReference(SchemaPlace place, SchemaPlace* target) {
  const JsonValue& node = *place.node;
  if (!node.IsObject() || !node.size) return false;
  if (node.size > 1 || node.keys[0] != "$ref") {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!documents_->IsOnlyReference(node)) return false;
  }
  *target = Resolve(place, SchemaReference::kRef);
  return true;
}

bool SharedDocuments::SaySame(SchemaPlace a, SchemaPlace b) {
  if (a.scope != b.scope) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  return documents_->SaySame(*a.node, *b.node);
}

std::string SharedDocuments::Describe(const JsonValue& node) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return documents_->Place(node);
}

uint64_t HashWords(const uint32_t* words, size_t n) {
  uint64_t h = n;
  for (size_t i = 0; i < n; ++i) h = (h ^ words[i]) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
  return h;
}

ListId WordLists::Intern(const uint32_t* words, size_t n) {
  const uint64_t hash = HashWords(words, n);
  const StateId known = index_.Find(hash, [&](StateId id) {
    const Span<const uint32_t> list = At(static_cast<ListId>(id));
    return list.size() == n && std::equal(list.begin(), list.end(), words);
  });
  if (known != kNoState) return static_cast<ListId>(known);
  if (ends_.empty()) {
    words_.reserve(128);
    ends_.reserve(32);
  }
  const ListId id = static_cast<ListId>(ends_.size());
  index_.Insert(hash, static_cast<StateId>(id));
  words_.insert(words_.end(), words, words + n);
  ends_.push_back(static_cast<uint32_t>(words_.size()));
  return id;
}

SchemaSets::SchemaSets(SharedDocuments* documents) : documents_(documents) {
  const uint32_t none = 0xffffffff;
  lists.Intern(nullptr, 0);
  sets_.Intern(&none, 1);     // kNoValue
  sets_.Intern(nullptr, 0);  // kAnyValue
  uses_.reserve(16);
}

namespace {

constexpr size_t kHead = 4;  // words

void WriteHead(const SchemaUse& use, uint32_t* words) {
  const uint64_t node = reinterpret_cast<uint64_t>(use.place.node);
  words[0] = static_cast<uint32_t>(use.kind);
  words[1] = static_cast<uint32_t>(node);
  words[2] = static_cast<uint32_t>(node >> 32);
  words[3] = use.place.scope;
}

}  // namespace

UseId SchemaSets::Single(UseKind kind, SchemaPlace place) {
  SchemaUse use;
  use.kind = kind;
  use.place = place;
  uint32_t words[kHead];
  WriteHead(use, words);
  const ListId id = use_index_.Intern(words, kHead);
  if (id == uses_.size()) uses_.push_back(std::move(use));
  return id;
}

UseId SchemaSets::AnyOf(std::vector<UseId> members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members.size() == 1) return members[0];
  SchemaUse use;
  use.kind = UseKind::kAnyOf;
  use.members = std::move(members);
  std::vector<uint32_t> words(kHead);
  WriteHead(use, words.data());
  words.insert(words.end(), use.members.begin(), use.members.end());
  const ListId id = use_index_.Intern(words);
  if (id == uses_.size()) uses_.push_back(std::move(use));
  return id;
}

// A schema without keywords, or false.
SchemaSets::Plain SchemaSets::PlainOf(UseId id) const {
  const SchemaUse& use = uses_[id];
  if (use.kind == UseKind::kConstant || use.kind == UseKind::kText || use.kind == UseKind::kComparable) return Plain::kNo;
  if (use.kind == UseKind::kAnyOf) return use.members.empty() ? Plain::kFalse : Plain::kNo;
  const JsonValue& node = *use.place.node;
  if (node.IsBoolean()) return node.boolean ? Plain::kTrue : Plain::kFalse;
  return node.IsObject() && node.size == 0 ? Plain::kTrue : Plain::kNo;
}

// Whether two uses are schemas that are written twice.
bool SchemaSets::SaySame(UseId a, UseId b) {
  if (uses_[a].kind != UseKind::kSchema || uses_[b].kind != UseKind::kSchema) return false;
  const uint64_t key = uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  if (const bool* known = say_same_.Find(key)) return *known;
  return say_same_[key] = documents_->SaySame(uses_[a].place, uses_[b].place);
}

SetId SchemaSets::And(SetId set, SignedUse more) {
  if (set == kNoValue) return kNoValue;
  // A schema that is nothing but a reference is what it refers to, so that recursion comes back to the same set.
  for (int steps = 0; steps < 100 && uses_[more.use].kind == UseKind::kSchema; ++steps) {
    SchemaPlace target;
    if (!documents_->OnlyReference(uses_[more.use].place, &target)) break;
    more.use = Schema(target);
  }
  const Plain plain = PlainOf(more.use);
  if (plain != Plain::kNo) return (plain == Plain::kTrue) == more.positive ? set : kNoValue;
  const uint32_t word = more.use << 1 | !more.positive;
  const Span<const uint32_t> parts = sets_.At(set);
  for (uint32_t p : parts) {
    if (p == word) return set;
    if (p == (word ^ 1) || (((p ^ word) & 1) && SaySame(p >> 1, more.use))) return kNoValue;
  }
  if (parts.empty()) return sets_.Intern(&word, 1);
  std::vector<uint32_t> longer(parts.begin(), parts.end());
  longer.push_back(word);
  return sets_.Intern(longer);
}

SetId SchemaSets::And(SetId set, const std::vector<UseId>& more) {
  for (UseId use : more) set = And(set, SignedUse{use, true});
  return set;
}

// Whether values of the set are to be compared, so that all texts of one have to be known.
bool SchemaSets::IsComparable(SetId set) const {
  for (size_t i = 0, n = NumParts(set); i < n; ++i)
    if (Use(Part(set, i).use).kind == UseKind::kComparable) return true;
  return false;
}

std::vector<SignedUse> SchemaSets::Parts(SetId set) const {
  std::vector<SignedUse> parts;
  if (set == kNoValue) return parts;
  for (uint32_t word : sets_.At(set)) parts.push_back({word >> 1, (word & 1) == 0});
  return parts;
}

KeyId SchemaSets::Key(std::string_view text) {
  const uint64_t hash = std::hash<std::string_view>()(text);
  const StateId known = key_index_.Find(hash, [&](StateId id) { return keys_[static_cast<size_t>(id)] == text; });
  if (known != kNoState) return static_cast<KeyId>(known);
  const KeyId id = static_cast<KeyId>(keys_.size());
  key_index_.Insert(hash, static_cast<StateId>(id));
  keys_.emplace_back(text);
  return id;
}

}  // namespace tokamata
