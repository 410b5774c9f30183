#include "automata/csrc/expression.h"

#include <algorithm>

namespace tokamata {
namespace {

constexpr uint32_t kMaxCodePoint = 0x10FFFF;
constexpr int kMaxMergeDepth = 24;  // nested factoring of unions; deeper ones stay unfactored, which is still right

uint64_t Mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ h >> 32;
}

[[noreturn]] void ThrowLimit(const char* name, size_t limit, const char* what) {
  throw LimitError(std::string("expressions: the limit ") + name + "=" + std::to_string(limit) + " was reached (" + what +
                   "); simplify the constraint or raise it: tokamata.Limits(" + name + "=...)");
}

}  // namespace

CodePointRanges NormalizeRanges(CodePointRanges ranges) {
  std::sort(ranges.begin(), ranges.end());
  CodePointRanges out;
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

Expressions::Expressions() {
  table_.assign(256, 0);
  nodes_.reserve(64);
  Node empty;
  Intern(empty);
  Node epsilon;
  epsilon.kind = ExprKind::kEpsilon;
  epsilon.nullable = true;
  Intern(epsilon);
  any_bytes_ = Star(Bytes(ByteSet::All()));
}

// ---------------------------------------------------------------------------------------------- hash-consing

namespace {

uint64_t HashNode(ExprKind kind, uint32_t a, uint32_t b, uint32_t c, const ByteSet* set, const Expr* members, size_t n) {
  uint64_t h = Mix((uint64_t{a} << 32 | b) ^ uint64_t{c} * 0x9E3779B97F4A7C15ull ^ static_cast<uint64_t>(kind) << 59);
  if (set)
    for (uint64_t w : set->words) h = Mix(h ^ w);
  for (size_t i = 0; i < n; ++i) h = Mix(h ^ members[i]);
  return h;
}

bool IsNary(ExprKind kind) { return kind == ExprKind::kUnion || kind == ExprKind::kIntersect; }

}  // namespace

bool Expressions::SameNode(const Node& x, const Node& y, const std::vector<Expr>* members) const {
  if (x.kind != y.kind) return false;
  if (x.kind == ExprKind::kBytes) return x.first == y.first;
  if (IsNary(x.kind))
    return x.b == members->size() && std::equal(members->begin(), members->end(), members_.begin() + x.a);
  return x.a == y.a && x.b == y.b && x.c == y.c;
}

// Finds or adds a node. For unions and intersections `members` are the operands and node.a, node.b are set here.
Expr Expressions::Intern(const Node& node, const std::vector<Expr>* members) {
  const bool bytes = node.kind == ExprKind::kBytes;
  const uint64_t mask = table_.size() - 1;
  uint64_t slot = members ? HashNode(node.kind, 0, 0, 0, nullptr, members->data(), members->size())
                          : HashNode(node.kind, node.a, node.b, node.c, bytes ? &node.first : nullptr, nullptr, 0);
  for (slot &= mask; table_[slot]; slot = (slot + 1) & mask)
    if (SameNode(nodes_[table_[slot] - 1], node, members)) return table_[slot] - 1;
  if (nodes_.size() >= limits.nodes) ThrowLimit("expression_nodes", limits.nodes, "expressions in one pool");
  if (node.depth > limits.depth) ThrowLimit("expression_depth", limits.depth, "nesting of operators");
  nodes_.push_back(node);
  if (members) {
    nodes_.back().a = static_cast<uint32_t>(members_.size());
    nodes_.back().b = static_cast<uint32_t>(members->size());
    members_.insert(members_.end(), members->begin(), members->end());
  }
  const Expr id = static_cast<Expr>(nodes_.size() - 1);
  table_[slot] = id + 1;
  if (nodes_.size() * 2 > table_.size()) Grow();
  return id;
}

void Expressions::Grow() {
  std::vector<uint32_t> table(table_.size() * 2, 0);
  const uint64_t mask = table.size() - 1;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    const bool nary = IsNary(n.kind);
    uint64_t slot = nary ? HashNode(n.kind, 0, 0, 0, nullptr, members_.data() + n.a, n.b)
                         : HashNode(n.kind, n.a, n.b, n.c, n.kind == ExprKind::kBytes ? &n.first : nullptr, nullptr, 0);
    for (slot &= mask; table[slot]; slot = (slot + 1) & mask) {
    }
    table[slot] = i + 1;
  }
  table_.swap(table);
}

