#include "constraints/csrc/rule_bodies.h"

#include <algorithm>

#include "constraints/csrc/grammar.h"

namespace tokamata {
namespace {

using Kind = RuleBodies::Kind;
using Facts = RuleBodies::Facts;

void CheckShape(const RuleBodies& b) {
  const auto require = [](bool holds) {
    if (!holds) throw ConstraintError("rules: expected operands before what is made of them, and known leaves and rules");
  };
  require(!b.bodies.empty() && b.names.size() == b.bodies.size());
  for (const uint32_t body : b.bodies) require(body < b.nodes.size());
  for (uint32_t i = 0; i < b.nodes.size(); ++i) {
    const RuleBodies::Node& n = b.nodes[i];
    for (const uint32_t operand : n.operands) require(operand < i);
    if (n.kind == Kind::kLeaf) require(n.index < b.leaf_texts.size());
    if (n.kind == Kind::kCall) require(n.index < b.bodies.size());
    if (n.kind == Kind::kRepeat) require(n.operands.size() == 1 && n.low <= n.high);
  }
}

Facts FactsOfNode(const RuleBodies& b, const RuleBodies::Node& n, const std::vector<Facts>& nodes) {
  Facts f;
  switch (n.kind) {
    case Kind::kLeaf: {
      const Expr e = b.leaf_texts[n.index];
      f.productive = e != kEmpty;
      f.nullable = b.leaves.Nullable(e);
      f.first = b.leaves.First(e);
      break;
    }
    case Kind::kConcat:
      f.productive = f.nullable = true;
      for (const uint32_t x : n.operands) {
        if (f.nullable) f.first = f.first | nodes[x].first;
        f.productive = f.productive && nodes[x].productive;
        f.nullable = f.nullable && nodes[x].nullable;
      }
      break;
    case Kind::kUnion:
      for (const uint32_t x : n.operands) {
        if (!nodes[x].productive) continue;
        f.productive = true;
        f.nullable = f.nullable || nodes[x].nullable;
        f.first = f.first | nodes[x].first;
      }
      break;
    case Kind::kRepeat: {
      const Facts& x = nodes[n.operands[0]];
      f.nullable = n.low == 0 || x.nullable;
      f.productive = n.low == 0 || x.productive;
      f.first = x.first;
      break;
    }
    case Kind::kCall: f = b.facts[n.index]; break;
  }
  if (!f.productive) f = {};
  return f;
}

bool Same(const Facts& x, const Facts& y) {
  return x.productive == y.productive && x.nullable == y.nullable && x.first == y.first;
}

// The rules that each rule can call before it has read anything.
std::vector<std::vector<uint32_t>> LeftCalls(const RuleBodies& b, const std::vector<Facts>& facts) {
  std::vector<std::vector<uint32_t>> calls(b.bodies.size());
  std::vector<uint8_t> seen;
  std::vector<uint32_t> work;
  for (uint32_t rule = 0; rule < b.bodies.size(); ++rule) {
    seen.assign(b.bodies[rule] + 1, 0);
    work = {b.bodies[rule]};
    while (!work.empty()) {
      const uint32_t i = work.back();
      work.pop_back();
      if (seen[i]) continue;
      seen[i] = 1;
      const RuleBodies::Node& n = b.nodes[i];
      if (n.kind == Kind::kCall) calls[rule].push_back(n.index);
      for (const uint32_t x : n.operands) {
        work.push_back(x);
        if (n.kind == Kind::kConcat && !facts[x].nullable) break;
      }
    }
  }
  return calls;
}

// The body of a rule; call(rule): what stands for a call.
template <class F>
Expr MakeBody(Expressions* pool, const RuleBodies& bodies, uint32_t rule, const std::vector<Expr>& leaves, F call) {
  const std::vector<RuleBodies::Node>& nodes = bodies.nodes;
  const uint32_t root = bodies.bodies[rule];
  std::vector<uint8_t> needed(root + 1, 0);
  needed[root] = 1;
  uint32_t lowest = root;
  for (uint32_t i = root + 1; i-- > lowest;) {
    if (!needed[i]) continue;
    for (const uint32_t x : nodes[i].operands) {
      needed[x] = 1;
      lowest = std::min(lowest, x);
    }
  }
  std::vector<Expr> made(root + 1 - lowest, kEmpty);
  for (uint32_t i = lowest; i <= root; ++i) {
    if (!needed[i]) continue;
    const RuleBodies::Node& n = nodes[i];
    std::vector<Expr> parts;
    for (const uint32_t x : n.operands) parts.push_back(made[x - lowest]);
    Expr& e = made[i - lowest];
    switch (n.kind) {
      case Kind::kLeaf: e = leaves[n.index]; break;
      case Kind::kConcat: e = pool->Concat(parts); break;
      case Kind::kUnion: e = pool->Union(std::move(parts)); break;
      case Kind::kRepeat: e = pool->Repeat(parts[0], n.low, n.high); break;
      case Kind::kCall: e = call(n.index); break;
    }
  }
  return made.back();
}

class RuleBodySource final : public RuleSource {
 public:
  RuleBodySource(Expressions* pool, std::shared_ptr<const RuleBodies> bodies)
      : pool_(pool), bodies_(std::move(bodies)), source_(static_cast<uint32_t>(pool->NumRuleSources())) {}

