#include "automata/csrc/count.h"

#include <algorithm>
#include <string>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr uint32_t kUnknown = 0xffffffff;

}  // namespace

void Naturals::Trim() {
  size_t used = 1;
  const size_t size = Size();
  for (size_t i = 0; i < size; ++i)
    for (size_t k = width_; k > used; --k)
      if ((*this)[i][k - 1]) used = k;
  if (used >= width_) return;
  for (size_t i = 1; i < size; ++i) std::copy_n(limbs_.data() + i * width_, used, limbs_.data() + i * used);
  limbs_.resize(size * used);
  width_ = used;
}

Counts::Counts(DelayedAcceptor* acceptor, size_t length, size_t most_bytes, const char* operation)
    : acceptor_(acceptor), length_(length), most_bytes_(most_bytes), operation_(operation) {
  const auto add = [this](DelayedAcceptor::State q) {
    if (q >= index_.size()) index_.resize(std::max<size_t>(acceptor_->NumStates(), q + size_t{1}), kUnknown);
    if (index_[q] == kUnknown) {
      index_[q] = static_cast<uint32_t>(states_.size());
      states_.push_back(q);
    }
    return index_[q];
  };
  add(acceptor->Start());
  first_.push_back(0);
  for (size_t distance = 0; distance <= length && (near_.empty() || near_.back() < states_.size()); ++distance) {
    const size_t begin = near_.empty() ? 0 : near_.back();
    near_.push_back(states_.size());
    for (size_t i = begin; i < near_.back() && distance < length; ++i) {
      TimeLimit::Spend(4);
      const StateRow row = acceptor->Row(states_[i]);
      const size_t arcs = arcs_.size();
      DelayedAcceptor::State last = DelayedAcceptor::kDead;
      size_t at = 0;  // the arc of `last`
      acceptor->Live(states_[i]).ForEach([&](uint8_t b) {
        if (row[b] != last) {
          last = row[b];
          const uint32_t target = add(last);
          for (at = arcs; at < arcs_.size() && arcs_[at].target != target; ++at) {
          }
          if (at == arcs_.size()) arcs_.push_back({target, 0});
        }
        ++arcs_[at].bytes;
      });
      first_.push_back(arcs_.size());
    }
  }
}

int64_t Counts::Target(uint32_t i, uint8_t byte) const {
  const DelayedAcceptor::State q = acceptor_->Next(states_[i], byte);
  return q ? int64_t{index_[q]} : -1;
}

Naturals Counts::First() const {
  Naturals counts(near_.back(), 1);
  for (size_t i = 0; i < counts.Size(); ++i) counts[i][0] = acceptor_->IsFinal(states_[i]);
  return counts;
}

Naturals Counts::Next(const Naturals& shorter, size_t r) const {
  const size_t width = shorter.Width();
  Naturals counts(near_[std::min(length_ - r, near_.size() - 1)], width + 1);
  for (size_t i = 0; i < counts.Size(); ++i) {
    uint64_t* sum = counts[i];
    for (size_t a = first_[i]; a < first_[i + 1]; ++a) {
      const uint64_t* x = shorter[arcs_[a].target];
      unsigned __int128 carry = 0;
      for (size_t k = 0; k < width; ++k) {
        carry += static_cast<unsigned __int128>(x[k]) * arcs_[a].bytes + sum[k];
        sum[k] = static_cast<uint64_t>(carry);
        carry >>= 64;
      }
      sum[width] += static_cast<uint64_t>(carry);
      TimeLimit::Spend(1 + static_cast<int64_t>(width / 32));
    }
  }
  counts.Trim();
  return counts;
}

void Counts::Keep(size_t bytes) {
  kept_ += bytes;
  if (kept_ <= most_bytes_) return;
  throw LimitError(std::string(operation_) + ": the limit count_bytes=" + std::to_string(most_bytes_) +
                   " was reached (big numbers by state and length, and texts); ask for shorter or fewer texts or raise it: "
                   "tokamata.Limits(count_bytes=...)");
}

std::vector<uint64_t> CountMembers(DelayedAcceptor* acceptor, size_t length, size_t most_bytes) {
  if (!acceptor->Start()) return {};
  Counts counts(acceptor, length, most_bytes, "count");
  Naturals layer = counts.First();
  for (size_t r = 1; r <= length; ++r) {
    layer = counts.Next(layer, r);
    if (layer.AllZero()) return {};  // so are all longer ones
    counts.Keep(2 * layer.Bytes());
    counts.Release(2 * layer.Bytes());
  }
  std::vector<uint64_t> limbs(layer[0], layer[0] + layer.Width());
  while (!limbs.empty() && !limbs.back()) limbs.pop_back();
  return limbs;
}

}  // namespace tokamata
