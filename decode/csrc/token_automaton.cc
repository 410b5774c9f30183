#include "decode/csrc/token_automaton.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"
#include "decode/csrc/next_values.h"
#include "decode/csrc/rows.h"

namespace tokamata {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kQuick(10);  // of masks: handing over an interpreter's lock takes as long
constexpr size_t kManyBytes = 3;  // of a token, from which its steps are kept also from states with rows

}  // namespace

TokenAutomaton::TokenAutomaton(std::shared_ptr<DelayedAcceptor> acceptor, std::shared_ptr<const Vocabulary> vocabulary,
                               size_t cache_bytes)
    : acceptor_(std::move(acceptor)),
      vocabulary_(std::move(vocabulary)),
      cache_bytes_(cache_bytes),
      builder_(acceptor_.get(), vocabulary_.get()),
      expressions_(vocabulary_->NumClasses() ? dynamic_cast<ExpressionAcceptor*>(acceptor_.get()) : nullptr),
      distances_(acceptor_.get(), vocabulary_.get(), builder_.Complete(),
                 [this](State q) { return builder_.CanFinish(q); }) {
  if (!acceptor_->Start())
    throw ConstraintError("compile: the constraint is empty: no text at all matches it, so no token could ever be allowed; "
                          "check what was intersected or subtracted, and whether a grammar's lexer, which takes the "
                          "longest match, leaves its rules what they need (other lexers: contextual, none)");
  const TimeLimit time("compile", "seconds", acceptor_->seconds);
  if (!builder_.Complete() && !builder_.CanFinish(acceptor_->Start()))
    throw ConstraintError("compile: no text of the constraint can be written with the tokens of this vocabulary; use a "
                          "vocabulary that has the needed bytes");
  if (vocabulary_->NumClasses()) return;  // finished masks lack the bits of classes
  builder_.UseFinished([this](State q, uint32_t* row, const uint32_t** base) {
    const Mask* mask = Finished(q);
    if (!mask) return false;
    Write(*mask, row);
    *base = mask->count == kDenseMask ? mask->data : mask->base;
    return true;
  });
}

TokenAutomaton::~TokenAutomaton() = default;

std::shared_ptr<TokenAutomaton> TokenAutomaton::Renewed() const {
  std::shared_ptr<DelayedAcceptor> acceptor = acceptor_->Renewed();
  return acceptor ? std::make_shared<TokenAutomaton>(std::move(acceptor), vocabulary_, cache_bytes_) : nullptr;
}

void TokenAutomaton::Write(const Mask& mask, uint32_t* out) const {
  if (mask.count == kDenseMask) return CopyRow(mask.data, Words(), out);
  if (mask.base)
    CopyRow(mask.base, Words(), out);
  else
    std::memset(out, 0, size_t{Words()} * sizeof(uint32_t));
  const uint32_t *places = mask.data, *values = places + mask.count;
  for (uint32_t i = 0; i < mask.count; ++i) out[places[i]] = values[i];
}

bool TokenAutomaton::CopyMask(State q, uint32_t* out) const {
  const Mask* mask = Finished(q);
  if (!mask) return false;
  Write(*mask, out);
  return true;
}

void TokenAutomaton::FillMask(State q, uint32_t* out) {
  if (CopyMask(q, out)) return;
  const TimeLimit time("mask", "seconds", acceptor_->seconds);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto held = acceptor_->Hold();  // each of many questions would take the lock
  MakeMask(q, out);
}

bool TokenAutomaton::FillMaskQuickly(State q, uint32_t left, uint32_t* out) {
  if (!LeavesRoom(q, left)) return false;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  const auto held = acceptor_->TryHold();
  if (!held || !builder_.IsQuick(builder_.Canonical(q))) return false;
  const TimeLimit time("mask", "seconds", acceptor_->seconds);
  MakeMask(q, out);
  return true;
}

void TokenAutomaton::MakeMask(State q, uint32_t* out) {
  const State canonical = builder_.Canonical(q);
  masks_.Ensure(q);
  masks_.Ensure(canonical);
  const Mask* mask = masks_[canonical].load(std::memory_order_relaxed);
  if (!mask)
    if (const void** const shared = builder_.Shared(canonical); shared && *shared) {
      mask = static_cast<const Mask*>(*shared);
      masks_[canonical].store(mask, std::memory_order_release);
    }
  if (mask) {
    Write(*mask, out);
  } else {
    const bool quick = builder_.IsQuick(canonical);
    const auto begin = quick ? Clock::time_point() : Clock::now();
    Join(out, [&](uint32_t* row) { builder_.Build(canonical, row); });
    if (!quick) builder_.SetQuick(canonical, Clock::now() - begin < kQuick);
    const uint64_t alike = builder_.Base() ? 0 : builder_.Alike();
    mask = Store(out, alike ? alike_[alike] : builder_.Base());
    if (mask) {  // else the cache is full
      if (alike && mask->count == kDenseMask) alike_[alike] = mask->data;
      masks_[canonical].store(mask, std::memory_order_release);
      if (const void** const shared = builder_.Shared(canonical)) *shared = mask;
    }
  }
  if (canonical != q && (expressions_ ? RunWholeKeys(q, out) : builder_.RunWholeKeys(q, out))) mask = Store(out, nullptr);
  if (mask) masks_[q].store(mask, std::memory_order_release);
}

