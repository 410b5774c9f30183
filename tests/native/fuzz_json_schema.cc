// Schemas, sensible and not: refused or compiled, and then what is written along the acceptor is JSON (in YAML's
// notation: a member without dead ends).
#include "constraints/csrc/json_document.h"
#include "tests/native/generate.h"

namespace tokamata {
namespace {

// A random walk to a final state, or nothing where it gets too long.
bool RandomMember(const Language& language, Random* r, std::string* text) {
  DelayedAcceptor& acceptor = *language.Acceptor();
  DelayedAcceptor::State q = acceptor.Start();
  while (text->size() < 2000) {
    if (acceptor.IsFinal(q) && r->OneIn(3)) return true;
    const ByteSet live = acceptor.Live(q);
    Require(live.Any() || acceptor.IsFinal(q), "no dead end after " + Printable(*text));
    if (!live.Any()) return true;
    std::vector<uint8_t> bytes;
    live.ForEach([&](uint8_t b) { bytes.push_back(b); });
    // Quotes and brackets that close are taken often, so that texts come to an end.
    uint8_t byte = r->Of(bytes);
    for (const uint8_t b : bytes)
      if ((b == '"' || b == ']' || b == '}') && r->OneIn(3)) byte = b;
    text->push_back(static_cast<char>(byte));
    q = acceptor.Next(q, byte);
    Require(q != DelayedAcceptor::kDead, "a live byte leads on after " + Printable(*text));
  }
  return false;
}

// Whether the keys of every object are in the order of their code points.
bool IsSorted(const JsonValue& root) {
  std::vector<const JsonValue*> open{&root};
  while (!open.empty()) {
    const JsonValue& value = *open.back();
    open.pop_back();
    for (uint32_t i = 0; i < value.size; ++i) {
      if (value.IsObject() && i && value.keys[i] <= value.keys[i - 1]) return false;
      open.push_back(value.elements + i);
    }
  }
  return true;
}

void One(Random* r) {
  std::string schema = RandomRootSchema(r, static_cast<int>(1 + r->Below(3)));
  if (r->OneIn(4)) schema = Mutated(schema, r);
  Input(schema);
  JsonSchemaOptions options = RandomSchemaOptions(r);
  options.unique_keys = !r->OneIn(4);
  const bool yaml = options.notation == SchemaNotation::kYaml;
  Tolerate([&] {
    const Language language = SchemaLanguage(schema, options, SmallLimits());
    Require(!language.IsEmpty(), "what is compiled has a member");
    for (int i = 0; i < 3; ++i) {
      std::string text;
      if (!RandomMember(language, r, &text)) continue;
      Require(language.Accepts(text), "a text along the acceptor is a member: " + Printable(text));
      if (yaml) {
        language.Accepts(Mutated(text, r));
        continue;
      }
      try {
        const auto document = JsonDocument::Parse(text, "member");
        if (options.key_order == KeyOrder::kSorted && options.unique_keys)
          Require(IsSorted(document->Root()), "keys are sorted: " + Printable(text));
      } catch (const ConstraintError& e) {
        const bool repeated = std::string_view(e.what()).find("expected different keys") != std::string_view::npos;
        Require(repeated && !options.unique_keys,
                std::string("members are JSON, no key twice: ") + e.what() + ": " + Printable(text));
      }
      language.Accepts(Mutated(text, r));
    }
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_json_schema", argc, argv, tokamata::One); }
