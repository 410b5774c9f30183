#include "constraints/csrc/json_schema_sets.h"

#include <algorithm>

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

std::string SharedDocuments::Describe(const JsonValue& node) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return documents_->Place(node);
}

uint64_t HashWords(const uint32_t* words, size_t n) {
  uint64_t h = n;
  for (size_t i = 0; i < n; ++i) h = (h ^ words[i]) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
  return h;
}

ListId WordLists::Intern(const std::vector<uint32_t>& list) {
  const uint64_t hash = HashWords(list.data(), list.size());
  const StateId known = index_.Find(hash, [&](StateId id) { return lists_[static_cast<size_t>(id)] == list; });
  if (known != kNoState) return static_cast<ListId>(known);
  index_.Insert(hash, static_cast<StateId>(lists_.size()));
  lists_.push_back(list);
  return static_cast<ListId>(lists_.size() - 1);
}

SchemaSets::SchemaSets(SharedDocuments* documents) : documents_(documents) {
  lists.Intern({});
  sets_.Intern({0xffffffff});  // kNoValue
  sets_.Intern({});            // kAnyValue
}

namespace {

std::vector<uint32_t> KeyOf(const SchemaUse& use) {
  const uint64_t node = reinterpret_cast<uint64_t>(use.place.node);
  std::vector<uint32_t> key{static_cast<uint32_t>(use.kind), static_cast<uint32_t>(node), static_cast<uint32_t>(node >> 32),
                            use.place.scope};
  key.insert(key.end(), use.members.begin(), use.members.end());
  return key;
}

}  // namespace

UseId SchemaSets::Schema(SchemaPlace place) {
  SchemaUse use;
  use.kind = UseKind::kSchema;
  use.place = place;
  const ListId id = use_index_.Intern(KeyOf(use));
  if (id == uses_.size()) uses_.push_back(std::move(use));
  return id;
}

UseId SchemaSets::Constant(const JsonValue* value) {
  SchemaUse use;
  use.kind = UseKind::kConstant;
  use.place.node = value;
  const ListId id = use_index_.Intern(KeyOf(use));
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
  const ListId id = use_index_.Intern(KeyOf(use));
  if (id == uses_.size()) uses_.push_back(std::move(use));
  return id;
}

// A schema without keywords, or false.
SchemaSets::Plain SchemaSets::PlainOf(UseId id) const {
  const SchemaUse& use = uses_[id];
  if (use.kind == UseKind::kConstant) return Plain::kNo;
  if (use.kind == UseKind::kAnyOf) return use.members.empty() ? Plain::kFalse : Plain::kNo;
  const JsonValue& node = *use.place.node;
  if (node.IsBoolean()) return node.boolean ? Plain::kTrue : Plain::kFalse;
  return node.IsObject() && node.size == 0 ? Plain::kTrue : Plain::kNo;
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
  std::vector<uint32_t> parts = sets_.At(set);
  for (uint32_t p : parts) {
    if (p == word) return set;
    if (p == (word ^ 1)) return kNoValue;
  }
  parts.push_back(word);
  return sets_.Intern(parts);
}

SetId SchemaSets::And(SetId set, const std::vector<UseId>& more) {
  for (UseId use : more) set = And(set, SignedUse{use, true});
  return set;
}

std::vector<SignedUse> SchemaSets::Parts(SetId set) const {
  std::vector<SignedUse> parts;
  if (set == kNoValue) return parts;
  for (uint32_t word : sets_.At(set)) parts.push_back({word >> 1, (word & 1) == 0});
  return parts;
}

KeyId SchemaSets::Key(std::string_view text) {
  const auto [it, added] = key_index_.emplace(std::string(text), static_cast<KeyId>(keys_.size()));
  if (added) keys_.push_back(it->first);
  return it->second;
}

}  // namespace tokamata
