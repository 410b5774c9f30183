#include "decode/csrc/distance.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <string>

#include "automata/csrc/completion.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/length_bounds.h"
#include "automata/csrc/restored.h"
#include "decode/csrc/fewest_tokens.h"

namespace tokamata {
namespace {

constexpr size_t kMostTargets = size_t{1} << 22;  // states kept in lists of targets
constexpr size_t kNearby = 128;                   // states around a permissive one that are looked at instead of tokens
// Of a push-down constraint: from so many states of a search, and walks through all tokens of all searches so far,
// summaries are better; from so many steps of one summary searches are; from so many walks of one search summaries are,
// however long they take.
constexpr size_t kQuick = 100;
constexpr size_t kWalks = 8;
constexpr size_t kSummarized = 300'000;
constexpr size_t kManyWalks = 200;
constexpr size_t kPlain = 8;                      // states of one search that look at all targets, before spellings do
constexpr size_t kItems = 10;                     // of TokenLengths, for each state that may have a row
constexpr uint32_t kMostTried = 100;               // tokens that are tried out, one behind the other
constexpr double kShareOfRow = 1.0 / 4, kShareOfKnown = 1.0 / 40;  // of `seconds`: see SecondsForRow
constexpr size_t kMostReached = 2000;              // states, in search of a short text
constexpr size_t kMostBytesOfText = size_t{1} << 26;  // that the acceptor may grow by meanwhile
constexpr size_t kMostExpanded = 200;             // states, in search of a shortest string
constexpr uint64_t kWeight = 8;                   // of a byte that seems to be left, where that is too many
constexpr size_t kShareVisited = 40;              // of the states that there may be, in searches for one row of a grammar
constexpr size_t kSettled = 2;                    // steps of summaries, for each such state, for one row of all else
constexpr uint64_t kMostBytes = 1 << 16;           // from which lengths are not asked for
constexpr size_t kOpenRows = 128;                 // that are kept
constexpr int kPermissive = 64;                   // live bytes from which that may be quicker

// Of two bytes that lead to the same state, the one that long tokens are rather made of.
bool IsBetterText(uint8_t a, uint8_t b) {
  const auto rank = [](uint8_t c) { return c == ' ' ? 3 : c >= 'a' && c <= 'z' ? 2 : c > ' ' && c < 0x7F ? 1 : 0; };
  return rank(a) > rank(b);
}

// Whether parts of it are no expressions, as grammars are, of which TokenLengths knows nothing.
bool HasLeaves(DelayedAcceptor* acceptor) {
  auto* const expressions = dynamic_cast<ExpressionAcceptor*>(acceptor);
  return expressions && expressions->WithPool([](const Expressions& pool) { return pool.HasLeaves(); });
}

// The acceptor, where TokenLengths can answer.
ExpressionAcceptor* PushDown(DelayedAcceptor* acceptor, const Vocabulary& vocabulary, bool complete) {
  auto* const expressions = dynamic_cast<ExpressionAcceptor*>(acceptor);
  if (!expressions || !complete || vocabulary.HasMarkers()) return nullptr;
  const auto calls = [](const Expressions& pool) { return pool.NumRuleSources() > 0; };
  return expressions->WithPool(calls) ? expressions : nullptr;
}

}  // namespace

DistanceTable::DistanceTable(DelayedAcceptor* acceptor, const Vocabulary* vocabulary, bool complete,
                             std::function<bool(State)> can_finish)
    : acceptor_(acceptor),
      vocabulary_(vocabulary),
      trie_(vocabulary->Masks().trie()),
      loop_tokens_(acceptor, vocabulary),
      complete_(complete),
      may_remember_(acceptor->MayRemember()),
      has_leaves_(HasLeaves(acceptor)),
      push_down_(PushDown(acceptor, *vocabulary, complete)),
      can_finish_(std::move(can_finish)),
      spelling_(nullptr),
      longest_(std::max(vocabulary->MaxTokenBytes(), 1u)) {
  if (has_leaves_ && complete && !vocabulary->HasMarkers())
    left_ = std::make_unique<TokensLeft>(dynamic_cast<ExpressionAcceptor*>(acceptor), vocabulary);
}

// ---------------------------------------------------------------------------------------------- in bytes

// Only states under others have no way to an end.
void DistanceTable::SetEndless(State q) {
  bounds_[q].low = kFar;
  bounds_[q].looked = true;
}

const DistanceTable::Bounds& DistanceTable::Look(State q) {
  if (Slot(q).looked) return bounds_[q];
  if (acceptor_->LeastLength(q) == kNoLength)
    SetEndless(q);
  else if (bounds_[q].bytes == kFar)
    FindBytes(q);
  if (bounds_[q].looked) return bounds_[q];
  SpellPath(q);
  return bounds_[q];
}

// A*: a shortest string from root to a final state, or to a state from which one is known; kept for all states on it.
// Where bounds are so far off that many states would be looked at (in grammars they leave out what has to stand between
// lexemes), a short one: what seems to be left counts for more than what was read (Pohl 1970).
void DistanceTable::FindBytes(State root) {
  if (!FindBytes(root, 1, kMostExpanded)) FindBytes(root, kWeight, SIZE_MAX);
}

bool DistanceTable::FindBytes(State root, uint64_t weight, size_t most) {
  struct Node {
    State state;
    uint32_t parent, steps;
    uint8_t byte;
  };
  struct Open {
    uint64_t total;  // steps so far and those still needed at least
    uint32_t steps, node;
    bool operator<(const Open& o) const { return total != o.total ? total > o.total : steps < o.steps; }
  };
  std::vector<Node> nodes;
  std::unordered_map<State, uint32_t> index;
  std::priority_queue<Open> open;
  const auto reach = [&](State q, uint32_t parent, uint32_t steps, uint8_t byte) {
    const auto [it, added] = index.emplace(q, static_cast<uint32_t>(nodes.size()));
    if (added)
      nodes.push_back({q, parent, steps, byte});
    else if (nodes[it->second].steps > steps)
      nodes[it->second] = {q, parent, steps, byte};
    else
      return it->second;
    const bool known = Slot(q).bytes != kFar && (bounds_[q].shortest || weight > 1);
    open.push({uint64_t{steps} + weight * (known ? bounds_[q].bytes : acceptor_->LeastLength(q)), steps, it->second});
    return it->second;
  };
  reach(root, 0, 0, 0);
  for (size_t expanded = 0; !open.empty(); ++expanded) {
    if (expanded == most) return false;
    const Open top = open.top();
    open.pop();
    const Node at = nodes[top.node];
    if (at.steps != top.steps) continue;
    if (acceptor_->IsFinal(at.state)) bounds_[at.state].bytes = 0;
    if (bounds_[at.state].bytes != kFar) {
      const uint32_t total = at.steps + bounds_[at.state].bytes;
      const bool shortest = weight == 1 && bounds_[at.state].shortest;
      for (uint32_t i = top.node; i != 0; i = nodes[i].parent) {
        Bounds& b = bounds_[nodes[nodes[i].parent].state];
        if (b.bytes != kFar && (b.shortest || b.bytes <= total - nodes[nodes[i].parent].steps)) continue;
        b.bytes = total - nodes[nodes[i].parent].steps;
        b.next = nodes[i].state;
        b.byte = nodes[i].byte;
        b.shortest = shortest;
      }
      return true;
    }
    TimeLimit::Spend(8);
    const StateRow row = acceptor_->Row(at.state);
    State last = DelayedAcceptor::kDead;
    uint32_t last_node = 0;
    acceptor_->Live(at.state).ForEach([&](uint8_t b) {
      if (row[b] != last) {  // neighbours mostly share their target
        last = row[b];
        last_node = reach(last, top.node, top.steps + 1, b);
      }
      Node& n = nodes[last_node];
      if (n.parent == top.node && n.steps == top.steps + 1 && IsBetterText(b, n.byte)) n.byte = b;
    });
  }
  for (const Node& node : nodes) SetEndless(node.state);  // though their least lengths did not tell
  return true;
}

// How many tokens spell the shortest string that is known from root, and from the states along it.
void DistanceTable::SpellPath(State root) {
  std::vector<State> path{root};
  size_t fresh = 1;  // states at the beginning of the path that were not looked at before
  for (State q = root; bounds_[q].bytes && path.size() < fresh + longest_;) {
    q = bounds_[q].next;
    path.push_back(q);
    if (!bounds_[q].looked) fresh = path.size();
  }
  TimeLimit::Spend(static_cast<int64_t>(path.size()));
  for (size_t i = fresh; i-- > 0;) {
    Bounds& b = bounds_[path[i]];
    uint32_t node = 0;
    if (b.bytes == 0) b.high = 0;
    for (size_t j = i; j + 1 < path.size() && b.bytes; ++j) {
      node = trie_.Child(node, bounds_[path[j]].byte);
      if (node == kNoIndex) break;
      const uint32_t rest = bounds_[path[j + 1]].high;
      if (rest != kFar && trie_.TokensBegin(node) != trie_.TokensEnd(node)) b.high = std::min(b.high, rest + 1);
    }
    const uint32_t least = b.shortest ? b.bytes : acceptor_->LeastLength(path[i]);
    b.low = std::max(b.low, (least + longest_ - 1) / longest_);
    b.looked = true;
  }
  if (complete_) return;
  for (size_t i = 0; i < fresh; ++i)
    if (bounds_[path[i]].high == kFar && !can_finish_(path[i])) bounds_[path[i]].low = kFar;
}

void DistanceTable::SpellCompletion(State q, size_t most_reached, uint32_t k, uint32_t* row) {
  Slot(q).completed = true;
  const std::optional<std::string> text = ShortCompletion(acceptor_, q, most_reached, kMostBytesOfText);
  if (!text) return;
  std::vector<State> states{q};
  for (const char c : *text) states.push_back(acceptor_->Next(states.back(), static_cast<uint8_t>(c)));
  if (!states.back() || !acceptor_->IsFinal(states.back())) return;
  const std::vector<uint32_t> tokens = FewestTokens(trie_, *text);
  for (size_t i = 0; i < states.size(); ++i) Slot(states[i]).high = std::min(Slot(states[i]).high, tokens[i]);
  uint32_t node = 0;
  for (size_t j = 0; row && j < text->size(); ++j) {
    node = trie_.Child(node, static_cast<uint8_t>((*text)[j]));
    if (node == kNoIndex) break;
    if (tokens[j + 1] <= k && tokens[j + 1] != kFar)
      for (uint32_t t = trie_.TokensBegin(node); t < trie_.TokensEnd(node); ++t) SetToken(trie_.order[t], row);
  }
}

bool DistanceTable::CompletesWithin(State q, uint32_t k) {
  if (Slot(q).high > k && !Slot(q).completed) SpellCompletion(q, kMostReached);
  return Slot(q).high <= k;
}

uint32_t DistanceTable::MostKnown(State q) {
  try {
    const TimeLimit time("max_tokens", "seconds", acceptor_->seconds);
    if (Slot(q).high == kFar) SpellCompletion(q, std::numeric_limits<size_t>::max());
  } catch (const CapacityError&) {
    throw;
  } catch (const LimitError&) {  // then what is known has to do
  }
  return Slot(q).high;
}

// ---------------------------------------------------------------------------------------------- in tokens

template <class F, class G>
size_t DistanceTable::ForEachToken(uint32_t root, State q, F visit, G enter) {
  std::vector<StateRow> path(trie_.max_depth + 2);  // rows by depth; its own, as visit may come here again
  const uint32_t base = trie_.nodes[root].depth, end = trie_.nodes[root].end;
  path[0] = acceptor_->Row(q);
  uint32_t visited = 0;
  for (uint32_t n = root + 1; n < end;) {
    const Trie::Node& node = trie_.nodes[n];
    const State next = path[node.depth - base - 1][node.byte];
    if ((++visited & 255) == 0) TimeLimit::Spend(32);
    if (!next) {
      n = node.end;
      continue;
    }
    if (trie_.TokensBegin(n) != trie_.TokensEnd(n) && !visit(n, next)) break;
    if (node.end > n + 1 && !enter(n, next)) {
      n = node.end;
      continue;
    }
    if (node.end > n + 1) path[node.depth - base] = acceptor_->Row(next);
    ++n;
  }
  return visited;
}

const std::vector<DistanceTable::State>& DistanceTable::Targets(State q) {
  const auto known = targets_.find(q);
  if (known != targets_.end()) return known->second;
  if (targets_size_ > kMostTargets) {
    targets_.clear();
    targets_size_ = 0;
  }
  std::vector<State> targets;
  ++stamp_;
  const auto add = [&](State next) {
    if (next >= stamps_.size()) stamps_.resize(std::max<size_t>(next + 1, stamps_.size() * 2), 0);
    if (stamps_[next] == stamp_) return;
    stamps_[next] = stamp_;
    targets.push_back(next);
  };
  LoopTokens::Plan plan;
  if (loop_tokens_.MakePlan(q, &plan)) {
    loop_tokens_.ForEach(plan, [&](uint32_t, State next) { add(next); },
                         [&](const CutTokens::Group&, State next) { if (next) add(next); },
                         [&](uint32_t, State next) { add(next); });
  } else {
    ForEachToken(0, q, [&](uint32_t, State next) { return add(next), true; });
  }
  targets_size_ += targets.size();
  return targets_.emplace(q, std::move(targets)).first->second;
}

uint32_t DistanceTable::Search(State root, uint32_t k, bool exact) {
  struct Node {
    State state;
    uint32_t parent, steps;
  };
  struct Open {
    uint64_t total;
    uint32_t bytes, steps, node;
    bool operator<(const Open& o) const { return total != o.total ? total > o.total : bytes > o.bytes; }
  };
  const Bounds first = Look(root);
  if (first.low > k) return k + 1;
  if (first.high <= (exact ? first.low : k)) return first.high;
  if (push_down_ && lengths_ && summaries_ != Summaries::kNone)
    if (const auto distance = Summarize(root, k)) return *distance;
  std::vector<Node> nodes;
  std::unordered_map<State, uint32_t> index;
  std::priority_queue<Open> open;
  // What counts as an improvement: totals below this.
  uint64_t below = std::min<uint64_t>(uint64_t{k} + 1, first.high);
  bool found = first.high <= k;
  struct Turns {
    uint32_t high = 0, steps = kFar;
  };
  std::unordered_map<State, Turns> turns;  // by a state without a bound: of those with one that were reached
  // Whether a state was reached, no later, from which more turns of the same repetition may be taken.
  const auto has_more_turns = [&](State q, uint32_t steps) {
    uint32_t high;
    State unbounded;
    if (!acceptor_->MayRepeat(q, &high, &unbounded)) return false;
    Turns& most = turns[unbounded];
    if (most.steps <= steps && high <= most.high) return true;
    if (high >= most.high) most = {high, steps};
    return false;
  };
  const auto reach = [&](State q, uint32_t parent, uint32_t steps) {
    const Bounds b = Look(q);
    if (b.low == kFar || uint64_t{steps} + b.low >= below) return;
    const auto [it, added] = index.emplace(q, static_cast<uint32_t>(nodes.size()));
    if (added)
      nodes.push_back({q, parent, steps});
    else if (nodes[it->second].steps > steps)
      nodes[it->second] = {q, parent, steps};
    else
      return;
    if (!has_more_turns(q, steps)) open.push({uint64_t{steps} + b.low, b.bytes, steps, it->second});
    if (b.high == kFar || uint64_t{steps} + b.high >= below) return;
    below = steps + b.high;
    found = true;
    for (uint32_t i = it->second; i != 0; i = nodes[i].parent) {
      const Node& from = nodes[nodes[i].parent];
      Bounds& improved = bounds_[from.state];
      improved.high = std::min(improved.high, static_cast<uint32_t>(below) - from.steps);
    }
  };
  // Whether no token below a trie node, entered with q, leads to an improvement that nothing else does: where beginning
  // a new token at q costs no more, or what is known of q says so.
  const auto is_needless = [&](uint32_t node, State q, uint64_t cost) {
    const Bounds& b = Slot(q);
    if (cost >= below || b.low == kFar) return true;
    const uint32_t from = spelling_->From(node);
    if (from == SuffixSpelling::kMost) return false;
    if (cost + b.low >= below + from) return true;
    if (const auto it = index.find(q); it != index.end() && nodes[it->second].steps + from <= cost) return true;
    const uint64_t most = uint64_t{trie_.Height(node)} + (below - 1 - cost) * longest_;  // bytes
    return trie_.Height(node) != kNoIndex && most < kMostBytes && acceptor_->LeastLength(q) > most;
  };
  if (room_to_search_ == 0) return found ? static_cast<uint32_t>(below) : Undecided(k);
  reach(root, 0, 0);
  size_t work = 0;  // nodes of the trie
  for (size_t looked = 0; !open.empty() && (exact || !found); ++looked) {
    const bool longer = summaries_ == Summaries::kNone;
    const size_t walks = longer ? work / kManyWalks : searched_ / kWalks;
    if (push_down_ && looked >= kQuick && walks > trie_.Size()) {
      if (longer) summaries_ = Summaries::kLong;
      if (const auto distance = Summarize(root, k)) return *distance;
    }
    const Open top = open.top();
    open.pop();
    if (top.total >= below) break;
    if (nodes[top.node].steps != top.steps) continue;
    const State from = nodes[top.node].state;
    const size_t before = nodes.size();
    size_t seen = 0;
    if (looked == kPlain && complete_ && !vocabulary_->HasMarkers()) spelling_ = &vocabulary_->Spelling();
    if (spelling_) {
      const uint32_t cost = top.steps + 1;
      const auto visit = [&](uint32_t, State next) { return reach(next, top.node, cost), cost < below; };
      seen = ForEachToken(0, from, visit, [&](uint32_t n, State next) { return !is_needless(n, next, cost); });
    } else {
      for (const State t : Targets(from)) reach(t, top.node, top.steps + 1);
      seen = trie_.Size();
    }
    work += seen;
    searched_ += seen;
    const size_t room = 4 + nodes.size() - before + seen / 256;
    TimeLimit::Spend(static_cast<int64_t>(room));
    if (has_leaves_ && room_to_search_ != SIZE_MAX) {  // a row that is being built
      room_to_search_ -= std::min(room_to_search_, room);
      if (room_to_search_ == 0) break;
    }
  }
  if (room_to_search_ == 0) return found ? static_cast<uint32_t>(below) : Undecided(k);
  if (exact || !found)  // nothing from root takes less than `below`
    for (const Node& n : nodes) {
      Bounds& b = bounds_[n.state];
      if (below > n.steps) b.low = std::max(b.low, static_cast<uint32_t>(below) - n.steps);
    }
  return static_cast<uint32_t>(below);
}

std::optional<uint32_t> DistanceTable::Summarize(State root, uint32_t k) {
  if (!lengths_) {
    const size_t items = kItems * push_down_->max_states;
    lengths_ = std::make_unique<TokenLengths>(push_down_, vocabulary_, items);
  }
  const bool briefly = summaries_ == Summaries::kShort && room_to_search_ > kSummarized;
  size_t room = briefly ? kSummarized : room_to_search_;
  const uint32_t distance = lengths_->Distance(root, k, &room);
  if (!briefly)
    room_to_search_ = room;
  else if (room_to_search_ != SIZE_MAX)
    room_to_search_ -= kSummarized - room;
  Bounds& b = Slot(root);
  if (distance == TokenLengths::kUnknown) {
    if (!briefly) return Undecided(k);
    summaries_ = Summaries::kNone;
    return std::nullopt;
  }
  b.low = std::max(b.low, distance == TokenLengths::kFar ? k + 1 : distance);
  if (distance != TokenLengths::kFar) b.high = distance;
  return distance == TokenLengths::kFar ? k + 1 : distance;
}

bool DistanceTable::Decide(State q, uint32_t k) {
  if (const Bounds& known = Slot(q); known.high <= k || known.low > k) return known.high <= k;
  Twins twins;
  if (HasTwins(q, &twins)) return DecideByTwins(q, twins, k);
  if (quickly_ && left_ && left_->Of(q) <= k) return true;
  const Bounds b = Look(q);
  if (b.high <= k) return true;
  if (b.low > k) return false;
  const size_t before = undecided_;
  State over, under;
  if (acceptor_->CountsSoon(q, &over, &under)) {  // the bound rarely matters, and each count would be searched
    if (Decide(under, k)) {
      Slot(q).high = std::min(bounds_[q].high, k);
      return true;
    }
    if (!Decide(over, k)) {
      if (undecided_ == before) Slot(q).low = std::max(bounds_[q].low, k + 1);
      return false;
    }
  }
  return Search(q, k, false) <= k;
}

bool DistanceTable::AtMost(State q, uint32_t k) {
  const TimeLimit time("max_tokens", "seconds", acceptor_->seconds);
  if (!q) return false;
  if (complete_ && !Slot(q).looked) {  // every byte of a shortest string may be a token
    const uint32_t most = acceptor_->MostLength(q);
    if (most != kUnknownLength && most <= k) return true;
  }
  const Restored<bool> quickly(&quickly_);
  quickly_ = true;
  return Decide(q, k);
}

bool DistanceTable::SurelyAtMost(State q, uint32_t k) {
  try {
    const TimeLimit time("max_tokens", "seconds", acceptor_->seconds);
    return AtMost(q, k);
  } catch (const CapacityError&) {
    throw;
  } catch (const LimitError&) {
    if (TimeLimit::IsOver()) throw;  // the time of a longer call
    const TimeLimit time("max_tokens", "seconds", acceptor_->seconds);
    if (!CompletesWithin(q, k)) throw;
    return true;
  }
}

uint32_t DistanceTable::Distance(State q) {
  const TimeLimit time("max_tokens", "seconds", acceptor_->seconds);
  Twins twins;
  if (q && HasTwins(q, &twins)) return DistanceByTwins(q, twins);
  return q && Look(q).low != kFar ? Search(q, kFar - 1, true) : kFar;
}

// ---------------------------------------------------------------------------------------------- states that remember

bool DistanceTable::HasTwins(State q, Twins* twins) {
  if (!may_remember_) return false;
  twins->over = acceptor_->Over(q);
  if (twins->over == q) return false;
  twins->under = acceptor_->Under(q);
  return true;
}

bool DistanceTable::DecideByTwins(State q, const Twins& twins, uint32_t k) {
  if (Slot(q).high <= k) return true;
  if (Slot(q).low > k) return false;
  const size_t before = undecided_;
  if (twins.over && Decide(twins.over, k)) {
    bool near = !acceptor_->Approximates() || acceptor_->IsFinal(q) || (twins.under && Decide(twins.under, k)) ||
                CompletesWithin(q, k);
    if (!near && k && room_to_search_) {
      std::vector<uint32_t> row(vocabulary_->Words());
      FillRow(twins.over, k - 1, row.data());
      near = TryTokens(0, q, k - 1, row.data());
    }
    if (near) {
      Slot(q).high = std::min(Slot(q).high, k);
      return true;
    }
  }
  if (undecided_ == before) Slot(q).low = std::max(Slot(q).low, k + 1);
  return false;
}

uint32_t DistanceTable::DistanceByTwins(State q, const Twins& twins) {
  uint32_t distance = twins.over ? Distance(twins.over) : kFar;
  Slot(q).low = std::max(Slot(q).low, distance);
  if (distance == kFar) return kFar;
  Slot(q).high = !acceptor_->Approximates() ? distance : twins.under ? Distance(twins.under) : kFar;
  while (!Decide(q, distance)) ++distance;
  return distance;
}

bool DistanceTable::TryTokens(uint32_t root, State q, uint32_t k, const uint32_t* row) {
  struct Nested {
    uint32_t* depth;
    ~Nested() { --*depth; }
  };
  const Nested nested{&++tried_};
  if (tried_ > kMostTried) return ++undecided_, false;
  const uint32_t depth = trie_.nodes[root].depth, last = trie_.nodes[trie_.nodes[root].end].tokens;
  for (uint32_t i = trie_.TokensBegin(root); i < last; ++i) {
    const uint32_t id = trie_.order[i];
    if (row && !HasToken(row, id)) continue;
    TimeLimit::Spend(8);
    const State next = acceptor_->Run(q, vocabulary_->Token(id).substr(depth));
    if (next && Decide(next, k)) return true;
  }
  return false;
}

void DistanceTable::FillRowByTwins(State q, const Twins& twins, uint32_t k, uint32_t* row) {
  std::vector<uint32_t> all(vocabulary_->Words(), 0);
  std::fill(row, row + vocabulary_->Words(), 0u);
  if (!twins.over) return;
  FillSharedRow(twins.over, k, all.data());
  if (!acceptor_->Approximates()) {
    std::copy(all.begin(), all.end(), row);
    return;
  }
  if (twins.under) FillSharedRow(twins.under, k, row);
  for (size_t w = 0; w < all.size(); ++w) all[w] &= ~row[w];
  ForEachTokenIn(all.data(), vocabulary_->Words(), [&](uint32_t id) {
    TimeLimit::Spend(8);
    const State next = acceptor_->Run(q, vocabulary_->Token(id));
    if (next && Decide(next, k)) SetToken(id, row);
  });
}

// ---------------------------------------------------------------------------------------------- masks

void DistanceTable::SetMost(State q, uint32_t most) {
  most_.Ensure(q);
  if (kFar - most > most_[q].load(std::memory_order_relaxed)) most_[q].store(kFar - most, std::memory_order_relaxed);
}

bool DistanceTable::FindRoomByStructure(State q, uint32_t k) {
  if (LeavesRoom(q, k)) return true;
  if (!complete_) return false;
  SetMost(q, acceptor_->MostLength(q));
  if (LeavesRoom(q, k)) return true;
  if (left_) SetMost(q, left_->OfTargets(q, k));
  return LeavesRoom(q, k);
}

// The most tokens that any state needs which bytes of one token lead to, when there are few such states.
uint32_t DistanceTable::MostNearby(State q) {
  std::vector<State> states;
  size_t level = 0;
  uint32_t most = 0;
  const auto add = [&](State p) {
    if (p >= stamps_.size()) stamps_.resize(std::max<size_t>(p + 1, stamps_.size() * 2), 0);
    if (stamps_[p] == stamp_) return;
    stamps_[p] = stamp_;
    states.push_back(p);
  };
  const bool markers = vocabulary_->HasMarkers();
  const auto expand = [&](State p) {
    const StateRow row = acceptor_->Row(p);
    ByteSet live = acceptor_->Live(p);
    if (markers) live.Remove(Vocabulary::kMarkerByte);  // no token ends inside of a special one
    State last = DelayedAcceptor::kDead;
    live.ForEach([&](uint8_t b) {
      if (row[b] == last) return;
      last = row[b];
      add(last);
    });
  };
  ++stamp_;
  const uint32_t marked = markers ? trie_.Child(0, Vocabulary::kMarkerByte) : kNoIndex;
  if (const State p = marked == kNoIndex ? State{} : acceptor_->Next(q, Vocabulary::kMarkerByte))
    ForEachToken(marked, p, [&](uint32_t, State next) { return add(next), true; });
  expand(q);
  for (uint32_t depth = 1; depth < longest_ && level < states.size(); ++depth)
    for (const size_t end = states.size(); level < end; ++level) {
      if (states.size() > kNearby) return kFar;
      expand(states[level]);
    }
  for (const State s : states) {
    const Bounds& b = Look(s);
    if (b.low != kFar) most = std::max(most, b.high);
  }
  return most;
}

bool DistanceTable::FindRoom(State q, uint32_t k) {
  const TimeLimit time("max_tokens", "seconds", acceptor_->seconds);
  if (FindRoomByStructure(q, k)) return true;
  if (left_ && left_->Of(q) != TokensLeft::kNotKnown) return false;
  Twins twins;
  const State near = HasTwins(q, &twins) ? twins.over : q;
  if (!near || Slot(q).enumerated || acceptor_->Live(near).Count() < kPermissive) return false;
  const uint32_t most = MostNearby(near);
  if (near == q || !acceptor_->Approximates()) SetMost(q, most);
  return LeavesRoom(q, k);
}

bool DistanceTable::ClearFar(State q, uint32_t k, const std::vector<uint32_t>& may_be_far, uint32_t* row) {
  constexpr size_t kMostRun = 200;
  std::vector<uint32_t> ids, far;
  for (const uint32_t id : may_be_far) {
    if (!HasToken(row, id)) continue;
    if (ids.size() == kMostRun) return false;
    ids.push_back(id);
  }
  const Restored<size_t> restored(&room_to_search_);
  room_to_search_ = std::min(room_to_search_, RoomForRow());
  const Restored<bool> quickly(&quickly_);
  quickly_ = true;
  const bool decided = Within(SecondsForRow(), [&] {
    for (const uint32_t id : ids) {
      TimeLimit::Spend(8);
      const State next = acceptor_->Run(q, vocabulary_->Token(id));
      if (!next || !Decide(next, k)) far.push_back(id);
    }
  });
  if (!decided) return false;
  for (const uint32_t id : far) ClearToken(id, row);
  return true;
}

size_t DistanceTable::RoomForRow() const {
  return std::max<size_t>(1, has_leaves_ ? acceptor_->max_states / kShareVisited : kSettled * acceptor_->max_states);
}

// Whether fill() took no longer than that.
template <class F>
bool DistanceTable::Within(double seconds, F fill) {
  try {
    const TimeLimit time("max_tokens", "seconds", seconds);
    fill();
    return true;
  } catch (const CapacityError&) {
    throw;
  } catch (const LimitError&) {
    if (TimeLimit::IsOver()) throw;  // the time of a longer call
    return false;
  }
}

double DistanceTable::SecondsForRow() const {
  return ((push_down_ && !has_leaves_) || may_remember_ ? kShareOfRow : 1) * acceptor_->seconds;
}

void DistanceTable::BuildRow(State q, uint32_t k, uint32_t* row) {
  const auto held = acceptor_->Hold();  // each of many questions would take the lock
  if (Within(SecondsForRow(), [&] { FillExactRow(q, k, row); })) return;
  std::vector<uint32_t> known(vocabulary_->Words());
  const bool swept = Within(kShareOfKnown * acceptor_->seconds, [&] { FillKnownRow(q, k, known.data()); });
  std::fill(row, row + vocabulary_->Words(), 0u);
  const TimeLimit time("max_tokens", "seconds", acceptor_->seconds);
  SpellCompletion(q, kMostReached, k, row);
  for (size_t w = 0; swept && w < known.size(); ++w) row[w] |= known[w];
  if (std::none_of(row, row + vocabulary_->Words(), [](uint32_t w) { return w != 0; })) FillExactRow(q, k, row);
}

void DistanceTable::FillExactRow(State q, uint32_t k, uint32_t* row) {
  Twins twins;
  if (HasTwins(q, &twins)) return FillRowByTwins(q, twins, k, row);
  FillRow(q, k, row);
}

// Tokens after which an end within k is known already, or found without a search; of a state that remembers those of the
// state under it.
void DistanceTable::FillKnownRow(State q, uint32_t k, uint32_t* row) {
  const Restored<size_t> restored(&room_to_search_);
  room_to_search_ = 0;
  Twins twins;
  if (!HasTwins(q, &twins))
    FillWholeRow(q, k, row);
  else if (twins.under)
    FillWholeRow(twins.under, k, row);
  else
    std::fill(row, row + vocabulary_->Words(), 0u);
}

void DistanceTable::FillRow(State q, uint32_t k, uint32_t* row) {
  if (!has_leaves_ && !push_down_) return FillWholeRow(q, k, row);
  const Restored<size_t> restored(&room_to_search_);
  room_to_search_ = std::min(room_to_search_, RoomForRow());
  FillWholeRow(q, k, row);
  if (room_to_search_ || std::any_of(row, row + vocabulary_->Words(), [](uint32_t w) { return w != 0; })) return;
  room_to_search_ = restored.Before();
  FillWholeRow(q, k, row);
}

void DistanceTable::FillSharedRow(State q, uint32_t k, uint32_t* row) {
  const auto known = open_rows_.find(q);
  if (known != open_rows_.end() && LeavesRoom(q, k)) {
    std::copy(known->second.begin(), known->second.end(), row);
    return;
  }
  const size_t before = undecided_;
  FillRow(q, k, row);
  if (undecided_ != before || !LeavesRoom(q, k)) return;
  if (open_rows_.size() == kOpenRows) open_rows_.clear();
  open_rows_[q].assign(row, row + vocabulary_->Words());
}

void DistanceTable::FillWholeRow(State q, uint32_t k, uint32_t* row) {
  Row out{row, k, 0};
  LoopTokens::Plan plan;
  if (loop_tokens_.MakePlan(q, &plan)) {
    BuildLoopRow(plan, &out);
  } else {
    std::fill(row, row + vocabulary_->Words(), 0u);
    ForEachToken(0, q, [&](uint32_t node, State next) {
      if (Take(next, &out))
        for (uint32_t i = trie_.TokensBegin(node); i < trie_.TokensEnd(node); ++i) out.Set(trie_.order[i], true);
      return true;
    });
  }
  SetMost(q, out.most);
  Slot(q).enumerated = true;
}

bool DistanceTable::Take(State target, Row* row) {
  const bool near = Decide(target, row->k);
  const Bounds& b = bounds_[target];
  if (b.low != kFar) row->most = std::max(row->most, b.high);
  return near;
}

void DistanceTable::BuildLoopRow(const LoopTokens::Plan& plan, Row* row) {
  const Factor& f = loop_tokens_.Inside(plan);
  const uint32_t most = loop_tokens_.MostChars(plan);
  std::vector<uint8_t> inside(most + 1, 0);  // by number of characters
  bool started = false;
  const auto start = [&] {  // the tokens inside, from all of them or from none, whatever differs less
    started = true;
    uint32_t near = 0;
    for (uint32_t l = 1; l <= most; ++l) near += inside[l] ? f.offsets[l + 1] - f.offsets[l] : 0;
    const bool from_all = 2 * near > f.offsets[most + 1];
    const Factoring::Base base = vocabulary_->Masks().InsideAtMost(plan.class_id, from_all ? most : 0);
    std::copy(base.row, base.row + vocabulary_->Words(), row->words);
    for (const uint32_t* id = base.more; id != base.more_end; ++id) row->Set(*id, true);
    for (uint32_t l = 1; l <= most; ++l)
      for (uint32_t i = f.offsets[l]; (inside[l] != 0) != from_all && i < f.offsets[l + 1]; ++i)
        row->Set(f.inside[i], !from_all);
  };
  loop_tokens_.ForEach(
      plan,
      [&](uint32_t chars, State q) {
        const bool near = Take(q, row);
        if (chars)
          inside[chars] = near;
        else
          std::fill(inside.begin(), inside.end(), near);
      },
      [&](const CutTokens::Group& cut, State q) {
        if (!started) start();
        const bool near = q && Take(q, row);
        for (const uint32_t id : cut.ids) row->Set(id, near);
      },
      [&](uint32_t id, State q) {
        if (!started) start();
        if (Take(q, row)) row->Set(id, true);
      });
  if (!started) start();
}

bool DistanceTable::AnyToken(uint32_t node, State q, uint32_t k) {
  const TimeLimit time("max_tokens", "seconds", acceptor_->seconds);
  Twins twins;
  if (HasTwins(q, &twins)) {
    if (!twins.over || !AnyToken(node, twins.over, k)) return false;
    return !acceptor_->Approximates() || (twins.under && AnyToken(node, twins.under, k)) || TryTokens(node, q, k, nullptr);
  }
  if (node && trie_.TokensBegin(node) != trie_.TokensEnd(node) && Decide(q, k)) return true;
  bool any = false;
  ForEachToken(node, q, [&](uint32_t, State next) {
    any = Decide(next, k);
    return !any;
  });
  return any;
}

}  // namespace tokamata
