// SchemaDocuments: the JSON texts that a schema consists of, and what its identifiers and references mean.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/late.h"
#include "constraints/csrc/json_document.h"

namespace tokamata {

enum class SchemaDraft : uint8_t { k4, k6, k7, k2019, k2020 };

// Which keywords a schema's draft and vocabularies give a meaning to.
struct SchemaDialect {
  SchemaDraft draft = SchemaDraft::k2020;
  bool declared = true;           // by a $schema that is known; if not, forms of earlier drafts mean what they meant there
  bool applicator = true;         // properties, items, allOf, ...
  bool unevaluated = true;        // unevaluatedProperties, unevaluatedItems
  bool validation = true;         // type, enum, minimum, required, ...
  bool format = true;             // format, as an annotation at least
  bool format_assertion = false;  // the dialect itself demands that format is checked
  // Whether an array of schemas may stand under items, with additionalItems beside it; whether exclusiveMinimum and
  // exclusiveMaximum may be booleans.
  bool HasListedItems() const { return draft < SchemaDraft::k2020 || !declared; }
  bool HasBooleanLimits() const { return draft == SchemaDraft::k4 || !declared; }
  bool operator==(const SchemaDialect& other) const;
};

enum class SchemaReference : uint8_t { kRef, kDynamicRef, kRecursiveRef };

// What the dynamic anchors mean on the way to a schema. 0 wherever no document on the way has a dynamic anchor, so that
// (schema, scope) names what a schema use denotes, and equal pairs denote equal languages.
using SchemaScope = uint32_t;

struct SchemaTarget {
  const JsonValue* schema;
  SchemaScope scope;
};

// Nodes stay valid as long as the object. Documents of the registry are asked for and parsed, and identifiers indexed,
// when a reference leads there: not to be used by two threads at once. Nothing is ever fetched.
class SchemaDocuments {
 public:
  using Registry = std::vector<std::pair<std::string, std::string>>;  // URI, JSON text
  using Parts = std::vector<std::pair<std::string, Registry>>;        // schemas with registries of their own
  // The document at a URI, without fragment, if there is one; of null all documents there are. Those that were given
  // before may be given again. May throw.
  using Reader = std::function<Registry(const std::string* uri)>;

  // ConstraintError for a root that is neither an object nor a boolean and for keywords with values that the
  // specification does not allow, wherever subschemas stand. `draft` holds where no $schema is known, for
  // documents of the registry the root's dialect. The root refers to the parts as urn:tokamata:0 and so on; references
  // in one part never lead to another, whatever URIs they share. `reader`: for documents of the root's registry that
  // are not read before a reference leads to them.
  explicit SchemaDocuments(std::string text, Registry registry = {}, Parts parts = {},
                           SchemaDraft draft = SchemaDraft::k2020, const JsonLimits& limits = {}, Reader reader = {});
  SchemaDocuments(const SchemaDocuments&) = delete;
  SchemaDocuments& operator=(const SchemaDocuments&) = delete;

  SchemaTarget Root();

  // Asks the reader for nothing more.
  void ForgetReader() { reader_ = {}; }

  // The scope inside `schema`, a subschema met on the way down; another one only where `schema` has an $id of its own.
  SchemaScope Enter(SchemaScope scope, const JsonValue& schema);

  // What the reference keyword of a schema, which must have it, leads to. ConstraintError where nothing is there, with
  // the JSON Pointer of the reference, the URI and the remedy. In drafts up to 7 a pointer that leads to nothing within
  // the schema resource is tried from the document's root.
  SchemaTarget Resolve(const JsonValue& schema, SchemaReference keyword, SchemaScope scope);

  // By the nearest $schema around it; custom ones from the registry, with their $vocabulary.
  SchemaDialect DialectOf(const JsonValue& schema);

  // Whether $ref is all that counts of this schema (a $ref in drafts up to 7).
  bool IsOnlyReference(const JsonValue& schema);

  // Whether two schemas in one scope plainly say the same, but for annotations and the order of members: then the same
  // values are valid against both. References of two resources are followed. O(nodes).
  bool SaySame(const JsonValue& a, const JsonValue& b);

  // The URI against which its references are resolved; without fragment, "" where there is none.
  std::string BaseUri(const JsonValue& schema);

  // A node for messages: its JSON Pointer, after "URI#" where it is not in the root document.
  std::string Place(const JsonValue& node) const;
  const JsonDocument& DocumentOf(const JsonValue& node) const;

