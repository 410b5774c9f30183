// BarredWords: where nearly all texts of a class of characters can be read, those that cannot.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/delayed_acceptor.h"
#include "tokenizer_fst/csrc/factoring.h"
#include "tokenizer_fst/csrc/trie.h"

namespace tokamata {

// Of a state q and a class of characters, its region is all states that these characters lead to from q. The byte
// strings that end where some of them die are found from their last bytes on, as long as these are few; then a token of
// such characters dies only if it contains one of those strings, or if its beginning ends one that was begun before.
// Tokens of the other kind are told for each state, those of the first kind are few and the same for the whole region.
class BarredWords {
 public:
  using State = DelayedAcceptor::State;

  // False where there are more than `most_places` states (those between the bytes of a character count, too), strings
  // or tokens to run; states() are those that were looked at. Of others that were found, with the same trie, the last
  // ones may have the same strings.
  bool Find(DelayedAcceptor* acceptor, const Factoring& factoring, State q, int class_id, size_t most_places,
            const std::deque<BarredWords>& others);

  int class_id() const { return class_id_; }
  // The region's, without those between the bytes of a character.
  const std::vector<State>& states() const { return states_; }
  size_t num_places() const { return num_places_; }
  // Where too much dies in one of the states: the characters of ASCII that lead there, if only such do.
  const ByteSet& led_out() const { return led_out_; }
  // The bytes that are no characters of the class and after which the region's states do the same.
  const ByteSet& agreed() const { return agreed_; }
  // Nodes of the main trie at and below which tokens have to be run, in order.
  const std::vector<uint32_t>& to_run() const { return *to_run_; }
  // Nodes where a byte ends the longest beginning that is made of the class, after which the states go on differently.
  const std::vector<uint32_t>& exits() const { return exits_; }
  // Calls dead(node) for nodes at and below which no token may come in a state of the region.
  template <class F>
  void ForEachDead(State q, F dead) const;

 private:
  static constexpr size_t kMostStrings = 256;
  static constexpr uint32_t kMostBytes = 8;   // of a string
  static constexpr size_t kMostNodes = 5000;  // to run, and exits
  static constexpr uint32_t kMostTokens = 12000;

  // A state and the phase of UTF-8 in which it is reached.
  struct Place {
    State state;
    uint8_t phase;
    ByteSet first_by;  // what led here when it was met first
    ByteSet dying;
    std::vector<std::pair<uint32_t, ByteSet>> from;  // places that lead here, and by which bytes
  };
  // Bytes of which the last one kills; the first one is the highest.
  struct String {
    uint64_t bytes;
    std::vector<uint64_t> places;  // from which all of them are read
  };

  bool FindRegion(DelayedAcceptor* acceptor, State q, size_t most_places);
  bool FindStrings(const Trie& trie);
  void ListDead(const Trie& trie, const String& string, uint32_t length);
  bool FindTokens(const Trie& trie, const std::deque<BarredWords>& others);
  bool FindExits(const Factoring& factoring);

  int class_id_ = -1;
  ByteSet agreed_, differing_, led_out_;
  size_t num_places_ = 0;
  std::vector<State> states_;
  std::shared_ptr<const std::vector<uint32_t>> to_run_;  // others may have the same
  std::vector<uint32_t> exits_;
  std::vector<std::pair<State, uint32_t>> dead_;  // by state
  std::vector<uint64_t> strings_[kMostBytes + 1];  // by length, sorted
  std::vector<Place> places_;                      // of the region, while it is looked at
};

template <class F>
void BarredWords::ForEachDead(State q, F dead) const {
  auto at = std::lower_bound(dead_.begin(), dead_.end(), std::pair<State, uint32_t>(q, 0));
  for (; at != dead_.end() && at->first == q; ++at) dead(at->second);
}

}  // namespace tokamata
