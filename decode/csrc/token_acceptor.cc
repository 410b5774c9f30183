#include "decode/csrc/token_acceptor.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "automata/csrc/connect.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"
#include "automata/csrc/utf8.h"
#include "decode/csrc/terminal_sets.h"
#include "decode/csrc/walk.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

using State = DelayedAcceptor::State;

// The vocabulary with respect to the characters of one kind of loop.
struct LoopTokens {
  ByteSet ascii;
  bool non_ascii;
  uint32_t max_chars = 0;  // of `ids`
  // Tokens inside the loop by the phase they end in (0: whole characters), then by characters: those of phase p and l
  // characters begin at offsets[p * (max_chars + 1) + l].
  std::vector<uint32_t> ids;
  std::vector<uint32_t> offsets;
  std::vector<Factor::Exit> exits;       // by first byte outside of the loop, then by characters before it
  std::array<uint32_t, 257> exits_at{};  // those of byte b: exits[exits_at[b]] … exits[exits_at[b + 1] - 1]
  uint32_t max_exit_chars = 0;
  std::unordered_map<uint64_t, uint32_t> terminals;  // by range of `ids`

  uint32_t Begin(uint32_t phase, uint32_t chars) const { return offsets[phase * (max_chars + 1) + chars]; }
};

constexpr size_t kKept = 1 << 14;  // ids that a bucket keeps room for

// A character cut off in each phase.
constexpr const char* kCut[Utf8Phase::kNumPhases] = {"", "\xC2", "\xE1", "\xE0", "\xED", "\xF1", "\xF0", "\xF4"};
constexpr const char* kCutName[Utf8Phase::kNumPhases] = {"", "-1", "-2", "-2E0", "-2ED", "-3", "-3F0", "-3F4"};

class Builder {
 public:
  Builder(DelayedAcceptor* acceptor, const Vocabulary& vocabulary, const TokenAcceptorOptions& options)
      : acceptor_(acceptor),
        vocabulary_(vocabulary),
        options_(options),
        trie_(vocabulary.Masks().trie()),
        sets_(vocabulary),
        path_(trie_.max_depth + 2) {}

  TokenAcceptor Build();

 private:
  LoopTokens& TokensOf(const LoopShape& shape);
  void Walk(State q);
  void WalkLoop(State q, const LoopShape& shape);
  void AddInside(LoopTokens* tokens, uint32_t phase, uint32_t low, uint32_t high, State target);
  std::string LoopName(const LoopTokens& tokens, uint32_t phase, uint32_t low, uint32_t high) const;
  // The tokens at and below a node that was entered with state q.
  void AddSubtree(uint32_t node, State q) {
    TimeLimit::Spend(1 + trie_.CountBelow(node) / 64);
    AddTokens(node, q);
    ForEachLiveToken(trie_, node, acceptor_, q, &path_, [this](uint32_t n, State next) { AddTokens(n, next); });
  }
  void AddTokens(uint32_t node, State target) {
    const uint32_t begin = trie_.TokensBegin(node), end = trie_.TokensEnd(node);
    if (begin != end) AddIds(trie_.order.data + begin, end - begin, target);
  }
  void AddIds(const uint32_t* ids, size_t count, State target);
  void AddArc(Label label, State target) { arcs_.push_back({label, label, 0.0f, IdOf(target)}); }
  void EmitTerminal(uint32_t terminal, State target) {
    AddArc(static_cast<Label>(vocabulary_.Size() + 1 + terminal), target);
  }
  void FinishState();
  StateId IdOf(State q);
  TokenAcceptor Finish(Fst fst) const;

  DelayedAcceptor* acceptor_;
  const Vocabulary& vocabulary_;
  const TokenAcceptorOptions options_;
  const Trie& trie_;
  TerminalSets sets_;
  std::vector<std::unique_ptr<LoopTokens>> loops_;
  size_t loop_bytes_ = 0;
  std::vector<State> queue_;        // by StateId
  std::vector<StateId> id_;         // by State
  std::vector<Arc> arcs_;
  std::vector<size_t> offsets_{0};
  // Tokens of the state at hand by target, where they are not yet in arcs_.
  struct Bucket {
    State target;
    std::vector<uint32_t> ids;
  };
  std::vector<Bucket> buckets_;
  size_t used_buckets_ = 0;
  std::vector<uint32_t> bucket_of_;  // by State: index + 1
  std::vector<StateRow> path_;
  std::vector<State> after_;         // states after 0, 1, 2, … characters of a loop
};

