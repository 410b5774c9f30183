#include "automata/csrc/expression.h"

#include <algorithm>

namespace tokamata {
namespace {

constexpr size_t kMostOfHead = 48;  // steps that are kept for whatever follows
constexpr size_t kFewTargets = 8;   // of terms that share bytes

// Scratch to write to while others may be written to: what was put back, or new.
template <class Scratch>
std::unique_ptr<Scratch> Take(std::vector<std::unique_ptr<Scratch>>* from) {
  if (from->empty()) return std::make_unique<Scratch>();
  std::unique_ptr<Scratch> scratch = std::move(from->back());
  from->pop_back();
  return scratch;
}

// The same, emptied.
template <class Terms>
std::unique_ptr<Terms> TakeTerms(std::vector<std::unique_ptr<Terms>>* from) {
  std::unique_ptr<Terms> terms = Take(from);
  terms->out.clear();
  if (!terms->seen.empty()) terms->seen.clear();
  return terms;
}

}  // namespace

// Adds terms whose union is one step of e·rest. Recursion follows operator nesting, which limits.depth bounds, and
// calls inside calls, which limits.calls does; the spine of a concatenation is a loop. Where there are many terms, what
// was added once is not added again: ambiguous expressions reach the same pairs of e and rest in many ways.
void Expressions::Collect(Expr e, Expr rest, Terms* terms) {
  constexpr size_t kMany = 64, kMostSeen = 1'000'000;
  std::vector<Term>* out = &terms->out;
  const ExprKind kind = nodes_[e].kind;
  if (out->size() > kMany && kind != ExprKind::kBytes && kind != ExprKind::kEpsilon) {
    if (!terms->seen.insert(uint64_t{e} << 32 | rest).second) return;
    if (terms->seen.size() > kMostSeen) ThrowLimit("expression_width", limits.width, "ways through one expression");
  }
  for (;;) {
    Spend();
    const Node n = nodes_[e];  // by value: builders may move the pool
    switch (n.kind) {
      case ExprKind::kEmpty:
      case ExprKind::kEpsilon: return;
      case ExprKind::kBytes: out->push_back({n.first, rest}); return;
      case ExprKind::kConcat: {
        if (!nodes_[n.a].nullable) {
          rest = Concat(n.b, rest);
          e = n.a;
          continue;
        }
        if (rest == kEpsilonExpr) {
          Collect(n.a, n.b, terms);
          e = n.b;
          continue;
        }
        // A member may begin with any of the nullable parts, or with the one after them. From the back, each rest is
        // one part longer than the one before.
        ExprList parts;
        Expr tail = e;
        while (nodes_[tail].kind == ExprKind::kConcat && (parts.empty() || nodes_[parts.back()].nullable)) {
          parts.push_back(nodes_[tail].a);
          tail = nodes_[tail].b;
        }
        if (nodes_[parts.back()].nullable) Collect(tail, rest, terms);
        rest = Concat(tail, rest);
        while (parts.size() > 1) {
          Collect(parts.back(), rest, terms);
          rest = Concat(parts.back(), rest);
          parts.pop_back();
        }
        e = parts.back();
        continue;
      }
      case ExprKind::kUnion:
        for (uint32_t i = 0; i < n.b; ++i) Collect(members_[n.a + i], rest, terms);
        return;
      case ExprKind::kRepeat:
        rest = Concat(Repeat(n.a, n.b ? n.b - 1 : 0, n.c == kUnbounded ? kUnbounded : n.c - 1), rest);
        e = n.a;
        continue;
      case ExprKind::kPaths: {
        const uint32_t low = n.b ? n.b - 1 : 0, high = n.c == kUnbounded ? kUnbounded : n.c - 1;
        for (size_t i = 0; n.c && i < path_states_[n.a].arcs.size(); ++i) {
          const PathState::Arc arc = path_states_[n.a].arcs[i];
          Collect(arc.texts, Concat(Paths(arc.target, low, high), rest), terms);
        }
        if (n.b) return;
        e = path_states_[n.a].last;
        continue;
      }
      case ExprKind::kIntersect:
      case ExprKind::kComplement: {
        std::unique_ptr<Terms> own = Take(&terms_);
        Partition(e, &own->out);
        for (const Term& t : own->out) out->push_back({t.bytes, Concat(t.target, rest)});
        terms_.push_back(std::move(own));
        return;
      }
      case ExprKind::kCall: {
        RuleSource* const source = rules_[n.a].source.get();
        if (source->Remembers(n.b)) {
          n.first.ForEach([&](uint8_t b) {
            Expr left = kEmpty;
            source->Step(n.b, b, &left);
            if (left != kEmpty) out->push_back({ByteSet::Of(b), Concat(left, rest)});
          });
          return;
        }
        if (call_depth_ >= limits.calls) ThrowLimit("nested_calls", limits.calls, "rules that call one another before a byte is read");
        ++call_depth_;
        try {
          Collect(Expand(e), rest, terms);
        } catch (...) {
          --call_depth_;
          throw;
        }
        --call_depth_;
        return;
      }
      case ExprKind::kLeaf:
        leaves_[n.a]->Arcs(n.b, &leaf_arcs_);
        for (const LeafAutomaton::Arc& arc : std::vector<LeafAutomaton::Arc>(leaf_arcs_))  // nested ones have leaves, too
          out->push_back({arc.bytes, Concat(AfterArc(n.a, arc), rest)});
        return;
      case ExprKind::kTexts: {
        const std::shared_ptr<const TextList> texts = lists_[n.a];
        texts->ForEachChild(TextNodeOf(e), [&](uint8_t byte, const TextList::Node& child) {
          out->push_back({ByteSet::Of(byte), Concat(Texts(n.a, child), rest)});
        });
        return;
      }
      case ExprKind::kAutomaton: {
        const ByteTable& table = *automata_[n.a];
        const uint32_t* row = table.next.data() + size_t{n.b} * 256;
        const size_t begin = out->size();
        n.first.ForEachRun([&](int first, int last) {
          for (int b = first, next; b <= last; b = next) {
            const uint32_t state = row[b];
            for (next = b + 1; next <= last && row[next] == state;) ++next;
            size_t at = begin;
            while (at < out->size() && (*out)[at].target != state) ++at;
            if (at == out->size()) out->push_back({ByteSet(), state});
            (*out)[at].bytes = (*out)[at].bytes | ByteSet::Range(b, next - 1);
          }
        });
        const uint32_t automaton = n.a;
        for (size_t i = begin; i < out->size(); ++i) {  // which were states of the table so far
          const Expr target = Concat(AutomatonState(automaton, (*out)[i].target), rest);
          (*out)[i].target = target;
        }
        return;
      }
    }
  }
}

// Splits overlapping terms into disjoint byte sets, each with the union of the targets that share it.
bool Expressions::Determinize(const std::vector<Term>& in, std::vector<Term>* out) {
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
    out->reserve(in.size());
    for (const Term& t : in) add(t.bytes, t.target);
    return false;
  }
  struct Class {
    ByteSet bytes;
    Expr first, last;
    SmallVector<Expr, kFewTargets> targets;  // all of them, where there are more than one
  };
  std::vector<Class> classes;
  classes.reserve(std::min<size_t>(in.size() + 8, 64));
  seen = ByteSet();
  for (const Term& t : in) {
    ByteSet left = t.bytes;
    if (left.Intersects(seen)) {
      Spend(1 + static_cast<int64_t>(classes.size() / 16));
      for (size_t i = 0, n = classes.size(); i < n && left.Any(); ++i) {
        const ByteSet common = classes[i].bytes & left;
        if (!common.Any()) continue;
        left = left - common;
        if (common != classes[i].bytes) {  // split off the part that does not go along
          Class apart = classes[i];
          apart.bytes = apart.bytes - common;
          classes.push_back(std::move(apart));
          classes[i].bytes = common;
        }
        Class& c = classes[i];
        if (c.last == t.target) continue;
        if (c.targets.empty()) c.targets.push_back(c.first);
        c.targets.push_back(c.last = t.target);
      }
    }
    if (left.Any()) classes.push_back({left, t.target, t.target, {}});
    seen = seen | t.bytes;
  }
  bool united = false;
  for (Class& c : classes) {
    united = united || !c.targets.empty();
    add(c.bytes, c.targets.empty() ? c.first : Union(ExprList(c.targets.begin(), c.targets.end())));
  }
  return united;
}

