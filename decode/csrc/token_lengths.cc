#include "decode/csrc/token_lengths.h"

#include <algorithm>
#include <string>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

constexpr Expr kEnded = 0xffffffff;  // in the place of what is to be read

}  // namespace

TokenLengths::TokenLengths(ExpressionAcceptor* acceptor, const Vocabulary* vocabulary, size_t max_items)
    : acceptor_(acceptor),
      trie_(vocabulary->Masks().trie()),
      spelling_(vocabulary->Spelling()),
      max_items_(max_items) {}

uint32_t TokenLengths::Distance(DelayedAcceptor::State q, uint32_t most, size_t* room) {
  return acceptor_->WithBuilder([&](Expressions& pool) {
    pool_ = &pool;
    if (costs_.Size() > max_items_ / 2) {  // begin anew
      parts_.clear();
      part_of_.clear();
      costs_.Clear();
      turns_.Clear();
      steps_.clear();
    }
    ++question_;
    queue_.clear();
    lowest_ = 0;
    const Part root = PartOf(acceptor_->SourceOf(q), 0);
    Reach(root, 0);
    for (;; TimeLimit::Spend(4)) {
      while (lowest_ < queue_.size() && queue_[lowest_].empty()) ++lowest_;
      if (lowest_ >= queue_.size() || lowest_ > most || parts_[root].least <= lowest_) break;
      if (*room != SIZE_MAX) {
        if (*room == 0) return kUnknown;  // what was found so far is kept
        --*room;
      }
      const auto [part, reach] = queue_[lowest_].back();
      queue_[lowest_].pop_back();
      if (reach) {
        Reach(part, lowest_);
        continue;
      }
      Summary& s = parts_[part];
      while (s.lowest < s.pending.size() && s.pending[s.lowest].Empty()) ++s.lowest;
      const uint32_t cost = s.lowest;
      if (cost >= s.pending.size() || s.way + cost != lowest_) continue;  // queued again since
      std::vector<Item>& items = s.pending[cost].between.empty() ? s.pending[cost].inside : s.pending[cost].between;
      const Item item = items.back();
      items.pop_back();
      s.queued = kFar;
      try {
        Settle(item, cost);
      } catch (...) {  // asked again, it has to be settled again
        Await(part, item, cost);
        throw;
      }
      Queue(part);
    }
    return parts_[root].least <= most ? parts_[root].least : kFar;
  });
}

TokenLengths::Part TokenLengths::PartOf(Expr whole, uint32_t node) {
  const auto [it, added] = part_of_.emplace(uint64_t{whole} << 32 | node, static_cast<Part>(parts_.size()));
  if (added) {
    Summary s;
    s.whole = whole;
    s.node = node;
    parts_.push_back(std::move(s));
    Push(it->second, whole, node, 0);
  }
  return it->second;
}

// Whether nothing of this cost or more can end where a caller would want it.
bool TokenLengths::IsDone(const Summary& s, uint32_t cost) const {
  return s.least != kFar && cost + 1 >= s.least + std::max(s.gain, 1u);
}

void TokenLengths::Push(Part part, Expr rest, uint32_t node, uint32_t cost) {
  if (node) {
    const Cost* const between = costs_.Find({part, rest, 0});
    if (between && IsNeedless(part, rest, node, cost, between->least)) return;
  }
  uint32_t& least = costs_[{part, rest, node}].least;
  if (least <= cost) return;
  if (costs_.Size() > max_items_)
    throw LimitError("max_tokens: the limit states=" + std::to_string(acceptor_->max_states) +
                     " was reached (places in constraint and tokens on the way to the least number of tokens); "
                     "simplify the constraint or raise it: tokamata.Limits(states=...)");
  least = cost;
  if (!HasMoreTurns(part, rest, node, cost)) Await(part, {part, rest, node}, cost);
}

