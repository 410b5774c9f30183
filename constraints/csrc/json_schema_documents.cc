#include "constraints/csrc/json_schema_documents.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "automata/csrc/errors.h"
#include "constraints/csrc/json_schema_check.h"
#include "constraints/csrc/json_schema_keywords.h"
#include "constraints/csrc/uri.h"

namespace tokamata {
namespace {

constexpr uint32_t kMostMetaschemas = 16;  // a custom metaschema's metaschema's ...
constexpr const char* kPartUri = "urn:tokamata:";

const JsonValue* StringAt(const JsonValue& schema, std::string_view key) {
  const JsonValue* found = schema.Find(key);
  return found != nullptr && found->IsString() ? found : nullptr;
}

std::string Quoted(std::string_view text) {
  std::string out;
  WriteJsonString(text, &out);
  return out;
}

std::string_view KeywordName(SchemaReference keyword) {
  switch (keyword) {
    case SchemaReference::kRef:
      return "$ref";
    case SchemaReference::kDynamicRef:
      return "$dynamicRef";
    default:
      return "$recursiveRef";
  }
}

std::string_view KindName(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return "a boolean";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "an array";
    default:
      return "an object";
  }
}

bool IsSchema(const JsonValue& value) { return value.IsObject() || value.IsBoolean(); }

// How often the text may hold these keys with strings for values ("$recursiveAnchor": with any); a lower bound would
// not do, so an escape that may stand for a character of them counts as each.
struct Mentions {
  uint32_t id = 0, old_id = 0, schema = 0, dynamic = 0;

  explicit Mentions(std::string_view text) {
    // Whether a colon and a string follow.
    const auto has_string = [&](size_t at) {
      const size_t colon = text.find_first_not_of(" \t\r\n", at);
      if (colon == text.npos || text[colon] != ':') return false;
      const size_t value = text.find_first_not_of(" \t\r\n", colon + 1);
      return value != text.npos && text[value] == '"';
    };
    for (size_t at = text.find('$'); at != text.npos; at = text.find('$', at + 1)) {
      if (at == 0 || text[at - 1] != '"') continue;
      const auto follows = [&](std::string_view word) { return text.compare(at + 1, word.size(), word) == 0; };
      id += follows("id\"") && has_string(at + 4);
      schema += follows("schema\"") && has_string(at + 8);
      dynamic += follows("dynamicAnchor\"") || follows("recursiveAnchor\"");
    }
    static constexpr std::string_view kOldId = "\"id\"";
    for (size_t at = text.find(kOldId); at != text.npos; at = text.find(kOldId, at + 1)) old_id += has_string(at + kOldId.size());
    bool escaped = false;  // a dollar sign or letter
    for (size_t at = text.find("\\u00"); !escaped && at != text.npos; at = text.find("\\u00", at + 4)) {
      const char high = at + 4 < text.size() ? text[at + 4] : ' ';
      escaped = high == '2' || (high >= '4' && high <= '7');
    }
    if (escaped) {
      id += 2;
      old_id += 2;
      schema += 2;
      dynamic += 2;
    }
  }
};

// The same URI of json-schema.org with https for http, or the other way round; "" for others.
std::string OtherScheme(std::string_view uri) {
  static constexpr std::string_view kHttp = "http://json-schema.org/", kHttps = "https://json-schema.org/";
  if (uri.substr(0, kHttp.size()) == kHttp) return std::string(kHttps) + std::string(uri.substr(kHttp.size()));
  if (uri.substr(0, kHttps.size()) == kHttps) return std::string(kHttp) + std::string(uri.substr(kHttps.size()));
  return {};
}

// The drafts' own URIs, with http or https and with or without an empty fragment.
bool StandardDialect(std::string_view uri, SchemaDialect* dialect) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (uri.substr(0, scheme.size()) == scheme) uri.remove_prefix(scheme.size());
  }
  static constexpr std::string_view kHost = "json-schema.org/";
  if (uri.substr(0, kHost.size()) != kHost) return false;
  uri.remove_prefix(kHost.size());
  SchemaDialect found;
  if (uri == "draft-04/schema" || uri == "draft-05/schema") {
    found.draft = SchemaDraft::k4;
  } else if (uri == "draft-06/schema") {
    found.draft = SchemaDraft::k6;
  } else if (uri == "draft-07/schema") {
    found.draft = SchemaDraft::k7;
  } else if (uri == "draft/2019-09/schema") {
    found.draft = SchemaDraft::k2019;
  } else if (uri != "draft/2020-12/schema" && uri != "schema") {
    return false;
  }
  *dialect = found;
  return true;
}

}  // namespace