StateId Builder::IdOf(State q) {
  if (q >= id_.size()) id_.resize(std::max<size_t>(q + 1, id_.size() * 2), kNoState);
  if (id_[q] != kNoState) return id_[q];
  if (queue_.size() >= options_.max_states)
    throw LimitError("token_acceptor: the limit max_states=" + std::to_string(options_.max_states) +
                     " was reached; pass a larger one or simplify the constraint (decoding needs no explicit machine)");
  queue_.push_back(q);
  return id_[q] = static_cast<StateId>(queue_.size() - 1);
}

void Builder::AddIds(const uint32_t* ids, size_t count, State target) {
  if (target >= bucket_of_.size()) bucket_of_.resize(std::max<size_t>(target + 1, bucket_of_.size() * 2), 0);
  uint32_t& slot = bucket_of_[target];
  if (!slot) {
    if (used_buckets_ == buckets_.size()) buckets_.emplace_back();
    buckets_[used_buckets_].target = target;
    slot = static_cast<uint32_t>(++used_buckets_);
  }
  std::vector<uint32_t>& to = buckets_[slot - 1].ids;
  to.insert(to.end(), ids, ids + count);
}

void Builder::FinishState() {
  for (size_t i = 0; i < used_buckets_; ++i) {
    Bucket& bucket = buckets_[i];
    if (bucket.ids.size() >= options_.min_tokens)
      EmitTerminal(sets_.Add(bucket.ids.data(), bucket.ids.size()), bucket.target);
    else
      for (uint32_t id : bucket.ids) AddArc(static_cast<Label>(id + 1), bucket.target);
    if (bucket.ids.capacity() > kKept)
      bucket.ids = {};
    else
      bucket.ids.clear();
    bucket_of_[bucket.target] = 0;
  }
  used_buckets_ = 0;
  std::sort(arcs_.begin() + static_cast<int64_t>(offsets_.back()), arcs_.end(),
            [](const Arc& a, const Arc& b) { return a.ilabel < b.ilabel; });
  TimeLimit::Spend(1 + static_cast<int64_t>(arcs_.size() - offsets_.back()) / 2);
  offsets_.push_back(arcs_.size());
  const uint64_t bytes = arcs_.size() * sizeof(Arc) + sets_.MemoryBytes() + loop_bytes_;
  if (bytes > options_.max_bytes)
    throw LimitError("token_acceptor: the limit max_bytes=" + std::to_string(options_.max_bytes) +
                     " was reached by arcs, token sets and what was looked up for wildcards; pass a larger one or "
                     "simplify the constraint");
}