// Whether as many turns of a repetition and more are to be read from a node for no higher cost: then fewer lead nowhere
// else. Items that are not needless are to be told of.
bool TokenLengths::HasMoreTurns(Part part, Expr rest, uint32_t node, uint32_t cost) {
  if (pool_->Kind(rest) != ExprKind::kRepeat || pool_->Low(rest) || pool_->High(rest) == kUnbounded) return false;
  Turns& most = turns_[{part, pool_->Body(rest), node}];
  if (most.cost <= cost && pool_->High(rest) <= most.high) return true;
  if (pool_->High(rest) >= most.high) most = {pool_->High(rest), cost};
  return false;
}

void TokenLengths::Await(Part part, const Item& item, uint32_t cost) {
  Summary& s = parts_[part];
  if (s.pending.size() <= cost) s.pending.resize(cost + 1);
  (item.node ? s.pending[cost].inside : s.pending[cost].between).push_back(item);
  s.lowest = std::min(s.lowest, cost);
  Queue(part);
}

// Has a part's next item settled in its turn, where this question has come to the part.
void TokenLengths::Queue(Part part) {
  Summary& s = parts_[part];
  while (s.lowest < s.pending.size() && s.pending[s.lowest].Empty()) ++s.lowest;
  if (s.question != question_ || s.lowest >= s.pending.size()) return;
  const uint32_t turn = s.way + s.lowest;
  if (s.queued == turn) return;
  s.queued = turn;
  if (queue_.size() <= turn) queue_.resize(turn + 1);
  queue_[turn].emplace_back(part, false);
  lowest_ = std::min(lowest_, turn);
}

// This question comes to a part at a cost, and to what it calls.
void TokenLengths::Reach(Part part, uint32_t way) {
  Summary& s = parts_[part];
  if (s.question == question_ && s.way <= way) return;
  s.question = question_;
  s.way = way;
  s.queued = kFar;
  Queue(part);
  for (const auto& [callee, cost] : s.calls) {
    if (queue_.size() <= way + cost) queue_.resize(way + cost + 1);
    queue_[way + cost].emplace_back(Current(callee), true);
  }
}

TokenLengths::Part TokenLengths::Current(Part part) const {
  while (parts_[part].renewed != kFar) part = parts_[part].renewed;
  return part;
}

// Whether it is as good to begin a new token behind what was read, at cost `between`, as to go on from a node.
bool TokenLengths::IsNeedless(Part part, Expr rest, uint32_t node, uint32_t cost, uint32_t between) {
  if (!pool_->Nullable(rest)) return cost + 1 >= between + Gain(node, pool_->First(rest));
  if (cost + 1 >= between + spelling_.From(node)) return true;
  if (pool_->Kind(rest) != ExprKind::kRepeat || pool_->Low(rest)) return false;
  // x{0,n}: the new token may also begin behind all that the repetition reads from here on. A token that ends inside of
  // an x has no counterpart, but the next one, at the earliest, leaves the repetition.
  Summary& s = parts_[part];
  const std::vector<uint8_t>& gains = GainsBelow(s.follow);
  if (cost + 1 < between + gains[node]) return false;
  if (cost + 2 < between + gains[0] && GainsBelow(Unfinished(pool_->Body(rest)))[node]) return false;
  return s.pruned = true;
}

// The bytes that begin a member of x without ending it.
const ByteSet& TokenLengths::Unfinished(Expr x) {
  const auto known = unfinished_.find(x);
  if (known != unfinished_.end()) return known->second;
  std::vector<Expressions::Term> terms;
  pool_->Step(x, &terms);
  ByteSet bytes;
  for (const Expressions::Term& term : terms)
    if (term.target != kEpsilonExpr) bytes = bytes | term.bytes;
  return unfinished_.emplace(x, bytes).first->second;
}

