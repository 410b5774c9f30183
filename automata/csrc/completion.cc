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

struct Way {
  std::string text;
  bool ends;  // whether it leads to a final state
};

// A shortest string from a state to a final one: A* (Hart, Nilsson, Raphael 1968) by the acceptor's lower bounds. After
// some steps, one to a state with a lower bound than the first one has: what bounds do not tell adds up along a string,
// and would be searched for all of it at once. Nothing where the effort is not enough.
std::optional<Way> SearchForEnd(DelayedAcceptor* acceptor, State q, const Effort& effort) {
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
    if (acceptor->IsFinal(state)) return Way{PathTo(how, at.place), true};
    if (steps > effort.steps && nearest) return Way{PathTo(how, nearest), false};
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
  return Way{"", false};  // the dead state
}

// A text as long as a way that rows led to, which may let more through than can be read where states remember: where
// the way cannot be gone, bytes are tried that rows do not tell apart from it; or `freely` all after which its length may
// do. As far as it comes where none that are tried lead to an end; the state is what is reached.
std::string Walk(DelayedAcceptor* acceptor, const Way& way, bool freely, State* q) {
  const size_t tries_per_byte = freely ? 8 : 64, least_tries = freely ? 512 : 4096;
  constexpr int kUntried = -1;
  struct Place {
    State state;
    int tried = kUntried;  // the last byte but that of the way
    bool gone = false;     // whether the byte of the way was tried
  };
  std::vector<Place> places{{*q}};
  std::string text, longest;
  State reached = *q;
  for (size_t tries = least_tries + tries_per_byte * way.text.size(); tries; --tries) {
    TimeLimit::Spend(1);
    Place& at = places.back();
    if (text.size() == way.text.size()) {
      if (text.empty() || !way.ends || acceptor->IsFinal(at.state)) break;
      text.pop_back();
      places.pop_back();
      continue;
    }
    const uint8_t wanted = static_cast<uint8_t>(way.text[text.size()]);
    int byte = wanted;
    if (at.gone) {
      const StateRow row = acceptor->Row(at.state);
      const size_t left = way.text.size() - text.size() - 1;
      const auto will_do = [&](int b) {
        return b != wanted && row[b] && (freely ? acceptor->LeastLength(row[b]) <= left : row[b] == row[wanted]);
      };
      for (byte = at.tried + 1; byte < 256 && !will_do(byte);) ++byte;
      at.tried = byte;
      if (byte == 256) {
        if (text.empty()) break;
        text.pop_back();
        places.pop_back();
        continue;
      }
    }
    at.gone = true;
    const State next = acceptor->Next(at.state, static_cast<uint8_t>(byte));
    if (!next) continue;
    text.push_back(static_cast<char>(byte));
    places.push_back({next});
    if (text.size() > longest.size()) longest = text, reached = next;
  }
  *q = reached;
  return longest;
}

// As far as the way that is found can be gone, and on from there.
std::optional<std::string> Complete(DelayedAcceptor* acceptor, State q, const Effort& effort) {
  constexpr int kRounds = 4;
  std::string text;
  for (int round = 0;;) {
    const std::optional<Way> rest = SearchForEnd(acceptor, q, effort);
    if (!rest && ++round < kRounds && acceptor->MeasureAnew()) continue;
    if (!rest) return std::nullopt;
    State end = q, other = q;
    std::string gone = Walk(acceptor, *rest, false, &end);
    if (rest->ends && !acceptor->IsFinal(end))
      if (std::string found = Walk(acceptor, *rest, true, &other); acceptor->IsFinal(other)) gone = found, end = other;
    q = end;
    text += gone;
    if (gone.empty() || acceptor->IsFinal(q)) return text;
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
