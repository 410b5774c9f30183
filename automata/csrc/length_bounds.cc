#include "automata/csrc/length_bounds.h"

#include <algorithm>

#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

// Lower bounds saturate, upper bounds become unknown.
uint32_t Sum(uint32_t a, uint32_t b) { return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{a} + b, kNoLength)); }
uint32_t Times(uint32_t a, uint32_t n) { return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{a} * n, kNoLength)); }
uint32_t SumOrUnknown(uint32_t a, uint32_t b) {
  const uint64_t sum = uint64_t{a} + b;
  return a == kUnknownLength || sum >= kNoLength ? kUnknownLength : static_cast<uint32_t>(sum);
}

}  // namespace

// Lengths are least solutions (Knuth 1977): every unknown expression starts from no member at all, and sweeps from the
// parts up lower the numbers until they stay. Without calls one sweep does it.
const LengthBounds::Bounds& LengthBounds::Of(Expr e) {
  if (e < bounds_.size() && bounds_[e].known) return bounds_[e];
  std::vector<Expr> order;
  bool calls = false;
  ExpandBelow(e);
  Collect(e, &order, &calls);
  for (bool again = true; again;) {
    again = false;
    TimeLimit::Spend(static_cast<int64_t>(order.size() / 4));
    for (const Expr x : order) {
      const uint32_t least = LeastOf(x);
      again = again || (calls && least != bounds_[x].least);
      bounds_[x].least = least;
    }
  }
  for (const Expr x : order) {
    bounds_[x].most = MostOf(x);
    bounds_[x].settled = true;
  }
  for (const Expr x : order) bounds_[x].known = true;
  return bounds_[e];
}

void LengthBounds::Grow() {
  if (bounds_.size() < pool_->Size()) bounds_.resize(std::max(pool_->Size(), 2 * bounds_.size()));
}

