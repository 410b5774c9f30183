// Where a vocabulary cannot write every text: what its tokens can end.
#include <algorithm>
#include <queue>
#include <unordered_set>

#include "automata/csrc/time_limit.h"
#include "decode/csrc/mask.h"
#include "decode/csrc/walk.h"

namespace tokamata {

// Whether all texts from q surely have bytes that no token has.
bool MaskBuilder::LacksBytes(State q) {
  auto* const expressions = dynamic_cast<ExpressionAcceptor*>(acceptor_);
  if (!expressions) return false;
  if (!spelled_.Any())
    for (uint32_t n = 1; n < trie_.Size(); ++n) spelled_.Add(trie_.nodes[n].byte);
  return spelled_ != ByteSet::All() && expressions->SurelyEndsNot(q, spelled_);
}

// Whether some text from q can be written with the tokens of a small vocabulary, where that is decided at all.
std::optional<bool> MaskBuilder::DecideFinish(State q) {
  constexpr size_t kSmall = 10'000;  // nodes of the trie
  auto* const expressions = dynamic_cast<ExpressionAcceptor*>(acceptor_);
  if (!expressions || trie_.Size() > kSmall) return std::nullopt;
  if (!written_) {
    std::vector<std::string> tokens;
    for (uint32_t n = 1; n < trie_.Size(); ++n)
      if (trie_.TokensBegin(n) < trie_.TokensEnd(n)) tokens.emplace_back(TokenAt(n));
    written_ = expressions->Sequences(tokens);
  }
  return expressions->Meets(q, *written_);
}

bool MaskBuilder::CanFinish(State root) {
  return FindFinish(root, false) && (!acceptor_->Remembers() || FindFinish(root, true));
}

// Best first, by the bytes so far and the least that may be left; over single-byte tokens, which nearly always spell
// some end, then over all. With `exact` what states remember counts; else what forgets may take a text for new that
// repeats another one, and there is an end to the states.
bool MaskBuilder::FindFinish(State root, bool exact) {
  constexpr size_t kMany = 1000;  // states, beyond which it may come to no end
  const auto known = [&finish = finish_[exact]](State q) -> uint8_t& {
    if (q >= finish.size()) finish.resize(std::max<size_t>(q + 1, finish.size() * 2), 0);
    return finish[q];
  };
  if (known(root)) return known(root) == 2;
  struct Reached {
    State state;
    size_t parent;
    uint64_t bytes;
  };
  bool asked = false;  // whether the texts from the root lack bytes
  for (const bool single : {true, false}) {
    std::vector<Reached> reached;
    std::unordered_set<State> seen;
    struct Open {
      uint64_t least;
      size_t place;
      bool operator<(const Open& o) const { return least != o.least ? least > o.least : place < o.place; }
    };
    std::priority_queue<Open> open;
    const auto reach = [&](State next, size_t parent, uint64_t bytes) {
      if (!next || !seen.insert(next).second) return;
      reached.push_back({next, parent, bytes});
      open.push({bytes + acceptor_->LeastLength(next), reached.size() - 1});
    };
    reach(root, 0, 0);
    while (!open.empty()) {
      if (!asked && reached.size() > kMany) {
        asked = true;
        if (LacksBytes(root)) {
          known(root) = 1;
          return false;
        }
        if (const std::optional<bool> decided = DecideFinish(root)) {
          known(root) = *decided ? 2 : 1;
          return *decided;
        }
      }
      const size_t i = open.top().place;
      open.pop();
      const auto [q, parent, bytes] = reached[i];
      if (acceptor_->IsFinal(q) || known(q) == 2) {
        for (size_t j = i;; j = reached[j].parent) {
          known(reached[j].state) = 2;
          if (j == 0) return true;
        }
      }
      if (known(q) == 1) continue;
      TimeLimit::Spend();
      if (single) {
        const StateRow row = acceptor_->Row(q);
        const ByteSet live = acceptor_->Live(q) & factoring_.SingleBytes();
        live.ForEach([&](uint8_t b) { reach(exact ? acceptor_->Next(q, b) : row[b], i, bytes + 1); });
        continue;
      }
      std::vector<StateRow> path(trie_.max_depth + 2);  // path_ may be in use by who asks
      ForEachLiveToken(trie_, 0, acceptor_, q, &path, [&](uint32_t node, State next) {
        const std::string_view token = TokenAt(node);
        reach(exact ? acceptor_->Run(q, token) : next, i, bytes + token.size());
      });
    }
    if (!single)
      for (const Reached& r : reached) known(r.state) = 1;
  }
  return false;
}

}  // namespace tokamata
