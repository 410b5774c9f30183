#include "automata/csrc/completion.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>

#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

using State = DelayedAcceptor::State;

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
constexpr size_t kPatience = 1000;  // steps of a search, after which a short string will do

struct Effort {
  size_t steps = kNoLimit;  // of a search, after which the string to the state with the least bound will do
  size_t most = kNoLimit;   // states that it may reach
  size_t bytes = kNoLimit;  // that the acceptor may take
};

// A shortest string from a state to a final one: A* (Hart, Nilsson, Raphael 1968) by the acceptor's lower bounds. After
// some steps, one to a state with a lower bound than the first one has: what bounds do not tell adds up along a string,
// and would be searched for all of it at once. Nothing where the effort is not enough.
std::optional<std::string> SearchForEnd(DelayedAcceptor* acceptor, State q, const Effort& effort) {
  constexpr size_t kSteps = 4;  // between looks at the memory
  struct Open {
    uint64_t bound;  // on the length of the whole string
    uint32_t length;
    size_t place;
    bool operator<(const Open& o) const {  // of the queue: the last in this order comes first
      if (bound != o.bound) return bound > o.bound;
      return length != o.length ? length < o.length : place > o.place;
    }
  };
  std::vector<State> found{q};
  std::vector<Reached> how{{0, 0}};
  std::unordered_map<State, uint32_t> shortest{{q, 0}};
  std::priority_queue<Open> open;
  size_t nearest = 0;  // the place with the least bound
  uint32_t least = 0;
  if (q) open.push({least = acceptor->LeastLength(q), 0, 0});
  for (size_t steps = 1; !open.empty(); ++steps) {
    const Open at = open.top();
    open.pop();
    const State state = found[at.place];
    if (at.length > shortest.at(state)) continue;
    TimeLimit::Spend(2);
    if (acceptor->IsFinal(state)) return PathTo(how, at.place);
    if (steps > effort.steps && nearest) return PathTo(how, nearest);
    if (found.size() > effort.most ||
        (steps % kSteps == 0 && effort.bytes != kNoLimit && acceptor->MemoryBytes() > effort.bytes))
      return std::nullopt;
    const StateRow row = acceptor->Row(state);
    State last = DelayedAcceptor::kDead;
    acceptor->Live(state).ForEach([&](uint8_t b) {
      if (row[b] == last) return;  // neighbours mostly share their target
      last = row[b];
      const uint32_t length = at.length + 1;
      const auto [it, added] = shortest.emplace(last, length);
      if (!added && it->second <= length) return;
      it->second = length;
      found.push_back(last);
      how.push_back({at.place, b});
      const uint32_t bound = acceptor->LeastLength(last);
      open.push({uint64_t{length} + bound, length, found.size() - 1});
      if (bound >= least) return;
      least = bound;
      nearest = found.size() - 1;
    });
  }
  return "";  // the dead state
}

// As far as the way that is found can be gone, and on from there.
std::optional<std::string> Complete(DelayedAcceptor* acceptor, State q, const Effort& effort) {
  constexpr int kRounds = 4;
  std::string text;
  for (int round = 0;;) {
    const std::optional<std::string> rest = SearchForEnd(acceptor, q, effort);
    if (!rest && ++round < kRounds && acceptor->MeasureAnew()) continue;
    if (!rest) return rest;
    const size_t before = text.size();
    for (char c : *rest) {
      const State next = acceptor->Next(q, static_cast<uint8_t>(c));
      if (!next) break;
      text.push_back(c);
      q = next;
    }
    if (text.size() == before || acceptor->IsFinal(q)) return text;
  }
}

}  // namespace

std::string PathTo(const std::vector<Reached>& how, size_t i) {
  std::string text;
  for (; i != 0; i = how[i].parent) text.push_back(static_cast<char>(how[i].byte));
  std::reverse(text.begin(), text.end());
  return text;
}

std::optional<std::string> ShortCompletion(DelayedAcceptor* acceptor, State q, size_t most, size_t bytes) {
  return Complete(acceptor, q, {kPatience, most, acceptor->MemoryBytes() + bytes});
}

std::string ShortCompletion(DelayedAcceptor* acceptor, State q) {
  return *Complete(acceptor, q, {kPatience, kNoLimit, kNoLimit});
}

std::string Completion(DelayedAcceptor* acceptor, State q) {
  return *Complete(acceptor, q, {});
}

}  // namespace tokamata