// Expands the calls below root, those first that the fewest calls lead to.
void LengthBounds::ExpandBelow(Expr root) {
  std::vector<Expr> stack{root}, calls;
  size_t rules = 0;  // new ones
  const size_t most_size = pool_->Size() + pool_->limits.nodes / 8;
  ++visit_;
  Grow();
  for (size_t next = 0;; ++next) {
    while (!stack.empty()) {
      const Expr e = stack.back();
      stack.pop_back();
      if (bounds_[e].known || bounds_[e].visit == visit_) continue;
      bounds_[e].visit = visit_;
      switch (pool_->Kind(e)) {
        case ExprKind::kConcat:
          stack.push_back(pool_->Head(e));
          stack.push_back(pool_->Tail(e));
          break;
        case ExprKind::kRepeat: stack.push_back(pool_->Body(e)); break;
        case ExprKind::kUnion:
        case ExprKind::kIntersect:
          stack.insert(stack.end(), pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
          break;
        case ExprKind::kCall: calls.push_back(e); break;
        default: break;
      }
    }
    if (next == calls.size()) return;
    const Expr call = calls[next];
    auto known = bodies_->find(call);
    if (known == bodies_->end()) {
      if (rules == most_rules || pool_->Size() > most_size) {
        partial_ = true;
        continue;
      }
      ++rules;
      TimeLimit::Spend(4);
      try {
        Body body;
        RuleSource* rules_of = pool_->Rules(pool_->SourceOfRule(call));
        body.least = rules_of->LeastLength(pool_->Rule(call));
        body.e = rules_of->Outline(pool_->Rule(call), &body.slack);
        if (body.e == kEmpty) body.e = pool_->Expand(call);
        known = bodies_->emplace(call, body).first;
        Grow();
      } catch (const ConstraintError&) {  // a rule that decoding may never reach
        continue;
      } catch (const CapacityError&) {
        throw;
      } catch (const LimitError&) {  // likewise
        if (TimeLimit::IsOver()) throw;
        continue;
      }
    }
    stack.push_back(known->second.e);
  }
}

bool LengthBounds::Renew() {
  if (!partial_) return false;
  partial_ = false;
  bounds_.assign(bounds_.size(), {});
  return true;
}

// The unknown expressions below and with root, parts before what they are part of (but for calls in a cycle).
void LengthBounds::Collect(Expr root, std::vector<Expr>* order, bool* calls) {
  struct Frame {
    Expr e;
    bool parts_pushed;
  };
  std::vector<Frame> stack{{root, false}};  // its own: the spine of a concatenation may be long
  ++visit_;
  const auto visit = [&](Expr part) {
    if (!bounds_[part].known && bounds_[part].visit != visit_) stack.push_back({part, false});
  };
  while (!stack.empty()) {
    const Frame frame = stack.back();
    if (frame.parts_pushed) {
      stack.pop_back();
      order->push_back(frame.e);
      continue;
    }
    if (bounds_[frame.e].visit == visit_) {  // pushed twice before its first visit
      stack.pop_back();
      continue;
    }
    bounds_[frame.e].visit = visit_;
    stack.back().parts_pushed = true;
    switch (pool_->Kind(frame.e)) {
      case ExprKind::kConcat:
        visit(pool_->Head(frame.e));
        visit(pool_->Tail(frame.e));
        break;
      case ExprKind::kRepeat: visit(pool_->Body(frame.e)); break;
      case ExprKind::kUnion:
      case ExprKind::kIntersect:
        for (uint32_t i = 0; i < pool_->NumMembers(frame.e); ++i) visit(pool_->Members(frame.e)[i]);
        break;
      case ExprKind::kCall:
        *calls = true;
        if (const auto body = bodies_->find(frame.e); body != bodies_->end()) visit(body->second.e);
        break;
      default: break;
    }
  }
}

uint32_t LengthBounds::LeastOf(Expr e) {
  uint32_t least = kNoLength;
  switch (pool_->Kind(e)) {
    case ExprKind::kEmpty: return kNoLength;
    case ExprKind::kEpsilon: return 0;
    case ExprKind::kBytes: return 1;
    case ExprKind::kConcat: return Sum(bounds_[pool_->Head(e)].least, bounds_[pool_->Tail(e)].least);
    case ExprKind::kRepeat: return pool_->Low(e) ? Times(bounds_[pool_->Body(e)].least, pool_->Low(e)) : 0;
    case ExprKind::kUnion:
      for (uint32_t i = 0; i < pool_->NumMembers(e); ++i) least = std::min(least, bounds_[pool_->Members(e)[i]].least);
      return least;
    case ExprKind::kIntersect:
      least = 0;
      for (uint32_t i = 0; i < pool_->NumMembers(e); ++i) least = std::max(least, bounds_[pool_->Members(e)[i]].least);
      return least;
    case ExprKind::kTexts: return pool_->LeastLength(e);
    case ExprKind::kAutomaton: return TableOf(e).to_final[pool_->TableState(e)];
    case ExprKind::kLeaf: return pool_->LeafOf(e)->Least(pool_->LeafState(e));
    case ExprKind::kCall: {
      const auto body = bodies_->find(e);
      if (body == bodies_->end()) return pool_->Nullable(e) ? 0 : 1;
      return std::max(bounds_[body->second.e].least, body->second.least);
    }
    default: return pool_->Nullable(e) ? 0 : 1;
  }
}

uint32_t LengthBounds::MostOf(Expr e) {
  if (pool_->MayBeEmpty(e)) return kUnknownLength;  // a part may be empty, and its length nothing to rely on
  uint32_t least, most = 0;
  switch (pool_->Kind(e)) {
    case ExprKind::kEmpty:
    case ExprKind::kEpsilon: return 0;
    case ExprKind::kBytes: return 1;
    case ExprKind::kConcat: {
      const Bounds &head = bounds_[pool_->Head(e)], &tail = bounds_[pool_->Tail(e)];
      return std::max(SumOrUnknown(head.most, tail.least), tail.most);
    }
    case ExprKind::kRepeat: {
      const Bounds& body = bounds_[pool_->Body(e)];
      return SumOrUnknown(body.most, Times(body.least, pool_->Low(e) ? pool_->Low(e) - 1 : 0));
    }
    case ExprKind::kUnion:
      for (uint32_t i = 0; i < pool_->NumMembers(e); ++i) most = std::max(most, bounds_[pool_->Members(e)[i]].most);
      return most;
    case ExprKind::kTexts: {
      pool_->List(pool_->ListOf(e)).Lengths(pool_->TextNodeOf(e), &least, &most);
      return most;
    }
    case ExprKind::kAutomaton: return tables_->at(&pool_->Table(e)).most;
    case ExprKind::kLeaf: return pool_->LeafOf(e)->Most(pool_->LeafState(e));
    case ExprKind::kCall: {
      const auto body = bodies_->find(e);
      const bool settled = body != bodies_->end() && bounds_[body->second.e].settled;
      return settled ? SumOrUnknown(bounds_[body->second.e].most, body->second.slack) : kUnknownLength;
    }
    default: return kUnknownLength;
  }
}

// Breadth-first from the final states against the arcs, once for each table.
const LengthBounds::Distances& LengthBounds::TableOf(Expr e) {
  const ByteTable& table = pool_->Table(e);
  const auto [it, added] = tables_->try_emplace(&table);
  Distances& d = it->second;
  if (!added) return d;
  const uint32_t count = static_cast<uint32_t>(table.final.size());
  std::vector<std::vector<uint32_t>> before(count);
  for (uint32_t q = 1; q < count; ++q)
    for (size_t b = 0; b < 256; ++b)
      if (const uint32_t t = table.next[size_t{q} * 256 + b])
        if (before[t].empty() || before[t].back() != q) before[t].push_back(q);
  d.to_final.assign(count, kNoLength);
  std::vector<uint32_t> queue;
  for (uint32_t q = 1; q < count; ++q)
    if (table.final[q]) {
      d.to_final[q] = 0;
      queue.push_back(q);
    }
  for (size_t i = 0; i < queue.size(); ++i)
    for (const uint32_t p : before[queue[i]])
      if (d.to_final[p] == kNoLength) {
        d.to_final[p] = d.to_final[queue[i]] + 1;
        queue.push_back(p);
      }
  for (const uint32_t q : queue) d.most = std::max(d.most, d.to_final[q]);
  return d;
}

}  // namespace tokamata
