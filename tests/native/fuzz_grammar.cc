// Random grammars: no dead end, examples are members, a meet with a regular language is empty or has members of both,
// and a copy under other limits is the same language.
#include <string>

#include "tests/native/generate.h"

namespace tokamata {
namespace {

void One(Random* r) {
  Tolerate([&] {
    const Language language = GrammarLanguage(r, SmallLimits());
    if (language.IsEmpty()) return;
    const std::vector<std::string> members = language.Examples(3, r->Below(1000));
    Require(!members.empty(), "a language that is not empty has examples");
    for (const std::string& m : members) Require(language.Accepts(m), "an example is a member");
    ExpressionAcceptor* acceptor = language.Acceptor().get();
    DelayedAcceptor::State q = acceptor->Start();
    std::string text;
    for (int step = 0; step < 30; ++step) {
      const ByteSet live = acceptor->Live(q);
      Require(live.Any() || acceptor->IsFinal(q), "no dead end");
      if (!live.Any()) break;
      std::vector<uint8_t> bytes;
      live.ForEach([&](uint8_t b) { bytes.push_back(b); });
      const uint8_t byte = r->Of(bytes);
      text.push_back(static_cast<char>(byte));
      q = acceptor->Next(q, byte);
    }
    Require(language.ViablePrefix(text) == static_cast<int64_t>(text.size()), "a walk is viable");
    const Language copy = language.WithLimits(SmallLimits());
    Require(copy.Accepts(text) == acceptor->IsFinal(q), "a copy accepts the same");
    const Language regular = RegexLanguage(RandomPattern(r, 2, false), RegexOptions(), SmallLimits());
    const Language both = Language::Intersect({language, regular});
    for (const std::string& m : members)
      if (regular.Accepts(m)) Require(!both.IsEmpty() && both.Accepts(m), "a common member is in the meet");
    if (both.IsEmpty()) return;
    for (const std::string& m : both.Examples(2, 1))
      Require(language.Accepts(m) && regular.Accepts(m), "members of the meet are members of both");
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_grammar", argc, argv, tokamata::One); }