bool SchemaDialect::operator==(const SchemaDialect& other) const {
  const auto tie = [](const SchemaDialect& d) {
    return std::tie(d.draft, d.declared, d.applicator, d.unevaluated, d.validation, d.format, d.format_assertion);
  };
  return tie(*this) == tie(other);
}

SchemaDocuments::SchemaDocuments(std::string text, Registry registry, Parts parts, SchemaDraft draft,
                                 const JsonLimits& limits, Reader reader)
    : limits_(limits), reader_(std::move(reader)) {
  scopes_.emplace_back();
  AddLibrary(std::move(text), std::move(registry), draft);
  for (auto& [part, known] : parts) {
    AddLibrary(std::move(part), std::move(known), draft);
    libraries_[0].resources.emplace(kPartUri + std::to_string(libraries_.size() - 2), &documents_.back()->json->Root());
  }
}

void SchemaDocuments::AddLibrary(std::string text, Registry registry, SchemaDraft draft) {
  Library library;
  library.dialect.draft = draft;
  library.dialect.declared = false;
  libraries_.push_back(std::move(library));
  const uint32_t id = static_cast<uint32_t>(libraries_.size() - 1);
  AddToRegistry(id, std::move(registry));
  Document& root = Add(id, "", std::move(text));
  libraries_[id].dialect = DocumentDialect(&root);
}

SchemaDocuments::Document& SchemaDocuments::Add(uint32_t library, std::string uri, std::string text) {
  const std::string name = uri.empty() ? "json_schema" : "json_schema: registry[" + Quoted(uri) + "]";
  auto document = std::make_unique<Document>();
  document->json = JsonDocument::Parse(std::move(text), name, limits_);
  document->uri = std::move(uri);
  document->library = library;
  const JsonValue& root = document->json->Root();
  const Mentions mentions(document->json->Text());
  document->has_inner_dialects = mentions.schema > (StringAt(root, "$schema") != nullptr);
  document->has_inner_ids =
      mentions.id > (StringAt(root, "$id") != nullptr) || (document->has_inner_dialects && mentions.old_id > 0);
  document->has_dynamic = mentions.dynamic > 0;
  any_dynamic_ |= document->has_dynamic;
  document_of_root_.emplace(&root, static_cast<uint32_t>(documents_.size()));
  documents_.push_back(std::move(document));
  Document& added = *documents_.back();
  if (!added.uri.empty()) libraries_[library].resources.emplace(added.uri, &root);
  const Surroundings around = Around(root);
  if (around.dialect.draft == SchemaDraft::k4) added.has_inner_ids = mentions.old_id > (StringAt(root, "id") != nullptr);
  if (!around.base.empty()) libraries_[library].resources.emplace(around.base, &root);
  if (documents_.size() == 1 && !IsSchema(root)) {
    throw ConstraintError(added.json->Name() + ": expected a schema, an object or a boolean, got " +
                          std::string(KindName(root.kind)) + "; True is the schema of any value");
  }
  Check(root, around.dialect);
  return added;
}

