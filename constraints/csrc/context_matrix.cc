#include "constraints/csrc/context_matrix.h"

#include <algorithm>

namespace tokamata {

ContextMatrix ContextMatrix::Identity(size_t n) {
  ContextMatrix m(n);
  for (size_t i = 0; i < n; ++i) m.At(i, i) = kEpsilonExpr;
  return m;
}

ContextMatrix ContextMatrices::Product(const ContextMatrix& a, const ContextMatrix& b) {
  ContextMatrix m(a.size);
  std::vector<Expr> parts;
  for (size_t i = 0; i < a.size; ++i)
    for (size_t j = 0; j < a.size; ++j) {
      parts.clear();
      for (size_t k = 0; k < a.size; ++k)
        if (a.At(i, k) != kEmpty && b.At(k, j) != kEmpty) parts.push_back(pool_.Concat(a.At(i, k), b.At(k, j)));
      m.At(i, j) = pool_.Union(parts);
    }
  return m;
}

ContextMatrix ContextMatrices::Star(ContextMatrix m) {
  for (size_t k = 0; k < m.size; ++k) {
    check_();
    const Expr loop = pool_.Star(m.At(k, k));
    const ContextMatrix old = m;
    for (size_t i = 0; i < m.size; ++i)
      for (size_t j = 0; j < m.size; ++j) {
        if (old.At(i, k) == kEmpty || old.At(k, j) == kEmpty) continue;
        m.At(i, j) = pool_.Union(old.At(i, j), pool_.Concat(old.At(i, k), pool_.Concat(loop, old.At(k, j))));
      }
  }
  for (size_t i = 0; i < m.size; ++i) m.At(i, i) = pool_.Optional(m.At(i, i));
  return m;
}

// From a context to another one, never twice to the same but by one loop: `before`, turns of the loop, `after`.
struct ContextMatrices::Way {
  size_t from = 0, to = 0;
  uint32_t turns = 0;  // without the loop's
  Expr before = kEpsilonExpr, loop = kEmpty, after = kEpsilonExpr;
  std::vector<bool> seen;
};

struct ContextMatrices::Counting {
  const ContextMatrix& turn;
  uint32_t low, high;
  std::vector<std::vector<Expr>> found;  // by cell
  size_t ways = 0;
};

bool ContextMatrices::Counted(const ContextMatrix& m, uint32_t low, uint32_t high, ContextMatrix* out) {
  Counting counting{m, low, high, std::vector<std::vector<Expr>>(m.cells.size())};
  for (size_t i = 0; i < m.size; ++i) {
    Way way;
    way.from = way.to = i;
    way.loop = m.At(i, i);
    way.seen.assign(m.size, false);
    way.seen[i] = true;
    if (!Follow(way, &counting)) return false;
  }
  *out = ContextMatrix(m.size);
  for (size_t cell = 0; cell < m.cells.size(); ++cell) out->cells[cell] = pool_.Union(counting.found[cell]);
  return true;
}

// Recursion is as deep as there are contexts.
bool ContextMatrices::Follow(const Way& way, Counting* counting) {
  constexpr size_t kMostWays = 1000;
  if (++counting->ways > kMostWays) return false;
  check_();
  const ContextMatrix& m = counting->turn;
  const auto fewer = [&](uint32_t n) { return n == kUnbounded ? n : n - std::min(n, way.turns); };
  Expr turns = kEpsilonExpr;
  if (way.loop != kEmpty) {
    turns = pool_.Repeat(way.loop, fewer(counting->low), fewer(counting->high));
  } else if (way.turns < counting->low) {
    turns = kEmpty;
  }
  counting->found[way.from * m.size + way.to].push_back(pool_.Concat({way.before, turns, way.after}));
  for (size_t next = 0; next < m.size; ++next) {
    const Expr texts = m.At(way.to, next), loop = m.At(next, next);
    if (next == way.to || texts == kEmpty || way.turns == counting->high) continue;
    if (way.seen[next] || (way.loop != kEmpty && loop != kEmpty)) return false;
    Way longer = way;
    longer.to = next;
    longer.seen[next] = true;
    ++longer.turns;
    Expr& last = way.loop == kEmpty ? longer.before : longer.after;
    last = pool_.Concat(last, texts);
    if (loop != kEmpty) longer.loop = loop;
    if (!Follow(longer, counting)) return false;
  }
  return true;
}

std::vector<bool> ContextMatrices::TakeEmpty(ContextMatrix* m) {
  std::vector<bool> had(m->size);
  for (size_t i = 0; i < m->size; ++i) {
    had[i] = pool_.Nullable(m->At(i, i));
    if (had[i]) m->At(i, i) = NotEmpty(m->At(i, i));
  }
  return had;
}

// The texts but the empty one.
Expr ContextMatrices::NotEmpty(Expr e) {
  if (!pool_.Nullable(e)) return e;
  switch (pool_.Kind(e)) {
    case ExprKind::kEpsilon: return kEmpty;
    case ExprKind::kUnion: {
      std::vector<Expr> members(pool_.Members(e), pool_.Members(e) + pool_.NumMembers(e));
      for (Expr& member : members) member = NotEmpty(member);
      return pool_.Union(members);
    }
    case ExprKind::kRepeat: {
      const Expr body = pool_.Body(e);
      const uint32_t low = pool_.Low(e), high = pool_.High(e);
      if (!pool_.Nullable(body)) return pool_.Repeat(body, std::max(low, 1u), high);
      break;
    }
    case ExprKind::kConcat: {
      std::vector<Expr> parts;
      for (; e != kEpsilonExpr; e = pool_.Rest(e)) parts.push_back(pool_.Concat(NotEmpty(pool_.FirstPart(e)), pool_.Rest(e)));
      return pool_.Union(parts);
    }
    default: break;
  }
  return pool_.Intersect(e, pool_.Repeat(pool_.Bytes(ByteSet::All()), 1, kUnbounded));
}

MergedContexts ContextMatrices::Merge(const ContextMatrix& m, const std::vector<uint32_t>& group) {
  MergedContexts merged;
  std::vector<size_t> first;  // of each class
  const auto alike = [&](size_t a, size_t b) {
    for (size_t i = 0; i < m.size; ++i)
      if (m.At(i, a) != m.At(i, b)) return false;
    return group[a] == group[b];
  };
  for (size_t j = 0; j < m.size; ++j) {
    size_t c = 0;
    while (c < first.size() && !alike(first[c], j)) ++c;
    if (c == first.size()) {
      first.push_back(j);
      merged.group.push_back(group[j]);
    }
    merged.class_of.push_back(static_cast<uint32_t>(c));
  }
  merged.between = ContextMatrix(first.size());
  std::vector<Expr> parts;
  for (size_t c = 0; c < first.size(); ++c)
    for (size_t d = 0; d < first.size(); ++d) {
      parts.clear();
      for (size_t i = 0; i < m.size; ++i)
        if (merged.class_of[i] == c) parts.push_back(m.At(i, first[d]));
      merged.between.At(c, d) = pool_.Union(parts);
    }
  return merged;
}

MergedContexts ContextMatrices::MergeAll(const ContextMatrix& m, const std::vector<uint32_t>& group) {
  MergedContexts all = Merge(m, group);
  for (size_t size = m.size; all.between.size < size;) {
    size = all.between.size;
    MergedContexts more = Merge(all.between, all.group);
    for (uint32_t& c : all.class_of) c = more.class_of[c];
    all.group = std::move(more.group);
    all.between = std::move(more.between);
  }
  return all;
}

}  // namespace tokamata
