#include "decode/csrc/terminal_sets.h"

#include <algorithm>

#include "automata/csrc/hex_digits.h"

namespace tokamata {
namespace {

void AppendNumbered(uint8_t b, std::string* out) {
  *out += "\\x";
  AppendHex(b, 2, out);
}

// One member of a bracketed class.
void AppendMember(uint8_t b, std::string* out) {
  if (b <= 0x20 || b >= 0x7F) return AppendNumbered(b, out);
  if (b == '\\' || b == ']' || b == '[' || b == '^' || b == '-') *out += '\\';
  *out += static_cast<char>(b);
}

std::string Members(const ByteSet& bytes) {
  std::string out;
  for (int low = 0; low < 256; ++low) {
    if (!bytes.Has(static_cast<uint8_t>(low))) continue;
    int high = low;
    while (high < 255 && bytes.Has(static_cast<uint8_t>(high + 1))) ++high;
    AppendMember(static_cast<uint8_t>(low), &out);
    if (high > low + 1) out += '-';
    if (high > low) AppendMember(static_cast<uint8_t>(high), &out);
    low = high;
  }
  return out;
}

}  // namespace

std::string TokenName(std::string_view token) {
  std::string out;
  for (char c : token) {
    const uint8_t b = static_cast<uint8_t>(c);
    if (b > 0x20 && b < 0x7F && b != '\\')
      out += c;
    else
      AppendNumbered(b, &out);
  }
  return out;
}

std::string ClassName(const ByteSet& ascii, bool non_ascii) {
  if (!non_ascii) return "[" + Members(ascii) + "]";
  const ByteSet excluded = ByteSet::Range(0, 0x7F) - ascii;
  return excluded.Any() ? "[^" + Members(excluded) + "]" : ".";
}

// Tokens of one byte each as a class, others by the first three and their number.
std::string TerminalSets::Describe(const uint32_t* ids, size_t count) const {
  constexpr size_t kShown = 3, kLongest = 16;
  ByteSet bytes;
  bool single = true;
  for (size_t i = 0; i < count && single; ++i) {
    const std::string_view token = vocabulary_.Token(ids[i]);
    single = token.size() == 1;
    if (single) bytes.Add(static_cast<uint8_t>(token[0]));
  }
  if (single) return "<" + ClassName(bytes, false) + ">";
  std::string out = "<";
  for (size_t i = 0; i < count && i < kShown; ++i) {
    const std::string name = TokenName(vocabulary_.Token(ids[i]));
    out += (name.size() > kLongest ? name.substr(0, kLongest) + ".." : name) + "|";
  }
  return out + "..." + std::to_string(count) + ">";
}

uint32_t TerminalSets::Add(const uint32_t* ids, size_t count, const std::string& name) {
  if (count * 16 < vocabulary_.Size()) {
    sorted_.assign(ids, ids + count);
    std::sort(sorted_.begin(), sorted_.end());
  } else {  // one sweep over a bit for each token
    sorted_.clear();
    bits_.resize((vocabulary_.Size() + 63) / 64, 0);
    for (size_t i = 0; i < count; ++i) bits_[ids[i] / 64] |= uint64_t{1} << (ids[i] % 64);
    for (size_t w = 0; w < bits_.size(); ++w) {
      for (uint64_t word = bits_[w]; word; word &= word - 1)
        sorted_.push_back(static_cast<uint32_t>(w * 64 + static_cast<size_t>(__builtin_ctzll(word))));
      bits_[w] = 0;
    }
  }
  uint64_t hash = 0x9E3779B97F4A7C15u;
  for (uint32_t id : sorted_) {
    hash = (hash ^ id) * 0xFF51AFD7ED558CCDu;
    hash ^= hash >> 32;
  }
  const auto range = by_hash_.equal_range(hash);
  for (auto it = range.first; it != range.second; ++it) {
    const uint32_t i = it->second;
    if (offsets_[i + 1] - offsets_[i] == sorted_.size() &&
        std::equal(sorted_.begin(), sorted_.end(), ids_.begin() + static_cast<int64_t>(offsets_[i])))
      return i;
  }
  const uint32_t index = Size();
  ids_.insert(ids_.end(), sorted_.begin(), sorted_.end());
  offsets_.push_back(ids_.size());
  names_.push_back(name.empty() ? Describe(sorted_.data(), sorted_.size()) : name);
  by_hash_.emplace(hash, index);
  return index;
}

}  // namespace tokamata
