// Threads that share vocabularies, languages and token automata: decoding with and without a budget, compiling, asking
// about languages, and going over to fresh automata all at once. The masks that they saw are checked afterwards.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "decode/csrc/batch_state.h"
#include "decode/csrc/decode_state.h"
#include "decode/csrc/generations.h"
#include "decode/csrc/token_acceptor.h"
#include "decode/csrc/token_automaton.h"
#include "decode/csrc/workers.h"
#include "tests/native/generate.h"

namespace tokamata {
namespace {

constexpr int kThreads = 4;

struct Seen {  // a mask that a thread was given
  size_t language;
  std::vector<int64_t> tokens;
  std::vector<uint32_t> mask;
};

struct Shared {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const Vocabulary> unprepared;  // the same; the first thread that asks makes its tables
  std::vector<Language> languages;
  std::vector<Language> later;  // made of these, and not put together yet
  std::vector<std::shared_ptr<Generations>> automata;  // one for each language
  Workers workers{3};  // of all batches
  std::atomic<int> waiting{kThreads};
  std::mutex mutex;
  std::vector<Seen> seen;
};

Language SomeLanguage(Random* r, const Limits& limits) {
  if (r->OneIn(2)) {
    const char* pattern = r->Of({"\"[^\"\\\\]{0,50}\"", "(a|b)*c{3,40}", "[a-z]+( [a-z]+){2,9}",
                                 "(?:\\w+\\s?){1,30}", ".*",
                                 "(?!ab).{0,200}"});
    Input(pattern);
    return RegexLanguage(pattern, RegexOptions(), limits);
  }
  const char* schema = r->Of({
      "true",
      "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":{\"x\":{\"$ref\":\"#/$defs/t\"},"
      "\"y\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/t\"}}}}}}",
      "{\"type\":\"object\",\"properties\":{\"x\":{\"enum\":[1,\"ab\",null]},\"y\":{\"type\":\"string\",\"maxLength\":"
      "20}},\"required\":[\"x\"]}",
      "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"number\"},{\"$ref\":\"#\"}]}}",
  });
  Input(schema);
  return SchemaLanguage(schema, JsonSchemaOptions(), limits);
}

void Decode(Shared* shared, size_t i, Random* r) {
  const Vocabulary& vocabulary = *shared->vocabulary;
  const auto& automaton = shared->automata[i];
  DecodeState state = r->OneIn(3) ? DecodeState(automaton, 5 + r->Below(60)) : DecodeState(automaton);
  std::vector<uint32_t> row(vocabulary.Words());
  std::vector<int64_t> tokens;
  for (int step = 0; step < 20 && !state.IsFinished(); ++step) {
    state.FillMask(row.data());
    if (!state.HasBudget() && r->OneIn(8)) {
      const std::lock_guard<std::mutex> lock(shared->mutex);
      if (shared->seen.size() < 200) shared->seen.push_back({i, tokens, row});
    }
    std::vector<uint32_t> allowed;
    for (uint32_t t = 0; t < vocabulary.Size(); ++t)
      if (row[t / 32] >> (t % 32) & 1) allowed.push_back(t);
    if (allowed.empty()) break;
    const uint32_t token = r->Of(allowed);
    switch (r->Below(6)) {
      case 0:
        state.ForcedBytes(50);
        break;
      case 1:
        state.ForcedTokens(3);
        break;
      case 2: {
        std::vector<uint32_t> rows(2 * row.size());
        state.DraftMasks({token}, rows.data());
        break;
      }
      case 3:
        DecodeState(state).Advance(token);
        break;
      default:
        break;
    }
    state.Advance(token);
    tokens.push_back(token);
    if (r->OneIn(10)) {
      const size_t back = r->Below(tokens.size());
      state.Rollback(static_cast<int64_t>(back));
      tokens.resize(tokens.size() - back);
    }
  }
}

// Rows of one batch, whose masks the workers of all threads fill; some leave, one stays empty.
void DecodeBatch(Shared* shared, Random* r) {
  std::vector<DecodeState> states;
  for (int i = 0; i < 7; ++i) states.emplace_back(r->Of(shared->automata));
  const size_t words = shared->vocabulary->Words() + r->Below(3);
  std::vector<uint32_t> rows((states.size() + 1) * words), row(shared->vocabulary->Words());
  for (int step = 0; step < 6; ++step) {
    std::vector<const DecodeState*> filled{nullptr};
    std::vector<DecodeState*> advanced{nullptr};
    for (DecodeState& state : states) {
      filled.push_back(&state);
      advanced.push_back(&state);
    }
    const bool failed = !FillMasks(filled, rows.data(), words, &shared->workers).empty();
    std::vector<int64_t> tokens{-1};
    for (size_t i = 1; i < filled.size(); ++i) {
      const uint32_t* mask = rows.data() + i * words;
      if (!failed && !filled[i]->IsFinished()) {
        filled[i]->FillMask(row.data());
        Require(std::equal(row.begin(), row.end(), mask), "a row of a batch = the state's own mask");
      }
      std::vector<uint32_t> allowed;
      for (uint32_t t = 0; t < shared->vocabulary->Size(); ++t)
        if (mask[t / 32] >> (t % 32) & 1) allowed.push_back(t);
      Require(!allowed.empty(), "no row of a batch is empty");
      tokens.push_back(r->Of(allowed));
    }
    for (const RowError& error : AdvanceAll(advanced, tokens.data(), &shared->workers))
      Require(failed || error.kind != RowError::kRejected, "what a row allows is taken");
    if (failed) return;
  }
}

// Languages are immutable for who uses them; below, they share states that are made on the way.
void Ask(const Language& language, const Language& other, const Vocabulary& vocabulary, Random* r) {
  switch (r->Below(8)) {
    case 0:
      return (void)language.Accepts("{\"x\": [1, 2, {\"y\": \"ab\"}], \"ab\": true}");
    case 1:
      return (void)language.Examples(2, r->Next());
    case 2:
      return (void)Language::Union({language, other}).Acceptor();
    case 3:
      return (void)Language::Counterexample(language, other);
    case 4:
      return (void)language.WithLimits(SmallLimits()).ViablePrefix("\"abc\": [[[{\"x\"");
    case 5:
      language.Describe(100);
      return (void)language.Acceptor()->MemoryBytes();
    case 6:
      return (void)Language::Concat({language, other}).IsEmpty();
    default:
      return (void)MakeTokenAcceptor(language, vocabulary, {4, 200, 1 << 20});
  }
}

void Work(Shared* shared, uint64_t seed) {
  Random random(seed), *r = &random;
  shared->waiting.fetch_sub(1);
  while (shared->waiting.load() > 0) std::this_thread::yield();
  for (int turn = 0; turn < 12; ++turn) {
    const size_t i = r->Below(shared->languages.size());
    const Language& language = shared->languages[i];
    Tolerate([&] {
      switch (r->Below(8)) {
        case 7:  // which is put together by the thread that asks first
          return Ask(r->Of(shared->later), r->Of(shared->later), *shared->vocabulary, r);
        case 6:
          return DecodeBatch(shared, r);
        case 0:
          return Ask(language, r->Of(shared->languages), *shared->vocabulary, r);
        case 1: {  // another automaton over the same acceptor, and one that begins anew
          TokenAutomaton automaton(language.Acceptor(), shared->unprepared, size_t{1} << 16);
          std::vector<uint32_t> row(automaton.Words());
          automaton.FillMask(automaton.Start(), row.data());
          shared->automata[i]->After(shared->automata[i]->Newest().get());
          return;
        }
        case 2: {
          const std::string tables = shared->unprepared->SerializeTables();
          Require(Vocabulary::Deserialize(shared->unprepared->Serialize(), tables)->SerializeTables() == tables,
                  "tables are the same when they are read again");
          shared->unprepared->WithWideSpaces();
          return (void)shared->unprepared->MemoryBytes();
        }
        default:
          return Decode(shared, i, r);
      }
    });
  }
}

void One(Random* r) {
  Limits limits = SmallLimits();
  limits.seconds = 5;
  if (r->OneIn(2)) limits.states = 30 + r->Below(100);
  Shared shared;
  const std::string image = RandomVocabulary(r)->Serialize();
  shared.vocabulary = Vocabulary::Deserialize(image);
  shared.unprepared = Vocabulary::Deserialize(image);
  Tolerate([&] {
    for (int i = 0; i < 3; ++i) {
      shared.languages.push_back(SomeLanguage(r, limits));
      const size_t cache_bytes = r->OneIn(3) ? 4096 : size_t{1} << 20;
      shared.automata.push_back(std::make_shared<Generations>(
          std::make_shared<TokenAutomaton>(shared.languages.back().Acceptor(), shared.vocabulary, cache_bytes)));
    }
    const std::vector<Language>& made = shared.languages;
    for (int i = 0; i < 4; ++i) {
      const Language both = i % 2 ? Language::Union({made[0], made[2]}) : Language::Concat({made[0], made[1]});
      shared.later.push_back(Language::Repeat(i < 2 ? both : shared.later[0], 0, 3));
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(Work, &shared, r->Next());
    for (std::thread& t : threads) t.join();
    limits.states = 100'000;
    for (const Seen& seen : shared.seen) {
      const Language fresh = shared.languages[seen.language].WithLimits(limits);
      TokenAutomaton automaton(fresh.Acceptor(), shared.vocabulary, 0);
      DelayedAcceptor::State q = automaton.Start();
      for (const int64_t token : seen.tokens) q = automaton.Advance(q, static_cast<uint32_t>(token));
      Require(q != DelayedAcceptor::kDead, "what a thread wrote is allowed");
      std::vector<uint32_t> row(automaton.Words());
      automaton.FillMaskByWalking(q, row.data());
      const std::string place = std::to_string(seen.tokens.size()) + " tokens";
      Require(row == seen.mask, "a thread's mask = by walking, after " + place);
    }
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("stress_threads", argc, argv, tokamata::One); }
