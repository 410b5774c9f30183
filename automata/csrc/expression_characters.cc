#include "automata/csrc/expression.h"

#include <algorithm>

namespace tokamata {
namespace {

constexpr uint32_t kMaxCodePoint = 0x10FFFF;

}  // namespace

CodePointRanges NormalizeRanges(CodePointRanges ranges) {
  std::sort(ranges.begin(), ranges.end());
  CodePointRanges out;
  out.reserve(ranges.size() + 1);
  const auto add = [&out](uint32_t low, uint32_t high) {
    if (low > high) return;
    if (!out.empty() && low <= out.back().second + 1)
      out.back().second = std::max(out.back().second, high);
    else
      out.emplace_back(low, high);
  };
  for (const auto& [low, high] : ranges) {
    add(low, std::min<uint32_t>(high, 0xD7FF));
    add(std::max<uint32_t>(low, 0xE000), std::min(high, kMaxCodePoint));
  }
  return out;
}

CodePointRanges ComplementRanges(const CodePointRanges& ranges) {
  CodePointRanges out;
  uint32_t next = 0;
  for (const auto& [low, high] : NormalizeRanges(ranges)) {
    if (low > next) out.emplace_back(next, low - 1);
    next = high + 1;
  }
  if (next <= kMaxCodePoint) out.emplace_back(next, kMaxCodePoint);
  return NormalizeRanges(std::move(out));
}

CodePointRanges IntersectRanges(const CodePointRanges& a, const CodePointRanges& b) {
  CodePointRanges out;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size(); a[i].second < b[k].second ? ++i : ++k) {
    const uint32_t low = std::max(a[i].first, b[k].first), high = std::min(a[i].second, b[k].second);
    if (low <= high) out.emplace_back(low, high);
  }
  return out;
}

Expr Expressions::AnyText() {
  if (!any_text_) any_text_ = Star(Characters({{0, kMaxCodePoint}}));
  return any_text_;
}

// UTF-8 continuations (`bytes` of them) that encode the offsets of the ranges inside a block of 64^bytes code points.
// Ranges are sorted, disjoint and relative to the block.
Expr Expressions::Utf8Continuation(const CodePointRanges& ranges, int bytes) {
  const uint32_t block = 1u << (6 * bytes);
  const bool full = ranges.size() == 1 && ranges[0].first == 0 && ranges[0].second == block - 1;
  if (full && utf8_full_[bytes]) return utf8_full_[bytes];
  ByteSet set;
  if (bytes == 1) {
    for (const auto& [low, high] : ranges) set = set | ByteSet::Range(0x80 | static_cast<int>(low), 0x80 | static_cast<int>(high));
    return Bytes(set);
  }
  std::vector<Term> branches;  // lead byte sets by tail
  const uint32_t inner = block >> 6;
  size_t i = 0;
  uint32_t from = 0;
  while (i < ranges.size()) {
    const uint32_t low = std::max(ranges[i].first, from);
    const uint32_t index = low / inner;
    CodePointRanges part;
    uint32_t last = index;
    if (low % inner == 0 && ranges[i].second >= low + inner - 1) {  // one or more whole inner blocks
      last = (ranges[i].second + 1) / inner - 1;
      part = {{0, inner - 1}};
      from = (last + 1) * inner;
      if (from > ranges[i].second) ++i;
    } else {
      const uint32_t end = (index + 1) * inner - 1;
      while (i < ranges.size() && ranges[i].first <= end) {
        const uint32_t a = std::max(ranges[i].first, from);
        part.emplace_back(a % inner, std::min(ranges[i].second, end) % inner);
        if (ranges[i].second > end) break;
        ++i;
      }
      from = end + 1;
    }
    const Expr tail = Utf8Continuation(part, bytes - 1);
    const ByteSet leads = ByteSet::Range(0x80 | static_cast<int>(index), 0x80 | static_cast<int>(last));
    const auto known = std::find_if(branches.begin(), branches.end(), [&](const Term& t) { return t.target == tail; });
    if (known == branches.end())
      branches.push_back({leads, tail});
    else
      known->bytes = known->bytes | leads;
  }
  std::vector<Expr> parts;
  for (const Term& t : branches) parts.push_back(Concat(Bytes(t.bytes), t.target));
  const Expr e = Union(std::move(parts));
  if (full) utf8_full_[bytes] = e;
  return e;
}

Expr Expressions::Characters(const CodePointRanges& given) {
  static constexpr struct {
    uint32_t low, high;
    int bytes;      // continuation bytes
    uint8_t lead;   // lead byte of code point 0 of this length
  } kLengths[] = {{0, 0x7F, 0, 0x00}, {0x80, 0x7FF, 1, 0xC0}, {0x800, 0xFFFF, 2, 0xE0}, {0x10000, kMaxCodePoint, 3, 0xF0}};
  const CodePointRanges ranges = NormalizeRanges(given);
  ByteSet ascii;
  std::vector<Term> branches;
  for (const auto& length : kLengths) {
    const uint32_t block = 1u << (6 * length.bytes);
    CodePointRanges part;  // the pending ranges of one lead byte, relative to its block
    uint32_t lead = 0;
    const auto flush = [&] {
      if (part.empty()) return;
      const Expr tail = Utf8Continuation(part, length.bytes);
      const auto known = std::find_if(branches.begin(), branches.end(), [&](const Term& t) { return t.target == tail; });
      if (known == branches.end())
        branches.push_back({ByteSet::Of(static_cast<uint8_t>(length.lead + lead)), tail});
      else
        known->bytes.Add(static_cast<uint8_t>(length.lead + lead));
      part.clear();
    };
    for (const auto& range : ranges) {
      uint32_t low = std::max(range.first, length.low);
      const uint32_t high = std::min(range.second, length.high);
      if (low > high) continue;
      if (length.bytes == 0) {
        ascii = ascii | ByteSet::Range(static_cast<int>(low), static_cast<int>(high));
        continue;
      }
      while (low <= high) {
        if (low / block != lead) flush();
        lead = low / block;
        const uint32_t end = std::min(high, (lead + 1) * block - 1);
        part.emplace_back(low % block, end % block);
        low = end + 1;
      }
    }
    flush();
  }
  std::vector<Expr> parts;
  if (ascii.Any()) parts.push_back(Bytes(ascii));
  for (const Term& t : branches) parts.push_back(Concat(Bytes(t.bytes), t.target));
  return Union(std::move(parts));
}

}  // namespace tokamata
