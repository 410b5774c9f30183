#include "constraints/csrc/stack_sets.h"

#include <algorithm>
#include <string>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr uint8_t kNotAsked = 9, kOpen = 2;
constexpr uint32_t kNotKnown = 0xfffffffe;
constexpr uint32_t kBelowShape = 0xfffffffe;  // the variable of shapes
constexpr size_t kMostWays = 100'000;  // of reading one terminal from one state

}  // namespace

StackSets::StackSets(std::shared_ptr<const RuleAutomata> rules, uint32_t num_terminals, size_t most_nodes)
    : rules_(std::move(rules)),
      num_terminals_(num_terminals),
      most_nodes_(most_nodes),
      ways_(rules_->states.size()),
      has_ways_(rules_->states.size(), 0) {
  nodes_.emplace_back();  // kNone
  allowed_.push_back(InternAllowed(std::vector<uint64_t>((num_terminals + 63) / 64, 0)));
  accepts_.push_back(0);
  bottom_ = Variable(kBottom);
  if (rules_->start != RuleAutomata::kNone) {
    start_ = Push(rules_->start, bottom_);
    if (rules_->nullable) start_ = Union(start_, bottom_);
  } else if (rules_->nullable) {
    start_ = bottom_;
  }
}

StackSets::Set StackSets::Intern(const Entry* entries, size_t num_entries, const uint32_t* variables,
                                 size_t num_variables) {
  if (num_entries == 0 && num_variables == 0) return kNone;
  uint64_t hash = num_entries + 1;
  for (size_t i = 0; i < num_entries; ++i)
    hash = MixHash(hash ^ PairKey(entries[i].state, entries[i].below)) + 0x9e3779b97f4a7c15ull;
  for (size_t i = 0; i < num_variables; ++i) hash = MixHash(hash ^ variables[i]) + 1;
  const StateId known = table_.Find(hash, [&](StateId id) {
    const Node& n = nodes_[static_cast<size_t>(id)];
    if (n.entries != num_entries || n.variables != num_variables) return false;
    for (uint32_t i = 0; i < n.entries; ++i)
      if (EntryOf(n, i).state != entries[i].state || EntryOf(n, i).below != entries[i].below) return false;
    for (uint32_t i = 0; i < n.variables; ++i)
      if (VariableOf(n, i) != variables[i]) return false;
    return true;
  });
  if (known != kNoState) return static_cast<Set>(known);
  TimeLimit::Spend();
  // Eight tops of one set, or four answers kept, count as one more; each takes about 100 bytes.
  if (nodes_.size() + data_.size() / 16 + (unions_.Size() + advanced_.Size()) / 4 >= most_nodes_)
    throw CapacityError("grammar: the limit expression_nodes=" + std::to_string(most_nodes_) +
                        " was reached (different stacks); simplify the grammar or raise it: "
                        "tokamata.Limits(expression_nodes=...)");
  Node n;
  n.first = static_cast<uint32_t>(data_.size());
  n.entries = static_cast<uint32_t>(num_entries);
  n.variables = static_cast<uint32_t>(num_variables);
  for (size_t i = 0; i < num_entries; ++i) {
    data_.push_back(entries[i].state);
    data_.push_back(entries[i].below);
    n.open = n.open || nodes_[entries[i].below].open;
  }
  for (size_t i = 0; i < num_variables; ++i) {
    data_.push_back(variables[i]);
    n.open = n.open || variables[i] != kBottom;
  }
  nodes_.push_back(n);
  allowed_.push_back(kNotKnown);
  accepts_.push_back(kNotAsked);
  table_.Insert(hash, static_cast<StateId>(nodes_.size() - 1));
  return static_cast<Set>(nodes_.size() - 1);
}

StackSets::Set StackSets::Push(uint32_t state, Set below) {
  const Entry entry{state, below};
  return rules_->states[state].Ends() ? below : Intern(&entry, 1, nullptr, 0);
}