// One sweep over the trie for each kind of loop.
LoopTokens& Builder::TokensOf(const LoopShape& shape) {
  for (const auto& known : loops_)
    if (known->ascii == shape.ascii && known->non_ascii == shape.non_ascii) return *known;
  loops_.push_back(std::make_unique<LoopTokens>());
  LoopTokens& t = *loops_.back();
  TimeLimit::Spend(1 + trie_.CountBelow(0) / 16);
  t.ascii = shape.ascii;
  t.non_ascii = shape.non_ascii;
  struct Found {
    uint32_t node, phase, chars;
  };
  std::vector<Found> found;
  std::array<std::vector<Factor::Exit>, 256> exits;
  const ByteSet first = t.non_ascii ? t.ascii | ByteSet::Range(0xC2, 0xF4) : t.ascii;
  ForEachFactored(
      trie_, 0, first,
      [&](uint32_t node, uint32_t chars, uint32_t phase) {
        found.push_back({node, phase, chars});
        t.max_chars = std::max(t.max_chars, chars);
      },
      [&](uint32_t node, uint32_t chars) {
        exits[trie_.nodes[node].byte].push_back({node, chars});
        t.max_exit_chars = std::max(t.max_exit_chars, chars);
      });
  // A counting sort of the tokens by (phase, characters).
  const uint32_t stride = t.max_chars + 1;
  t.offsets.assign(size_t{Utf8Phase::kNumPhases} * stride + 1, 0);
  for (const Found& f : found) t.offsets[f.phase * stride + f.chars + 1] += trie_.TokensEnd(f.node) - trie_.TokensBegin(f.node);
  for (size_t i = 1; i < t.offsets.size(); ++i) t.offsets[i] += t.offsets[i - 1];
  std::vector<uint32_t> at(t.offsets.begin(), t.offsets.end() - 1);
  t.ids.resize(t.offsets.back());
  for (const Found& f : found)
    for (uint32_t i = trie_.TokensBegin(f.node); i < trie_.TokensEnd(f.node); ++i)
      t.ids[at[f.phase * stride + f.chars]++] = trie_.order[i];
  for (size_t b = 0; b < 256; ++b) {
    std::stable_sort(exits[b].begin(), exits[b].end(), [](const auto& x, const auto& y) { return x.chars < y.chars; });
    t.exits.insert(t.exits.end(), exits[b].begin(), exits[b].end());
    t.exits_at[b + 1] = static_cast<uint32_t>(t.exits.size());
  }
  loop_bytes_ += sizeof(t) + (t.ids.size() + t.offsets.size()) * sizeof(uint32_t) + t.exits.size() * sizeof(Factor::Exit);
  return t;
}

std::string Builder::LoopName(const LoopTokens& t, uint32_t phase, uint32_t low, uint32_t high) const {
  std::string name = "<" + ClassName(t.ascii, t.non_ascii);
  if (high == t.max_chars && high > low) {
    name += low == 1 ? "+" : "{" + std::to_string(low) + ",}";
  } else if (high > low) {
    name += "{" + std::to_string(low) + "," + std::to_string(high) + "}";
  } else if (low != 1) {
    name += "{" + std::to_string(low) + "}";
  }
  return name + kCutName[phase] + ">";
}

// The tokens of low..high characters that stay inside a loop and end in the phase, all with one target.
void Builder::AddInside(LoopTokens* t, uint32_t phase, uint32_t low, uint32_t high, State target) {
  const uint32_t begin = t->Begin(phase, low), end = t->Begin(phase, high + 1);
  if (begin == end) return;
  if (end - begin < options_.min_tokens) return AddIds(t->ids.data() + begin, end - begin, target);
  const auto [it, added] = t->terminals.emplace(uint64_t{begin} << 32 | end, 0);
  if (added) it->second = sets_.Add(t->ids.data() + begin, end - begin, LoopName(*t, phase, low, high));
  EmitTerminal(it->second, target);
}

void Builder::WalkLoop(State q, const LoopShape& shape) {
  LoopTokens& t = TokensOf(shape);
  const std::string_view one = shape.ascii.Any() ? std::string_view() : std::string_view("\xC2\x80");
  const uint8_t one_byte = shape.ascii.Any() ? shape.ascii.First() : 0;
  // After l characters of the loop: after_[l], and the last one for all l beyond.
  after_.assign(1, q);
  const uint32_t longest = std::min(shape.high, std::max(t.max_chars, t.max_exit_chars));
  while (after_.size() <= longest) {
    const State next = one.empty() ? acceptor_->Next(after_.back(), one_byte) : acceptor_->Run(after_.back(), one);
    if (next == after_.back() && shape.high == kUnboundedLoop) break;
    after_.push_back(next);
  }
  const auto after = [this](uint32_t l) { return after_[std::min<size_t>(l, after_.size() - 1)]; };
  const uint32_t most = std::min(shape.high, t.max_chars);
  for (uint32_t phase = 0; phase < (t.non_ascii ? Utf8Phase::kNumPhases : 1); ++phase) {
    const auto target = [&](uint32_t l) { return phase ? acceptor_->Run(after(l - 1), kCut[phase]) : after(l); };
    for (uint32_t low = 1; low <= most;) {  // runs of one target
      const State to = target(low);
      const bool same = low >= after_.size();  // the states do not change any more
      uint32_t high = same ? most : low;
      while (high < most && target(high + 1) == to) ++high;
      if (to) AddInside(&t, phase, low, high, to);
      low = high + 1;
    }
  }
  for (uint32_t b = 0; b < 256; ++b) {
    const uint32_t end = t.exits_at[b + 1];
    for (uint32_t i = t.exits_at[b]; i < end && t.exits[i].chars <= shape.high;) {
      const uint32_t chars = t.exits[i].chars;
      const State next = acceptor_->Next(after(chars), static_cast<uint8_t>(b));
      for (; i < end && t.exits[i].chars == chars; ++i)
        if (next) AddSubtree(t.exits[i].node, next);
    }
  }
}

