// Where a vocabulary cannot write every text: what its tokens can end.
#include <algorithm>
#include <unordered_set>

#include "automata/csrc/time_limit.h"
#include "decode/csrc/mask.h"
#include "decode/csrc/walk.h"

namespace tokamata {

bool MaskBuilder::CanFinish(State root) {
  return FindFinish(root, false) && (!acceptor_->Remembers() || FindFinish(root, true));
}

// Breadth-first over token steps. A path of single-byte tokens is tried first: it exists nearly always. With `exact`
// what states remember counts; else what forgets may take a text for new that repeats another one, and there is an end
// to the states.
bool MaskBuilder::FindFinish(State root, bool exact) {
  const auto known = [&finish = finish_[exact]](State q) -> uint8_t& {
    if (q >= finish.size()) finish.resize(std::max<size_t>(q + 1, finish.size() * 2), 0);
    return finish[q];
  };
  if (known(root)) return known(root) == 2;
  struct Reached {
    State state;
    size_t parent;
  };
  for (const bool single : {true, false}) {
    std::vector<Reached> queue{{root, 0}};
    std::unordered_set<State> seen{root};
    for (size_t i = 0; i < queue.size(); ++i) {
      const State q = queue[i].state;
      if (acceptor_->IsFinal(q) || known(q) == 2) {
        for (size_t j = i;; j = queue[j].parent) {
          known(queue[j].state) = 2;
          if (j == 0) return true;
        }
      }
      if (known(q) == 1) continue;
      TimeLimit::Spend();
      const auto reach = [&](State next) {
        if (next && seen.insert(next).second) queue.push_back({next, i});
      };
      if (single) {
        const State* row = acceptor_->Row(q);
        const ByteSet bytes = acceptor_->Live(q) & factoring_.SingleBytes();
        bytes.ForEach([&](uint8_t b) { reach(exact ? acceptor_->Next(q, b) : row[b]); });
        continue;
      }
      std::vector<const State*> path(trie_.max_depth + 2);  // path_ may be in use by who asks
      ForEachLiveToken(trie_, 0, acceptor_, q, &path, [&](uint32_t node, State next) {
        reach(exact ? acceptor_->Run(q, TokenAt(node)) : next);
      });
    }
    if (!single)
      for (const Reached& r : queue) known(r.state) = 1;
  }
  return false;
}

}  // namespace tokamata