StackSets::Set StackSets::Union(Set a, Set b) {
  if (a == b || b == kNone) return a;
  if (a == kNone) return b;
  const auto key = [](Set x, Set y) { return x < y ? PairKey(x, y) : PairKey(y, x); };
  const auto find = [&](Set x, Set y, Set* out) {
    if (x == y) return *out = x, true;
    const Set* const known = unions_.Find(key(x, y));
    return known && (*out = *known, true);
  };
  Set result = kNone;
  if (find(a, b, &result)) return result;
  std::vector<std::pair<Set, Set>> work{{a, b}};
  std::vector<Entry> entries;
  std::vector<uint32_t> variables;
  while (!work.empty()) {
    const auto [x, y] = work.back();
    if (find(x, y, &result)) {
      work.pop_back();
      continue;
    }
    TimeLimit::Spend();
    const Node m = nodes_[x], n = nodes_[y];
    entries.clear();
    const size_t pending = work.size();
    for (uint32_t i = 0, j = 0; i < m.entries || j < n.entries;) {
      if (j == n.entries || (i < m.entries && EntryOf(m, i).state < EntryOf(n, j).state)) {
        entries.push_back(EntryOf(m, i++));
      } else if (i == m.entries || EntryOf(n, j).state < EntryOf(m, i).state) {
        entries.push_back(EntryOf(n, j++));
      } else {
        const Entry p = EntryOf(m, i++), q = EntryOf(n, j++);
        Set below = kNone;
        if (!find(p.below, q.below, &below)) work.emplace_back(p.below, q.below);
        entries.push_back({p.state, below});
      }
    }
    if (work.size() > pending) continue;
    variables.clear();
    std::vector<uint32_t> left, right;
    for (uint32_t i = 0; i < m.variables; ++i) left.push_back(VariableOf(m, i));
    for (uint32_t i = 0; i < n.variables; ++i) right.push_back(VariableOf(n, i));
    std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(variables));
    const Set both = Intern(entries, variables);
    unions_[key(x, y)] = both;
    work.pop_back();
  }
  find(a, b, &result);
  return result;
}

// ---------------------------------------------------------------------------------------------- reading terminals

const std::vector<StackSets::Way>& StackSets::WaysOf(uint32_t state) {
  if (!has_ways_[state]) {
    // What a call begins with comes first. There is no left recursion, so this ends.
    std::vector<uint32_t> work{state};
    while (!work.empty()) {
      const uint32_t s = work.back();
      const size_t pending = work.size();
      for (const RuleAutomata::Arc& arc : rules_->states[s].arcs)
        if (arc.letter >= num_terminals_) {
          const uint32_t callee = rules_->start_of[arc.letter - num_terminals_];
          if (!has_ways_[callee]) work.push_back(callee);
        }
      if (work.size() > pending) continue;
      if (!has_ways_[s]) MakeWays(s);
      work.pop_back();
    }
  }
  return ways_[state];
}

void StackSets::MakeWays(uint32_t state) {
  std::vector<Way> ways;
  for (const RuleAutomata::Arc& arc : rules_->states[state].arcs) {
    if (arc.letter < num_terminals_) {
      ways.push_back({arc.letter, arc.state, 0, 0});
      continue;
    }
    const bool tail = rules_->states[arc.state].Ends();
    for (const Way& inner : ways_[rules_->start_of[arc.letter - num_terminals_]]) {
      Way way = inner;
      if (!tail) {
        way.chain = static_cast<uint32_t>(chains_.size());
        way.chain_length = inner.chain_length + 1;
        chains_.push_back(arc.state);
        for (uint32_t i = 0; i < inner.chain_length; ++i) chains_.push_back(chains_[inner.chain + i]);
      }
      ways.push_back(way);
      TimeLimit::Spend(1 + way.chain_length / 4);
      if (ways.size() > kMostWays)
        throw LimitError("grammar: the limit of " + std::to_string(kMostWays) + " ways to read one terminal was reached (the "
                         "grammar is too ambiguous); write alternatives that begin alike as one rule");
    }
  }
  const auto less = [this](const Way& a, const Way& b) {
    if (a.terminal != b.terminal) return a.terminal < b.terminal;
    if (a.target != b.target) return a.target < b.target;
    return std::lexicographical_compare(chains_.begin() + a.chain, chains_.begin() + a.chain + a.chain_length,
                                        chains_.begin() + b.chain, chains_.begin() + b.chain + b.chain_length);
  };
  std::sort(ways.begin(), ways.end(), less);
  ways.erase(std::unique(ways.begin(), ways.end(), [&](const Way& a, const Way& b) { return !less(a, b) && !less(b, a); }),
             ways.end());
  ways_[state] = std::move(ways);
  has_ways_[state] = 1;
}

