#include "automata/csrc/sample.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "automata/csrc/count.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

using Number = std::vector<uint64_t>;  // little-endian limbs without leading zeros

Number ToNumber(const uint64_t* limbs, size_t width) {
  while (width && !limbs[width - 1]) --width;
  return Number(limbs, limbs + width);
}

bool Less(const Number& a, const uint64_t* b, size_t width) {
  while (width && !b[width - 1]) --width;
  if (a.size() != width) return a.size() < width;
  for (size_t k = width; k-- > 0;)
    if (a[k] != b[k]) return a[k] < b[k];
  return false;
}

// *a -= k · b modulo 2^(64 · limbs of a); whether it was negative.
bool Subtract(const uint64_t* b, size_t width, uint64_t k, Number* a) {
  uint64_t carry = 0, borrow = 0;  // of the product, of the difference
  for (size_t i = 0; i < a->size() && (i < width || carry || borrow); ++i) {
    const unsigned __int128 product = static_cast<unsigned __int128>(i < width ? b[i] : 0) * k + carry;
    carry = static_cast<uint64_t>(product >> 64);
    const uint64_t y = static_cast<uint64_t>(product), x = (*a)[i];
    (*a)[i] = x - y - borrow;
    borrow = x < y || (x == y && borrow);
  }
  return carry || borrow;
}

void Drop(Number* a) {
  while (!a->empty() && !a->back()) a->pop_back();
}

// Takes b off *a as often as it fits in, at most `most` (<= 256) times; how often. A quotient of leading digits is off
// by one at most.
uint32_t Divide(const uint64_t* b, size_t width, uint32_t most, Number* a) {
  while (width && !b[width - 1]) --width;
  if (!width) return most;
  if (a->size() < width) return 0;
  const auto leading = [](const uint64_t* limbs, size_t size) {
    return static_cast<double>(limbs[size - 1]) * 0x1p64 + (size > 1 ? static_cast<double>(limbs[size - 2]) : 0);
  };
  double quotient = leading(a->data(), a->size()) / leading(b, width);
  for (size_t size = a->size(); size > width && quotient < 256; --size) quotient *= 0x1p64;
  uint32_t k = quotient < most ? static_cast<uint32_t>(quotient) : most;
  const Number before = k ? *a : Number();
  while (k && Subtract(b, width, k, a)) {
    *a = before;
    --k;
  }
  Drop(a);
  while (k < most && !Less(*a, b, width)) {
    Subtract(b, width, 1, a);
    Drop(a);
    ++k;
  }
  return k;
}

void Add(const Number& b, Number* a) {
  if (a->size() < b.size()) a->resize(b.size(), 0);
  uint64_t carry = 0;
  for (size_t k = 0; k < a->size(); ++k) {
    const uint64_t y = k < b.size() ? b[k] : 0;
    const uint64_t partial = (*a)[k] + y, sum = partial + carry;
    carry = partial < y || sum < partial;
    (*a)[k] = sum;
  }
  if (carry) a->push_back(carry);
}

// Uniform in 0 .. bound - 1; bound > 0.
Number Below(const Number& bound, std::mt19937_64* random) {
  const uint64_t top = bound.back();
  const uint64_t mask = ~uint64_t{0} >> __builtin_clzll(top);
  for (;;) {
    Number x(bound.size());
    for (uint64_t& limb : x) limb = (*random)();
    x.back() &= mask;
    while (!x.empty() && !x.back()) x.pop_back();
    if (Less(x, bound.data(), bound.size())) return x;
  }
}

struct Draw {
  size_t left;     // bytes still to come
  Number rank;     // among the texts of that length from the state on, in byte order
  uint32_t state;  // in the counts
  std::string text;
};

// One byte more, by the counts of the texts that are a byte shorter.
void Step(const Counts& counts, const Naturals& shorter, Draw* draw) {
  for (int b = 0; b < 256;) {
    const int64_t target = counts.Target(draw->state, static_cast<uint8_t>(b));
    int end = b + 1;
    while (end < 256 && counts.Target(draw->state, static_cast<uint8_t>(end)) == target) ++end;
    if (target >= 0) {
      TimeLimit::Spend(1 + static_cast<int64_t>(shorter.Width() / 16));
      const uint32_t run = static_cast<uint32_t>(end - b);
      const uint32_t k = Divide(shorter[static_cast<size_t>(target)], shorter.Width(), run, &draw->rank);
      if (k < run) {
        draw->text.push_back(static_cast<char>(b + static_cast<int>(k)));
        draw->state = static_cast<uint32_t>(target);
        --draw->left;
        return;
      }
    }
    b = end;
  }
}

}  // namespace

std::vector<std::string> SampleMembers(DelayedAcceptor* acceptor, size_t n, size_t low, size_t high, uint64_t seed,
                                       size_t most_bytes) {
  std::vector<std::string> out;
  if (!n || low > high || !acceptor->Start()) return out;
  Counts counts(acceptor, high, most_bytes, "sample");

  // Upwards: keep every so many layers, and how many members there are of each length.
  const size_t stride = static_cast<size_t>(std::sqrt(static_cast<double>(high))) + 1;
  std::vector<Naturals> kept;
  std::vector<Number> members;  // of low, low + 1, ... bytes
  Number total;
  Naturals layer = counts.First();
  for (size_t r = 0;; ++r) {
    if (r % stride == 0) {
      counts.Keep(layer.Bytes());
      kept.push_back(layer);
    }
    if (r >= low) {
      members.push_back(ToNumber(layer[0], layer.Width()));
      counts.Keep(members.back().size() * sizeof(uint64_t));
      Add(members.back(), &total);
    }
    if (r == high || layer.AllZero()) break;  // nor is there anything longer
    layer = counts.Next(layer, r + 1);
  }
  if (total.empty()) return out;

  std::mt19937_64 random(seed);
  std::vector<Draw> draws;
  for (size_t i = 0; i < n; ++i) {
    TimeLimit::Spend(static_cast<int64_t>(1 + total.size() / 16));
    Draw draw{low, Below(total, &random), 0, {}};
    for (const Number& m : members) {
      TimeLimit::Spend(1);
      if (Less(draw.rank, m.data(), m.size())) break;
      Subtract(m.data(), m.size(), 1, &draw.rank);
      Drop(&draw.rank);
      ++draw.left;
    }
    counts.Keep(sizeof(Draw) + draw.rank.size() * sizeof(uint64_t) + draw.left);
    draws.push_back(std::move(draw));
  }

  // Downwards: recompute the layers between two kept ones and take all draws through them.
  for (size_t block = kept.size(); block-- > 0;) {
    const size_t from = block * stride, to = std::min(high, from + stride);  // bytes left go from `to` to `from`
    std::vector<Naturals> layers;
    layers.push_back(std::move(kept[block]));
    size_t bytes = 0;
    for (size_t r = from + 1; r < to; ++r) {
      layers.push_back(counts.Next(layers.back(), r));
      bytes += layers.back().Bytes();
      counts.Keep(layers.back().Bytes());
    }
    for (Draw& draw : draws)
      while (draw.left > from && draw.left <= to) Step(counts, layers[draw.left - 1 - from], &draw);
    counts.Release(bytes + layers[0].Bytes());
  }
  for (Draw& draw : draws) out.push_back(std::move(draw.text));
  return out;
}

}  // namespace tokamata
