// Sets of JSON values as conjunctions of schemas and negated schemas, interned: equal ones are one number.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/id_table.h"
#include "constraints/csrc/json_document.h"
#include "constraints/csrc/json_schema_documents.h"

namespace tokamata {

using UseId = uint32_t;   // something that a value can be valid against
using SetId = uint32_t;   // a conjunction of uses and negated uses
using KeyId = uint32_t;   // an object key, decoded
using ListId = uint32_t;  // a list of numbers

constexpr SetId kNoValue = 0, kAnyValue = 1;

// A schema where it stands: what its dynamic references mean depends on the scope.
struct SchemaPlace {
  const JsonValue* node = nullptr;
  SchemaScope scope = 0;
};

// The documents of a schema, shared by its rules in all pools: one thread at a time.
class SharedDocuments {
 public:
  explicit SharedDocuments(std::unique_ptr<SchemaDocuments> documents) : documents_(std::move(documents)) {}
  SchemaPlace Root();
  SchemaDialect Dialect(const JsonValue& schema);
  SchemaPlace Child(SchemaPlace parent, const JsonValue& schema);
  SchemaPlace Resolve(SchemaPlace place, SchemaReference keyword);
  // Whether a schema is nothing but a reference without a scope of its own; fills *target.
  bool OnlyReference(SchemaPlace place, SchemaPlace* target);
  std::string Describe(const JsonValue& node);

 private:
  std::mutex mutex_;
  std::unique_ptr<SchemaDocuments> documents_;
};

enum class UseKind : uint8_t {
  kSchema,    // a schema of a document, in a dynamic scope
  kConstant,  // being equal to a JSON value
  kAnyOf,     // some of `members`; none: no value
};

struct SchemaUse {
  UseKind kind = UseKind::kSchema;
  SchemaPlace place;  // kConstant: only the node, the value
  std::vector<UseId> members;
};

struct SignedUse {
  UseId use;
  bool positive;
  bool operator==(const SignedUse& o) const { return use == o.use && positive == o.positive; }
};

uint64_t HashWords(const uint32_t* words, size_t n);

// What is interned by content: the number of a vector of words.
class WordLists {
 public:
  ListId Intern(const std::vector<uint32_t>& list);
  const std::vector<uint32_t>& At(ListId id) const { return lists_[id]; }
  size_t Size() const { return lists_.size(); }

 private:
  std::vector<std::vector<uint32_t>> lists_;
  IdTable index_;
};

class SchemaSets {
 public:
  explicit SchemaSets(SharedDocuments* documents);

  UseId Schema(SchemaPlace place);
  UseId Constant(const JsonValue* value);
  UseId AnyOf(std::vector<UseId> members);
  const SchemaUse& Use(UseId id) const { return uses_[id]; }

  // The conjunction of a set and one more; kNoValue where that is plainly empty.
  SetId And(SetId set, SignedUse more);
  SetId And(SetId set, const std::vector<UseId>& more);
  // In the order in which they were added, each once.
  std::vector<SignedUse> Parts(SetId set) const;
  size_t NumSets() const { return sets_.Size(); }

  KeyId Key(std::string_view text);
  const std::string& KeyText(KeyId key) const { return keys_[key]; }

  WordLists lists;  // for whatever states carry

 private:
  enum class Plain : uint8_t { kNo, kTrue, kFalse };
  Plain PlainOf(UseId use) const;

  SharedDocuments* documents_;
  std::vector<SchemaUse> uses_;
  WordLists use_index_, sets_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string, KeyId> key_index_;
};

}  // namespace tokamata
