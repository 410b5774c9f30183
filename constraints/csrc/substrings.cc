#include "constraints/csrc/substrings.h"

#include <algorithm>
#include <utility>

#include "automata/csrc/errors.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"
#include "automata/csrc/utf8.h"

namespace tokamata {
namespace {

constexpr uint32_t kNone = 0xffffffff;

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The end of the unit that begins at `at`.
size_t UnitEnd(const std::string& text, size_t at, TextUnit unit) {
  size_t end = at + 1;
  switch (unit) {
    case TextUnit::kCharacters:
      while (end < text.size() && IsContinuationByte(static_cast<uint8_t>(text[end]))) ++end;
      return end;
    case TextUnit::kWords:
      while (end < text.size() && IsSpace(text[end]) == IsSpace(text[at])) ++end;
      return end;
    default: end = text.find('\n', at); return end == std::string::npos ? text.size() : end + 1;
  }
}

// The automaton while units are appended; edges of a node are a list, and are found by hashing where there are many.
class Builder {
 public:
  explicit Builder(size_t symbols) {
    nodes_.reserve(symbols + symbols / 2 + 2);
    edges_.reserve(2 * symbols + 2);
    AddNode(0);
  }

  void Extend(uint32_t symbol) {
    TimeLimit::Spend();
    const uint32_t added = AddNode(nodes_[last_].length + 1);
    uint32_t p = last_, edge = kNone;
    for (; p != kNone && (edge = Find(p, symbol)) == kNone; p = nodes_[p].link) AddEdge(p, symbol, added);
    last_ = added;
    if (p == kNone) {
      nodes_[added].link = 0;
      return;
    }
    const uint32_t q = edges_[edge].target;
    if (nodes_[p].length + 1 == nodes_[q].length) {
      nodes_[added].link = q;
      return;
    }
    const uint32_t clone = AddNode(nodes_[p].length + 1);
    for (uint32_t e = nodes_[q].first; e != kNone; e = edges_[e].next) AddEdge(clone, edges_[e].symbol, edges_[e].target);
    nodes_[clone].link = nodes_[q].link;
    nodes_[q].link = nodes_[added].link = clone;
    for (; p != kNone && (edge = Find(p, symbol)) != kNone && edges_[edge].target == q; p = nodes_[p].link)
      edges_[edge].target = clone;
  }

  // The edges node by node, in order of symbols.
  void Freeze(std::vector<uint32_t>* begin, std::vector<SuffixAutomaton::Edge>* edges) const {
    begin->reserve(nodes_.size() + 1);
    edges->reserve(edges_.size());
    for (const Node& node : nodes_) {
      const auto from = static_cast<ptrdiff_t>(edges->size());
      begin->push_back(static_cast<uint32_t>(from));
      for (uint32_t e = node.first; e != kNone; e = edges_[e].next) edges->push_back({edges_[e].symbol, edges_[e].target});
      if (node.degree > 1)
        std::sort(edges->begin() + from, edges->end(), [](const auto& a, const auto& b) { return a.unit < b.unit; });
    }
    begin->push_back(static_cast<uint32_t>(edges->size()));
  }

 private:
  struct Node {
    uint32_t length, link = kNone, first = kNone, degree = 0;
  };
  struct Edge {
    uint32_t symbol, target, next;
  };
  static constexpr uint32_t kMany = 12;