// Where the steps of a head lie, kAskedOnce or kNotKept. Those whose targets are unions are not kept: such a union and
// what follows is another expression than the union of what follows each.
uint32_t Expressions::StepsOfHead(Expr head) {
  const uint32_t known = steps_of_head_.Reach(head, kNotAsked);
  if (known == kNotAsked) {
    const ExprKind kind = nodes_[head].kind;
    const bool changes = kind == ExprKind::kLeaf || kind == ExprKind::kTexts ||
                         (kind == ExprKind::kCall && Rules(nodes_[head].a)->Remembers(nodes_[head].b));
    return steps_of_head_[head] = changes ? kNotKept : kAskedOnce;
  }
  if (known != kAskedOnce) return known;
  std::unique_ptr<Terms> terms = TakeTerms(&terms_), own = Take(&terms_);
  std::vector<Term>& steps = own->out;
  Collect(head, kEpsilonExpr, terms.get());
  const bool united = terms->out.size() > kMostOfHead || Determinize(terms->out, &steps);
  uint32_t& at = steps_of_head_[head];  // Collect may have asked for others
  if (united) {
    at = kNotKept;
  } else {
    at = static_cast<uint32_t>(head_steps_.size()) + kFirstKept;
    head_steps_.push_back({ByteSet(), static_cast<Expr>(steps.size())});
    for (const Term& step : steps) head_steps_.push_back(step);
  }
  terms_.push_back(std::move(terms));
  terms_.push_back(std::move(own));
  return at;
}

