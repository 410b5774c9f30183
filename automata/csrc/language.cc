#include "automata/csrc/language.h"

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "automata/csrc/byte_table.h"
#include "automata/csrc/completion.h"
#include "automata/csrc/count.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/read.h"
#include "automata/csrc/sample.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {

using State = DelayedAcceptor::State;

namespace {

// No state should be without a way out; a constraint that has one is to end a walk, and not the process.
std::runtime_error NoWayOut(const std::string& text) {
  return std::runtime_error("examples: no member begins with the " + std::to_string(text.size()) +
                            " bytes that were chosen, though the constraint allows each of them; please report this "
                            "constraint");
}

}  // namespace

Language Language::Build(const std::function<Expr(Expressions*)>& build, const Limits& limits) {
  const TimeLimit time("constraint", "seconds", limits.seconds);
  auto pool = std::make_unique<Expressions>();
  pool->limits = limits.expressions;
  const Expr root = build(pool.get());
  auto acceptor = std::make_shared<ExpressionAcceptor>(std::move(pool), root);
  acceptor->max_states = limits.states;
  acceptor->seconds = limits.seconds;
  return Language(std::move(acceptor), limits);
}

Language Language::Combine(const std::vector<Language>& parts,
                           const std::function<Expr(Expressions*, std::vector<Expr>)>& combine, bool forgets) {
  Limits limits = parts.empty() ? Limits() : parts[0].limits_;  // the widest of the operands
  const auto widen = [](auto* mine, auto other) { *mine = std::max(*mine, other); };
  for (const Language& p : parts) {
    widen(&limits.expressions.nodes, p.limits_.expressions.nodes);
    widen(&limits.expressions.depth, p.limits_.expressions.depth);
    widen(&limits.expressions.width, p.limits_.expressions.width);
    widen(&limits.expressions.emptiness, p.limits_.expressions.emptiness);
    widen(&limits.states, p.limits_.states);
    widen(&limits.seconds, p.limits_.seconds);
    widen(&limits.search_seconds, p.limits_.search_seconds);
    widen(&limits.count_bytes, p.limits_.count_bytes);
    widen(&limits.cache_bytes, p.limits_.cache_bytes);
  }
  return Build(
      [&](Expressions* pool) {
        pool->forgets = forgets;
        std::vector<Expr> roots;
        for (const Language& p : parts)
          roots.push_back(p.acceptor_->WithPool(
              [&](const Expressions& other) { return pool->Import(other, p.acceptor_->Root()); }));
        return combine(pool, std::move(roots));
      },
      limits);
}

Language Language::Union(const std::vector<Language>& parts) {
  return Combine(parts, [](Expressions* p, std::vector<Expr> e) { return p->Union(std::move(e)); });
}
Language Language::Concat(const std::vector<Language>& parts) {
  return Combine(parts, [](Expressions* p, const std::vector<Expr>& e) { return p->Concat(e); });
}
Language Language::Intersect(const std::vector<Language>& parts) {
  return Combine(parts, [](Expressions* p, std::vector<Expr> e) { return p->Intersect(std::move(e)); }, true);
}
Language Language::Difference(const Language& a, const Language& b) {
  return Combine({a, b}, [](Expressions* p, const std::vector<Expr>& e) { return p->Difference(e[0], e[1]); }, true);
}
Language Language::Complement(const Language& x) {
  return Combine({x}, [](Expressions* p, const std::vector<Expr>& e) { return p->Difference(p->AnyText(), e[0]); }, true);
}
Language Language::Repeat(const Language& x, uint32_t low, uint32_t high) {
  return Combine({x}, [=](Expressions* p, const std::vector<Expr>& e) { return p->Repeat(e[0], low, high); });
}
Language Language::WithLimits(const Limits& limits) const {
  return Build(
      [&](Expressions* pool) {
        return acceptor_->WithPool([&](const Expressions& other) { return pool->Import(other, acceptor_->Root()); });
      },
      limits);
}

std::shared_ptr<ExpressionAcceptor> Language::Scratch(bool exact_rows) const {
  std::shared_ptr<ExpressionAcceptor> acceptor = WithLimits(limits_).acceptor_;
  acceptor->exact_rows = exact_rows;
  return acceptor;
}

bool Language::Accepts(std::string_view text) const {
  const TimeLimit time("accepts", "search_seconds", limits_.search_seconds);
  const Reading reading = Read(acceptor_.get(), text);
  return reading.length == text.size() && reading.final;
}