 private:
  struct Document {
    std::shared_ptr<const JsonDocument> json;
    std::string uri;       // where it was found; "" for the root document and the parts
    uint32_t library = 0;  // the documents that its references may lead to
    SchemaDialect dialect;
    bool has_dialect = false;
    bool has_inner_dialects = false;  // a $schema besides the root's is mentioned
    bool has_inner_ids = false;       // an $id (draft 4: id) besides the root's is mentioned
    bool has_dynamic = false;         // a dynamic anchor is mentioned
    bool indexed = false;
    std::unordered_map<std::string, const JsonValue*> resources;  // those inside, by URI; the first of equal ones
  };
  // A root document, or a part, with its registry.
  struct Library {
    SchemaDialect dialect;  // where no $schema is known
    std::unordered_map<std::string, std::string> registry = {};       // not loaded yet
    std::unordered_set<std::string> asked = {};                        // URIs that are loaded, or that nothing has
    std::vector<std::string> uris = {};                                // of what was ever in it, in order
    std::unordered_map<std::string, const JsonValue*> resources = {};  // of all documents
  };
  // What surrounds a node, from the document's root down.
  struct Surroundings {
    const JsonValue* resource;  // the root of the schema resource
    std::string base;           // its URI
    SchemaDialect dialect;
    uint32_t library;
  };
  // What stands at a place of a document: only subschemas can have identifiers.
  enum class Role : uint8_t { kSchema, kMap, kList, kData };
  struct Anchor {
    const JsonValue* schema;
    bool dynamic;
  };
  struct Static {
    const JsonValue* schema;
    int32_t dynamic_name;  // -1: an ordinary reference
  };
  using Bindings = std::vector<std::pair<uint32_t, const JsonValue*>>;  // by name

  void AddLibrary(std::string text, Registry registry, SchemaDraft draft);
  Document& Add(uint32_t library, std::string uri, std::string text);
  Document& DocumentAt(const JsonValue& node);
  const SchemaDialect& DocumentDialect(Document* document);
  bool NamedDialect(uint32_t library, std::string_view uri, SchemaDialect* dialect);
  SchemaDialect Custom(const JsonValue& metaschema, const SchemaDialect& base) const;
  static Role RoleOf(std::string_view key, const JsonValue& child);
  static Role RoleAt(const JsonValue& node);
  static Role ChildRole(Role role, const JsonValue& parent, const JsonValue& child);
  // Applies $schema and $id of a subschema; the anchor of an old-style id is returned.
  std::string_view Identify(const JsonValue& schema, Surroundings* surroundings);
  Surroundings Around(const JsonValue& node);
  // Finds the identifiers of a document.
  void Index(Document* document);
  // Checks the keywords of a schema and of all inside it.
  void Check(const JsonValue& schema, SchemaDialect dialect);
  const JsonValue* FindResource(Document* from, const std::string& uri);
  const JsonValue* Lookup(uint32_t library, const std::string& uri) const;
  void AddToRegistry(uint32_t library, Registry registry);
  bool LoadFromRegistry(uint32_t library, const std::string& uri);
  void LoadAll(uint32_t library);
  Surroundings Outermost(const Document& document) const;
  const Anchor* FindAnchor(const JsonValue& resource, const std::string& name);
  Static ResolveStatically(const JsonValue& schema, SchemaReference keyword, const JsonValue& reference);
  SchemaScope EnterResource(SchemaScope scope, const JsonValue& schema);
  uint32_t NameId(std::string_view name);

  struct NodeKeys {
    static const JsonValue* None() { return nullptr; }
    static uint64_t Hash(const JsonValue* node) { return MixHash(reinterpret_cast<uintptr_t>(node)); }
  };
  JsonLimits limits_;
  Reader reader_;
  std::vector<Library> libraries_;                    // that of the root document first
  std::vector<std::unique_ptr<Document>> documents_;  // the root document first
  std::unordered_map<const JsonValue*, uint32_t> document_of_root_;
  Late<std::map<std::pair<const JsonValue*, std::string>, Anchor>> anchors_;
  Late<std::unordered_map<const JsonValue*, Bindings>> dynamic_anchors_;  // of each resource
  FlatMap<const JsonValue*, Static, NodeKeys> resolved_;  // by reference node
  Late<std::unordered_set<const JsonValue*>> checked_;    // schemas at places that are not known for schemas
  Late<std::map<std::string, uint32_t, std::less<>>> names_;
  std::vector<Bindings> scopes_;  // first that of none
  Late<std::map<Bindings, SchemaScope>> scope_ids_;
  bool any_dynamic_ = false;
  uint32_t open_metaschemas_ = 0;
};

}  // namespace tokamata