size_t Expressions::MemoryBytes() const {
  size_t bytes = nodes_.capacity() * sizeof(Node) + (members_.capacity() + table_.capacity()) * sizeof(uint32_t);
  for (const auto& a : automata_) bytes += a->next.size() * sizeof(uint32_t) + a->final.size();
  return bytes;
}

// ---------------------------------------------------------------------------------------------- builders

Expr Expressions::AnyBytes() { return any_bytes_; }

Expr Expressions::AnyText() {
  if (!any_text_) any_text_ = Star(Characters({{0, kMaxCodePoint}}));
  return any_text_;
}

Expr Expressions::Bytes(const ByteSet& set) {
  if (!set.Any()) return kEmpty;
  Node n;
  n.kind = ExprKind::kBytes;
  n.first = set;
  return Intern(n);
}

Expr Expressions::Literal(std::string_view text) {
  Expr e = kEpsilonExpr;
  for (size_t i = text.size(); i-- > 0;) e = Concat(Byte(static_cast<uint8_t>(text[i])), e);
  return e;
}

Expr Expressions::Choice(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return ChoiceRange(texts, 0, texts.size(), 0);
}

// The union of texts[low..high) without their first `depth` bytes, which are equal. Iterates over common prefixes, so
// the recursion is no deeper than the number of branchings on a path; very deep tries go through a plain union.
Expr Expressions::ChoiceRange(const std::vector<std::string>& texts, size_t low, size_t high, size_t depth) {
  struct Frame {
    size_t low, high, depth, end;  // [low, high) shares `depth` bytes; branches are built up to `end` of the child
    std::vector<Expr> parts;
  };
  std::vector<Frame> stack;
  Expr result = kEmpty;
  bool have = false;
  if (low < high) stack.push_back({low, high, depth, low, {}});
  while (!stack.empty()) {
    Frame& f = stack.back();
    if (have) {  // a child came back: prefix it with its byte
      f.parts.push_back(Concat(Byte(static_cast<uint8_t>(texts[f.low][f.depth])), result));
      f.low = f.end;
      have = false;
    }
    if (f.low < f.high && texts[f.low].size() == f.depth) {
      f.parts.push_back(kEpsilonExpr);
      ++f.low;
    }
    if (f.low == f.high) {
      result = f.parts.size() == 1 ? f.parts[0] : Union(std::move(f.parts));
      have = true;
      stack.pop_back();
      continue;
    }
    const char byte = texts[f.low][f.depth];
    size_t end = f.low;
    while (end < f.high && texts[end][f.depth] == byte) ++end;
    f.end = end;
    if (end - f.low == 1) {  // a single text: its rest is a literal
      result = Literal(std::string_view(texts[f.low]).substr(f.depth + 1));
      have = true;
      continue;
    }
    stack.push_back({f.low, end, f.depth + 1, f.low, {}});
  }
  return result;
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

Expr Expressions::Concat(Expr a, Expr b) {
  if (a == kEmpty || b == kEmpty) return kEmpty;
  if (a == kEpsilonExpr) return b;
  if (b == kEpsilonExpr) return a;
  if (nodes_[a].kind == ExprKind::kConcat) {  // re-associate to the right, from the end of a's spine
    std::vector<Expr> spine;
    for (; nodes_[a].kind == ExprKind::kConcat; a = nodes_[a].b) spine.push_back(nodes_[a].a);
    spine.push_back(a);
    while (!spine.empty()) {
      b = Concat(spine.back(), b);
      spine.pop_back();
    }
    return b;
  }
  Node n;
  n.kind = ExprKind::kConcat;
  n.a = a;
  n.b = b;
  const Node &x = nodes_[a], &y = nodes_[b];
  n.nullable = x.nullable && y.nullable;
  n.extended = x.extended || y.extended;
  n.depth = std::max(x.depth + 1, y.depth);
  n.first = x.nullable ? x.first | y.first : x.first;
  return Intern(n);
}

Expr Expressions::Concat(const std::vector<Expr>& parts) {
  Expr e = kEpsilonExpr;
  for (size_t i = parts.size(); i-- > 0;) e = Concat(parts[i], e);
  return e;
}

void Expressions::FlattenInto(ExprKind kind, Expr e, std::vector<Expr>* out) const {
  if (nodes_[e].kind == kind)
    out->insert(out->end(), Members(e), Members(e) + NumMembers(e));
  else
    out->push_back(e);
}

Expr Expressions::Union(Expr a, Expr b) {
  if (a == kEmpty || a == b) return b;
  if (b == kEmpty) return a;
  return Union(std::vector<Expr>{a, b});
}

// Factors what derivatives of loops produce, so that equal states become equal expressions:
//   x{a,b}R | x{c,d}R = x{min,max}R where the intervals overlap or touch;   W*Y | W*Z = W*(Y|Z);   W*Y | Y = W*Y.
void Expressions::MergeRepeats(std::vector<Expr>* parts) {
  struct Item {
    Expr body, rest;
    uint32_t low, high;
    Expr whole;
  };
  std::vector<Item> items;
  std::vector<Expr> others;
  for (Expr e : *parts) {
    const Node& n = nodes_[e];
    const bool concat = n.kind == ExprKind::kConcat;
    const Node& head = concat ? nodes_[n.a] : n;
    if (head.kind == ExprKind::kRepeat)
      items.push_back({head.a, concat ? n.b : kEpsilonExpr, head.b, head.c, e});
    else
      others.push_back(e);
  }
  if (items.empty() || parts->size() < 2) return;
  bool changed = false;
  std::sort(items.begin(), items.end(), [](const Item& x, const Item& y) {
    return std::tie(x.body, x.rest, x.low, x.high) < std::tie(y.body, y.rest, y.low, y.high);
  });
  std::vector<Item> merged;
  for (const Item& i : items) {
    if (!merged.empty() && merged.back().body == i.body && merged.back().rest == i.rest &&
        (merged.back().high == kUnbounded || i.low <= merged.back().high + 1)) {
      Item& m = merged.back();
      m.high = m.high == kUnbounded || i.high == kUnbounded ? kUnbounded : std::max(m.high, i.high);
      m.whole = kEmpty;  // rebuilt below
      changed = true;
    } else {
      merged.push_back(i);
    }
  }
  std::vector<Expr> out;
  for (size_t i = 0; i < merged.size();) {
    size_t j = i;
    std::vector<Expr> tails;  // of the plain stars over one body
    for (; j < merged.size() && merged[j].body == merged[i].body; ++j) {
      Item& m = merged[j];
      if (m.low == 0 && m.high == kUnbounded)
        tails.push_back(m.rest);
      else
        out.push_back(m.whole != kEmpty ? m.whole : Concat(Repeat(m.body, m.low, m.high), m.rest));
    }
    if (tails.size() == 1)
      out.push_back(Concat(Star(merged[i].body), tails[0]));
    else if (!tails.empty()) {
      out.push_back(Concat(Star(merged[i].body), Union(tails)));
      changed = true;
    }
    for (Expr t : tails) {  // W*Y | Y = W*Y
      const auto it = std::lower_bound(others.begin(), others.end(), t);
      if (t != kEpsilonExpr && it != others.end() && *it == t) {
        others.erase(it);
        changed = true;
      }
    }
    i = j;
  }
  if (!changed) return;
  out.insert(out.end(), others.begin(), others.end());
  parts->swap(out);
}

Expr Expressions::Union(std::vector<Expr> given) {
  std::vector<Expr> parts;
  for (Expr e : given)
    if (e != kEmpty) FlattenInto(ExprKind::kUnion, e, &parts);
  const auto tidy = [&parts] {
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  };
  tidy();
  if (parts.size() > 1 && merge_depth_ < kMaxMergeDepth) {
    const size_t before = parts.size();
    ++merge_depth_;
    try {
      MergeRepeats(&parts);
    } catch (...) {
      --merge_depth_;
      throw;
    }
    --merge_depth_;
    if (parts.size() != before) {
      std::vector<Expr> flat;
      for (Expr e : parts) FlattenInto(ExprKind::kUnion, e, &flat);
      parts.swap(flat);
    }
    tidy();
  }
  if (parts.empty()) return kEmpty;
  if (parts.size() == 1) return parts[0];
  ByteSet set;
  size_t sets = 0;
  bool nullable = false;
  for (Expr e : parts) {
    const Node& n = nodes_[e];
    if (e == any_bytes_) return any_bytes_;
    if (n.kind == ExprKind::kBytes) {
      set = set | n.first;
      ++sets;
    }
    if (e != kEpsilonExpr) nullable = nullable || n.nullable;
    if (n.kind == ExprKind::kComplement && std::binary_search(parts.begin(), parts.end(), n.a)) return any_bytes_;
  }
  if (sets > 1 || (nullable && parts[0] == kEpsilonExpr)) {
    std::vector<Expr> rest;
    for (Expr e : parts)
      if ((sets < 2 || nodes_[e].kind != ExprKind::kBytes) && !(nullable && e == kEpsilonExpr)) rest.push_back(e);
    if (sets > 1) rest.push_back(Bytes(set));
    parts.swap(rest);
    tidy();
    if (parts.size() == 1) return parts[0];
  }
  if (parts.size() > limits.width) ThrowLimit("expression_width", limits.width, "members of one union");
  Node n;
  n.kind = ExprKind::kUnion;
  for (Expr e : parts) {
    const Node& m = nodes_[e];
    n.nullable = n.nullable || m.nullable;
    n.extended = n.extended || m.extended;
    n.depth = std::max(n.depth, m.depth + 1);
    n.first = n.first | m.first;
  }
  return Intern(n, &parts);
}

Expr Expressions::Repeat(Expr x, uint32_t low, uint32_t high) {
  if (high == 0 || x == kEpsilonExpr) return kEpsilonExpr;
  if (x == kEmpty) return low ? kEmpty : kEpsilonExpr;
  if (nodes_[x].kind == ExprKind::kUnion && Members(x)[0] == kEpsilonExpr) {  // (y|ε){m,n} = y{0,n}
    x = Union(std::vector<Expr>(Members(x) + 1, Members(x) + NumMembers(x)));
    low = 0;
  }
  if (nodes_[x].nullable) low = 0;
  if (nodes_[x].kind == ExprKind::kRepeat && High(x) == kUnbounded && Low(x) <= 1) {  // (y*){m,n}, (y+){m,n}
    if (Low(x) == 0) return x;
    return Repeat(Body(x), low, kUnbounded);
  }
  if (low == 1 && high == 1) return x;
  if (low == 0 && high == 1) return Union(x, kEpsilonExpr);
  Node n;
  n.kind = ExprKind::kRepeat;
  n.a = x;
  n.b = low;
  n.c = high;
  n.nullable = low == 0;
  n.extended = nodes_[x].extended;
  n.depth = nodes_[x].depth + 1;
  n.first = nodes_[x].first;
  return Intern(n);
}

Expr Expressions::Intersect(Expr a, Expr b) { return Intersect(std::vector<Expr>{a, b}); }

Expr Expressions::Intersect(std::vector<Expr> given) {
  std::vector<Expr> parts;
  for (Expr e : given) {
    if (e == kEmpty) return kEmpty;
    if (e != any_bytes_) FlattenInto(ExprKind::kIntersect, e, &parts);
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.empty()) return any_bytes_;
  if (parts.size() == 1) return parts[0];
  ByteSet first = ByteSet::All(), set = ByteSet::All();
  size_t sets = 0;
  bool nullable = true;
  for (Expr e : parts) {
    const Node& n = nodes_[e];
    first = first & n.first;
    nullable = nullable && n.nullable;
    if (n.kind == ExprKind::kBytes) {
      set = set & n.first;
      ++sets;
    }
    if (n.kind == ExprKind::kComplement && std::binary_search(parts.begin(), parts.end(), n.a)) return kEmpty;
  }
  if (!first.Any() || parts[0] == kEpsilonExpr) return nullable ? kEpsilonExpr : kEmpty;
  if (sets > 1) {
    std::vector<Expr> rest{Bytes(set)};
    for (Expr e : parts)
      if (nodes_[e].kind != ExprKind::kBytes) rest.push_back(e);
    return Intersect(std::move(rest));
  }
  if (parts.size() > limits.width) ThrowLimit("expression_width", limits.width, "members of one intersection");
  Node n;
  n.kind = ExprKind::kIntersect;
  n.extended = true;
  n.nullable = nullable;
  n.first = first;
  for (Expr e : parts) n.depth = std::max(n.depth, nodes_[e].depth + 1);
  return Intern(n, &parts);
}

Expr Expressions::Complement(Expr x) {
  if (x == kEmpty) return any_bytes_;
  if (x == any_bytes_) return kEmpty;
  if (nodes_[x].kind == ExprKind::kComplement) return nodes_[x].a;
  Node n;
  n.kind = ExprKind::kComplement;
  n.a = x;
  n.extended = true;
  n.nullable = !nodes_[x].nullable;
  n.depth = nodes_[x].depth + 1;
  n.first = ByteSet::All();
  return Intern(n);
}

Expr Expressions::Automaton(std::shared_ptr<const ByteTable> table, uint32_t state) {
  if (state == 0) return kEmpty;
  const auto [it, added] = automaton_index_.emplace(table.get(), static_cast<uint32_t>(automata_.size()));
  if (added) automata_.push_back(table);
  Node n;
  n.kind = ExprKind::kAutomaton;
  n.a = it->second;
  n.b = state;
  n.nullable = table->final[state] != 0;
  const uint32_t* row = table->next.data() + size_t{state} * 256;
  for (int b = 0; b < 256; ++b)
    if (row[b]) n.first.Add(static_cast<uint8_t>(b));
  if (!n.first.Any()) return n.nullable ? kEpsilonExpr : kEmpty;
  return Intern(n);
}

// Operands always have smaller indices than what is built of them, so one sweep in order of index suffices.
Expr Expressions::Import(const Expressions& other, Expr e) {
  if (&other == this) return e;
  std::vector<uint8_t> needed(e + 1, 0);
  needed[e] = 1;
  const auto operands = [&other](Expr x, auto&& visit) {
    const Node& n = other.nodes_[x];
    switch (n.kind) {
      case ExprKind::kConcat: visit(n.a), visit(n.b); break;
      case ExprKind::kRepeat:
      case ExprKind::kComplement: visit(n.a); break;
      case ExprKind::kUnion:
      case ExprKind::kIntersect:
        for (uint32_t i = 0; i < n.b; ++i) visit(other.Members(x)[i]);
        break;
      default: break;
    }
  };
  for (Expr x = e + 1; x-- > 0;)
    if (needed[x]) operands(x, [&](Expr y) { needed[y] = 1; });
  std::vector<Expr> copy(e + 1, kEmpty);
  for (Expr x = 0; x <= e; ++x) {
    if (!needed[x]) continue;
    const Node& n = other.nodes_[x];
    std::vector<Expr> parts;
    operands(x, [&](Expr y) { parts.push_back(copy[y]); });
    switch (n.kind) {
      case ExprKind::kEmpty: copy[x] = kEmpty; break;
      case ExprKind::kEpsilon: copy[x] = kEpsilonExpr; break;
      case ExprKind::kBytes: copy[x] = Bytes(n.first); break;
      case ExprKind::kConcat: copy[x] = Concat(parts[0], parts[1]); break;
      case ExprKind::kUnion: copy[x] = Union(std::move(parts)); break;
      case ExprKind::kRepeat: copy[x] = Repeat(parts[0], n.b, n.c); break;
      case ExprKind::kIntersect: copy[x] = Intersect(std::move(parts)); break;
      case ExprKind::kComplement: copy[x] = Complement(parts[0]); break;
      case ExprKind::kAutomaton: copy[x] = Automaton(other.automata_[n.a], n.b); break;
    }
  }
  return copy[e];
}

// ---------------------------------------------------------------------------------------------- derivatives

// Adds terms whose union is one step of e·rest. Recursion follows operator nesting, which limits.depth bounds; the
// spine of a concatenation is a loop.
void Expressions::Collect(Expr e, Expr rest, std::vector<Term>* out) {
  for (;;) {
    const Node n = nodes_[e];  // by value: builders may move the pool
    switch (n.kind) {
      case ExprKind::kEmpty:
      case ExprKind::kEpsilon: return;
      case ExprKind::kBytes: out->push_back({n.first, rest}); return;
      case ExprKind::kConcat:
        Collect(n.a, Concat(n.b, rest), out);
        if (!nodes_[n.a].nullable) return;
        e = n.b;
        continue;
      case ExprKind::kUnion:
        for (uint32_t i = 0; i < n.b; ++i) Collect(members_[n.a + i], rest, out);
        return;
      case ExprKind::kRepeat:
        rest = Concat(Repeat(n.a, n.b ? n.b - 1 : 0, n.c == kUnbounded ? kUnbounded : n.c - 1), rest);
        e = n.a;
        continue;
      case ExprKind::kIntersect:
      case ExprKind::kComplement: {
        std::vector<Term> steps;
        Partition(e, &steps);
        for (const Term& t : steps) out->push_back({t.bytes, Concat(t.target, rest)});
        return;
      }
      case ExprKind::kAutomaton: {
        const ByteTable& table = *automata_[n.a];
        const uint32_t* row = table.next.data() + size_t{n.b} * 256;
        std::vector<std::pair<uint32_t, ByteSet>> targets;
        n.first.ForEach([&](uint8_t b) {
          for (auto& [state, set] : targets)
            if (state == row[b]) return set.Add(b);
          targets.emplace_back(row[b], ByteSet::Of(b));
        });
        for (const auto& [state, set] : targets) out->push_back({set, Concat(Automaton(automata_[n.a], state), rest)});
        return;
      }
    }
  }
}

// Splits overlapping terms into disjoint byte sets, each with the union of the targets that share it.
void Expressions::Determinize(const std::vector<Term>& in, std::vector<Term>* out) {
  out->clear();
  bool disjoint = true;
  ByteSet seen;
  for (const Term& t : in) {
    disjoint = disjoint && !seen.Intersects(t.bytes);
    seen = seen | t.bytes;
  }
  const auto add = [out](const ByteSet& bytes, Expr target) {
    for (Term& o : *out)
      if (o.target == target) {
        o.bytes = o.bytes | bytes;
        return;
      }
    out->push_back({bytes, target});
  };
  if (disjoint) {
    for (const Term& t : in) add(t.bytes, t.target);
    return;
  }
  struct Class {
    ByteSet bytes;
    std::vector<Expr> targets;
  };
  std::vector<Class> classes;
  seen = ByteSet();
  for (const Term& t : in) {
    ByteSet left = t.bytes;
    if (left.Intersects(seen)) {
      for (size_t i = 0, n = classes.size(); i < n && left.Any(); ++i) {
        const ByteSet common = classes[i].bytes & left;
        if (!common.Any()) continue;
        left = left - common;
        if (common != classes[i].bytes) {  // split off the part that does not go along
          classes.push_back({classes[i].bytes - common, classes[i].targets});
          classes[i].bytes = common;
        }
        if (classes[i].targets.back() != t.target) classes[i].targets.push_back(t.target);
      }
    }
    if (left.Any()) classes.push_back({left, {t.target}});
    seen = seen | t.bytes;
  }
  for (Class& c : classes) add(c.bytes, c.targets.size() == 1 ? c.targets[0] : Union(std::move(c.targets)));
}

// Disjoint steps of e. Targets may still be empty languages where intersections or complements are inside.
void Expressions::Partition(Expr e, std::vector<Term>* out) {
  out->clear();
  const Node n = nodes_[e];
  if (n.kind == ExprKind::kComplement) {
    Partition(n.a, out);
    ByteSet other = ByteSet::All();
    size_t kept = 0;
    for (size_t i = 0; i < out->size(); ++i) {
      const Term t = (*out)[i];
      other = other - t.bytes;
      const Expr target = Complement(t.target);
      if (target != kEmpty) (*out)[kept++] = {t.bytes, target};
    }
    out->resize(kept);
    if (other.Any()) out->push_back({other, any_bytes_});
    std::vector<Term> merged;
    Determinize(*out, &merged);
    out->swap(merged);
    return;
  }
  if (n.kind == ExprKind::kIntersect) {
    struct Class {
      ByteSet bytes;
      std::vector<Expr> targets;
    };
    std::vector<Class> classes{{n.first, {}}}, next;
    std::vector<Term> steps;
    for (uint32_t i = 0; i < n.b && !classes.empty(); ++i) {
      Partition(members_[n.a + i], &steps);
      next.clear();
      for (const Class& c : classes)
        for (const Term& t : steps) {
          const ByteSet common = c.bytes & t.bytes;
          if (!common.Any()) continue;
          next.push_back({common, c.targets});
          next.back().targets.push_back(t.target);
        }
      classes.swap(next);
    }
    std::vector<Term> terms;
    for (Class& c : classes) {
      const Expr target = Intersect(std::move(c.targets));
      if (target != kEmpty) terms.push_back({c.bytes, target});
    }
    Determinize(terms, out);
    return;
  }
  std::vector<Term> terms;
  Collect(e, kEpsilonExpr, &terms);
  Determinize(terms, out);
}

void Expressions::Step(Expr e, std::vector<Term>* out) {
  Partition(e, out);
  if (!nodes_[e].extended) return;
  out->erase(std::remove_if(out->begin(), out->end(), [this](const Term& t) { return IsEmpty(t.target); }), out->end());
}

// Structural where that decides; a breadth-first search for a member where an intersection or complement is on top.
bool Expressions::IsEmpty(Expr e) {
  for (;;) {
    const Node n = nodes_[e];
    if (!n.extended) return e == kEmpty;
    if (n.nullable || n.emptiness == 2) return false;
    if (n.emptiness == 1) return true;
    if (n.kind == ExprKind::kConcat) {
      if (IsEmpty(n.a)) return true;
      e = n.b;
      continue;
    }
    if (n.kind == ExprKind::kRepeat) {
      e = n.a;
      continue;
    }
    if (n.kind == ExprKind::kUnion) {
      for (uint32_t i = 0; i < n.b; ++i)
        if (!IsEmpty(members_[n.a + i])) return false;
      nodes_[e].emptiness = 1;
      return true;
    }
    return SearchEmpty(e);
  }
}

bool Expressions::SearchEmpty(Expr root) {
  struct Visit {
    Expr e;
    size_t parent;
  };
  std::vector<Visit> queue{{root, 0}};
  std::unordered_set<Expr> seen{root};
  std::vector<Term> steps;
  for (size_t i = 0; i < queue.size(); ++i) {
    Partition(queue[i].e, &steps);
    for (const Term& t : steps) {
      const Node& n = nodes_[t.target];
      if (t.target == kEmpty || n.emptiness == 1) continue;
      if (!n.extended || n.nullable || n.emptiness == 2) {  // a member: all that led here is not empty
        nodes_[t.target].emptiness = 2;
        for (size_t j = i;; j = queue[j].parent) {
          nodes_[queue[j].e].emptiness = 2;
          if (j == 0) return false;
        }
      }
      if (seen.insert(t.target).second) {
        if (seen.size() > limits.emptiness) ThrowLimit("emptiness", limits.emptiness, "search for a member of an intersection or complement");
        queue.push_back({t.target, i});
      }
    }
  }
  for (const Visit& v : queue) nodes_[v.e].emptiness = 1;
  return true;
}

// ---------------------------------------------------------------------------------------------- description

std::string Expressions::Describe(Expr root, size_t limit) const {
  std::string out;
  const auto byte = [](int b) {
    static const char* hex = "0123456789abcdef";
    const std::string c(1, static_cast<char>(b));
    if (b <= 0x20 || b >= 0x7f) return std::string("\\x") + hex[b >> 4] + hex[b & 15];
    return std::string("\\^$.|?*+()[]{}-~&").find(c) == std::string::npos ? c : "\\" + c;
  };
  const auto set = [&](const ByteSet& s) {
    if (s == ByteSet::All()) return std::string("[^]");
    if (s.Count() == 1) return byte(s.First());
    const bool negated = s.Count() > 128;
    const ByteSet shown = negated ? ~s : s;
    std::string text = negated ? "[^" : "[";
    for (int b = 0; b < 256; ++b) {
      if (!shown.Has(static_cast<uint8_t>(b))) continue;
      int end = b;
      while (end < 255 && shown.Has(static_cast<uint8_t>(end + 1))) ++end;
      text += byte(b);
      if (end > b) text += (end > b + 1 ? "-" : "") + byte(end);
      b = end;
    }
    return text + "]";
  };
  struct Item {
    Expr e;
    const char* text;  // when set, printed instead of e
    std::string owned;
  };
  std::vector<Item> stack;  // printed from the back
  stack.push_back({root, nullptr, {}});
  while (!stack.empty() && out.size() < limit) {
    const Item item = std::move(stack.back());
    stack.pop_back();
    if (item.text || !item.owned.empty()) {
      out += item.text ? item.text : item.owned;
      continue;
    }
    const Node& n = nodes_[item.e];
    const auto push = [&](Expr e) { stack.push_back({e, nullptr, {}}); };
    const auto text = [&](const char* t) { stack.push_back({0, t, {}}); };
    switch (n.kind) {
      case ExprKind::kEmpty: out += "∅"; break;
      case ExprKind::kEpsilon: out += "ε"; break;
      case ExprKind::kBytes: out += set(n.first); break;
      case ExprKind::kConcat: push(n.b), push(n.a); break;
      case ExprKind::kUnion:
      case ExprKind::kIntersect:
        text(")");
        for (uint32_t i = n.b; i-- > 0;) {
          push(Members(item.e)[i]);
          text(i ? (n.kind == ExprKind::kUnion ? "|" : "&") : "(");
        }
        break;
      case ExprKind::kRepeat: {
        std::string bounds = n.b == 0 && n.c == kUnbounded ? "*" : n.b == 1 && n.c == kUnbounded ? "+" : "{" + std::to_string(n.b);
        if (bounds[0] == '{') bounds += n.c == n.b ? "}" : n.c == kUnbounded ? ",}" : "," + std::to_string(n.c) + "}";
        stack.push_back({0, nullptr, ")" + bounds});
        push(n.a);
        text("(");
        break;
      }
      case ExprKind::kComplement: text(")"), push(n.a), text("~("); break;
      case ExprKind::kAutomaton: out += "<automaton " + std::to_string(n.a) + ":" + std::to_string(n.b) + ">"; break;
    }
  }
  if (!stack.empty() || out.size() > limit) out = out.substr(0, limit) + "…";
  return out;
}

}  // namespace tokamata
