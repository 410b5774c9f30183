// Sets of JSON values as conjunctions of schemas and negated schemas, interned: equal ones are one number.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/fst.h"
#include "automata/csrc/id_table.h"
#include "constraints/csrc/json_document.h"
#include "constraints/csrc/json_schema_documents.h"

namespace tokamata {

using UseId = uint32_t;   // something that a value can be valid against
using SetId = uint32_t;   // a conjunction of uses and negated uses
using KeyId = uint32_t;   // an object key, decoded
using ListId = uint32_t;  // a list of numbers

constexpr SetId kNoValue = 0, kAnyValue = 1;
constexpr UseId kNoUse = 0xffffffff;

// A schema where it stands: what its dynamic references mean depends on the scope.
struct SchemaPlace {
  const JsonValue* node = nullptr;
  SchemaScope scope = 0;
  bool operator==(const SchemaPlace& o) const { return node == o.node && scope == o.scope; }
};

struct SchemaPlaceKeys {  // of a FlatMap
  static SchemaPlace None() { return {}; }
  static uint64_t Hash(const SchemaPlace& place) {
    return MixHash(reinterpret_cast<uint64_t>(place.node) ^ uint64_t{place.scope} << 48);
  }
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
  // See SchemaDocuments::SaySame.
  bool SaySame(SchemaPlace a, SchemaPlace b);
  std::string Describe(const JsonValue& node);
  void ForgetReader() { documents_->ForgetReader(); }

 private:
  std::mutex mutex_;
  std::unique_ptr<SchemaDocuments> documents_;
};

enum class UseKind : uint8_t {
  kSchema,    // a schema of a document, in a dynamic scope
  kConstant,  // being equal to a JSON value
  kText,      // being a string
  kComparable,  // having no number, nor inside, but such as can be compared by their texts: see JsonNumbers
  kAnyOf,     // some of `members`; none: no value
};

struct SchemaUse {
  UseKind kind = UseKind::kSchema;
  // kConstant: only the node, the value; the scope says whether numbers have every spelling of theirs, not json.dumps'
  // only.
  SchemaPlace place;
  std::vector<UseId> members;
};

struct SignedUse {
  UseId use;
  bool positive;
  bool operator==(const SignedUse& o) const { return use == o.use && positive == o.positive; }
};

uint64_t HashWords(const uint32_t* words, size_t n);

// What is interned by content: the number of a list of words. All of them stand in one block of memory.
class WordLists {
 public:
  ListId Intern(const uint32_t* words, size_t n);
  ListId Intern(const std::vector<uint32_t>& list) { return Intern(list.data(), list.size()); }
  // Valid until another list is interned.
  Span<const uint32_t> At(ListId id) const {
    const uint32_t begin = id ? ends_[id - 1] : 0;
    return {words_.data() + begin, ends_[id] - begin};
  }
  std::vector<uint32_t> Copy(ListId id) const { return {At(id).begin(), At(id).end()}; }
  size_t Size() const { return ends_.size(); }
  size_t MemoryBytes() const { return (words_.capacity() + ends_.capacity()) * sizeof(uint32_t); }

 private:
  std::vector<uint32_t> words_, ends_;
  IdTable index_;
};

class SchemaSets {
 public:
  explicit SchemaSets(SharedDocuments* documents);

  UseId Schema(SchemaPlace place) { return Single(UseKind::kSchema, place); }
  UseId Constant(const JsonValue* value, bool spelled = false) { return Single(UseKind::kConstant, {value, spelled}); }
  UseId Text() { return Single(UseKind::kText, {}); }
  UseId Comparable() { return Single(UseKind::kComparable, {}); }
  bool IsComparable(SetId set) const;
  // Whether it is a constant in all its texts.
  bool IsSpelled(UseId use) const { return uses_[use].kind == UseKind::kConstant && uses_[use].place.scope; }
  UseId AnyOf(std::vector<UseId> members);
  const SchemaUse& Use(UseId id) const { return uses_[id]; }

  // The conjunction of a set and one more; kNoValue where that is plainly empty.
  SetId And(SetId set, SignedUse more);
  SetId And(SetId set, const std::vector<UseId>& more);
  // In the order in which they were added, each once.
  std::vector<SignedUse> Parts(SetId set) const;
  size_t NumParts(SetId set) const { return set == kNoValue ? 0 : sets_.At(set).size(); }
  SignedUse Part(SetId set, size_t i) const {
    const uint32_t word = sets_.At(set)[i];
    return {word >> 1, (word & 1) == 0};
  }
  size_t NumSets() const { return sets_.Size(); }

  KeyId Key(std::string_view text);
  const std::string& KeyText(KeyId key) const { return keys_[key]; }
  size_t NumKeys() const { return keys_.size(); }

  WordLists lists;  // for whatever states carry

 private:
  enum class Plain : uint8_t { kNo, kTrue, kFalse };
  Plain PlainOf(UseId use) const;
  bool SaySame(UseId a, UseId b);
  UseId Single(UseKind kind, SchemaPlace place);

  SharedDocuments* documents_;
  std::vector<SchemaUse> uses_;
  WordLists use_index_, sets_;
  FlatMap<uint64_t, bool> say_same_;  // by two uses
  std::deque<std::string> keys_;  // references stay valid while keys are added
  IdTable key_index_;
};

}  // namespace tokamata
