#include "constraints/csrc/unicode.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace tokamata {
namespace {

struct CategoryName {
  const char* name;
  uint32_t mask;
};
struct PropertyName {
  const char* kind;
  const char* names[3];
  uint32_t first, ranges;
};

#include "constraints/unicode_tables.inc"

template <size_t N>
CodePointRanges FromTable(const uint32_t (&table)[N]) {
  CodePointRanges out;
  out.reserve(N / 2);
  for (size_t i = 0; i < N; i += 2) out.emplace_back(table[i], table[i + 1]);
  return out;
}

template <size_t N>
bool InTable(const uint32_t (&table)[N], uint32_t c) {
  size_t low = 0, high = N / 2;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (c > table[2 * middle + 1])
      low = middle + 1;
    else
      high = middle;
  }
  return low < N / 2 && table[2 * low] <= c;
}

// First row of `width` numbers whose first number is at least c.
template <size_t N>
size_t LowerBound(const uint32_t (&table)[N], size_t width, uint32_t c) {
  size_t low = 0, high = N / width;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (table[width * middle] < c)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

std::string Folded(std::string_view name, bool strict) {
  if (strict) return std::string(name);
  std::string out;
  for (char c : name) {
    if (c == ' ' || c == '_' || c == '-') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return out;
}

// Surrogates out, sorted as given.
void AppendScalars(uint32_t low, uint32_t high, CodePointRanges* out) {
  if (low < 0xD800 && high > 0xDFFF) {
    out->emplace_back(low, 0xD7FF);
    out->emplace_back(0xE000, high);
  } else if (high < 0xD800 || low > 0xDFFF) {
    out->emplace_back(low, high);
  } else {
    if (low < 0xD800) out->emplace_back(low, 0xD7FF);
    if (high > 0xDFFF) out->emplace_back(0xE000, high);
  }
}

void AppendCategories(uint32_t mask, CodePointRanges* out) {
  constexpr size_t kRuns = sizeof(kCategoryRuns) / sizeof(kCategoryRuns[0]);
  for (size_t i = 0; i < kRuns; ++i) {
    if (!(mask >> (kCategoryRuns[i] & 31) & 1)) continue;
    uint32_t low = kCategoryRuns[i] >> 5;
    uint32_t high = i + 1 < kRuns ? (kCategoryRuns[i + 1] >> 5) - 1 : 0x10FFFF;
    AppendScalars(low, high, out);
  }
}

bool FindCategory(const std::string& wanted, bool strict, CodePointRanges* out) {
  for (const CategoryName& c : kCategoryNames) {
    if (Folded(c.name, strict) != wanted) continue;
    AppendCategories(c.mask, out);
    return true;
  }
  return false;
}

bool FindProperty(std::string_view kind, const std::string& wanted, bool strict, CodePointRanges* out) {
  for (const PropertyName& p : kPropertyNames) {
    if (kind != p.kind) continue;
    for (const char* name : p.names) {
      if (!*name || Folded(name, strict) != wanted) continue;
      for (uint32_t i = 0; i < p.ranges; ++i)
        AppendScalars(kPropertyRanges[p.first + 2 * i], kPropertyRanges[p.first + 2 * i + 1], out);
      return true;
    }
  }
  return false;
}

}  // namespace

CodePointRanges UnicodeWord() { return FromTable(kWord); }
CodePointRanges UnicodeDigit() { return FromTable(kDigit); }
CodePointRanges UnicodeSpace() { return FromTable(kSpace); }

bool EmptyHasNonBoundary() { return kEmptyHasNonBoundary; }

bool IsIdentifierStart(uint32_t c) { return InTable(kIdentifierStart, c); }
bool IsIdentifierContinue(uint32_t c) { return InTable(kIdentifierContinue, c); }

bool UnicodeProperty(std::string_view name, std::string_view value, bool strict, CodePointRanges* out) {
  std::string n = Folded(name, strict), v = Folded(value, strict);
  auto is = [&](std::string_view text) { return n == Folded(text, strict); };
  if (!value.empty()) {
    if (is("General_Category") || is("gc")) return FindCategory(v, strict, out);
    if (is("Script") || is("sc")) return FindProperty("sc", v, strict, out);
    if (is("Script_Extensions") || is("scx")) return FindProperty("scx", v, strict, out);
    return false;
  }
  if (is("Any")) {
    AppendScalars(0, 0x10FFFF, out);
    return true;
  }
  if (is("ASCII")) {
    out->emplace_back(0, 0x7F);
    return true;
  }
  if (is("Assigned")) {
    CodePointRanges unassigned;
    if (!FindCategory(Folded("Cn", strict), strict, &unassigned)) return false;
    *out = ComplementRanges(NormalizeRanges(std::move(unassigned)));
    return true;
  }
  if (FindCategory(n, strict, out) || FindProperty("b", n, strict, out)) return true;
  return !strict && FindProperty("sc", n, strict, out);
}

void AppendOrbits(uint32_t low, uint32_t high, CodePointRanges* out) {
  out->emplace_back(low, high);
  constexpr size_t kRows = sizeof(kOrbits) / sizeof(kOrbits[0]) / 3;
  for (size_t i = LowerBound(kOrbits, 3, low); i < kRows && kOrbits[3 * i] <= high; ++i) {
    const uint32_t* member = kOrbitMembers + kOrbits[3 * i + 1];
    for (uint32_t k = 0; k < kOrbits[3 * i + 2]; ++k) out->emplace_back(member[k], member[k]);
  }
}

}  // namespace tokamata