  uint32_t AddNode(uint32_t length) {
    nodes_.push_back({length});
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  void AddEdge(uint32_t node, uint32_t symbol, uint32_t target) {
    Node& n = nodes_[node];
    edges_.push_back({symbol, target, n.first});
    n.first = static_cast<uint32_t>(edges_.size() - 1);
    if (++n.degree == kMany) {
      for (uint32_t e = n.first; e != kNone; e = edges_[e].next) Remember(node, e);
    } else if (n.degree > kMany) {
      Remember(node, n.first);
    }
  }
  void Remember(uint32_t node, uint32_t edge) {
    places_.push_back({node, edge});
    table_.Insert(MixHash(PairKey(node, edges_[edge].symbol)), static_cast<uint32_t>(places_.size() - 1));
  }
  uint32_t Find(uint32_t node, uint32_t symbol) const {
    const Node& n = nodes_[node];
    if (n.degree >= kMany) {
      const auto same = [&](uint32_t i) { return places_[i].first == node && edges_[places_[i].second].symbol == symbol; };
      const uint32_t i = static_cast<uint32_t>(table_.Find(MixHash(PairKey(node, symbol)), same));
      return i == static_cast<uint32_t>(kNoState) ? kNone : places_[i].second;
    }
    uint32_t e = n.first;
    while (e != kNone && edges_[e].symbol != symbol) e = edges_[e].next;
    return e;
  }

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  uint32_t last_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> places_;  // node and edge, where there are many
  IdTable table_;                                      // of these by node and symbol
};

}  // namespace

SuffixAutomaton::SuffixAutomaton(std::string text, TextUnit unit) : text_(std::move(text)), unit_(unit) {
  size_t begin = 0, end = text_.size();
  if (unit == TextUnit::kWords) {  // a piece does not begin or end with white space
    while (begin < end && IsSpace(text_[begin])) ++begin;
    while (end > begin && IsSpace(text_[end - 1])) --end;
  }
  std::vector<uint32_t> symbols;
  std::unordered_map<std::string_view, uint32_t> known;
  uint32_t ascii[128];
  std::fill(std::begin(ascii), std::end(ascii), kNone);
  uint32_t longest[2] = {0, 0};  // words or other units, white space between words
  const std::string_view view(text_);
  const auto is_space = [&](uint32_t u) { return unit_ == TextUnit::kWords && IsSpace(text_[units_[u].first]); };
  for (size_t at = begin; at < end;) {
    TimeLimit::Spend();
    const size_t next = std::min(end, UnitEnd(text_, at, unit));
    const auto add = [&] {
      units_.emplace_back(static_cast<uint32_t>(at), static_cast<uint32_t>(next - at));
      return static_cast<uint32_t>(units_.size() - 1);
    };
    const uint8_t first = static_cast<uint8_t>(text_[at]);
    if (unit == TextUnit::kCharacters && first < 0x80) {
      if (ascii[first] == kNone) ascii[first] = add();
      symbols.push_back(ascii[first]);
    } else {
      const auto found = known.find(view.substr(at, next - at));
      symbols.push_back(found != known.end() ? found->second : (known[view.substr(at, next - at)] = add()));
    }
    if (symbols.size() > kMostUnits)
      throw LimitError("substring_of: the text has more than " + std::to_string(kMostUnits) +
                       " units; take larger ones (by=\"words\" or by=\"lines\") or less text");
    uint32_t& most = longest[is_space(symbols.back())];
    most = std::max(most, static_cast<uint32_t>(next - at));
    at = next;
  }
  most_ = longest[0] + longest[1];
  std::vector<uint32_t> order(units_.size()), rank(units_.size());
  for (uint32_t u = 0; u < order.size(); ++u) order[u] = u;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const bool x = is_space(a), y = is_space(b);
    return x != y ? y : Unit(a) < Unit(b);
  });
  for (uint32_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    if (!is_space(order[i])) num_words_ = i + 1;
  }
  std::vector<std::pair<uint32_t, uint32_t>> sorted;
  for (uint32_t u : order) sorted.push_back(units_[u]);
  units_.swap(sorted);
  for (uint32_t& s : symbols) s = rank[s];
  Build(symbols);
  while (first_edges_ < begin_[1] && edges_[first_edges_].unit < num_words_) ++first_edges_;
}

void SuffixAutomaton::Build(const std::vector<uint32_t>& symbols) {
  Builder builder(symbols.size());
  for (uint32_t s : symbols) builder.Extend(s);
  builder.Freeze(&begin_, &edges_);
}

