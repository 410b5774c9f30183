// LoopTokens: where the tokens of a looping state lead, without walking the vocabulary.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/time_limit.h"
#include "tokenizer_fst/csrc/cut_tokens.h"
#include "tokenizer_fst/csrc/factoring.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// A token is w·s, w the longest prefix inside a class W of characters (see factoring.h). Where a state loops over W,
// all tokens of l whole characters lead to one state, and the others are few: those that end inside a character, and
// those with an s, which are walked from the first byte of s on. Callbacks may use the same object.
class LoopTokens {
 public:
  using State = DelayedAcceptor::State;

  struct Plan {
    State state;
    int class_id;
    LoopShape shape;
    bool counts;  // whether the state changes with the number of characters
  };

  LoopTokens(DelayedAcceptor* acceptor, const Vocabulary* vocabulary)
      : acceptor_(acceptor), vocabulary_(*vocabulary), factoring_(vocabulary->Masks()) {}

  // False where q is no such state, or so many tokens leave its loop that walking through all of them is as quick.
  bool MakePlan(State q, Plan* plan);
  // For each number l of characters of which there is a whole token: inside(l, state); one call with l = 0 if all lead
  // to the same state. For each group of cut tokens: cut(group, state), dead or not. For every other live token:
  // other(id, state).
  template <class I, class C, class O>
  void ForEach(const Plan& plan, I inside, C cut, O other);
  const Factor& Inside(const Plan& plan) const { return *factoring_.At(0, plan.class_id); }
  // The most characters of a token that stays inside.
  uint32_t MostChars(const Plan& plan) const { return std::min(plan.shape.high, Inside(plan).max_chars); }

 private:
  struct Visit {
    uint32_t node;
    State state;
  };
  // Lists of its own for each ForEach, as callbacks may come back.
  struct Scratch {
    std::vector<State> after;  // by number of characters
    std::vector<Visit> stack;
    std::string bytes;
  };
  State After(const Plan& plan, Scratch* scratch, uint32_t chars) {
    if (!plan.counts) return plan.state;
    if (plan.shape.high == kUnboundedLoop) chars = std::min(chars, plan.shape.low);
    while (scratch->after.size() <= chars)
      scratch->after.push_back(acceptor_->AfterLoop(plan.state, static_cast<uint32_t>(scratch->after.size())));
    return scratch->after[chars];
  }
  template <class O>
  void Leave(const Plan& plan, const SuffixTrie& suffixes, uint32_t child, Scratch* scratch, O other);
  // Calls token(index into trie.order, state) for those at and below a node that was entered.
  template <class T>
  void Walk(const Trie& trie, Visit root, std::vector<Visit>* stack, T token);

  DelayedAcceptor* acceptor_;
  const Vocabulary& vocabulary_;
  const Factoring& factoring_;
};

template <class I, class C, class O>
void LoopTokens::ForEach(const Plan& plan, I inside, C cut, O other) {
  const LoopShape& shape = plan.shape;
  const CutTokens& cuts = factoring_.Cuts(plan.class_id, vocabulary_);
  const uint32_t most = MostChars(plan);
  Scratch scratch;
  scratch.after.push_back(plan.state);
  if (!plan.counts) inside(0u, plan.state);
  for (uint32_t l = 1; plan.counts && l <= most; ++l)
    if (cuts.whole[l]) inside(l, After(plan, &scratch, l));
  for (const CutTokens::Group& group : cuts.groups)
    if (group.chars <= most) cut(group, acceptor_->Run(After(plan, &scratch, group.chars - 1), group.tail));
  const ByteSet leave = (plan.counts ? shape.body_first | shape.rest_first : acceptor_->Live(plan.state)) -
                        CharacterClasses()[static_cast<size_t>(plan.class_id)].first;
  if (const SuffixTrie* suffixes = factoring_.Suffixes(plan.class_id)) {
    suffixes->trie.ForEachChild(0, [&](uint32_t child) {
      if (leave.Has(suffixes->trie.nodes[child].byte)) Leave(plan, *suffixes, child, &scratch, other);
    });
    return;
  }
  const Factor& f = Inside(plan);
  const Trie& trie = factoring_.trie();
  (leave & f.exit_bytes).ForEach([&](uint8_t b) {
    for (const Factor::Exit& exit : f.ExitsBy(b)) {
      if (exit.chars > shape.high) continue;
      if (const State q = acceptor_->Next(After(plan, &scratch, exit.chars), b))
        Walk(trie, {exit.node, q}, &scratch.stack, [&](uint32_t i, State state) { other(trie.order[i], state); });
    }
  });
}

// The tokens whose s begins with one byte. Neighbouring numbers of characters mostly lead to the same state: then their
// suffixes are walked together; else each is run on its own.
template <class O>
void LoopTokens::Leave(const Plan& plan, const SuffixTrie& suffixes, uint32_t child, Scratch* scratch, O other) {
  constexpr size_t kMostWalks = 3;
  const Trie& trie = suffixes.trie;
  const uint8_t b = trie.nodes[child].byte;
  const uint32_t end = plan.counts ? std::min(suffixes.max_chars[b], plan.shape.high) : 0;
  struct Run {
    uint32_t low;
    State state;
  };
  std::vector<Run> runs;
  for (uint32_t l = 0; l <= end; ++l) {
    const State q = acceptor_->Next(After(plan, scratch, l), b);
    if (runs.empty() || runs.back().state != q) runs.push_back({l, q});
  }
  if (runs.size() <= kMostWalks) {
    for (size_t r = 0; r < runs.size(); ++r) {
      const uint32_t low = runs[r].low, high = r + 1 < runs.size() ? runs[r + 1].low - 1 : plan.counts ? end : kUnboundedLoop;
      if (!runs[r].state) continue;
      Walk(trie, {child, runs[r].state}, &scratch->stack, [&](uint32_t i, State state) {
        if (suffixes.chars[i] >= low && suffixes.chars[i] <= high) other(trie.order[i], state);
      });
    }
    return;
  }
  for (uint32_t n = child; n < trie.nodes[child].end; ++n) {
    scratch->bytes.resize(trie.nodes[n].depth - 1);
    scratch->bytes.push_back(static_cast<char>(trie.nodes[n].byte));
    for (uint32_t i = trie.TokensBegin(n); i < trie.TokensEnd(n); ++i) {
      if (suffixes.chars[i] > end) continue;
      TimeLimit::Spend();
      if (const State q = acceptor_->Run(After(plan, scratch, suffixes.chars[i]), scratch->bytes)) other(trie.order[i], q);
    }
  }
}

template <class T>
void LoopTokens::Walk(const Trie& trie, Visit root, std::vector<Visit>* stack, T token) {
  const auto enter = [&](uint32_t n, State state) {
    for (uint32_t i = trie.TokensBegin(n); i < trie.TokensEnd(n); ++i) token(i, state);
    if (trie.nodes[n].end > n + 1) stack->push_back({n, state});
  };
  enter(root.node, root.state);
  while (!stack->empty()) {
    const Visit at = stack->back();
    stack->pop_back();
    TimeLimit::Spend();
    const StateRow next = acceptor_->Row(at.state);
    if (trie.nodes[at.node].wide) {
      trie.ForEachLiveChild(at.node, acceptor_->Live(at.state),
                            [&](uint32_t child, uint8_t byte) { enter(child, next[byte]); });
      continue;
    }
    trie.ForEachChild(at.node, [&](uint32_t child) {
      if (const State to = next[trie.nodes[child].byte]) enter(child, to);
    });
  }
}

}  // namespace tokamata
