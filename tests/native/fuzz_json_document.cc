// JSON texts, well-formed and not: refused or read, and then written and read again with the same value.
#include "constraints/csrc/json_document.h"
#include "tests/native/generate.h"

namespace tokamata {
namespace {

void One(Random* r) {
  std::string text = RandomJson(r, static_cast<int>(r->Below(6)));
  if (r->OneIn(50)) text = std::string(r->Below(30'000), '[') + text;
  if (r->OneIn(2)) text = Mutated(text, r);
  Input(text);
  Tolerate([&] {
    const auto document = JsonDocument::Parse(text, "json");
    std::string written, again;
    WriteJson(document->Root(), &written);
    const auto second = JsonDocument::Parse(written, "again");
    WriteJson(second->Root(), &again);
    Require(written == again, "writing what was written changes nothing: " + Printable(written));
    Require(JsonEqual(document->Root(), second->Root()), "the value is the same: " + Printable(written));
    Require(JsonHash(document->Root()) == JsonHash(second->Root()), "equal values have equal hashes");
    Require(document->size() == second->size(), "the nodes are as many");
    std::vector<const JsonValue*> open{&document->Root()};
    for (size_t i = 0; i < open.size() && i < 200; ++i) {
      const JsonValue& value = *open[i];
      const std::string pointer = JsonPointer(value);
      Require(FindJsonPointer(document->Root(), pointer) == &value, "a pointer leads to its node: " + pointer);
      document->Place(value.offset);
      if (value.IsNumber()) {
        Require(ParseJsonNumber(value.text) == ParseJsonNumber(JsonNumberText(value.text)), "numbers keep their value");
      }
      for (uint32_t k = 0; k < value.size; ++k) {
        if (value.IsObject()) Require(value.Find(value.keys[k]) == value.elements + k, "a member is found by its key");
        open.push_back(value.elements + k);
      }
    }
    FindJsonPointer(document->Root(), Mutated("/k1/0/~1", r));
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_json_document", argc, argv, tokamata::One); }