void Builder::Walk(State q) {
  LoopShape shape;
  if (acceptor_->Loop(q, &shape) && !shape.IsOnlyHan()) return WalkLoop(q, shape);
  TimeLimit::Spend(1 + trie_.CountBelow(0) / 64);
  ForEachLiveToken(trie_, 0, acceptor_, q, &path_, [this](uint32_t n, State next) { AddTokens(n, next); });
}

TokenAcceptor Builder::Build() {
  if (!acceptor_->Start()) return TokenAcceptor();
  IdOf(acceptor_->Start());
  for (size_t i = 0; i < queue_.size(); ++i) {
    Walk(queue_[i]);
    FinishState();
  }
  std::vector<float> finals;
  const Fst empty;
  for (State q : queue_) finals.push_back(acceptor_->IsFinal(q) ? empty.One() : empty.Zero());
  // A vocabulary that lacks bytes has dead ends.
  return Finish(Connect(Fst::FromPool(empty.Semiring(), std::move(arcs_), offsets_, finals, 0)));
}

// Numbers the terminals that are left and names all labels.
TokenAcceptor Builder::Finish(Fst fst) const {
  const Label first = static_cast<Label>(vocabulary_.Size()) + 1;
  std::vector<uint8_t> used_token(vocabulary_.Size(), 0);
  std::vector<Label> label(sets_.Size(), 0);
  for (StateId s = 0; s < fst.NumStates(); ++s)
    for (const Arc& a : fst.Arcs(s))
      if (a.ilabel < first)
        used_token[a.ilabel - 1] = 1;
      else
        label[a.ilabel - first] = 1;
  TokenAcceptor out;
  auto symbols = std::make_shared<SymbolTable>("tokens");
  symbols->Add("<eps>", 0);
  const auto add = [&symbols](std::string name, int64_t key) {
    if (symbols->Find(name) >= 0) name += "#" + std::to_string(key - 1);
    while (symbols->Find(name) >= 0) name += "#";
    symbols->Add(name, key);
  };
  for (uint32_t t = 0; t < used_token.size(); ++t)
    if (used_token[t]) add(TokenName(vocabulary_.Token(t)), int64_t{t} + 1);
  Label next = first;
  for (uint32_t i = 0; i < sets_.Size(); ++i) {
    if (!label[i]) continue;
    label[i] = next++;
    out.ids.insert(out.ids.end(), sets_.Ids().begin() + static_cast<int64_t>(sets_.Offsets()[i]),
                   sets_.Ids().begin() + static_cast<int64_t>(sets_.Offsets()[i + 1]));
    out.offsets.push_back(out.ids.size());
    add(sets_.Name(i), label[i]);
  }
  for (StateId s = 0; s < fst.NumStates(); ++s)
    for (Arc& a : fst.MutableArcs(s))
      if (a.ilabel >= first) a.ilabel = a.olabel = label[a.ilabel - first];
  fst.SetInputSymbols(symbols);
  fst.SetOutputSymbols(symbols);
  out.fst = std::move(fst);
  return out;
}

}  // namespace

TokenAcceptor MakeTokenAcceptor(const Language& language, const Vocabulary& vocabulary,
                                const TokenAcceptorOptions& options) {
  const TimeLimit time("token_acceptor", "search_seconds", language.OwnLimits().search_seconds);
  const std::shared_ptr<ExpressionAcceptor> acceptor = language.Scratch();
  return Builder(acceptor.get(), vocabulary, options).Build();
}

}  // namespace tokamata