void SchemaDocuments::Check(const JsonValue& schema, SchemaDialect dialect) {
  struct Item {
    const JsonValue* node;
    Role role;
    SchemaDialect dialect;
  };
  const auto place = [this](const JsonValue& node) { return Place(node); };
  const Document& document = DocumentAt(schema);
  const bool dialects = document.has_inner_dialects;
  const uint32_t library = document.library;
  std::vector<Item> todo{{&schema, Role::kSchema, dialect}};
  while (!todo.empty()) {
    Item item = todo.back();
    todo.pop_back();
    const JsonValue& node = *item.node;
    if (item.role == Role::kSchema) {
      const JsonValue* named = dialects ? StringAt(node, "$schema") : nullptr;
      if (named != nullptr) NamedDialect(library, named->text, &item.dialect);
      CheckSchemaKeywords(node, item.dialect, place);
    }
    for (uint32_t i = node.size; i-- > 0;) {
      const JsonValue& child = node.elements[i];
      if (child.size == 0) continue;
      const Role role = item.role == Role::kSchema && node.IsObject() &&
                                ShapeOf(node.keys[i], item.dialect) == SchemaShape::kAnything
                            ? Role::kData
                            : ChildRole(item.role, node, child);
      if (role != Role::kData) todo.push_back({&child, role, item.dialect});
    }
  }
}

SchemaDocuments::Document& SchemaDocuments::DocumentAt(const JsonValue& node) {
  if (documents_.size() == 1) return *documents_[0];
  const JsonValue* root = &node;
  while (root->parent != nullptr) root = root->parent;
  return *documents_[document_of_root_.at(root)];
}

const JsonDocument& SchemaDocuments::DocumentOf(const JsonValue& node) const {
  return *const_cast<SchemaDocuments*>(this)->DocumentAt(node).json;
}

std::string SchemaDocuments::Place(const JsonValue& node) const {
  const Document& document = const_cast<SchemaDocuments*>(this)->DocumentAt(node);
  const std::string pointer = JsonPointer(node);
  return document.uri.empty() ? pointer : document.uri + "#" + pointer;
}

// ---- dialects
bool SchemaDocuments::NamedDialect(uint32_t library, std::string_view uri, SchemaDialect* dialect) {
  uri = SplitFragment(uri).first;
  if (StandardDialect(uri, dialect)) return true;
  if (uri.find("json-schema.org/draft-0") != uri.npos) {
    throw UnsupportedError("json_schema: $schema " + Quoted(uri) +
                           ": expected draft 4, 6, 7, 2019-09 or 2020-12; rewrite the schema for one of them");
  }
  const std::string key(uri);
  // Loading a metaschema asks for its own metaschema in turn.
  if (open_metaschemas_ == kMostMetaschemas) return false;
  ++open_metaschemas_;
  const bool found = Lookup(library, key) != nullptr || LoadFromRegistry(library, key);
  if (found) {
    const JsonValue& metaschema = *Lookup(library, key);
    SchemaDialect base = libraries_[library].dialect;
    const JsonValue* above = StringAt(metaschema, "$schema");
    if (above != nullptr && SplitFragment(above->text).first != uri) NamedDialect(library, above->text, &base);
    *dialect = Custom(metaschema, base);
  }
  --open_metaschemas_;
  return found;
}

