#include "decode/csrc/barred_words.h"

#include <array>
#include <iterator>
#include <utility>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/time_limit.h"
#include "automata/csrc/utf8.h"
#include "tokenizer_fst/csrc/character_class.h"

namespace tokamata {
namespace {

constexpr int kMostDying = 32;  // bytes of a class in one state: where there are more, its texts are no words
constexpr int kFewBefore = 16;  // bytes in front of a string, from which it grows

// Lead bytes by the phase that they begin; ASCII by phase 0.
const std::array<ByteSet, Utf8Phase::kNumPhases>& LeadBytes() {
  static const std::array<ByteSet, Utf8Phase::kNumPhases> leads = [] {
    std::array<ByteSet, Utf8Phase::kNumPhases> l;
    l[0] = ByteSet::Range(0, 0x7F);
    for (int b = 0xC2; b <= 0xF4; ++b) l[Utf8LeadPhase(static_cast<uint8_t>(b))].Add(static_cast<uint8_t>(b));
    return l;
  }();
  return leads;
}

}  // namespace

bool BarredWords::Find(DelayedAcceptor* acceptor, const Factoring& factoring, State q, int class_id, size_t most_places,
                       const std::deque<BarredWords>& others) {
  class_id_ = class_id;
  const Trie& trie = factoring.trie();
  const bool found = FindRegion(acceptor, q, most_places) && FindStrings(trie) && FindTokens(trie, others) &&
                     FindExits(factoring);
  std::sort(dead_.begin(), dead_.end());
  num_places_ = places_.size();
  places_ = {};
  return found;
}

bool BarredWords::FindRegion(DelayedAcceptor* acceptor, State q, size_t most_places) {
  const ByteSet first = CharacterClasses()[static_cast<size_t>(class_id_)].first;
  FlatMap<uint64_t, uint32_t> known;  // places
  const auto place_of = [&](State state, uint8_t phase, const ByteSet& by) -> uint32_t {
    uint32_t& place = known[uint64_t{state} * Utf8Phase::kNumPhases + phase];  // a place and 1
    if (!place) {
      places_.push_back({state, phase, by, {}, {}});
      place = static_cast<uint32_t>(places_.size());
      if (!phase) states_.push_back(state);
    }
    return place - 1;
  };
  place_of(q, 0, {});
  const StateRow reference = acceptor->Row(q);
  ByteSet live = reference.Live();
  for (uint32_t i = 0; i < places_.size(); ++i) {
    if (places_.size() > most_places) return false;
    TimeLimit::Spend();
    const uint8_t phase = places_[i].phase;
    const StateRow row = acceptor->Row(places_[i].state);
    const ByteSet inside = phase ? ByteSet::Range(kUtf8Phases[phase].low, kUtf8Phases[phase].high) : first;
    places_[i].dying = inside - row.Live();
    if (places_[i].dying.Count() > kMostDying) {
      if (places_[i].first_by.SubsetOf(LeadBytes()[0])) led_out_ = places_[i].first_by;
      return false;
    }
    if (phase && (row.Live() - inside).Any()) return false;
    if (!phase) {
      live = live | row.Live();
      if (i) differing_ = differing_ | (Different(row, reference) - inside);
    }
    row.ForEachStep([&](const ByteSet& bytes, State next) {
      const auto lead = [&](const ByteSet& some, uint8_t to) {
        if (some.Any()) places_[place_of(next, to, some)].from.emplace_back(i, some);
      };
      if (phase) return lead(bytes & inside, kUtf8Phases[phase].next);
      for (uint8_t p = 0; p < Utf8Phase::kNumPhases; ++p) lead(bytes & inside & LeadBytes()[p], p);
    });
  }
  agreed_ = live - first - differing_;
  return true;
}

// Strings grow to the front while few bytes stand there. What a shorter one is the end of is listed for the states in
// which it was begun.
bool BarredWords::FindStrings(const Trie& trie) {
  const size_t words = (places_.size() + 63) / 64;
  const auto add = [words](String* string, uint32_t place) {
    string->places.resize(words);
    string->places[place / 64] |= uint64_t{1} << place % 64;
  };
  const auto take = [](std::array<String, 256>* by_byte, uint64_t rest, uint32_t length, std::vector<String>* to) {
    for (uint64_t b = 0; b < 256; ++b) {
      String& string = (*by_byte)[b];
      if (string.places.empty()) continue;
      string.bytes = b << 8 * length | rest;
      to->push_back(std::move(string));
    }
  };
  std::vector<String> open, longer;
  size_t kept = 0;
  {
    std::array<String, 256> last;
    for (uint32_t i = 0; i < places_.size(); ++i) places_[i].dying.ForEach([&](uint8_t b) { add(&last[b], i); });
    take(&last, 0, 0, &open);
  }
  for (uint32_t length = 1; !open.empty(); ++length) {
    longer.clear();
    for (size_t s = 0; s < open.size(); ++s) {
      const String& string = open[s];
      TimeLimit::Spend();
      const auto for_each_way = [&](auto visit) {
        for (size_t w = 0; w < words; ++w)
          for (uint64_t left = string.places[w]; left; left &= left - 1)
            for (const auto& [from, bytes] : places_[w * 64 + static_cast<size_t>(__builtin_ctzll(left))].from)
              visit(from, bytes);
      };
      ByteSet before;
      for_each_way([&](uint32_t, const ByteSet& bytes) { before = before | bytes; });
      const size_t others = kept + open.size() - s - 1 + longer.size();
      const size_t grown = static_cast<size_t>(before.Count());
      if (length == kMostBytes || grown > kFewBefore || others + grown > kMostStrings) {
        strings_[length].push_back(string.bytes);
        if (++kept > kMostStrings) return false;
        continue;
      }
      ListDead(trie, string, length);
      std::array<String, 256> by_byte;
      for_each_way([&](uint32_t from, const ByteSet& bytes) {
        bytes.ForEach([&](uint8_t b) { add(&by_byte[b], from); });
      });
      take(&by_byte, string.bytes, length, &longer);
    }
    std::swap(open, longer);
  }
  return true;
}

void BarredWords::ListDead(const Trie& trie, const String& string, uint32_t length) {
  uint32_t node = 0;
  for (uint32_t i = length; i-- > 0 && node != kNoIndex;)
    node = trie.Child(node, static_cast<uint8_t>(string.bytes >> 8 * i));
  if (node == kNoIndex) return;
  for (uint32_t i = 0; i < places_.size(); ++i)
    if (!places_[i].phase && (string.places[i / 64] >> i % 64 & 1)) dead_.emplace_back(places_[i].state, node);
}

bool BarredWords::FindTokens(const Trie& trie, const std::deque<BarredWords>& others) {
  constexpr size_t kLast = 8;
  for (std::vector<uint64_t>& strings : strings_) std::sort(strings.begin(), strings.end());
  for (size_t i = others.size(); i-- > 0 && i + kLast >= others.size();) {
    if (!std::equal(std::begin(strings_), std::end(strings_), std::begin(others[i].strings_))) continue;
    to_run_ = others[i].to_run_;
    return true;
  }
  std::vector<uint64_t> ends(1024);  // a bit for each two bytes that a string may end with
  const auto mark = [&ends](uint64_t two) { ends[(two & 0xFFFF) / 64] |= uint64_t{1} << two % 64; };
  for (uint32_t length = 1; length <= kMostBytes; ++length) {
    for (const uint64_t string : strings_[length]) {
      if (length > 1) mark(string);
      for (uint64_t b = 0; b < 256 && length == 1; ++b) mark(b << 8 | string);
    }
  }
  const auto ends_with_one = [this](uint64_t path, uint32_t depth) {
    for (uint32_t length = 1; length <= std::min(depth, kMostBytes); ++length) {
      const uint64_t end = length == kMostBytes ? path : path & ((uint64_t{1} << 8 * length) - 1);
      if (std::binary_search(strings_[length].begin(), strings_[length].end(), end)) return true;
    }
    return false;
  };
  std::vector<uint64_t> paths(trie.max_depth + 2);  // the last bytes, by depth
  std::vector<uint32_t> nodes;
  uint32_t tokens = 0;
  for (uint32_t n = 1; n < trie.Size();) {
    const Trie::Node& node = trie.nodes[n];
    const uint64_t path = paths[node.depth] = paths[node.depth - 1] << 8 | node.byte;
    if (!(ends[(path & 0xFFFF) / 64] >> path % 64 & 1) || !ends_with_one(path, node.depth)) {
      ++n;
      continue;
    }
    nodes.push_back(n);
    if ((tokens += trie.CountBelow(n)) > kMostTokens || nodes.size() > kMostNodes) return false;
    n = node.end;
  }
  to_run_ = std::make_shared<const std::vector<uint32_t>>(std::move(nodes));
  return true;
}

bool BarredWords::FindExits(const Factoring& factoring) {
  const Factor& f = *factoring.At(0, class_id_);
  const Trie& trie = factoring.trie();
  // Without a trie of suffixes, they are told one by one as well.
  if (!factoring.Suffixes(class_id_)) differing_ = std::exchange(agreed_, {}) | differing_;
  (f.exit_bytes & differing_).ForEach([&](uint8_t b) {
    for (const Factor::Exit& exit : f.ExitsBy(b)) {
      const auto after = std::upper_bound(to_run().begin(), to_run().end(), exit.node);
      if (after == to_run().begin() || trie.nodes[after[-1]].end <= exit.node) exits_.push_back(exit.node);
    }
  });
  std::sort(exits_.begin(), exits_.end());
  return exits_.size() <= kMostNodes;
}

}  // namespace tokamata
