// Masks over small random vocabularies: built by factors as by walking as token by token, with and without a budget,
// by a vocabulary as by its saved image, and after going over to a fresh automaton.
#include <memory>

#include "decode/csrc/decode_state.h"
#include "decode/csrc/generations.h"
#include "decode/csrc/token_automaton.h"
#include "tests/native/generate.h"

namespace tokamata {
namespace {

// The mask of a push-down constraint with a budget searches for a share of the states that there may be: what is
// undecided then is not in it. Whether a token is where there may be many.
bool HasWithRoom(const Language& language, Limits limits, std::shared_ptr<const Vocabulary> vocabulary,
                 const std::vector<int64_t>& tokens, uint32_t left, uint32_t token) {
  limits.states = Limits().states;
  limits.seconds = limits.search_seconds = 10;
  TokenAutomaton automaton(language.WithLimits(limits).Acceptor(), vocabulary, 0);
  DelayedAcceptor::State q = automaton.Start();
  for (const int64_t t : tokens) q = automaton.Advance(q, static_cast<uint32_t>(t));
  std::vector<uint32_t> row(vocabulary->Words());
  automaton.FillMask(q, left, row.data());
  return Has(row, token);
}

void One(Random* r) {
  Limits limits = SmallLimits();
  const auto vocabulary = RandomVocabulary(r);
  Tolerate([&] {
    const bool small = r->OneIn(5);
    if (small) limits.states = 20 + r->Below(100);
    const Language language = RandomLanguage(r, limits);
    const size_t cache = r->OneIn(4) ? 0 : size_t{1} << 20;
    const auto generations =
        std::make_shared<Generations>(std::make_shared<TokenAutomaton>(language.Acceptor(), vocabulary, cache));
    const std::string image = vocabulary->Serialize();
    const auto tables = std::make_shared<std::string>(vocabulary->SerializeTables());
    const auto loaded = Vocabulary::Deserialize(image, *tables, tables);
    TokenAutomaton second(language.WithLimits(limits).Acceptor(), loaded, cache);

    DecodeState state(generations);
    const uint32_t words = vocabulary->Words();
    std::vector<uint32_t> row(words), other(words);
    std::vector<int64_t> tokens;
    DelayedAcceptor::State q2 = second.Start();
    for (int step = 0; step < 12 && !state.IsFinished(); ++step) {
      const std::string place = " after " + std::to_string(step) + " tokens";
      state.FillMask(row.data());
      if (!small) {
        state.Automaton().FillMaskByWalking(state.Current(), other.data());
        Require(row == other, "mask = mask by walking" + place);
        second.FillMask(q2, other.data());
        Require(row == other, "mask = mask of the loaded vocabulary" + place);
      }
      const std::vector<uint32_t> allowed = AllowedTokens(&state, *vocabulary, row, place);
      const std::string forced = state.ForcedBytes(100);
      const std::vector<uint32_t> forced_tokens = state.ForcedTokens(4);
      if (!forced_tokens.empty()) {
        Require(allowed.size() == 1 && allowed[0] == forced_tokens[0], "a forced token is alone" + place);
      }
      const uint32_t token = r->Of(allowed);
      if (!small && step < 4 && r->OneIn(3)) {
        const uint32_t left = 1 + r->Below(12);
        TokenAutomaton& automaton = state.Automaton();  // by now maybe another one than a mask ago
        if (Tolerate([&] { automaton.FillMask(state.Current(), left, other.data()); })) {
          for (uint32_t t = 0; t < vocabulary->Size(); t += 1 + r->Below(4)) {
            const DelayedAcceptor::State after = automaton.Advance(state.Current(), t);
            const bool eos = t == vocabulary->EosIds()[0];
            const bool fits = eos ? state.IsFinal() : left >= 2 && after && automaton.Distance(after) <= left - 2;
            const std::string which = "token " + std::to_string(t) + " with " + std::to_string(left) + " left";
            if (!fits || Has(other, t))
              Require(Has(other, t) == fits, which + place);
            else
              Require(HasWithRoom(language, limits, vocabulary, tokens, left, t), which + " and room" + place);
          }
        }
      }
      state.Advance(token);
      tokens.push_back(token);
      if (!small && token != vocabulary->EosIds()[0]) {
        const std::string_view bytes = vocabulary->Token(token);
        const size_t same = std::min(bytes.size(), forced.size());
        Require(bytes.substr(0, same) == forced.substr(0, same), "tokens begin with the forced bytes" + place);
        q2 = second.Advance(q2, token);
      }
    }
    DecodeState fresh(generations);
    Require(fresh.Validate(tokens) == tokens.size(), "a path is valid");
    std::vector<uint32_t> rows(words * (tokens.size() + 1));
    fresh.DraftMasks(tokens, rows.data());
    for (const int64_t t : tokens) fresh.Advance(t);
    fresh.FillMask(row.data());
    Require(std::equal(row.begin(), row.end(), rows.end() - words), "the last draft mask is the mask");
    fresh.Rollback(static_cast<int64_t>(tokens.size()));
    fresh.FillMask(row.data());
    Require(std::equal(row.begin(), row.end(), rows.begin()), "rollback leads back");
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_masks", argc, argv, tokamata::One); }