bool TokenAutomaton::RunWholeKeys(State q, uint32_t* out) {
  if (!acceptor_->Remembers()) return false;
  const auto allows = [&](uint32_t id) { return Advance(q, id) != DelayedAcceptor::kDead; };
  bool any = false;
  for (const auto* ids : {&vocabulary_->WithWholeKeys(), &vocabulary_->WithEndsOfKeys(), &vocabulary_->WithKeysInLines(),
                          &vocabulary_->WithNextLines()})
    for (uint32_t id : *ids) {
      if (id >= vocabulary_->ModelSize() || HasToken(out, id) == allows(id)) continue;
      FlipToken(id, out);
      any = true;
    }
  if (!acceptor_->RemembersValues()) return any;
  return ClearNextValues(*vocabulary_, acceptor_.get(), q, vocabulary_->ModelSize(), allows, out) || any;
}

void TokenAutomaton::FillMaskByWalking(State q, uint32_t* out) {
  const TimeLimit time("mask_by_walking", "seconds", acceptor_->seconds);
  const std::lock_guard<std::mutex> lock(mutex_);
  Join(out, [&](uint32_t* row) { builder_.BuildByWalking(q, row); });
}

const TokenAutomaton::Mask* TokenAutomaton::Store(const uint32_t* row, const uint32_t* base) {
  const uint32_t words = Words(), most = words / 8;
  if (full_) return nullptr;
  if (!differing_) differing_.reset(new uint32_t[size_t{2} * (most + kMorePlaces)]);
  uint32_t *const places = differing_.get(), count = ListDifferent(row, base, words, most, places);
  if (base && count > most) count = ListDifferent(row, base = nullptr, words, most, places);
  const bool dense = count > most;
  for (uint32_t k = 0; k < count && !dense; ++k) places[count + k] = row[places[k]];
  const uint32_t size = dense ? words : 2 * count;
  const size_t bytes = offsetof(Mask, data) + size_t{size} * sizeof(uint32_t);
  Mask* mask = static_cast<Mask*>(owned_.Allocate(bytes, cache_bytes_));
  full_ = !mask;
  if (full_) return nullptr;
  mask->base = base;
  mask->count = dense ? kDenseMask : count;
  CopyRow(dense ? row : places, size, mask->data);
  mask_bytes_.store(owned_.Bytes(), std::memory_order_relaxed);
  num_masks_.fetch_add(1, std::memory_order_relaxed);
  return mask;
}

TokenAutomaton::State TokenAutomaton::Advance(State q, uint32_t token) {
  const bool slow = !acceptor_->HasRow(q);
  if (slow)
    if (const State known = steps_.Find(q, token)) return known;
  const std::string_view bytes = vocabulary_->Token(token);
  const bool many = bytes.size() >= kManyBytes;
  if (many && !slow)
    if (const State known = steps_.Find(q, token)) return known;
  State next = DelayedAcceptor::kDead;
  if (!bytes.empty()) next = acceptor_->Run(q, bytes);  // special and empty tokens have none
  if (expressions_) next = Unite(q, token, next);
  if (next && (many || slow) && builder_.Complete()) steps_.Keep(q, token, next);
  if (!next || builder_.Complete()) return next;
  const std::lock_guard<std::mutex> lock(mutex_);
  return builder_.CanFinish(next) ? next : State{DelayedAcceptor::kDead};
}

template <class F>
void TokenAutomaton::Join(uint32_t* out, F build) {
  const uint32_t classes = vocabulary_->NumClasses(), size = vocabulary_->ModelSize(), words = Words();
  if (!classes) return build(out);
  joined_.resize(vocabulary_->Words());
  build(joined_.data());
  std::copy_n(joined_.begin(), words, out);
  if (size % 32) out[words - 1] &= (1u << (size % 32)) - 1;
  for (uint32_t c = 0; c < classes; ++c) {
    const uint32_t id = size + c;
    if (!HasToken(joined_.data(), id)) continue;
    OrRow(vocabulary_->Class(c).data(), words, out);
  }
}