SchemaDialect SchemaDocuments::Custom(const JsonValue& metaschema, const SchemaDialect& base) const {
  const JsonValue* vocabularies = metaschema.Find("$vocabulary");
  if (vocabularies == nullptr || !vocabularies->IsObject() || base.draft < SchemaDraft::k2019) return base;
  SchemaDialect dialect;
  dialect.draft = base.draft;
  dialect.applicator = dialect.unevaluated = dialect.validation = dialect.format = false;
  for (uint32_t i = 0; i < vocabularies->size; ++i) {
    const bool demanded = vocabularies->elements[i].boolean;
    std::string_view name = vocabularies->keys[i];
    bool known = false;
    for (const std::string_view prefix :
         {"https://json-schema.org/draft/2020-12/vocab/", "https://json-schema.org/draft/2019-09/vocab/"}) {
      if (name.substr(0, prefix.size()) != prefix) continue;
      name.remove_prefix(prefix.size());
      known = true;
      break;
    }
    if (known && name == "applicator") {
      dialect.applicator = true;
      dialect.unevaluated |= base.draft == SchemaDraft::k2019;
    } else if (known && name == "unevaluated") {
      dialect.unevaluated = true;
    } else if (known && name == "validation") {
      dialect.validation = true;
    } else if (known && (name == "format-annotation" || name == "format")) {
      dialect.format = true;
      dialect.format_assertion |= name == "format" && demanded;
    } else if (known && name == "format-assertion") {
      dialect.format = dialect.format_assertion = true;
    } else if (demanded && !(known && (name == "core" || name == "content" || name == "meta-data"))) {
      throw UnsupportedError("json_schema: at " + Quoted(Place(vocabularies->elements[i])) +
                             ": the metaschema demands the vocabulary " + Quoted(vocabularies->keys[i]) +
                             ", which is not known; expected the vocabularies of drafts 2019-09 and 2020-12");
    }
  }
  return dialect;
}

SchemaDialect SchemaDocuments::DialectOf(const JsonValue& schema) {
  Document& document = DocumentAt(schema);
  if (document.has_inner_dialects) return Around(schema).dialect;
  return DocumentDialect(&document);
}

const SchemaDialect& SchemaDocuments::DocumentDialect(Document* document) {
  if (!document->has_dialect) {
    document->dialect = libraries_[document->library].dialect;
    if (const JsonValue* named = StringAt(document->json->Root(), "$schema")) {
      NamedDialect(document->library, named->text, &document->dialect);
    }
    document->has_dialect = true;
  }
  return document->dialect;
}

bool SchemaDocuments::IsOnlyReference(const JsonValue& schema) {
  return StringAt(schema, "$ref") != nullptr && DialectOf(schema).draft <= SchemaDraft::k7;
}

// ---- identifiers
SchemaDocuments::Role SchemaDocuments::RoleOf(std::string_view key, const JsonValue& child) {
  switch (ShapeInAnyDraft(key)) {
    case SchemaShape::kSchema: return Role::kSchema;
    case SchemaShape::kSchemas: return Role::kList;
    case SchemaShape::kItems: return child.IsArray() ? Role::kList : Role::kSchema;
    case SchemaShape::kSchemaMap:
    case SchemaShape::kDependencies: return Role::kMap;
    default: return Role::kData;
  }
}

SchemaDocuments::Role SchemaDocuments::ChildRole(Role role, const JsonValue& parent, const JsonValue& child) {
  if (role == Role::kSchema && parent.IsObject()) return RoleOf(parent.keys[&child - parent.elements], child);
  if ((role == Role::kMap && parent.IsObject()) || (role == Role::kList && parent.IsArray())) return Role::kSchema;
  return Role::kData;
}

SchemaDocuments::Role SchemaDocuments::RoleAt(const JsonValue& node) {
  std::vector<const JsonValue*> path;
  for (const JsonValue* at = &node; at != nullptr; at = at->parent) path.push_back(at);
  Role role = Role::kSchema;
  for (size_t i = path.size() - 1; i-- > 0 && role != Role::kData;) role = ChildRole(role, *path[i + 1], *path[i]);
  return role;
}

std::string_view SchemaDocuments::Identify(const JsonValue& schema, Surroundings* surroundings) {
  if (!schema.IsObject()) return {};
  if (const JsonValue* named = StringAt(schema, "$schema"))
    NamedDialect(surroundings->library, named->text, &surroundings->dialect);
  const SchemaDraft draft = surroundings->dialect.draft;
  const JsonValue* id = StringAt(schema, draft == SchemaDraft::k4 ? "id" : "$id");
  if (id == nullptr || (draft <= SchemaDraft::k7 && StringAt(schema, "$ref") != nullptr)) return {};
  const auto [address, fragment] = SplitFragment(id->text);
  if (!address.empty()) {
    surroundings->base = ResolveUri(surroundings->base, address);
    surroundings->resource = &schema;
  }
  return draft <= SchemaDraft::k7 && !fragment.empty() && fragment[0] != '/' ? fragment : std::string_view();
}

