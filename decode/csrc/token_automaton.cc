#include "decode/csrc/token_automaton.h"

#include <cstring>

#include "automata/csrc/errors.h"

namespace tokamata {

TokenAutomaton::TokenAutomaton(std::shared_ptr<DelayedAcceptor> acceptor, std::shared_ptr<const Vocabulary> vocabulary,
                               size_t cache_bytes)
    : acceptor_(std::move(acceptor)),
      vocabulary_(std::move(vocabulary)),
      cache_bytes_(cache_bytes),
      builder_(acceptor_.get(), vocabulary_.get()) {
  if (!acceptor_->Start())
    throw ConstraintError("compile: the constraint is empty: no text at all matches it, so no token could ever be allowed; "
                          "check what was intersected or subtracted");
  if (!builder_.Complete() && !builder_.CanFinish(acceptor_->Start()))
    throw ConstraintError("compile: no text of the constraint can be written with the tokens of this vocabulary; use a "
                          "vocabulary that has the needed bytes");
}

TokenAutomaton::~TokenAutomaton() = default;

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
  constexpr uint32_t kBlock = 32;  // words looked at together: most of a sparse row is skipped so
  const uint32_t words = Words(), few = words / 32;
  few_ids_.clear();
  for (uint32_t first = 0; first < words && few_ids_.size() <= few; first += kBlock) {
    const uint32_t end = first + kBlock < words ? first + kBlock : words;
    uint32_t any = 0;
    for (uint32_t i = first; i < end; ++i) any |= row[i];
    if (!any) continue;
    for (uint32_t i = first; i < end && few_ids_.size() <= few; ++i)
      for (uint32_t w = row[i]; w; w &= w - 1) few_ids_.push_back(i * 32 + static_cast<uint32_t>(__builtin_ctz(w)));
  }
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

}  // namespace tokamata
