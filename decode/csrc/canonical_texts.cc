#include "decode/csrc/canonical_texts.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "automata/csrc/time_limit.h"
#include "decode/csrc/rows.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

uint64_t NextId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

CanonicalTexts::CanonicalTexts(const Language& texts, std::shared_ptr<const Vocabulary> vocabulary)
    : id_(NextId()), texts_(texts), vocabulary_(std::move(vocabulary)) {
  const TimeLimit time("canonical", "search_seconds", texts_.OwnLimits().search_seconds);
  auto table = std::make_shared<ByteTable>();
  start_ = MinimalTable(texts_.Scratch().get(), table.get());
  table_ = std::move(table);
  FindOpen();
}

// The final states from which strings of the bytes lead to such states only.
std::vector<uint8_t> CanonicalTexts::Usually(const ByteSet& bytes) const {
  std::vector<uint8_t> open = table_->final;
  for (bool again = true; again;) {
    again = false;
    for (State t = 0; t < open.size(); ++t) {
      if (!open[t]) continue;
      TimeLimit::Spend(8);
      bytes.ForEach([&](uint8_t b) { open[t] = open[t] && open[Row(t)[b]]; });
      again = again || !open[t];
    }
  }
  return open;
}

// Where ASCII leads from the start to what is not open, as where "<tool>" is no text, a byte on the way there is left
// out: rather none of those that JSON or words are made of.
void CanonicalTexts::FindOpen() {
  const auto worth = [](uint8_t b) {
    const std::string_view needed = "\"{}[]:, \n\\-.";
    const bool word = (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || b == '_';
    return needed.find(static_cast<char>(b)) != needed.npos ? 2 : word ? 1 : 0;
  };
  for (open_ = Usually(usual_); start_ && !open_[start_] && usual_.Any(); open_ = Usually(usual_)) {
    struct Reached {
      State state;
      size_t from;
      uint8_t by;
    };
    std::vector<Reached> found{{start_, 0, 0}};
    std::vector<uint8_t> seen(open_.size());
    size_t wrong = 0;  // a nearest one that is not final
    for (size_t i = 0; i < found.size() && !wrong; ++i)
      usual_.ForEach([&](uint8_t b) {
        const State t = Row(found[i].state)[b];
        if (wrong || (t && seen[t])) return;
        seen[t] = 1;
        found.push_back({t, i, b});
        if (!IsFinal(t)) wrong = found.size() - 1;
      });
    if (!wrong) break;  // the start is not final
    uint8_t least = found[wrong].by;
    for (size_t i = wrong; i; i = found[i].from)
      if (worth(found[i].by) < worth(least)) least = found[i].by;
    usual_.Remove(least);
  }
}

std::shared_ptr<const CanonicalTexts::Tokens> CanonicalTexts::TokensFrom(State t) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = tokens_from_.find(t);
    if (known != tokens_from_.end()) return known->second;
  }
  auto tokens = std::make_shared<Tokens>();
  tokens->open.assign(vocabulary_->Words(), 0);
  const Trie& trie = vocabulary_->Masks().trie();
  std::vector<State> path(trie.max_depth + 1, t);
  for (uint32_t n = 1; n < trie.Size();) {
    const Trie::Node& node = trie.nodes[n];
    const State next = path[node.depth] = Row(path[node.depth - 1])[node.byte];
    if (!next) {
      n = node.end;
      continue;
    }
    for (uint32_t i = trie.TokensBegin(n); i < trie.TokensEnd(n); ++i)
      if (IsOpen(next))
        SetToken(trie.order[i], tokens->open.data());
      else
        tokens->others.push_back(trie.order[i]);
    ++n;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (tokens_from_.size() >= kMostKept) tokens_from_.clear();
  return tokens_from_.emplace(t, std::move(tokens)).first->second;
}

}  // namespace tokamata