int64_t Language::ViablePrefix(std::string_view text) const {
  const TimeLimit time("viable_prefix", "search_seconds", limits_.search_seconds);
  const Reading reading = Read(acceptor_.get(), text);
  return reading.alive ? static_cast<int64_t>(reading.length) : -1;
}

std::optional<std::string> Language::Counterexample(const Language& a, const Language& b) {
  const TimeLimit time("counterexample", "search_seconds", std::max(a.limits_.search_seconds, b.limits_.search_seconds));
  if (a.IsEmpty() != b.IsEmpty()) {
    const std::shared_ptr<ExpressionAcceptor> members = (a.IsEmpty() ? b : a).Scratch(false);
    return Completion(members.get(), members->Start());
  }
  const std::shared_ptr<ExpressionAcceptor> left = a.Scratch(), right = b.Scratch();
  DelayedAcceptor &x = *left, &y = *right;
  const auto pair = [](State p, State q) { return uint64_t{p} << 32 | q; };
  std::vector<std::pair<State, State>> queue{{x.Start(), y.Start()}};
  std::vector<Reached> how{{0, 0}};
  std::unordered_set<uint64_t> seen{pair(x.Start(), y.Start())};
  for (size_t i = 0; i < queue.size(); ++i) {
    TimeLimit::Spend(4);
    const auto [p, q] = queue[i];
    if ((p && x.IsFinal(p)) != (q && y.IsFinal(q))) return PathTo(how, i);
    const State *rp = x.Row(p), *rq = y.Row(q);
    std::pair<State, State> last{0, 0};
    (x.Live(p) | y.Live(q)).ForEach([&](uint8_t byte) {
      const std::pair<State, State> next{rp[byte], rq[byte]};
      if (next == last) return;
      last = next;
      if (seen.insert(pair(next.first, next.second)).second) {
        queue.push_back(next);
        how.push_back({i, byte});
      }
    });
  }
  return std::nullopt;
}

std::vector<std::string> Language::Examples(size_t n, uint64_t seed) const {
  const TimeLimit time("examples", "search_seconds", limits_.search_seconds);
  constexpr size_t kMostReached = 10'000;  // states on the way to the end of a walk
  constexpr size_t kMostBytes = size_t{1} << 26;  // that the acceptor grows by then; one that is larger is made anew
  constexpr size_t kManyRules = 1 << 14;  // to look into for lengths where a few do not do
  size_t long_walk = 48;  // chosen bytes after which a walk heads for the nearest end; fewer where that is far
  std::vector<std::string> out;
  if (IsEmpty()) return out;
  std::shared_ptr<ExpressionAcceptor> acceptor = Scratch(false);
  size_t most_bytes = kMostBytes;
  const size_t first_bytes = acceptor->MemoryBytes();
  bool farther = false;  // whether many rules are looked into
  const auto renew = [&] {
    acceptor = Scratch(false);
    if (farther) acceptor->LookInto(kManyRules);
  };
  const auto state_after = [&](std::string_view text) {
    if (acceptor->MemoryBytes() > first_bytes + most_bytes) renew();
    State q = acceptor->Start();
    for (const char c : text) q = acceptor->Next(q, static_cast<uint8_t>(c));
    return q;
  };
  const auto nearest_end = [&](State q) -> std::optional<std::string> {
    if (!long_walk) return ShortCompletion(acceptor.get(), q);
    try {
      return ShortCompletion(acceptor.get(), q, kMostReached, most_bytes);
    } catch (const CapacityError&) {
      renew();
      return std::nullopt;
    }
  };
  std::unordered_set<std::string> known;
  std::mt19937_64 random(seed);
  const auto below = [&random](size_t k) { return static_cast<size_t>(random() % k); };
  for (size_t tries = 0; out.size() < n && tries < 20 * n + 100; ++tries) {
    State q = state_after("");
    std::string text;
    std::vector<size_t> chosen;  // after how many bytes there was a choice
    for (;;) {
      TimeLimit::Spend(4);
      const ByteSet live = acceptor->Live(q);
      if (!acceptor->IsFinal(q) && !live.Any()) throw NoWayOut(text);
      if (acceptor->IsFinal(q) && (!live.Any() || below(4) == 0)) break;
      if (acceptor->IsFinal(q) || live.Count() > 1) chosen.push_back(text.size());
      if (chosen.size() > long_walk) {
        auto rest = nearest_end(q);
        while (!rest) {
          if (farther) {
            long_walk /= 4;
            text.resize(chosen[long_walk]);
          } else {
            farther = true;
            most_bytes *= 4;
            renew();
          }
          q = state_after(text);
          rest = nearest_end(q);
        }
        text += *rest;
        break;
      }
      // A target first, then one of its bytes, printable ASCII before others: members look like text.
      const State* row = acceptor->Row(q);
      std::vector<std::pair<State, ByteSet>> targets;
      live.ForEach([&](uint8_t b) {
        for (auto& [state, set] : targets)
          if (state == row[b]) return set.Add(b);
        targets.emplace_back(row[b], ByteSet::Of(b));
      });
      std::vector<size_t> weights;
      size_t total = 0;
      for (const auto& t : targets) {
        const size_t weight = 1 + 7 * t.second.Intersects(ByteSet::Range(0x20, 0x7E));
        weights.push_back(weight);
        total += weight;
      }
      size_t pick = below(total), k = 0;
      for (; pick >= weights[k]; ++k) pick -= weights[k];
      ByteSet set = targets[k].second;
      const ByteSet printable = set & ByteSet::Range(0x20, 0x7E);
      if (printable.Any() && below(16)) set = printable;
      size_t skip = below(static_cast<size_t>(set.Count()));
      uint8_t byte = 0;
      set.ForEach([&](uint8_t b) {
        if (skip-- == 0) byte = b;
      });
      text.push_back(static_cast<char>(byte));
      q = acceptor->Next(q, byte);
    }
    if (known.insert(text).second)
      out.push_back(text);
    else if (!long_walk)
      tries += 20;  // there is little else to be found
  }
  return out;
}

