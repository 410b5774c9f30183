// Distances in tokens of schemas, most of them push-down: final states are at 0, every other state one further than the
// nearest state behind a token (Bellman's equation), and a walk along the masks of the smallest budget ends in time.
#include <memory>

#include "decode/csrc/decode_state.h"
#include "decode/csrc/generations.h"
#include "decode/csrc/token_automaton.h"
#include "tests/native/generate.h"

namespace tokamata {
namespace {

constexpr uint32_t kFar = DistanceTable::kFar;

// The states behind the tokens that q allows.
std::vector<DelayedAcceptor::State> Behind(TokenAutomaton* automaton, DelayedAcceptor::State q) {
  std::vector<DelayedAcceptor::State> states;
  for (uint32_t t = 0; t < automaton->Tokens().Size(); ++t)
    if (const DelayedAcceptor::State next = automaton->Advance(q, t)) states.push_back(next);
  return states;
}

void One(Random* r) {
  std::string schema = RandomRootSchema(r, static_cast<int>(1 + r->Below(3)));
  if (r->OneIn(8)) schema = Mutated(schema, r);
  Input(schema);
  const auto vocabulary = RandomVocabulary(r);
  Tolerate([&] {
    const Language language = SchemaLanguage(schema, RandomSchemaOptions(r), SmallLimits());
    const auto automaton = std::make_shared<TokenAutomaton>(language.Acceptor(), vocabulary, size_t{1} << 20);
    DelayedAcceptor::State q = automaton->Start();
    for (int step = 0; step < 6; ++step) {
      const std::string place = " after " + std::to_string(step) + " tokens";
      const std::vector<DelayedAcceptor::State> behind = Behind(automaton.get(), q);
      if (behind.empty()) break;
      uint32_t nearest = kFar;
      for (const DelayedAcceptor::State next : behind) nearest = std::min(nearest, automaton->Distance(next));
      const uint32_t want = automaton->IsFinal(q) ? 0 : nearest == kFar ? kFar : nearest + 1;
      Require(automaton->Distance(q) == want, "a state is one token further than the nearest one behind it" + place);
      q = r->Of(behind);
    }
    const uint32_t least = automaton->Distance(automaton->Start()) + 1;
    DecodeState state(std::make_shared<Generations>(automaton), least);
    std::vector<uint32_t> row(vocabulary->Words());
    while (!state.IsFinished()) {
      state.FillMask(row.data());
      std::vector<uint32_t> allowed;
      for (uint32_t t = 0; t < vocabulary->Size(); ++t)
        if (row[t / 32] >> (t % 32) & 1) allowed.push_back(t);
      Require(!allowed.empty(), "some token fits the smallest budget");
      state.Advance(r->Of(allowed));
    }
    Require(state.NumTokens() == least, "the smallest budget is used up");
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_budgets", argc, argv, tokamata::One); }