void TokenLengths::Settle(const Item& item, uint32_t cost) {
  if (costs_.Find(item)->least < cost) return;
  if (IsDone(parts_[item.part], cost)) {
    parts_[item.part].parked.emplace_back(cost, item);
    return;
  }
  if (pool_->Nullable(item.rest)) End(item.part, item.node, cost);
  Expr head = item.rest, tail = kEpsilonExpr;
  if (pool_->Kind(head) == ExprKind::kConcat) {
    tail = pool_->Tail(head);
    head = pool_->Head(head);
  }
  const bool again = item.rest == parts_[item.part].whole, first = again && item.node == parts_[item.part].node;
  if (again && !first && item.node == 0) return Call(item, cost, item.rest, kEpsilonExpr);  // shared by all nodes
  switch (pool_->Kind(head)) {
    case ExprKind::kEmpty:
    case ExprKind::kEpsilon: break;
    case ExprKind::kBytes: Step(item, cost, head, tail); break;
    case ExprKind::kUnion: {
      const std::vector<Expr> members(pool_->Members(head), pool_->Members(head) + pool_->NumMembers(head));
      for (const Expr m : members) Push(item.part, pool_->Concat(m, tail), item.node, cost);
      break;
    }
    case ExprKind::kCall:
      if (first && tail == kEpsilonExpr)
        Push(item.part, pool_->Expand(head), item.node, cost);
      else
        Call(item, cost, head, tail);
      break;
    case ExprKind::kRepeat:
      if (tail != kEpsilonExpr) {
        Call(item, cost, head, tail);
      } else if (pool_->IsPushDown(head)) {
        const Expr body = pool_->Body(head);
        const uint32_t low = pool_->Low(head), high = pool_->High(head);
        const Expr more = pool_->Repeat(body, low ? low - 1 : 0, high == kUnbounded ? high : high - 1);
        Push(item.part, pool_->Concat(body, more), item.node, cost);
      } else {
        Step(item, cost, head, tail);
      }
      break;
    default:
      if (tail != kEpsilonExpr)
        Call(item, cost, head, tail);
      else
        Step(item, cost, head, tail);
  }
}

// Reads one byte of the trie below the item's node.
void TokenLengths::Step(const Item& item, uint32_t cost, Expr head, Expr tail) {
  auto known = steps_.find(head);
  if (known == steps_.end()) {
    std::vector<Expressions::Term> terms;
    pool_->Step(head, &terms);
    known = steps_.emplace(head, std::move(terms)).first;
  }
  for (const Expressions::Term& term : known->second) {
    const Expr rest = pool_->Concat(term.target, tail);
    bool ended = false;
    const auto read = [&](uint32_t child) {
      if (!ended && trie_.TokensBegin(child) != trie_.TokensEnd(child)) {
        Push(item.part, rest, 0, cost + 1);
        ended = true;
      }
      if (trie_.nodes[child].end > child + 1) Push(item.part, rest, child, cost);
    };
    TimeLimit::Spend();
    if (trie_.nodes[item.node].wide)
      trie_.ForEachLiveChild(item.node, term.bytes, [&](uint32_t child, uint8_t) { read(child); });
    else
      trie_.ForEachChild(item.node, [&](uint32_t child) {
        if (term.bytes.Has(trie_.nodes[child].byte)) read(child);
      });
  }
}

void TokenLengths::Call(const Item& item, uint32_t cost, Expr head, Expr tail) {
  const Part callee = PartOf(head, item.node);
  const Caller caller{item.part, tail, cost};
  parts_[callee].callers.push_back(caller);
  parts_[item.part].calls.emplace_back(callee, cost);
  if (parts_[item.part].question == question_) Reach(callee, parts_[item.part].way + cost);
  ByteSet follow = pool_->First(tail);
  if (pool_->Nullable(tail)) {
    follow = follow | parts_[item.part].follow;
    parts_[item.part].passes.push_back(callee);
  }
  Follow(callee, follow);
  const Part now = Current(callee);
  for (size_t i = 0; i < parts_[now].ends.size(); ++i) {
    const auto [node, more] = parts_[now].ends[i];
    Return(caller, node, cost + more);
  }
}

