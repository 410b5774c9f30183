#include "decode/csrc/token_automaton.h"

#include <algorithm>
#include <cstring>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {

TokenAutomaton::TokenAutomaton(std::shared_ptr<DelayedAcceptor> acceptor, std::shared_ptr<const Vocabulary> vocabulary,
                               size_t cache_bytes)
    : acceptor_(std::move(acceptor)),
      vocabulary_(std::move(vocabulary)),
      cache_bytes_(cache_bytes),
      builder_(acceptor_.get(), vocabulary_.get()),
      distances_(acceptor_.get(), vocabulary_.get(), builder_.Complete(),
                 [this](State q) { return builder_.CanFinish(q); }) {
  if (!acceptor_->Start())
    throw ConstraintError("compile: the constraint is empty: no text at all matches it, so no token could ever be allowed; "
                          "check what was intersected or subtracted");
  if (!builder_.Complete() && !builder_.CanFinish(acceptor_->Start()))
    throw ConstraintError("compile: no text of the constraint can be written with the tokens of this vocabulary; use a "
                          "vocabulary that has the needed bytes");
}

TokenAutomaton::~TokenAutomaton() = default;

std::shared_ptr<TokenAutomaton> TokenAutomaton::Renewed() const {
  std::shared_ptr<DelayedAcceptor> acceptor = acceptor_->Renewed();
  return acceptor ? std::make_shared<TokenAutomaton>(std::move(acceptor), vocabulary_, cache_bytes_) : nullptr;
}

void TokenAutomaton::Write(const Mask& mask, uint32_t* out) const {
  if (mask.count == kDenseMask) {
    std::memcpy(out, mask.data, size_t{Words()} * sizeof(uint32_t));
    return;
  }
  std::memset(out, 0, size_t{Words()} * sizeof(uint32_t));
  for (uint32_t i = 0; i < mask.count; ++i) out[mask.data[i] >> 5] |= 1u << (mask.data[i] & 31);
}

bool TokenAutomaton::CopyMask(State q, uint32_t* out) const {
  const std::atomic<const Mask*>* slot = masks_.Find(q);
  const Mask* mask = slot ? slot->load(std::memory_order_acquire) : nullptr;
  if (!mask) return false;
  Write(*mask, out);
  return true;
}

void TokenAutomaton::FillMask(State q, uint32_t* out) {
  if (CopyMask(q, out)) return;
  const TimeLimit time("mask", "seconds", acceptor_->seconds);
  const std::lock_guard<std::mutex> lock(mutex_);
  const State canonical = builder_.Canonical(q);
  masks_.Ensure(q);
  masks_.Ensure(canonical);
  const Mask* mask = masks_[canonical].load(std::memory_order_relaxed);
  if (mask) {
    Write(*mask, out);
  } else {
    builder_.Build(canonical, out);
    mask = Store(out);
    if (!mask) return;  // the cache is full
    masks_[canonical].store(mask, std::memory_order_release);
  }
  masks_[q].store(mask, std::memory_order_release);
}

void TokenAutomaton::FillMaskByWalking(State q, uint32_t* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  builder_.BuildByWalking(q, out);
}

const TokenAutomaton::Mask* TokenAutomaton::Store(const uint32_t* row) {
  constexpr uint32_t kBlock = 64;  // words looked at together: most of a sparse row is skipped so
  const uint32_t words = Words(), few = words / 32;
  if (mask_bytes_.load(std::memory_order_relaxed) >= cache_bytes_) return nullptr;
  few_ids_.clear();
  const auto collect = [&](uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end && few_ids_.size() <= few; ++i)
      for (uint32_t w = row[i]; w; w &= w - 1) few_ids_.push_back(i * 32 + static_cast<uint32_t>(__builtin_ctz(w)));
  };
  uint32_t first = 0;
  for (; first + kBlock <= words && few_ids_.size() <= few; first += kBlock) {
    uint32_t any = 0;
    for (uint32_t i = 0; i < kBlock; ++i) any |= row[first + i];
    if (any) collect(first, first + kBlock);
  }
  collect(first, words);
  const bool sparse = few_ids_.size() <= few;
  const size_t size = 1 + (sparse ? few_ids_.size() : size_t{words});
  const size_t bytes = size * sizeof(uint32_t);
  if (mask_bytes_.load(std::memory_order_relaxed) + bytes > cache_bytes_) return nullptr;
  owned_.emplace_back(new uint32_t[size]);
  uint32_t* data = owned_.back().get();
  data[0] = sparse ? static_cast<uint32_t>(few_ids_.size()) : kDenseMask;
  std::memcpy(data + 1, sparse ? few_ids_.data() : row, (size - 1) * sizeof(uint32_t));
  mask_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  num_masks_.fetch_add(1, std::memory_order_relaxed);
  return reinterpret_cast<const Mask*>(data);
}

TokenAutomaton::State TokenAutomaton::Advance(State q, uint32_t token) {
  const std::string_view bytes = vocabulary_->Token(token);
  if (bytes.empty()) return DelayedAcceptor::kDead;  // special and empty tokens
  const State next = acceptor_->Run(q, bytes);
  if (!next || builder_.Complete()) return next;
  const std::lock_guard<std::mutex> lock(mutex_);
  return builder_.CanFinish(next) ? next : State{DelayedAcceptor::kDead};
}