SchemaDocuments::Surroundings SchemaDocuments::Outermost(const Document& document) const {
  return {&document.json->Root(), document.uri, libraries_[document.library].dialect, document.library};
}

SchemaDocuments::Surroundings SchemaDocuments::Around(const JsonValue& node) {
  Document& document = DocumentAt(node);
  const JsonValue& root = document.json->Root();
  Surroundings surroundings = Outermost(document);
  Identify(root, &surroundings);
  if (&node == &root || !(document.has_inner_ids || document.has_inner_dialects)) return surroundings;
  std::vector<const JsonValue*> path;
  for (const JsonValue* at = &node; at != &root; at = at->parent) path.push_back(at);
  Role role = Role::kSchema;
  const JsonValue* parent = &root;
  for (size_t i = path.size(); i-- > 0 && role != Role::kData; parent = path[i]) {
    role = ChildRole(role, *parent, *path[i]);
    if (role == Role::kSchema) Identify(*path[i], &surroundings);
  }
  return surroundings;
}

std::string SchemaDocuments::BaseUri(const JsonValue& schema) { return Around(schema).base; }

bool SchemaDocuments::SaySame(const JsonValue& a, const JsonValue& b) {
  constexpr size_t kMostApart = 20'000;  // values that are compared between resources, whose references may lead anywhere
  const SchemaDialect dialect = DialectOf(a);
  if (!(DialectOf(b) == dialect)) return false;
  // Within a resource equal references lead to the same place; elsewhere what they lead to is compared, in circles once.
  const bool apart = &DocumentAt(a) != &DocumentAt(b) || Around(a).resource != Around(b).resource;
  if (apart && any_dynamic_) return false;
  // A name makes references and dynamic scopes differ; schemas that have one are not compared, unless references are
  // followed.
  const auto named = [](const JsonValue& schema) {
    for (const char* key : {"$id", "id", "$schema", "$anchor", "$dynamicAnchor"})
      if (StringAt(schema, key)) return true;
    return schema.Find("$recursiveAnchor") != nullptr;
  };
  const auto counts = [&](std::string_view key) { return KeywordOf(key, dialect) != Keyword::kNone; };
  struct Pair {
    const JsonValue *a, *b;
    Role role;
    bool entered = false;  // by a reference, or first
  };
  std::vector<Pair> todo{{&a, &b, Role::kSchema, true}};
  std::set<std::pair<const JsonValue*, const JsonValue*>> entered;
  for (size_t compared = 0; !todo.empty(); ++compared) {
    const Pair pair = todo.back();
    todo.pop_back();
    const JsonValue &x = *pair.a, &y = *pair.b;
    if (&x == &y) continue;
    if (apart && compared >= kMostApart) return false;
    if (pair.role == Role::kData || x.kind != y.kind || !(x.IsObject() || x.IsArray())) {
      if (!JsonEqual(x, y)) return false;
      continue;
    }
    if (x.IsArray()) {
      if (x.size != y.size) return false;
      for (uint32_t i = 0; i < x.size; ++i)
        todo.push_back({x.elements + i, y.elements + i, ChildRole(pair.role, x, x.elements[i])});
      continue;
    }
    const bool is_schema = pair.role == Role::kSchema;
    if (is_schema && !(apart && pair.entered) && (named(x) || named(y))) return false;
    uint32_t more = 0;  // members of y that count and are not met yet
    for (uint32_t i = 0; i < y.size; ++i) more += !is_schema || counts(y.keys[i]);
    for (uint32_t i = 0; i < x.size; ++i) {
      if (is_schema && !counts(x.keys[i])) continue;
      const JsonValue* const other = i < y.size && y.keys[i] == x.keys[i] ? y.elements + i : y.Find(x.keys[i]);
      if (!other) return false;
      --more;
      if (!apart || !is_schema || x.keys[i] != "$ref") {
        if (apart && is_schema && (x.keys[i] == "$dynamicRef" || x.keys[i] == "$recursiveRef")) return false;
        todo.push_back({x.elements + i, other, ChildRole(pair.role, x, x.elements[i])});
        continue;
      }
      const JsonValue *to, *other_to;
      try {
        to = Resolve(x, SchemaReference::kRef, 0).schema;
        other_to = Resolve(y, SchemaReference::kRef, 0).schema;
      } catch (const ConstraintError&) {  // which whoever comes there is told
        return false;
      }
      if (!(DialectOf(*to) == dialect) || !(DialectOf(*other_to) == dialect)) return false;
      if (entered.emplace(to, other_to).second) todo.push_back({to, other_to, Role::kSchema, true});
    }
    if (more) return false;
  }
  return !(apart && any_dynamic_);  // documents may have been read
}