// These bytes may follow a part: what was thought of no use may be of use now.
void TokenLengths::Follow(Part part, const ByteSet& bytes) {
  std::vector<Part> work{part};
  while (!work.empty()) {
    const Part at = Current(work.back());
    work.pop_back();
    if (!(bytes - parts_[at].follow).Any()) continue;
    parts_[at].follow = parts_[at].follow | bytes;
    parts_[at].gain = spelling_.Beginning(parts_[at].follow);
    work.insert(work.end(), parts_[at].passes.begin(), parts_[at].passes.end());
    if (parts_[at].pruned) {
      Renew(at);
      continue;
    }
    std::vector<std::pair<uint32_t, Item>> parked;
    parked.swap(parts_[at].parked);
    for (const auto& [cost, item] : parked) Await(at, item, cost);
    std::vector<std::pair<uint32_t, uint32_t>> idle;
    idle.swap(parts_[at].idle);
    for (const auto& [node, cost] : idle) End(at, node, cost);
  }
}

// Begins a part anew, as another one, for the same callers.
void TokenLengths::Renew(Part part) {
  Summary fresh;
  fresh.whole = parts_[part].whole;
  fresh.node = parts_[part].node;
  fresh.gain = parts_[part].gain;
  fresh.follow = parts_[part].follow;
  fresh.callers.swap(parts_[part].callers);
  const Part renewed = static_cast<Part>(parts_.size());
  part_of_[uint64_t{fresh.whole} << 32 | fresh.node] = renewed;
  parts_.push_back(std::move(fresh));
  parts_[part].renewed = renewed;
  Push(renewed, parts_[renewed].whole, parts_[renewed].node, 0);
  if (parts_[part].question == question_) Reach(renewed, parts_[part].way);
}

void TokenLengths::End(Part part, uint32_t node, uint32_t cost) {
  Summary& s = parts_[part];
  if (node == 0) {
    if (s.least <= cost) return;
    s.least = cost;
  } else if (s.least != kFar && cost + 1 >= s.least + spelling_.From(node)) {
    return;
  } else if (const uint32_t gain = Gain(node, s.follow); !gain || (s.least != kFar && cost + 1 >= s.least + gain)) {
    s.idle.emplace_back(node, cost);
    return;
  }
  uint32_t& least = costs_[{part, kEnded, node}].least;
  if (least <= cost) return;
  least = cost;
  s.ends.emplace_back(node, cost);
  for (size_t i = 0; i < parts_[part].callers.size(); ++i) {
    const Caller caller = parts_[part].callers[i];
    Return(caller, node, caller.cost + cost);
  }
}

void TokenLengths::Return(const Caller& caller, uint32_t node, uint32_t cost) {
  TimeLimit::Spend();
  if (node && !pool_->Nullable(caller.rest) && !Gain(node, pool_->First(caller.rest))) return;
  Push(caller.part, caller.rest, node, cost);
}

// By node, the most that any node below (or itself) gains by these bytes.
const std::vector<uint8_t>& TokenLengths::GainsBelow(const ByteSet& bytes) {
  for (const auto& [set, gains] : below_)
    if (set == bytes) return gains;
  TimeLimit::Spend(trie_.Size() / 16);
  std::vector<uint8_t> gains(trie_.Size(), 0);
  for (uint32_t n = trie_.Size(); n-- > 0;)
    trie_.ForEachChild(n, [&](uint32_t c) {
      const uint8_t here = bytes.Has(trie_.nodes[c].byte) ? static_cast<uint8_t>(spelling_.Through(c)) : uint8_t{0};
      gains[n] = std::max({gains[n], gains[c], here});
    });
  return below_.emplace_back(bytes, std::move(gains)).second;
}

// The most tokens that the rest of a token takes which goes on from a node with one of the bytes; 0 where none does.
uint32_t TokenLengths::Gain(uint32_t node, const ByteSet& bytes) const {
  uint32_t most = 0;
  const auto take = [&](uint32_t child) { most = std::max(most, spelling_.Through(child)); };
  if (trie_.nodes[node].wide)
    trie_.ForEachLiveChild(node, bytes, [&](uint32_t child, uint8_t) { take(child); });
  else
    trie_.ForEachChild(node, [&](uint32_t child) {
      if (bytes.Has(trie_.nodes[child].byte)) take(child);
    });
  return most;
}

}  // namespace tokamata