// ---------------------------------------------------------------------------------------------- budgets

bool TokenAutomaton::CopyMask(State q, uint32_t left, uint32_t* out) const {
  return LeavesRoom(q, left) && CopyMask(q, out);
}

void TokenAutomaton::FillMask(State q, uint32_t left, uint32_t* out) {
  if (left != kNoBudget) {
    if (left < 2) return FillNarrowed(q, left, out);
    if (!distances_.LeavesRoom(q, left - 2)) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!distances_.FindRoom(q, left - 2)) return FillNarrowed(q, left, out);
    }
  }
  FillMask(q, out);
}

void TokenAutomaton::FillNarrowed(State q, uint32_t left, uint32_t* out) {
  if (left >= 2) {
    const uint64_t key = uint64_t{q} << 32 | left;
    const auto known = narrowed_.find(key);
    if (known != narrowed_.end()) return Write(*known->second, out);
    distances_.BuildRow(q, left - 2, out);
    builder_.SetEos(q, out);
    if (const Mask* mask = Store(out)) narrowed_.emplace(key, mask);
    return;
  }
  std::memset(out, 0, size_t{Words()} * sizeof(uint32_t));
  if (left) builder_.SetEos(q, out);
}

TokenAutomaton::State TokenAutomaton::Advance(State q, uint32_t token, uint32_t left) {
  if (left < 2) return DelayedAcceptor::kDead;
  const State next = Advance(q, token);
  if (!next || left == kNoBudget || distances_.LeavesRoom(q, left - 2)) return next;
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool fits = distances_.FindRoomByStructure(q, left - 2) || distances_.AtMost(next, left - 2);
  return fits ? next : State{DelayedAcceptor::kDead};
}

void TokenAutomaton::CheckBudget(int64_t max_tokens) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (max_tokens >= 1) {
    const uint32_t k = static_cast<uint32_t>(std::min<int64_t>(max_tokens, kNoBudget - 1)) - 1;
    if (distances_.AtMost(Start(), k)) return;
  }
  const std::string refused = "start: max_tokens=" + std::to_string(max_tokens) + " is too small: ";
  std::string least;
  try {
    least = std::to_string(uint64_t{distances_.Distance(Start())} + 1);
  } catch (const CapacityError&) {
    throw;  // asked again with more room
  } catch (const LimitError& error) {
    const uint32_t high = distances_.MostKnown(Start());
    throw BudgetError(refused + "which one is the smallest that works was not found in time (" + error.what() + ")" +
                      (high == DistanceTable::kFar ? "" : "; max_tokens=" + std::to_string(uint64_t{high} + 1) + " works"));
  }
  throw BudgetError(refused + "the shortest way to write a member of the constraint takes " + least +
                    " of this vocabulary's tokens, end-of-sequence included; pass max_tokens=" + least + " or more");
}

uint32_t TokenAutomaton::Distance(State q) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return distances_.Distance(q);
}

// Runs all token sequences that fit side by side. They have the same bytes so far, hence the same state; they differ in
// where they stand in the trie and in how many tokens may still follow.
std::string TokenAutomaton::ForcedBytes(State q, uint32_t left, size_t most) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Trie& trie = vocabulary_->Masks().trie();
  struct At {
    uint32_t node, left;  // left: tokens that may follow once the one at this node ends, itself included
  };
  std::vector<At> now{{0, left}}, following;
  std::string text;
  while (text.size() < most) {
    if (now[0].node == 0 && acceptor_->IsFinal(q)) break;  // the text may end here
    const State* row = acceptor_->Row(q);
    const ByteSet live = acceptor_->Live(q);
    if (builder_.Complete() && live.Count() > 1 && now[0].node == 0 && now[0].left >= 2 &&
        distances_.FindRoomByStructure(q, now[0].left - 2))
      break;
    ByteSet possible;
    for (const At& at : now)
      for (uint32_t c = at.node + 1; c < trie.nodes[at.node].end && possible.Count() < 2; c = trie.nodes[c].end) {
        const uint8_t b = trie.nodes[c].byte;
        if (row[b] && at.left >= 2 && !possible.Has(b) && distances_.AnyToken(c, row[b], at.left - 2)) possible.Add(b);
      }
    if (possible.Count() != 1) break;
    const uint8_t byte = possible.First();
    q = row[byte];
    text.push_back(static_cast<char>(byte));
    following.clear();
    uint32_t restart = 0;
    for (const At& at : now) {
      const uint32_t c = trie.Child(at.node, byte);
      if (c == kNoIndex) continue;
      if (trie.TokensBegin(c) != trie.TokensEnd(c) && at.left >= 2 && distances_.AtMost(q, at.left - 2))
        restart = std::max(restart, at.left - 1);
      if (trie.nodes[c].end > c + 1) following.push_back({c, at.left});
    }
    if (restart) following.insert(following.begin(), At{0, restart});
    now.swap(following);
  }
  return text;
}

}  // namespace tokamata