uint32_t SchemaDocuments::NameId(std::string_view name) {
  const auto found = names_->find(name);
  if (found != names_->end()) return found->second;
  return names_->emplace(name, static_cast<uint32_t>(names_->size())).first->second;
}

void SchemaDocuments::Index(Document* document) {
  if (document->indexed) return;
  document->indexed = true;
  struct Item {
    const JsonValue* node;
    Role role;
    uint32_t around;
  };
  const JsonValue& root = document->json->Root();
  auto& resources = libraries_[document->library].resources;
  std::vector<Surroundings> around{Outermost(*document)};
  std::vector<Item> todo{{&root, Role::kSchema, 0}};
  while (!todo.empty()) {
    Item item = todo.back();
    todo.pop_back();
    const JsonValue& node = *item.node;
    if (item.role == Role::kSchema && node.IsObject()) {
      Surroundings inner = around[item.around];
      const std::string_view old_anchor = Identify(node, &inner);
      const Surroundings& outer = around[item.around];
      if (inner.resource != outer.resource || inner.base != outer.base || !(inner.dialect == outer.dialect)) {
        item.around = static_cast<uint32_t>(around.size());
        around.push_back(inner);
      }
      const JsonValue* resource = inner.resource;
      if (resource == &node && !inner.base.empty()) {
        document->resources.emplace(inner.base, &node);
        resources.emplace(inner.base, &node);
      }
      const auto anchor = [&](std::string_view name, bool dynamic) {
        anchors_->emplace(std::make_pair(resource, std::string(name)), Anchor{&node, dynamic});
        if (dynamic) (*dynamic_anchors_)[resource].push_back({NameId(name), &node});
      };
      if (!old_anchor.empty()) anchor(old_anchor, false);
      const SchemaDraft draft = inner.dialect.draft;
      if (draft >= SchemaDraft::k2019) {
        if (const JsonValue* name = StringAt(node, "$anchor")) anchor(name->text, false);
      }
      if (draft == SchemaDraft::k2020) {
        if (const JsonValue* name = StringAt(node, "$dynamicAnchor")) anchor(name->text, true);
      }
      const JsonValue* recursive = draft == SchemaDraft::k2019 ? node.Find("$recursiveAnchor") : nullptr;
      if (recursive != nullptr && recursive->boolean) (*dynamic_anchors_)[resource].push_back({NameId(""), &node});
    }
    for (uint32_t i = node.size; i-- > 0;) {
      const Role role = ChildRole(item.role, node, node.elements[i]);
      if (role != Role::kData) todo.push_back({node.elements + i, role, item.around});
    }
  }
}

// ---- references
const JsonValue* SchemaDocuments::Lookup(uint32_t library, const std::string& uri) const {
  const auto found = libraries_[library].resources.find(uri);
  return found == libraries_[library].resources.end() ? nullptr : found->second;
}