SuffixAutomaton::Range SuffixAutomaton::Narrow(const Range& range, uint32_t byte) const {
  if (range.high - range.low == 1)
    return ByteAt(range.low, range.depth) == byte ? range : Range{range.low, range.low, range.depth};
  const auto first = [&](uint32_t least) {  // of the edges whose byte is at least that
    uint32_t low = range.low, high = range.high;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (ByteAt(middle, range.depth) < least)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  return {first(byte), first(byte + 1), range.depth};
}

bool SuffixAutomaton::Step(const Range& range, uint8_t byte, std::vector<Range>* out) const {
  Range rest = Narrow(range, byte);
  if (rest.low == rest.high) return false;
  bool final = false;
  ++rest.depth;
  if (Length(rest.low) == rest.depth) {  // units are different, so only the first one can be complete
    const Edge edge = edges_[rest.low++];
    final = edge.unit < num_words_;
    if (begin_[edge.target] < begin_[edge.target + 1]) out->push_back({begin_[edge.target], begin_[edge.target + 1], 0});
  }
  if (rest.low == rest.high) return final;
  out->push_back(rest);
  if (unit_ == TextUnit::kLines) {
    const Range newline = Narrow(rest, '\n');
    final = final || newline.low < newline.high;
  }
  return final;
}

ByteSet SuffixAutomaton::Bytes(const Range& range) const {
  ByteSet bytes;
  for (uint32_t e = range.low; e < range.high;) {
    const uint32_t byte = ByteAt(e, range.depth);
    bytes.Add(static_cast<uint8_t>(byte));
    e = Narrow({e, range.high, range.depth}, byte).high;
  }
  return bytes;
}

size_t SuffixAutomaton::MemoryBytes() const {
  return text_.capacity() + units_.capacity() * sizeof(units_[0]) + begin_.capacity() * sizeof(uint32_t) +
         edges_.capacity() * sizeof(Edge);
}

// ---------------------------------------------------------------------------------------------- the leaf

Substrings::Substrings(std::shared_ptr<const SuffixAutomaton> automaton) : automaton_(std::move(automaton)) {
  State start;
  start.final = true;
  if (const auto first = automaton_->First(); first.low < first.high) start.ranges.push_back(first);
  Intern(std::move(start));
}

uint32_t Substrings::Intern(State state) {
  std::sort(state.ranges.begin(), state.ranges.end(), [](const auto& a, const auto& b) {
    return std::pair(PairKey(a.low, a.high), a.depth) < std::pair(PairKey(b.low, b.high), b.depth);
  });
  state.ranges.erase(std::unique(state.ranges.begin(), state.ranges.end()), state.ranges.end());
  uint64_t hash = state.final;
  for (const auto& r : state.ranges) hash = MixHash(hash + PairKey(r.low, r.high)) + r.depth;
  const auto [first, last] = index_.equal_range(hash);
  for (auto i = first; i != last; ++i)
    if (states_[i->second].final == state.final && states_[i->second].ranges == state.ranges) return i->second;
  const uint32_t id = static_cast<uint32_t>(states_.size());
  index_.emplace(hash, id);
  states_.push_back(std::move(state));
  return id;
}

void Substrings::Arcs(uint32_t state, std::vector<Arc>* out) {
  out->clear();
  const Ranges ranges = states_[state].ranges;
  ByteSet bytes;
  for (const auto& r : ranges) bytes = bytes | automaton_->Bytes(r);
  bytes.ForEach([&](uint8_t b) {
    State next;
    for (const auto& r : ranges) next.final = automaton_->Step(r, b, &next.ranges) || next.final;
    out->push_back({ByteSet::Of(b), Intern(std::move(next))});
  });
}

void Substrings::Adopt(const LeafAutomaton& other, std::vector<uint32_t>* states) {
  for (uint32_t& state : *states) state = Intern(static_cast<const Substrings&>(other).states_[state]);
}

size_t Substrings::MemoryBytes() const {
  return automaton_->MemoryBytes() + states_.size() * (sizeof(State) + sizeof(SuffixAutomaton::Range) + 64);
}

}  // namespace tokamata
