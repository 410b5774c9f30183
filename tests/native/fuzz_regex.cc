// Patterns, well-formed and not: refused or compiled, and then members, complement and minimal form agree.
#include "tests/native/generate.h"

namespace tokamata {
namespace {

bool IsUtf8(std::string_view text) {
  static const Language all = Language::Build([](Expressions* pool) { return pool->AnyText(); });
  return all.Accepts(text);
}

void One(Random* r) {
  std::string pattern = RandomPattern(r, 1 + r->Below(6), true);
  if (r->OneIn(3)) pattern = Mutated(pattern, r);
  Input(pattern);
  const Limits limits = SmallLimits();
  const RegexOptions options = RandomOptions(r);
  Tolerate([&] {
    const Language language = RegexLanguage(pattern, options, limits);
    language.Describe(200);
    const std::string other = Mutated(pattern, r);
    const bool accepts = language.Accepts(other);
    const int64_t viable = language.ViablePrefix(other);
    Require(viable >= -1 && viable <= static_cast<int64_t>(other.size()), "a viable prefix is a prefix");
    Require((viable == -1) == language.IsEmpty(), "only the empty language has no prefix");
    if (accepts) Require(viable == static_cast<int64_t>(other.size()), "a member is a viable prefix");
    for (const std::string& member : language.Examples(3, r->Next())) {
      Require(language.Accepts(member), "examples are members: " + Printable(member));
      Require(IsUtf8(member), "members are UTF-8: " + Printable(member));
    }
    if (!r->OneIn(4)) return;
    const Language complement = Language::Complement(language);
    if (IsUtf8(other)) Require(complement.Accepts(other) != accepts, "complement: " + Printable(other));
    Require(!Language::Counterexample(language, Language::Complement(complement)), "complement of the complement");
    Require(Language::Intersect({language, complement}).IsEmpty(), "no member of both");
    Require(!Language::Counterexample(language, language.Minimize()), "minimize keeps the language");
    for (const std::string& member : language.Sample(2, 0, 8, r->Next()))
      Require(language.Accepts(member), "samples are members: " + Printable(member));
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_regex", argc, argv, tokamata::One); }