void SchemaDocuments::AddToRegistry(uint32_t library, Registry registry) {
  Library& to = libraries_[library];
  for (auto& [uri, text] : registry) {
    std::string address(SplitFragment(uri).first);
    if (to.asked.count(address)) continue;
    if (to.registry.emplace(address, std::move(text)).second) to.uris.push_back(std::move(address));
  }
}

bool SchemaDocuments::LoadFromRegistry(uint32_t library, const std::string& uri) {
  Library& from = libraries_[library];
  if (from.asked.count(uri)) return false;
  if (library == 0 && reader_ && !from.registry.count(uri)) AddToRegistry(library, reader_(&uri));
  from.asked.insert(uri);
  const auto found = from.registry.find(uri);
  if (found == from.registry.end()) return false;
  std::string text = std::move(found->second);
  from.registry.erase(found);
  Add(library, uri, std::move(text));
  return true;
}

void SchemaDocuments::LoadAll(uint32_t library) {
  if (library == 0 && reader_) AddToRegistry(library, reader_(nullptr));
  for (size_t i = 0; i < libraries_[library].uris.size(); ++i) {  // a document's $schema may load others meanwhile
    const std::string uri = libraries_[library].uris[i];
    if (libraries_[library].registry.count(uri)) LoadFromRegistry(library, uri);
  }
}

const JsonValue* SchemaDocuments::FindResource(Document* from, const std::string& uri) {
  // Two documents may use the same identifiers: those of the reference's own document come first.
  if (from->has_inner_ids) Index(from);
  const auto own = from->resources.find(uri);
  if (own != from->resources.end()) return own->second;
  const uint32_t library = from->library;
  const auto index_all = [&] {
    for (size_t i = 0; i < documents_.size(); ++i) {
      if (documents_[i]->library == library && documents_[i]->has_inner_ids) Index(documents_[i].get());
    }
  };
  if (const JsonValue* found = Lookup(library, uri)) return found;
  index_all();
  if (const JsonValue* found = Lookup(library, uri)) return found;
  if (LoadFromRegistry(library, uri)) return Lookup(library, uri);
  if (const std::string other = OtherScheme(uri); !other.empty()) {
    if (Lookup(library, other) != nullptr || LoadFromRegistry(library, other)) return Lookup(library, other);
  }
  // The last resort: an identifier inside of some document of the registry.
  LoadAll(library);
  index_all();
  return Lookup(library, uri);
}

const SchemaDocuments::Anchor* SchemaDocuments::FindAnchor(const JsonValue& resource, const std::string& name) {
  Index(&DocumentAt(resource));
  const auto found = anchors_->find({&resource, name});
  return found == anchors_->end() ? nullptr : &found->second;
}