  Expr Call(uint32_t rule) {
    const Facts& f = bodies_->facts[rule];
    return f.productive ? pool_->Call(source_, rule, f.nullable, f.first) : kEmpty;
  }

  Expr Expand(uint32_t rule) override {
    if (!imported_) {
      leaves_ = bodies_->leaf_texts;
      pool_->Import(bodies_->leaves, &leaves_);
      imported_ = true;
    }
    return MakeBody(pool_, *bodies_, rule, leaves_, [this](uint32_t called) { return Call(called); });
  }

  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    return std::make_shared<RuleBodySource>(pool, bodies_);
  }

  size_t MemoryBytes() const override {
    return bodies_->nodes.size() * sizeof(RuleBodies::Node) + bodies_->leaves.MemoryBytes();
  }

 private:
  Expressions* pool_;
  std::shared_ptr<const RuleBodies> bodies_;
  uint32_t source_;
  bool imported_ = false;
  std::vector<Expr> leaves_;
};

}  // namespace

void CheckRuleBodies(RuleBodies* b) {
  CheckShape(*b);
  b->facts.assign(b->bodies.size(), {});
  std::vector<Facts> nodes(b->nodes.size());
  for (bool changed = true; changed;) {
    for (uint32_t i = 0; i < nodes.size(); ++i) nodes[i] = FactsOfNode(*b, b->nodes[i], nodes);
    changed = false;
    for (uint32_t rule = 0; rule < b->bodies.size(); ++rule) {
      const Facts& now = nodes[b->bodies[rule]];
      if (Same(now, b->facts[rule])) continue;
      b->facts[rule] = now;
      changed = true;
    }
  }
  std::vector<uint8_t> cyclic;
  Components(LeftCalls(*b, nodes), &cyclic);
  for (uint32_t rule = 0; rule < cyclic.size(); ++rule) {
    if (!cyclic[rule]) continue;
    throw ConstraintError("rules: " + b->names[rule] + " calls itself before it has read anything; put something in "
                          "front, or drop that alternative");
  }
}

Expr FirstBody(Expressions* pool, const RuleBodies& bodies) {
  CheckShape(bodies);
  return MakeBody(pool, bodies, 0, bodies.leaf_texts, [](uint32_t) { return kEmpty; });
}

Expr CallFirstRule(Expressions* pool, std::shared_ptr<const RuleBodies> bodies) {
  auto source = std::make_shared<RuleBodySource>(pool, std::move(bodies));
  pool->AddRules(source);
  return source->Call(0);
}

}  // namespace tokamata
