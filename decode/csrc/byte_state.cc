#include "decode/csrc/byte_state.h"

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"
#include "decode/csrc/rows.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

using Shared = std::shared_ptr<TokenAutomaton>;
using State = TokenAutomaton::State;

// Turns a state into one of the next generation; whether there is one.
bool Renew(Generations* generations, Shared* automaton, State* state) {
  Shared next = generations->After(automaton->get());
  for (bool again = false; next; again = true) {
    std::vector<State> states{*state};
    try {
      next->Acceptor().Adopt((*automaton)->Acceptor(), &states);
    } catch (const CapacityError&) {  // that one is full, too
      if (again) throw;
      next = generations->After(next.get());
      continue;
    }
    *state = states[0];
    *automaton = next;
    return true;
  }
  return false;
}

enum class Walk { kOn, kPast, kStop };  // into the node's subtree, past it, no further

// Calls visit(node, state) for the nodes below one that are reached from q in a live state; it says how to go on.
template <class F>
void ForEachLiveNode(const Trie& trie, uint32_t root, DelayedAcceptor* acceptor, State q, F visit) {
  const uint32_t base = trie.nodes[root].depth, end = trie.nodes[root].end;
  std::vector<State> path(trie.max_depth + 2);  // states by depth
  path[0] = q;
  for (uint32_t n = root + 1; n < end;) {
    const Trie::Node& node = trie.nodes[n];
    const uint32_t depth = node.depth - base;
    const State next = acceptor->Next(path[depth - 1], node.byte);
    if (!next) {
      n = node.end;
      continue;
    }
    path[depth] = next;
    const Walk how = visit(n, next);
    if (how == Walk::kStop) return;
    n = how == Walk::kPast ? node.end : n + 1;
  }
}

}  // namespace

ByteState::ByteState(std::shared_ptr<Generations> generations)
    : generations_(std::move(generations)), automaton_(generations_->Newest()), state_(automaton_->Start()) {}

const Trie& ByteState::Tokens() const { return automaton_->Tokens().Masks().trie(); }

template <class F>
auto ByteState::WithRoom(F f) const {
  Shared automaton = automaton_;
  State state = state_;
  const TimeLimit time("decode", "seconds", automaton->Acceptor().seconds);
  for (int i = 0; i < Generations::kRenewals; ++i) {
    try {
      return f(automaton, state);
    } catch (const CapacityError&) {
      if (!Renew(generations_.get(), &automaton, &state)) throw;
    }
  }
  return f(automaton, state);
}

std::optional<ByteState> ByteState::After(std::string_view bytes) const {
  return WithRoom([&](const Shared& automaton, State q) -> std::optional<ByteState> {
    const State next = automaton->Acceptor().Run(q, bytes);
    if (!next) return std::nullopt;
    return ByteState(generations_, automaton, next);
  });
}

bool ByteState::GoesOn() const {
  return WithRoom([](const Shared& automaton, State q) { return automaton->Acceptor().Live(q).Count() != 0; });
}

std::string ByteState::LiveBytes() const {
  return WithRoom([](const Shared& automaton, State q) {
    const ByteSet live = automaton->Acceptor().Live(q);
    std::string bytes;
    for (int b = 0; b < 256; ++b)
      if (live.Has(static_cast<uint8_t>(b))) bytes.push_back(static_cast<char>(b));
    return bytes;
  });
}

std::vector<ByteState::End> ByteState::Ends(const std::vector<uint32_t>& nodes, size_t most, uint32_t* row,
                                            bool* complete) const {
  return WithRoom([&](const Shared& automaton, State start) {
    std::vector<End> ends;
    const Trie& trie = Tokens();
    DelayedAcceptor& acceptor = automaton->Acceptor();
    std::string bytes;
    *complete = true;
    for (uint32_t i = 0; i < nodes.size() && *complete; ++i) {
      const uint32_t base = trie.nodes[nodes[i]].depth;
      ForEachLiveNode(trie, nodes[i], &acceptor, start, [&](uint32_t n, State q) {
        bytes.resize(trie.nodes[n].depth - base);
        bytes.back() = static_cast<char>(trie.nodes[n].byte);
        const bool final = acceptor.IsFinal(q), goes_on = !final || acceptor.Live(q).Count() != 0;
        const bool leaf = trie.nodes[n].end == n + 1;
        if (goes_on && row) AddTokensAt(n, row);
        if (!final && !row && acceptor.LeastLength(q) > trie.Height(n)) return Walk::kPast;  // no end below
        if (!final || (goes_on && leaf)) return Walk::kOn;  // a token that ends here is allowed anyway
        if (ends.size() == most) {
          *complete = false;
          return Walk::kStop;
        }
        ends.push_back({n, goes_on, leaf, bytes, i});
        return Walk::kOn;
      });
    }
    return ends;
  });
}

void ByteState::AddMask(const std::vector<uint32_t>& left_out, uint32_t* row) const {
  WithRoom([&](const Shared& automaton, State q) {
    const Trie& trie = Tokens();
    std::vector<uint32_t> mask(Words());
    automaton->FillMask(q, mask.data());
    for (uint32_t id : automaton->Tokens().EosIds()) ClearToken(id, mask.data());
    for (uint32_t n : left_out)
      for (uint32_t i = trie.TokensBegin(n); i < trie.TokensEnd(n); ++i) ClearToken(trie.order[i], mask.data());
    OrRow(mask.data(), Words(), row);
  });
}

void ByteState::AddTokens(const std::vector<uint32_t>& nodes, uint32_t* row) const {
  WithRoom([&](const Shared& automaton, State start) {
    for (uint32_t node : nodes)
      ForEachLiveNode(Tokens(), node, &automaton->Acceptor(), start, [&](uint32_t n, State) {
        AddTokensAt(n, row);
        return Walk::kOn;
      });
  });
}

void ByteState::AddTokensAt(uint32_t node, uint32_t* row) const {
  const Trie& trie = Tokens();
  for (uint32_t i = trie.TokensBegin(node); i < trie.TokensEnd(node); ++i)
    SetToken(trie.order[i], row);
}

}  // namespace tokamata