TokenAutomaton::State TokenAutomaton::Unite(State q, uint32_t token, State text) {
  std::vector<State> readings;
  if (text) readings.push_back(text);
  for (uint32_t c = 0; c < vocabulary_->NumClasses(); ++c) {
    if (!(vocabulary_->Class(c)[token / 32] >> (token % 32) & 1)) continue;
    if (const State next = acceptor_->Run(q, vocabulary_->Token(vocabulary_->ModelSize() + c))) readings.push_back(next);
  }
  if (readings.empty()) return DelayedAcceptor::kDead;
  return readings.size() == 1 ? readings[0] : expressions_->Unite(readings);
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
    if (FillAllButFar(q, left - 2, out)) return;
    Join(out, [&](uint32_t* row) {
      distances_.BuildRow(q, left - 2, row);
      builder_.SetEos(q, row);
    });
    if (const Mask* mask = Store(out, nullptr)) narrowed_.emplace(key, mask);
    return;
  }
  std::memset(out, 0, size_t{Words()} * sizeof(uint32_t));
  if (left) builder_.SetEos(q, out);
}

// The usual mask without the tokens that are known to lead too far.
bool TokenAutomaton::FillAllButFar(State q, uint32_t k, uint32_t* out) {
  if (vocabulary_->NumClasses()) return false;
  const std::vector<uint32_t>* const may_be_far = distances_.MayBeFar(q, k);
  if (!may_be_far) return false;
  const auto held = acceptor_->Hold();
  const TimeLimit time("mask", "seconds", acceptor_->seconds);
  MakeMask(q, out);
  return distances_.ClearFar(q, k, *may_be_far, out);
}

TokenAutomaton::State TokenAutomaton::Advance(State q, uint32_t token, uint32_t left) {
  if (left < 2) return DelayedAcceptor::kDead;
  const State next = Advance(q, token);
  if (!next || left == kNoBudget || distances_.LeavesRoom(q, left - 2)) return next;
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool fits = distances_.FindRoomByStructure(q, left - 2) || IsInMask(q, token, left) ||
                    distances_.SurelyAtMost(next, left - 2);
  return fits ? next : State{DelayedAcceptor::kDead};
}

// Whether a mask that was built near the end has a token.
bool TokenAutomaton::IsInMask(State q, uint32_t token, uint32_t left) {
  const auto known = narrowed_.find(uint64_t{q} << 32 | left);
  if (known == narrowed_.end()) return false;
  std::vector<uint32_t> row(Words());
  Write(*known->second, row.data());
  return HasToken(row.data(), token);
}

TokenAutomaton::State TokenAutomaton::AdvanceQuickly(State q, uint32_t token, uint32_t left) const {
  const std::string_view bytes = vocabulary_->Token(token);
  if (bytes.empty() || expressions_ || !builder_.Complete()) return DelayedAcceptor::kDead;
  for (const char b : bytes) {
    if (!acceptor_->HasRow(q)) return DelayedAcceptor::kDead;
    q = acceptor_->Row(q)[static_cast<uint8_t>(b)];
  }
  return q && LeavesRoom(q, left) ? q : State{DelayedAcceptor::kDead};
}

void TokenAutomaton::CheckBudget(int64_t max_tokens) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (max_tokens >= 1) {
    const uint32_t k = static_cast<uint32_t>(std::min<int64_t>(max_tokens, kNoBudget - 1)) - 1;
    try {
      if (distances_.AtMost(Start(), k)) return;
    } catch (const CapacityError&) {
      throw;
    } catch (const LimitError& error) {
      const uint32_t most = distances_.MostKnown(Start());
      if (most <= k) return;
      if (most == DistanceTable::kFar) throw;
      throw LimitError(std::string(error.what()) + "; max_tokens=" + std::to_string(uint64_t{most} + 1) + " works");
    }
  }
  const std::string refused = "start: max_tokens=" + std::to_string(max_tokens) + " is too small: ";
  std::string least;
  try {
    const uint32_t distance = distances_.Distance(Start());
    if (distance == DistanceTable::kFar)
      throw BudgetError(refused + "whatever the constraint allows takes so many tokens that their number was not found; ask "
                                  "for shorter texts (as by minLength), or leave max_tokens out");
    least = std::to_string(uint64_t{distance} + 1);
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
    const StateRow row = acceptor_->Row(q);
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
    if (possible.Count() != 1 || BeginsMarker(possible.First())) break;
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