template <class Known, class Compute>
void StackSets::BottomUp(Set p, Known known, Compute compute) {
  if (known(p)) return;
  bool at_once = true;  // what it needs is known, mostly nothing
  const Node top = nodes_[p];
  if (!TopUnknown(top))
    for (uint32_t i = 0; i < top.entries && at_once; ++i) {
      const Entry e = EntryOf(top, i);
      at_once = !rules_->states[e.state].final || known(e.below);
    }
  if (at_once) return compute(p);
  std::vector<Set> work{p};
  while (!work.empty()) {
    const Set x = work.back();
    TimeLimit::Spend();
    const size_t pending = work.size();
    if (!known(x)) {
      const Node n = nodes_[x];
      if (!TopUnknown(n))
        for (uint32_t i = 0; i < n.entries; ++i) {
          const Entry e = EntryOf(n, i);
          if (rules_->states[e.state].final && !known(e.below)) work.push_back(e.below);
        }
      if (work.size() > pending) continue;
      compute(x);
    }
    work.pop_back();
  }
}

StackSets::Set StackSets::Advance(Set p, uint32_t terminal) {
  if (p == kNone) return kNone;
  if (const Set* const known = advanced_.Find(PairKey(p, terminal))) return *known;
  Set result = kNone;
  BottomUp(
      p, [&](Set x) { return x != p && advanced_.Find(PairKey(x, terminal)) != nullptr; },
      [&](Set x) {
        result = AdvanceTop(x, terminal);
        advanced_[PairKey(x, terminal)] = result;
      });
  return result;
}

StackSets::Set StackSets::Follow(const Way& way, Set below) {
  for (uint32_t c = 0; c < way.chain_length; ++c) below = Push(chains_[way.chain + c], below);
  return Push(way.target, below);
}

// The ways from a state for one terminal, many of which go through the same rules, as one set above a variable.
const StackSets::Shape& StackSets::ShapeOf(uint32_t state, const Way* ways, size_t count) {
  const uint64_t key = PairKey(state, ways->terminal);
  if (const uint32_t* const known = shape_ids_.Find(key)) return *shapes_[*known];
  const Set variable = Variable(kBelowShape);
  Set all = kNone;
  for (size_t i = 0; i < count; ++i) all = Union(all, Follow(ways[i], variable));
  auto shape = std::make_unique<Shape>();
  std::unordered_map<Set, uint32_t> numbers;
  std::vector<Set> work{all};
  while (!work.empty()) {
    const Set x = work.back();
    const Node& n = nodes_[x];
    const size_t open = work.size();
    if (!numbers.count(x))
      for (uint32_t i = 0; i < n.entries; ++i) {
        const Set below = EntryOf(n, i).below;
        if (below != variable && !numbers.count(below)) work.push_back(below);
      }
    if (work.size() > open) continue;
    work.pop_back();
    if (!numbers.emplace(x, static_cast<uint32_t>(shape->nodes.size())).second) continue;
    for (uint32_t i = 0; i < n.entries; ++i) {
      const Entry e = EntryOf(n, i);
      shape->entries.push_back({e.state, e.below == variable ? kBelowShape : numbers.at(e.below)});
    }
    shape->nodes.push_back({n.entries, n.variables != 0});
  }
  shape_ids_[key] = static_cast<uint32_t>(shapes_.size());
  shapes_.push_back(std::move(shape));
  return *shapes_.back();
}

void StackSets::PutOn(const Shape& shape, Set below, Gathered* out) {
  put_.clear();
  const Entry* entry = shape.entries.data();
  for (const Shape::Node& n : shape.nodes) {
    put_entries_.clear();
    for (uint32_t i = 0; i < n.entries; ++i, ++entry)
      put_entries_.push_back({entry->state, entry->below == kBelowShape ? below : put_[entry->below]});
    if (put_.size() + 1 == shape.nodes.size()) {
      out->entries.insert(out->entries.end(), put_entries_.begin(), put_entries_.end());
      if (n.ends) Gather(below, out);
      return;
    }
    const Set above = Intern(put_entries_.data(), n.entries, nullptr, 0);
    put_.push_back(n.ends ? Union(above, below) : above);
  }
}

void StackSets::Gather(Set p, Gathered* out) const {
  const Node& n = nodes_[p];
  for (uint32_t i = 0; i < n.entries; ++i) out->entries.push_back(EntryOf(n, i));
  for (uint32_t i = 0; i < n.variables; ++i) out->variables.push_back(VariableOf(n, i));
}

StackSets::Set StackSets::Unite(Gathered* all) {
  std::vector<Entry>& entries = all->entries;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return PairKey(a.state, a.below) < PairKey(b.state, b.below); });
  size_t count = 0;
  for (const Entry e : entries) {
    if (count && entries[count - 1].state == e.state)
      entries[count - 1].below = Union(entries[count - 1].below, e.below);
    else
      entries[count++] = e;
  }
  std::vector<uint32_t>& variables = all->variables;
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  return Intern(entries.data(), count, variables.data(), variables.size());
}

