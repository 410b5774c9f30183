#include "decode/csrc/device_tables.h"

#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"
#include "decode/csrc/rows.h"
#include "decode/csrc/token_automaton.h"

namespace tokamata {
namespace {

using State = DelayedAcceptor::State;

// Bytes by what states do with them, told apart state by state.
class ByteClasses {
 public:
  void Refine(const StateRow& row) {
    bool split = false;
    for (uint32_t b = 0; b < 256 && !split; ++b) split = row[b] != row[first_[of_[b]]];
    if (!split) return;
    std::unordered_map<uint64_t, uint8_t> known;
    std::array<uint8_t, 256> of{};
    for (uint32_t b = 0; b < 256; ++b) {
      const auto [at, fresh] = known.emplace(uint64_t{of_[b]} << 32 | row[b], static_cast<uint8_t>(known.size()));
      of[b] = at->second;
      if (fresh) first_[at->second] = static_cast<uint8_t>(b);
    }
    of_ = of;
    count_ = static_cast<uint32_t>(known.size());
  }
  uint32_t Count() const { return count_; }
  uint8_t First(uint32_t c) const { return first_[c]; }
  const std::array<uint8_t, 256>& Of() const { return of_; }

 private:
  uint32_t count_ = 1;
  std::array<uint8_t, 256> of_{}, first_{};
};

[[noreturn]] void ThrowLimit(const char* name, uint64_t value, const std::string& reached) {
  throw LimitError("to: limit " + std::string(name) + "=" + std::to_string(value) + " reached: " + reached +
                   "; pass a larger " + name +
                   ", or decode with host masks (tokamata.decode.HostMasks), which make states on the way");
}

}  // namespace

DeviceTables MakeDeviceTables(const Language& language, std::shared_ptr<const Vocabulary> vocabulary,
                              const DeviceTableOptions& options) {
  if (vocabulary->NumClasses())
    throw UnsupportedError("to: the constraint asks for tokens of a class, so a token has several readings, which tables "
                           "by bytes do not hold; decode with host masks (tokamata.decode.HostMasks)");
  const TimeLimit time("to", "search_seconds", language.OwnLimits().search_seconds);
  TokenAutomaton automaton(language.Scratch(), std::move(vocabulary), language.OwnLimits().cache_bytes);
  DelayedAcceptor& acceptor = automaton.Acceptor();
  DeviceTables tables;

  std::vector<State> states{DelayedAcceptor::kDead, DelayedAcceptor::kDead, acceptor.Start()};
  std::unordered_map<State, int32_t> number{{DelayedAcceptor::kDead, int32_t{DeviceTables::kDead}},
                                            {acceptor.Start(), int32_t{DeviceTables::kStart}}};
  ByteClasses classes;
  for (size_t i = DeviceTables::kStart; i < states.size(); ++i) {
    TimeLimit::Spend(8);
    const StateRow row = acceptor.Row(states[i]);
    classes.Refine(row);
    for (uint32_t b = 0; b < 256; ++b) {
      if (b && row[b] == row[b - 1]) continue;
      if (!number.emplace(row[b], static_cast<int32_t>(states.size())).second) continue;
      if (states.size() >= options.max_states)
        ThrowLimit("max_states", options.max_states, "the constraint has more states, perhaps infinitely many" + acceptor.MemoryHint());
      states.push_back(row[b]);
    }
  }

  const uint32_t words = automaton.Words();
  const uint64_t next_bytes = uint64_t{states.size()} * classes.Count() * sizeof(int32_t);
  tables.num_states = static_cast<uint32_t>(states.size());
  tables.num_classes = classes.Count();
  tables.class_of = classes.Of();
  tables.final.assign(states.size(), 0);
  tables.row_of.assign(states.size(), 0);
  tables.rows.assign(words, 0);
  for (const uint32_t id : automaton.Tokens().EosIds()) SetToken(id, tables.rows.data());
  const auto check = [&](uint64_t rows) {
    if (next_bytes + rows * words * sizeof(uint32_t) > options.max_bytes)
      ThrowLimit("max_bytes", options.max_bytes,
                 std::to_string(states.size()) + " states over " + std::to_string(classes.Count()) +
                     " classes of bytes and at least " + std::to_string(rows) + " masks take more");
  };
  check(1);
  tables.next.assign(states.size() * classes.Count(), int32_t{DeviceTables::kDead});
  std::unordered_multimap<size_t, int32_t> rows_by_hash;
  std::vector<uint32_t> mask(words);
  const auto hash = [&](const uint32_t* row) {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(row), words * sizeof(uint32_t)});
  };
  rows_by_hash.emplace(hash(tables.rows.data()), 0);
  for (size_t i = DeviceTables::kStart; i < states.size(); ++i) {
    TimeLimit::Spend(32);
    const StateRow row = acceptor.Row(states[i]);
    int32_t* next = tables.next.data() + i * classes.Count();
    for (uint32_t c = 0; c < classes.Count(); ++c) next[c] = number.at(row[classes.First(c)]);
    tables.final[i] = acceptor.IsFinal(states[i]);
    automaton.FillMask(states[i], mask.data());
    const size_t key = hash(mask.data());
    int32_t found = -1;
    const auto [begin, end] = rows_by_hash.equal_range(key);
    for (auto at = begin; at != end && found < 0; ++at)
      if (!std::memcmp(tables.rows.data() + size_t(at->second) * words, mask.data(), words * sizeof(uint32_t)))
        found = at->second;
    if (found < 0) {
      found = static_cast<int32_t>(tables.rows.size() / words);
      check(uint64_t(found) + 1);
      tables.rows.insert(tables.rows.end(), mask.begin(), mask.end());
      rows_by_hash.emplace(key, found);
    }
    tables.row_of[i] = found;
  }
  return tables;
}

}  // namespace tokamata
