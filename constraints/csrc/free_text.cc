#include "constraints/csrc/free_text.h"

#include <algorithm>
#include <array>

#include "automata/csrc/utf8.h"

namespace tokamata {
namespace {

// States, as in the table: 1 + phase where no phrase has begun, then the places in phrases, then the end.
constexpr uint32_t kBetween = 1;

class FreeText {
 public:
  FreeText(const std::vector<std::string>& phrases, const std::vector<uint32_t>& ends) {
    for (int phase = 0; phase < Utf8Phase::kNumPhases; ++phase) places_.push_back({static_cast<uint8_t>(phase)});
    std::vector<std::vector<uint32_t>> began(1);  // by length: places, so that a place comes after where it falls back to
    for (uint32_t i = 0; i < phrases.size(); ++i) {
      const bool ends_text = std::find(ends.begin(), ends.end(), i) != ends.end();
      uint32_t at = 0;
      for (size_t k = 0; k < phrases[i].size(); ++k) {
        const uint8_t byte = static_cast<uint8_t>(phrases[i][k]);
        uint32_t next = ChildOf(at, byte);
        if (!next) {
          next = static_cast<uint32_t>(places_.size());
          Place place{places_[at].phase};
          Utf8Step(byte, &place.phase);
          places_.push_back(place);
          places_[at].children.emplace_back(byte, next);
          if (began.size() <= k + 1) began.resize(k + 2);
          began[k + 1].push_back(next);
        }
        at = next;
      }
      places_[at].done = true;
      places_[at].ends_text = places_[at].ends_text || ends_text;
    }
    end_ = kBetween + static_cast<uint32_t>(places_.size());
    rows_.assign((end_ + 1) * size_t{256}, 0);
    for (uint32_t phase = 0; phase < Utf8Phase::kNumPhases; ++phase) FillBetween(static_cast<uint8_t>(phase));
    FillPlace(0);
    for (const std::vector<uint32_t>& places : began)
      for (const uint32_t place : places)
        if (!places_[place].done) FillPlace(place);
  }

  uint32_t End() const { return end_; }
  std::vector<uint32_t>& Rows() { return rows_; }
  const uint32_t* Row(uint32_t state) const { return rows_.data() + size_t{state} * 256; }
  bool BetweenCharacters(uint32_t state) const {
    return !places_[state - kBetween].phase && !places_[state - kBetween].done;
  }
  // Whether the text, read from a state, leads to the end with its last byte.
  bool Ends(uint32_t state, const std::string& text) const {
    for (const char c : text) state = Row(state)[static_cast<uint8_t>(c)];
    return state == end_;
  }

 private:
  struct Place {
    uint8_t phase = 0;         // within a character
    bool done = false;         // some phrase ends here
    bool ends_text = false;    // one of those that may
    uint32_t falls_back = 0;   // the longest other place that what was read ends with; 0: none
    std::vector<std::pair<uint8_t, uint32_t>> children = {};
  };

  uint32_t ChildOf(uint32_t place, uint8_t byte) const {
    for (const auto& [b, child] : places_[place].children)
      if (b == byte) return child;
    return 0;
  }
  uint32_t* RowOf(uint32_t place) { return rows_.data() + size_t{kBetween + place} * 256; }
  // What goes on where no phrase has begun, without the phrases that begin now.
  void FillBetween(uint8_t phase) {
    uint32_t* row = RowOf(phase);
    if (phase) {
      const Utf8Phase& p = kUtf8Phases[phase];
      std::fill(row + p.low, row + p.high + 1, kBetween + p.next);
    } else {
      std::fill(row, row + 0x80, kBetween);
      for (int b = 0xC2; b <= 0xF4; ++b) row[b] = kBetween + Utf8LeadPhase(static_cast<uint8_t>(b));
    }
  }
  // What goes on behind a place: as behind the one that it falls back to, but for its own children.
  void FillPlace(uint32_t place) {
    uint32_t* row = RowOf(place);
    const uint32_t fallen = places_[place].falls_back;
    if (place) std::copy_n(RowOf(fallen ? fallen : places_[place].phase), 256, row);
    for (const auto& [byte, child] : places_[place].children) {
      Place& c = places_[child];
      // Where the text without its first characters leads, which was filled before.
      const uint32_t other = place ? row[byte] : 0;
      const bool other_is_place = other >= kBetween + Utf8Phase::kNumPhases && other != end_;
      c.falls_back = other_is_place ? other - kBetween : 0;
      const bool ends_text = c.ends_text || other == end_;
      const bool done = c.done || other == end_ || (place && !other);
      c.done = done;
      row[byte] = !done ? kBetween + child : ends_text ? end_ : 0;
    }
  }

  std::vector<Place> places_;  // the first ones: none of a phrase, by phase
  uint32_t end_ = 0;
  std::vector<uint32_t> rows_;
};

}  // namespace

uint32_t FreeTextTable(const std::vector<std::string>& phrases, const std::vector<uint32_t>& ends, FreeTextKind kind,
                       ByteTable* table) {
  FreeText text(phrases, ends);
  const bool to_end = kind == FreeTextKind::kUpTo;
  const uint32_t states = text.End() + to_end;
  table->final.assign(states, 0);
  for (uint32_t s = kBetween; s < states; ++s) {
    const auto leads_to_end = [&](uint32_t i) { return text.Ends(s, phrases[i]); };
    if (to_end)
      table->final[s] = s == text.End();
    else if (text.BetweenCharacters(s))
      table->final[s] = kind == FreeTextKind::kWithout || std::any_of(ends.begin(), ends.end(), leads_to_end);
  }
  std::vector<uint32_t>& rows = text.Rows();
  rows.resize(states * size_t{256});
  if (!to_end) std::replace(rows.begin(), rows.end(), text.End(), uint32_t{0});
  // What leads to no end is dead.
  std::vector<uint8_t> alive = table->final;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t s = states; s-- > kBetween;) {
      const uint32_t* row = text.Row(s);
      if (alive[s] || std::none_of(row, row + 256, [&](uint32_t next) { return alive[next]; })) continue;
      alive[s] = again = true;
    }
  }
  if (std::find(alive.begin() + kBetween, alive.end(), 0) != alive.end())
    for (uint32_t& next : rows) next = alive[next] ? next : 0;
  table->next = std::move(rows);
  return alive[kBetween] ? kBetween : 0;
}

}  // namespace tokamata
