// A token automaton as flat arrays, for decoding on devices that cannot make states on the way.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "automata/csrc/language.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// States are 0 dead, 1 finished (EOS was consumed), kStart, and the others in the order in which bytes first reach
// them.
struct DeviceTables {
  static constexpr uint32_t kDead = 0, kFinished = 1, kStart = 2;
  uint32_t num_states = 0;
  uint32_t num_classes = 0;
  std::array<uint8_t, 256> class_of{};  // bytes that no state tells apart
  std::vector<int32_t> next;            // by state, then by class
  std::vector<int32_t> row_of;          // by state
  std::vector<uint32_t> rows;           // masks, each once, of Words() words; row 0: EOS only, for kDead and kFinished
  std::vector<uint8_t> final;           // by state
};

struct DeviceTableOptions {
  uint32_t max_states;
  uint64_t max_bytes;  // of `next` and `rows`
};

// States are those of the acceptor that bytes reach from its start: with a vocabulary that has all single bytes, those
// that tokens reach. Throws LimitError past an option, and past `search_seconds`. O(states * (256 + a mask)).
DeviceTables MakeDeviceTables(const Language& language, std::shared_ptr<const Vocabulary> vocabulary,
                              const DeviceTableOptions& options);

}  // namespace tokamata