// A concatenation begins with its first part, or where that is nullable, with what follows it. Whether all the steps
// that takes were kept.
bool Expressions::PartitionByHeads(Expr e, std::vector<Term>* out) {
  std::unique_ptr<Terms> own = TakeTerms(&terms_);
  std::vector<Term>& terms = own->out;
  bool kept = true;
  for (bool more = true; more;) {
    const Expr head = FirstPart(e), rest = Rest(e);
    more = head != e && nodes_[head].nullable;
    e = rest;
    if (head == kEpsilonExpr) break;
    if (nodes_[head].kind == ExprKind::kBytes) {
      terms.push_back({nodes_[head].first, rest});
      continue;
    }
    const uint32_t at = StepsOfHead(head);
    kept = at >= kFirstKept && terms.size() <= kMostOfHead;
    if (!kept) break;
    const uint32_t first = at - kFirstKept + 1, steps = head_steps_[first - 1].target;
    Spend(steps);
    for (uint32_t i = first; i < first + steps; ++i)
      terms.push_back({head_steps_[i].bytes, Concat(head_steps_[i].target, rest)});
  }
  if (kept) Determinize(terms, out);
  terms_.push_back(std::move(own));
  return kept;
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
    std::unique_ptr<Terms> merged = Take(&terms_);
    Determinize(*out, &merged->out);
    out->swap(merged->out);
    terms_.push_back(std::move(merged));
    return;
  }
  if (n.kind == ExprKind::kIntersect) {
    // Classes of bytes, and for each the targets of the members so far, from the last one back.
    std::unique_ptr<Meet> own = Take(&meets_);
    auto& [classes, next, links, steps, terms] = *own;
    classes.assign(1, {n.first, 0});
    links.clear();
    terms.clear();
    for (uint32_t i = 0; i < n.b && !classes.empty(); ++i) {
      Partition(members_[n.a + i], &steps);
      next.clear();
      Spend(static_cast<int64_t>(1 + classes.size() * steps.size() / 4));
      for (const Meet::Class& c : classes)
        for (const Term& t : steps) {
          const ByteSet common = c.bytes & t.bytes;
          if (!common.Any()) continue;
          next.push_back({common, static_cast<uint32_t>(links.size())});
          links.push_back({c.last, t.target});
        }
      classes.swap(next);
    }
    for (const Meet::Class& c : classes) {
      ExprList targets;
      targets.resize(n.b);
      uint32_t link = c.last;
      for (uint32_t i = n.b; i-- > 0; link = links[link].before) targets[i] = links[link].target;
      const Expr target = Intersect(std::move(targets));
      if (target != kEmpty) terms.push_back({c.bytes, target});
    }
    Determinize(terms, out);
    meets_.push_back(std::move(own));
    return;
  }
  if (n.kind == ExprKind::kConcat && PartitionByHeads(e, out)) return;
  std::unique_ptr<Terms> terms = TakeTerms(&terms_);  // its own, as this may be inside another one
  Collect(e, kEpsilonExpr, terms.get());
  Determinize(terms->out, out);
  terms_.push_back(std::move(terms));
}

void Expressions::Step(Expr e, std::vector<Term>* out) {
  Partition(e, out);  // the targets decide: e may be a call, which does not show what is inside its rule
  out->erase(std::remove_if(out->begin(), out->end(), [this](const Term& t) { return IsEmpty(t.target); }), out->end());
}

}  // namespace tokamata
