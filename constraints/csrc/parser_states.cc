#include "constraints/csrc/parser_states.h"

#include <algorithm>

#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
ParserStates::ParserStates(std::shared_ptr<const RuleAutomata> rules, uint32_t num_terminals, size_t most_nodes,
                           const Indentation* indentation)
    : num_terminals_(num_terminals),
      indentation_(indentation),
      stacks_(std::move(rules), num_terminals, most_nodes),
      start_(stacks_.Start()) {
  if (!indentation_) return;
  effects_.assign(num_terminals_, kNoEffect);
  for (const uint32_t t : indentation_->opening) effects_[t] = kOpens;
  for (const uint32_t t : indentation_->closing) effects_[t] = effects_[t] == kOpens ? kNoEffect : kCloses;
  pairs_.push_back({kNone, 0});
  start_ = Pair(stacks_.Start(), InternLayout({}));
}

// How many blocks can be nested in one of a column.
uint32_t ParserStates::LevelsInside(uint32_t column) const {
  const std::vector<uint32_t>& all = indentation_->columns;
  return static_cast<uint32_t>(all.end() - std::upper_bound(all.begin(), all.end(), column));
}

uint32_t ParserStates::InternLayout(Layout layout) {
  const auto [it, added] = layout_ids_.emplace(layout, static_cast<uint32_t>(layouts_.size()));
  if (!added) return it->second;
  layout.few_levels.clear();
  for (size_t i = layout.columns.size() + 1; indentation_->needed_levels && i-- > 0;) {
    const uint32_t levels = LevelsInside(i ? layout.columns[i - 1] : 0);
    if (levels >= indentation_->needed_levels) break;
    layout.few_levels.push_back(levels);
  }
  layouts_.push_back(std::move(layout));
  return it->second;
}

// The layout after a terminal other than a newline: most leave it as it is.
uint32_t ParserStates::LayoutAfter(uint32_t layout, uint32_t terminal) {
  const Effect effect = effects_[terminal];
  if (effect == kNoEffect) return layout;
  const uint64_t key = PairKey(layout, effect);
  if (const uint32_t* const known = layout_after_.Find(key)) return *known;
  Layout after = layouts_[layout];
  if (effect == kOpens) ++after.brackets;
  if (effect == kCloses && after.brackets) --after.brackets;
  return layout_after_[key] = InternLayout(after);
}

ParserStates::Set ParserStates::Pair(Set stacks, uint32_t layout) {
  if (stacks == kNone || stacks == kUnknown) return stacks;
  Set& known = pair_ids_[PairKey(stacks, layout)];
  if (known == kNone) {
    known = static_cast<Set>(pairs_.size());
    pairs_.push_back({stacks, layout});
  }
  return known;
}

ParserStates::Set ParserStates::Union(Set a, Set b) {
  if (!indentation_) return stacks_.Union(a, b);
  return Pair(stacks_.Union(pairs_[a].stacks, pairs_[b].stacks), pairs_[a].layout);
}

ParserStates::Set ParserStates::TruncateWithLayout(Set p, uint32_t depth) {
  Layout layout = layouts_[pairs_[p].layout];
  const uint32_t most = depth + 1;
  if (layout.brackets > most) {
    layout.brackets = most;
    layout.more_brackets = true;
  }
  return Pair(stacks_.Truncate(pairs_[p].stacks, depth), InternLayout(layout));
}

ParserStates::Set ParserStates::AdvanceWithLayout(Set p, uint32_t terminal) {
  if (p == kNone) return kNone;
  if (const Set* const known = advanced_.Find(PairKey(p, terminal))) return *known;
  Set result;
  if (terminal == indentation_->end) {
    const Set stacks = AfterBlocks(p);
    const bool ended = stacks != kNone && stacks != kUnknown;
    result = ended ? Pair(stacks_.Advance(stacks, terminal), InternLayout({})) : stacks;
  } else if (terminal >= num_terminals_) {
    result = Newline(p, terminal - num_terminals_);
  } else {
    const Set stacks = stacks_.Advance(pairs_[p].stacks, terminal);
    const uint32_t after = LayoutAfter(pairs_[p].layout, terminal);
    const bool unknown = layouts_[after].more_brackets && layouts_[after].brackets == 0;
    result = stacks != kNone && unknown ? kUnknown : Pair(stacks, after);
  }
  return advanced_[PairKey(p, terminal)] = result;
}

