#include "automata/csrc/length_bounds.h"

#include <algorithm>

namespace tokamata {
namespace {

constexpr uint32_t kLongest = kUnknownLength - 1;

// Lower bounds saturate, upper bounds become unknown.
uint32_t Sum(uint32_t a, uint32_t b) { return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{a} + b, kLongest)); }
uint32_t Times(uint32_t a, uint32_t n) { return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{a} * n, kLongest)); }
uint32_t SumOrUnknown(uint32_t a, uint32_t b) {
  const uint64_t sum = uint64_t{a} + b;
  return a == kUnknownLength || sum >= kLongest ? kUnknownLength : static_cast<uint32_t>(sum);
}

}  // namespace

const LengthBounds::Bounds& LengthBounds::Of(Expr e) {
  if (bounds_.size() < pool_->Size()) bounds_.resize(std::max(pool_->Size(), 2 * bounds_.size()));
  if (bounds_[e].known) return bounds_[e];
  stack_.assign(1, e);
  while (!stack_.empty()) {  // by its own stack: the spine of a concatenation may be long
    const Expr top = stack_.back();
    if (!bounds_[top].known) {
      if (!PushUnknownParts(top)) continue;
      bounds_[top] = Combine(top);
      bounds_[top].known = true;
    }
    stack_.pop_back();
  }
  return bounds_[e];
}

bool LengthBounds::PushUnknownParts(Expr e) {
  const size_t before = stack_.size();
  const auto need = [this](Expr part) {
    if (!bounds_[part].known) stack_.push_back(part);
  };
  switch (pool_->Kind(e)) {
    case ExprKind::kConcat:
      need(pool_->Head(e));
      need(pool_->Tail(e));
      break;
    case ExprKind::kRepeat: need(pool_->Body(e)); break;
    case ExprKind::kUnion:
    case ExprKind::kIntersect:
      for (uint32_t i = 0; i < pool_->NumMembers(e); ++i) need(pool_->Members(e)[i]);
      break;
    default: break;
  }
  return stack_.size() == before;
}

LengthBounds::Bounds LengthBounds::Combine(Expr e) {
  Bounds b;
  switch (pool_->Kind(e)) {
    case ExprKind::kEmpty: b.least = kLongest; break;
    case ExprKind::kEpsilon: break;
    case ExprKind::kBytes: b.least = b.most = 1; break;
    case ExprKind::kConcat: {
      const Bounds &head = bounds_[pool_->Head(e)], &tail = bounds_[pool_->Tail(e)];
      b.least = Sum(head.least, tail.least);
      b.most = std::max(SumOrUnknown(head.most, tail.least), tail.most);
      break;
    }
    case ExprKind::kRepeat: {
      const Bounds& body = bounds_[pool_->Body(e)];
      const uint32_t low = pool_->Low(e);
      b.least = Times(body.least, low);
      b.most = SumOrUnknown(body.most, Times(body.least, low ? low - 1 : 0));
      break;
    }
    case ExprKind::kUnion:
      b.least = kLongest;
      for (uint32_t i = 0; i < pool_->NumMembers(e); ++i) {
        const Bounds& member = bounds_[pool_->Members(e)[i]];
        b.least = std::min(b.least, member.least);
        b.most = std::max(b.most, member.most);
      }
      break;
    case ExprKind::kIntersect:
      for (uint32_t i = 0; i < pool_->NumMembers(e); ++i) b.least = std::max(b.least, bounds_[pool_->Members(e)[i]].least);
      b.most = kUnknownLength;
      break;
    case ExprKind::kAutomaton: return OfTable(e);
    default:
      b.least = pool_->Nullable(e) ? 0 : 1;
      b.most = kUnknownLength;
      break;
  }
  if (pool_->MayBeEmpty(e)) b.most = kUnknownLength;  // a part may be empty, and its length nothing to rely on
  return b;
}

// Breadth-first from the final states against the arcs, once for each table.
LengthBounds::Bounds LengthBounds::OfTable(Expr e) {
  const ByteTable& table = pool_->Table(e);
  const auto [it, added] = tables_.try_emplace(&table);
  Distances& d = it->second;
  if (added) {
    const uint32_t count = static_cast<uint32_t>(table.final.size());
    std::vector<std::vector<uint32_t>> before(count);
    for (uint32_t q = 1; q < count; ++q)
      for (size_t b = 0; b < 256; ++b)
        if (const uint32_t t = table.next[size_t{q} * 256 + b])
          if (before[t].empty() || before[t].back() != q) before[t].push_back(q);
    d.to_final.assign(count, kLongest);
    std::vector<uint32_t> queue;
    for (uint32_t q = 1; q < count; ++q)
      if (table.final[q]) {
        d.to_final[q] = 0;
        queue.push_back(q);
      }
    for (size_t i = 0; i < queue.size(); ++i)
      for (const uint32_t p : before[queue[i]])
        if (d.to_final[p] == kLongest) {
          d.to_final[p] = d.to_final[queue[i]] + 1;
          queue.push_back(p);
        }
    for (const uint32_t q : queue) d.most = std::max(d.most, d.to_final[q]);
  }
  Bounds b;
  b.least = d.to_final[pool_->TableState(e)];
  b.most = d.most;
  return b;
}

}  // namespace tokamata