std::pair<const StackSets::Way*, const StackSets::Way*> StackSets::WaysOf(uint32_t state, uint32_t terminal) {
  const std::vector<Way>& ways = WaysOf(state);
  const Way* const end = ways.data() + ways.size();
  const Way* const first =
      std::lower_bound(ways.data(), end, terminal, [](const Way& w, uint32_t t) { return w.terminal < t; });
  const Way* last = first;
  while (last != end && last->terminal == terminal) ++last;
  return {first, last};
}

// With what lies below final states known.
StackSets::Set StackSets::AdvanceTop(Set p, uint32_t terminal) {
  const Node n = nodes_[p];
  if (TopUnknown(n)) return kUnknown;
  gathered_.entries.clear();
  gathered_.variables.clear();
  for (uint32_t i = 0; i < n.entries; ++i) {
    const Entry e = EntryOf(n, i);
    const auto [way, last] = WaysOf(e.state, terminal);
    const size_t count = static_cast<size_t>(last - way);
    if (count == 1)
      Gather(Follow(*way, e.below), &gathered_);
    else if (count)
      PutOn(ShapeOf(e.state, way, count), e.below, &gathered_);
    if (!rules_->states[e.state].final) continue;
    const Set popped = *advanced_.Find(PairKey(e.below, terminal));
    if (popped == kUnknown) return kUnknown;
    Gather(popped, &gathered_);
  }
  return Unite(&gathered_);
}

uint32_t StackSets::Accepts(Set p) {
  BottomUp(
      p, [&](Set x) { return accepts_[x] != kNotAsked; },
      [&](Set x) {
        const Node n = nodes_[x];
        uint8_t result = n.variables ? 1 : 0;
        if (TopUnknown(n)) {
          result = kOpen;
        } else {
          for (uint32_t i = 0; i < n.entries; ++i) {
            const Entry e = EntryOf(n, i);
            if (rules_->states[e.state].final) result = std::max(result, accepts_[e.below]);
          }
        }
        accepts_[x] = result;
      });
  return accepts_[p] == kOpen ? kUnknown : accepts_[p];
}

bool StackSets::MayEndAfter(uint32_t state, uint32_t terminal) {
  const auto [first, last] = WaysOf(state, terminal);
  return std::any_of(first, last, [this](const Way& way) {
    const auto chain = chains_.begin() + way.chain;
    return rules_->states[way.target].final &&
           std::all_of(chain, chain + way.chain_length, [this](uint32_t q) { return rules_->states[q].final; });
  });
}

bool StackSets::AcceptsAfter(Set p, uint32_t terminal) {
  const Node n = nodes_[p];
  bool at_once = !TopUnknown(n);
  for (uint32_t i = 0; i < n.entries && at_once; ++i) at_once = !rules_->states[EntryOf(n, i).state].final;
  if (!at_once) {
    const Set after = Advance(p, terminal);
    return after != kNone && Accepts(after) == 1;
  }
  for (uint32_t i = 0; i < n.entries; ++i) {
    const Entry e = EntryOf(n, i);
    if (Accepts(e.below) == 1 && MayEndAfter(e.state, terminal)) return true;
  }
  return false;
}

uint32_t StackSets::InternAllowed(std::vector<uint64_t> set) {
  uint64_t hash = 1;
  for (const uint64_t w : set) hash = MixHash(hash ^ w) + 0x9e3779b97f4a7c15ull;
  for (;; ++hash) {
    const auto [it, added] = allowed_ids_.emplace(hash, static_cast<uint32_t>(allowed_sets_.size()));
    if (added) {
      allowed_sets_.push_back(std::move(set));
      return it->second;
    }
    if (allowed_sets_[it->second] == set) return it->second;
  }
}

uint32_t StackSets::Allowed(Set p) {
  BottomUp(
      p, [&](Set x) { return allowed_[x] != kNotKnown; },
      [&](Set x) {
        const Node n = nodes_[x];
        if (TopUnknown(n)) {
          allowed_[x] = kUnknown;
          return;
        }
        std::vector<uint64_t> set((num_terminals_ + 63) / 64, 0);
        for (uint32_t i = 0; i < n.entries; ++i) {
          const Entry e = EntryOf(n, i);
          for (const Way& way : WaysOf(e.state)) set[way.terminal >> 6] |= uint64_t{1} << (way.terminal & 63);
          if (!rules_->states[e.state].final) continue;
          if (allowed_[e.below] == kUnknown) {
            allowed_[x] = kUnknown;
            return;
          }
          const std::vector<uint64_t>& more = allowed_sets_[allowed_[e.below]];
          for (size_t w = 0; w < set.size(); ++w) set[w] |= more[w];
        }
        allowed_[x] = InternAllowed(std::move(set));
      });
  return allowed_[p];
}