SchemaDocuments::Static SchemaDocuments::ResolveStatically(const JsonValue& schema, SchemaReference keyword,
                                                           const JsonValue& reference) {
  const auto fail = [&](const std::string& what) {
    throw ConstraintError("json_schema: at " + Quoted(Place(reference)) + ": " + what);
  };
  if (!reference.IsString()) {
    fail("expected a URI reference as a string, got " + std::string(KindName(reference.kind)));
  }
  const Surroundings around = Around(schema);
  const auto [address, raw_fragment] = SplitFragment(reference.text);
  const JsonValue* resource = around.resource;
  std::string uri = around.base;
  if (!address.empty()) {
    uri = ResolveUri(around.base, address);
    if (uri != around.base) resource = FindResource(&DocumentAt(schema), uri);
    if (resource == nullptr) {
      fail("the reference " + Quoted(reference.text) + " leads to the URI " + Quoted(uri) +
           ", and no such document was given; pass registry={" + Quoted(uri) +
           ": its schema} (nothing is ever fetched)");
    }
  }
  const std::string document = uri.empty() ? "the schema" : Quoted(uri);
  const std::string fragment = PercentDecode(raw_fragment);
  Static found{resource, -1};
  if (!fragment.empty() && fragment[0] == '/') {
    found.schema = FindJsonPointer(*resource, fragment);
    // Many a schema of the old drafts names its parts by id and means the document by "#" all the same.
    if (found.schema == nullptr && address.empty() && around.dialect.draft <= SchemaDraft::k7) {
      found.schema = FindJsonPointer(DocumentAt(schema).json->Root(), fragment);
    }
    if (found.schema == nullptr) {
      fail("the reference " + Quoted(reference.text) + " leads to nothing: " + document +
           " has no JSON Pointer " + Quoted(fragment) + "; correct the pointer or add what it names");
    }
  } else if (!fragment.empty()) {
    const Anchor* anchor = FindAnchor(*resource, fragment);
    if (anchor == nullptr) {
      fail("the reference " + Quoted(reference.text) + " leads to nothing: " + document + " has no anchor " +
           Quoted(fragment) + "; add it, or write a JSON Pointer such as \"#/$defs/" + fragment + "\"");
    }
    found.schema = anchor->schema;
    if (keyword == SchemaReference::kDynamicRef && anchor->dynamic) {
      found.dynamic_name = static_cast<int32_t>(NameId(fragment));
    }
  }
  if (!IsSchema(*found.schema)) {
    fail("the reference " + Quoted(reference.text) + " leads to " + std::string(KindName(found.schema->kind)) +
         "; expected a schema, an object or a boolean");
  }
  if (RoleAt(*found.schema) != Role::kSchema && checked_->insert(found.schema).second) {
    Check(*found.schema, DialectOf(*found.schema));
  }
  if (keyword == SchemaReference::kRecursiveRef) {
    const JsonValue* recursive = found.schema->Find("$recursiveAnchor");
    if (recursive != nullptr && recursive->boolean) found.dynamic_name = static_cast<int32_t>(NameId(""));
  }
  return found;
}

SchemaTarget SchemaDocuments::Resolve(const JsonValue& schema, SchemaReference keyword, SchemaScope scope) {
  const JsonValue& reference = *schema.Find(KeywordName(keyword));
  const Static* known = resolved_.Find(&reference);
  if (!known) {
    const Static found = ResolveStatically(schema, keyword, reference);
    known = &(resolved_[&reference] = found);
  }
  const JsonValue* target = known->schema;
  if (known->dynamic_name >= 0) {
    for (const auto& [name, bound] : scopes_[scope]) {
      if (name == static_cast<uint32_t>(known->dynamic_name)) target = bound;
    }
  }
  return {target, EnterResource(scope, *target)};
}

// ---- dynamic scope
SchemaTarget SchemaDocuments::Root() {
  const JsonValue& root = documents_[0]->json->Root();
  return {&root, EnterResource(0, root)};
}

SchemaScope SchemaDocuments::Enter(SchemaScope scope, const JsonValue& schema) {
  return any_dynamic_ && StringAt(schema, "$id") != nullptr ? EnterResource(scope, schema) : scope;
}

// The outermost resource that binds a name wins, so entering one adds only names that are not bound yet.
SchemaScope SchemaDocuments::EnterResource(SchemaScope scope, const JsonValue& schema) {
  if (!any_dynamic_) return scope;
  Document& document = DocumentAt(schema);
  if (!document.has_dynamic) return scope;
  Index(&document);
  const auto added = dynamic_anchors_->find(Around(schema).resource);
  if (added == dynamic_anchors_->end()) return scope;
  Bindings bindings = scopes_[scope];
  for (const auto& binding : added->second) {
    const auto at = std::lower_bound(bindings.begin(), bindings.end(), binding.first,
                                     [](const auto& b, uint32_t name) { return b.first < name; });
    if (at == bindings.end() || at->first != binding.first) bindings.insert(at, binding);
  }
  const auto [made, is_new] = scope_ids_->emplace(bindings, static_cast<SchemaScope>(scopes_.size()));
  if (is_new) scopes_.push_back(bindings);
  return made->second;
}

}  // namespace tokamata