Fst Language::ToFst(size_t most_states) const {
  const TimeLimit time("to_fst", "search_seconds", limits_.search_seconds);
  Fst fst(SemiringKind::kTropical);
  if (IsEmpty()) return fst;
  const std::shared_ptr<ExpressionAcceptor> acceptor = Scratch();
  std::vector<State> queue{acceptor->Start()};
  std::unordered_map<State, StateId> id{{queue[0], 0}};
  fst.SetStart(fst.AddState());
  for (size_t i = 0; i < queue.size(); ++i) {
    TimeLimit::Spend(8);
    const State q = queue[i];
    const State* row = acceptor->Row(q);
    if (acceptor->IsFinal(q)) fst.SetFinal(static_cast<StateId>(i), fst.One());
    const auto arc = [&](uint8_t b) {
      const auto [it, added] = id.emplace(row[b], static_cast<StateId>(queue.size()));
      if (added) {
        if (queue.size() >= most_states)
          throw LimitError("to_fst: the limit states=" + std::to_string(most_states) +
                           " was reached; pass a larger one or simplify the constraint" + acceptor->MemoryHint());
        queue.push_back(row[b]);
        fst.AddState();
      }
      const Label label = b ? b : 256;
      fst.AddArc(static_cast<StateId>(i), {label, label, fst.One(), it->second});
    };
    const ByteSet live = acceptor->Live(q);
    live.ForEach([&](uint8_t b) {
      if (b) arc(b);  // NUL last: its label is 256
    });
    if (live.Has(0)) arc(0);
  }
  return fst;
}

Language Language::FromFst(const Fst& fst, const Limits& limits) {
  const TimeLimit time("from_fst", "search_seconds", limits.search_seconds);
  auto table = std::make_shared<ByteTable>();
  const uint32_t start = TableOfFst(fst, limits.states, table.get());
  return Build([&](Expressions* pool) { return pool->Automaton(table, start); }, limits);
}

Language Language::Minimize() const {
  const TimeLimit time("minimize", "search_seconds", limits_.search_seconds);
  auto table = std::make_shared<ByteTable>();
  const uint32_t start = MinimalTable(Scratch().get(), table.get());
  return Build([&](Expressions* pool) { return pool->Automaton(table, start); }, limits_);
}

std::vector<uint64_t> Language::Count(size_t length) const {
  const TimeLimit time("count", "search_seconds", limits_.search_seconds);
  return CountMembers(Scratch().get(), length, limits_.count_bytes);
}

std::vector<std::string> Language::Sample(size_t n, size_t low, size_t high, uint64_t seed) const {
  const TimeLimit time("sample", "search_seconds", limits_.search_seconds);
  return SampleMembers(Scratch().get(), n, low, high, seed, limits_.count_bytes);
}

std::string Language::Describe(size_t limit) const {
  return acceptor_->WithPool([&](const Expressions& pool) { return pool.Describe(acceptor_->Root(), limit); });
}

}  // namespace tokamata