ParserStates::Set ParserStates::Newline(Set p, uint32_t column) {
  Layout layout = layouts_[pairs_[p].layout];
  if (layout.brackets) return p;
  Set stacks = stacks_.Advance(pairs_[p].stacks, indentation_->newline);
  const uint32_t top = layout.columns.empty() ? 0 : layout.columns.back();
  if (column > top) {
    layout.columns.push_back(column);
    if (stacks != kNone && stacks != kUnknown) stacks = stacks_.Advance(stacks, indentation_->indent);
  } else {
    while (!layout.columns.empty() && column < layout.columns.back()) {
      layout.columns.pop_back();
      if (stacks != kNone && stacks != kUnknown) stacks = stacks_.Advance(stacks, indentation_->dedent);
    }
    if (column != (layout.columns.empty() ? 0 : layout.columns.back())) return kNone;
  }
  const Set result = Pair(stacks, InternLayout(layout));
  return result == kNone || result == kUnknown || GoesOn(result) ? result : kNone;
}

ParserStates::Set ParserStates::AfterBlocks(Set p) {
  const Layout& layout = layouts_[pairs_[p].layout];
  Set stacks = pairs_[p].stacks;
  for (size_t i = 0; i < layout.columns.size() && stacks != kNone && stacks != kUnknown; ++i)
    stacks = stacks_.Advance(stacks, indentation_->dedent);
  return stacks;
}

uint32_t ParserStates::AcceptsWithLayout(Set p) {
  const Set stacks = AfterBlocks(p);
  return stacks == kUnknown ? kUnknown : stacks_.Accepts(stacks);
}

uint32_t ParserStates::MayEnd(Set p) {
  if (indentation_->end == Indentation::kNoTerminal) return AcceptsWithLayout(p);
  const Set stacks = AfterBlocks(p);
  const uint32_t allowed = stacks == kUnknown ? kUnknown : stacks_.Allowed(stacks);
  return allowed == kUnknown ? kUnknown : HasTerminal(stacks_.Terminals(allowed), indentation_->end);
}

bool ParserStates::GoesOn(Set p) {
  if (MayEnd(p) != 0) return true;
  const uint32_t allowed = stacks_.Allowed(pairs_[p].stacks);
  if (allowed == kUnknown) return true;
  std::vector<uint64_t> set = stacks_.Terminals(allowed);
  for (const uint32_t t : {indentation_->indent, indentation_->dedent}) set[t >> 6] &= ~(uint64_t{1} << (t & 63));
  return std::any_of(set.begin(), set.end(), [](uint64_t w) { return w != 0; });
}

uint32_t ParserStates::AllowedWithLayout(Set p) {
  if (const uint32_t* const known = allowed_.Find(p)) return *known;
  const uint32_t allowed = stacks_.Allowed(pairs_[p].stacks);
  if (allowed == kUnknown) return allowed_[p] = kUnknown;
  std::vector<uint64_t> set = stacks_.Terminals(allowed);
  const auto put = [&set](uint32_t t, bool in) {
    set[t >> 6] &= ~(uint64_t{1} << (t & 63));
    if (in) set[t >> 6] |= uint64_t{1} << (t & 63);
  };
  put(indentation_->indent, false);
  put(indentation_->dedent, false);
  if (indentation_->end != Indentation::kNoTerminal) put(indentation_->end, MayEnd(p) != 0);
  const Layout layout = layouts_[pairs_[p].layout];
  bool newline = layout.brackets > 0;
  if (!newline && HasTerminal(set, indentation_->newline)) {
    std::vector<uint32_t> columns = layout.columns;
    columns.push_back(0);
    const std::vector<uint32_t>& all = indentation_->columns;
    const auto deeper = std::upper_bound(all.begin(), all.end(), layout.columns.empty() ? 0 : layout.columns.back());
    if (deeper != all.end()) columns.push_back(*deeper);
    newline = std::any_of(columns.begin(), columns.end(), [&](uint32_t c) {
      return std::binary_search(all.begin(), all.end(), c) && AdvanceWithLayout(p, num_terminals_ + c) != kNone;
    });
  }
  put(indentation_->newline, newline);
  return allowed_[p] = stacks_.InternAllowed(std::move(set));
}

ParserStates::Set ParserStates::Adopt(const ParserStates& other, Set p, std::unordered_map<Set, Set>* done) {
  if (!indentation_) return stacks_.Adopt(other.stacks_, p, done);
  if (p == kNone) return kNone;
  return Pair(stacks_.Adopt(other.stacks_, other.pairs_[p].stacks, done), InternLayout(other.layouts_[other.pairs_[p].layout]));
}

size_t ParserStates::MemoryBytes() const {
  constexpr size_t kMapEntry = 48;
  return stacks_.MemoryBytes() + pairs_.size() * sizeof(PairNode) + pair_ids_.MemoryBytes() + advanced_.MemoryBytes() +
         allowed_.MemoryBytes() + layout_after_.MemoryBytes() + layouts_.size() * 2 * (sizeof(Layout) + kMapEntry);
}

}  // namespace tokamata