// ---------------------------------------------------------------------------------------------- cutting and copying

// Of a set with one stack, as far as it matters; kNone where there are more.
StackSets::Set StackSets::TruncateOne(Set p, uint32_t depth) {
  constexpr uint32_t kMostDepth = 16;
  if (depth > kMostDepth) return kNone;
  uint32_t states[kMostDepth], count = 0;
  for (; nodes_[p].entries != 0 && count < depth; ++count) {
    const Node& n = nodes_[p];
    if (n.entries > 1 || n.variables) return kNone;
    const Entry e = EntryOf(n, 0);
    states[count] = e.state;
    p = e.below;
  }
  Set cut = nodes_[p].entries ? Variable(0) : p;
  while (count > 0) {
    const Entry entry{states[--count], cut};
    cut = Intern(&entry, 1, nullptr, 0);
  }
  return cut;
}

StackSets::Set StackSets::Truncate(Set p, uint32_t depth) {
  if (const Set* const known = truncated_.Find(PairKey(p, depth))) return *known;
  if (const Set cut = TruncateOne(p, depth); cut != kNone) {
    truncated_[PairKey(p, depth)] = cut;
    return cut;
  }
  std::unordered_map<Set, uint32_t> variables;         // what was cut off
  std::unordered_map<uint64_t, Set> done;              // by set and depth left
  std::vector<std::pair<Set, uint32_t>> work{{p, depth}};
  const auto is_cut = [&](Set x, uint32_t left) { return left == 0 && nodes_[x].entries != 0; };
  while (!work.empty()) {
    const auto [x, left] = work.back();
    if (done.count(PairKey(x, left))) {
      work.pop_back();
      continue;
    }
    TimeLimit::Spend();
    const Node n = nodes_[x];
    if (is_cut(x, left)) {
      const uint32_t v = variables.emplace(x, static_cast<uint32_t>(variables.size())).first->second;
      done[PairKey(x, left)] = Variable(v);
      work.pop_back();
      continue;
    }
    std::vector<Entry> entries;
    const size_t pending = work.size();
    for (uint32_t i = n.entries; i-- > 0;) {  // the first entry's variables are numbered first
      const Entry e = EntryOf(n, i);
      const auto below = done.find(PairKey(e.below, left - 1));
      if (below == done.end())
        work.emplace_back(e.below, left - 1);
      else
        entries.push_back({e.state, below->second});
    }
    if (work.size() > pending) continue;
    std::reverse(entries.begin(), entries.end());
    std::vector<uint32_t> bottoms;
    for (uint32_t i = 0; i < n.variables; ++i) bottoms.push_back(VariableOf(n, i));
    done[PairKey(x, left)] = Intern(entries, bottoms);
    work.pop_back();
  }
  const Set cut = done.at(PairKey(p, depth));
  truncated_[PairKey(p, depth)] = cut;
  return cut;
}

StackSets::Set StackSets::Adopt(const StackSets& other, Set p, std::unordered_map<Set, Set>* done) {
  done->emplace(kNone, kNone);
  std::vector<Set> work{p};
  while (!work.empty()) {
    const Set x = work.back();
    const Node& n = other.nodes_[x];
    const size_t pending = work.size();
    std::vector<Entry> entries;
    if (!done->count(x)) {
      for (uint32_t i = 0; i < n.entries; ++i) {
        const Entry e = other.EntryOf(n, i);
        const auto below = done->find(e.below);
        if (below == done->end())
          work.push_back(e.below);
        else
          entries.push_back({e.state, below->second});
      }
      if (work.size() > pending) continue;
      std::vector<uint32_t> variables;
      for (uint32_t i = 0; i < n.variables; ++i) variables.push_back(other.VariableOf(n, i));
      (*done)[x] = Intern(entries, variables);
    }
    work.pop_back();
  }
  return done->at(p);
}

std::vector<uint32_t> StackSets::TopRules(Set p) const {
  std::vector<uint32_t> rules;
  const Node& n = nodes_[p];
  for (uint32_t i = 0; i < n.entries; ++i) rules.push_back(rules_->states[EntryOf(n, i).state].rule);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

size_t StackSets::MemoryBytes() const {
  return nodes_.capacity() * sizeof(Node) + (data_.capacity() + chains_.capacity() + allowed_.capacity()) * sizeof(uint32_t) +
         advanced_.MemoryBytes() + unions_.MemoryBytes() + truncated_.MemoryBytes();
}

}  // namespace tokamata
