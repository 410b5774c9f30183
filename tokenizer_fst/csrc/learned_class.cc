#include "tokenizer_fst/csrc/learned_class.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

using Place = WideCharacters::Place;
constexpr Place kBetween = WideCharacters::kWhole;  // characters

// Walks the trie as far as the class goes. What a factor of a class inside of it knows is not walked.
class Walk {
 public:
  struct Long {
    uint32_t id, above;  // characters, above kFewChars
  };

  Walk(const Factoring& known, LearnedClass* c)
      : known_(known), trie_(known.trie()), c_(*c), by_exit(static_cast<size_t>(c->exit_bytes.Count())) {
    for (int id = 0; id < kNumClasses; ++id) {
      const CharacterClass& k = CharacterClasses()[static_cast<size_t>(id)];
      if (id == kHan || k.non_ascii || !k.ascii.SubsetOf(c->ascii)) continue;
      if (inner_ < 0 || known.At(0, id)->inside.size() > known.At(0, inner_)->inside.size()) inner_ = id;
    }
    work_.push_back({c->node, kBetween, 0, c->node});
    while (!work_.empty()) {
      const Visit v = work_.back();
      work_.pop_back();
      if (const Factor* f = FactorAt(v.node, v.place))
        Factored(*f, v.chars);
      else
        Below(v);
    }
  }

 private:
  struct Visit {
    uint32_t node;
    Place place;
    uint32_t chars;
    uint32_t lead;  // the node of the byte that began the character, inside of one
  };

  const Factor* FactorAt(uint32_t node, Place place) const {
    return inner_ >= 0 && place == kBetween ? known_.At(node, inner_) : nullptr;
  }
  Place After(uint8_t b) const { return c_.ascii.Has(b) ? kBetween : c_.wide->Lead(b); }

  void Set(uint32_t id, uint32_t chars) {
    c_.rows[std::min(chars, LearnedClass::kFewChars)][id >> 5] |= 1u << (id & 31);
    if (chars > LearnedClass::kFewChars) many.push_back({id, chars - LearnedClass::kFewChars});
  }

  // A node where a character begins that is not the class's, after so many that are.
  void Exit(uint32_t lead, uint32_t chars) {
    const uint8_t byte = trie_.nodes[lead].byte;
    if (c_.exit_bytes.Has(byte)) by_exit[c_.exit_bytes.Rank(byte)].push_back({lead, chars});
  }

  void Factored(const Factor& f, uint32_t chars) {
    for (uint32_t l = 0; l <= f.max_chars; ++l)
      for (uint32_t i = f.offsets[l]; i < f.offsets[l + 1]; ++i) Set(f.inside[i], chars + l);
    f.exit_bytes.ForEach([&](uint8_t b) {
      const Place place = After(b);
      if (!place && c_.exit_bytes.Has(b)) {
        for (const FactorExit& e : f.ExitsBy(b)) Exit(e.node, chars + e.chars);
      } else if (place) {
        for (const FactorExit& e : f.ExitsBy(b)) {
          const bool cut = place != kBetween && c_.exit_bytes.Has(b);
          for (uint32_t i = trie_.TokensBegin(e.node); i < trie_.TokensEnd(e.node); ++i) {
            Set(trie_.order[i], chars + e.chars + 1);
            if (cut) c_.cut.push_back({trie_.order[i], chars + e.chars});
          }
          if (trie_.nodes[e.node].end != e.node + 1) work_.push_back({e.node, place, chars + e.chars + 1, e.node});
        }
      }
    });
  }

  void Below(const Visit& v) {
    const uint32_t base = v.node ? trie_.nodes[v.node].depth : 0;
    path_.resize(trie_.max_depth + 2);  // by depth
    path_[0] = v;
    for (uint32_t n = v.node + 1; n < trie_.nodes[v.node].end;) {
      const Trie::Node& node = trie_.nodes[n];
      Visit m = path_[node.depth - base - 1];
      if (m.place != kBetween) {
        m.place = c_.wide->Next(m.place, node.byte);
      } else {
        m.place = After(node.byte);
        m.lead = n;
        ++m.chars;
      }
      if (!m.place) {
        Exit(m.lead, m.chars - 1);
        n = node.end;
        continue;
      }
      const bool cut = m.place != kBetween && c_.exit_bytes.Has(trie_.nodes[m.lead].byte);
      for (uint32_t i = trie_.TokensBegin(n); i < trie_.TokensEnd(n); ++i) {
        Set(trie_.order[i], m.chars);
        if (cut) c_.cut.push_back({trie_.order[i], m.chars - 1});
      }
      if (node.wide && FactorAt(n, m.place)) {
        work_.push_back({n, m.place, m.chars, n});
        n = node.end;
        continue;
      }
      path_[node.depth - base] = m;
      ++n;
    }
  }

  const Factoring& known_;
  const Trie& trie_;
  LearnedClass& c_;
  int inner_ = -1;
  std::vector<Visit> work_, path_;

 public:
  std::vector<Long> many;
  std::vector<std::vector<FactorExit>> by_exit;
};

}  // namespace

LearnedClass::LearnedClass(const Factoring& known, uint32_t node, const ByteSet& ascii,
                           std::shared_ptr<const WideCharacters> wide_set, const ByteSet& exits)
    : node(node), ascii(ascii), exit_bytes(exits), wide(std::move(wide_set)), first((ascii | wide->First()) - exits) {
  for (std::vector<uint32_t>& row : rows) row.resize(known.Words());
  Walk walk(known, this);
  for (uint32_t l = 1; l <= kFewChars; ++l)
    for (size_t i = 0; i < rows[l].size(); ++i) rows[l][i] |= rows[l - 1][i];
  offsets.assign(1, 0);
  for (const Walk::Long& t : walk.many) {
    if (t.above >= offsets.size()) offsets.resize(t.above + 1);
    ++offsets[t.above];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  longer.resize(walk.many.size());
  for (const Walk::Long& t : walk.many) longer[--offsets[t.above]] = t.id;  // after which they are where those begin
  offsets.erase(offsets.begin());
  offsets.push_back(static_cast<uint32_t>(longer.size()));
  exit_offsets.assign(1, 0);
  for (std::vector<FactorExit>& leaving : walk.by_exit) {
    // Several characters that are not the class's may begin alike.
    std::sort(leaving.begin(), leaving.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
    leaving.erase(std::unique(leaving.begin(), leaving.end(), [](const auto& a, const auto& b) { return a.node == b.node; }),
                  leaving.end());
    this->exits.insert(this->exits.end(), leaving.begin(), leaving.end());
    exit_offsets.push_back(static_cast<uint32_t>(this->exits.size()));
  }
}

size_t LearnedClass::MemoryBytes() const {
  const size_t words = (kFewChars + 1) * rows[0].capacity() + longer.capacity() + offsets.capacity();
  return sizeof(*this) + wide->MemoryBytes() + (words + exit_offsets.capacity()) * sizeof(uint32_t) +
         exits.capacity() * sizeof(exits[0]) + cut.capacity() * sizeof(cut[0]);
}

}  // namespace tokamata
