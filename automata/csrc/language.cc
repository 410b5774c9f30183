#include "automata/csrc/language.h"

#include <algorithm>
#include <map>
#include <random>
#include <unordered_map>
#include <unordered_set>

namespace tokamata {

using State = DelayedAcceptor::State;

Language Language::Build(const std::function<Expr(Expressions*)>& build, const Limits& limits) {
  auto pool = std::make_unique<Expressions>();
  pool->limits = limits.expressions;
  const Expr root = build(pool.get());
  auto acceptor = std::make_shared<ExpressionAcceptor>(std::move(pool), root);
  acceptor->max_states = limits.states;
  return Language(std::move(acceptor));
}

Limits Language::CurrentLimits() const {
  Limits limits;
  limits.expressions = acceptor_->WithPool([](const Expressions& p) { return p.limits; });
  limits.states = acceptor_->max_states;
  return limits;
}

Language Language::Combine(const std::vector<Language>& parts,
                           const std::function<Expr(Expressions*, std::vector<Expr>)>& combine) {
  Limits limits;  // the widest of the operands
  for (size_t i = 0; i < parts.size(); ++i) {
    const Limits own = parts[i].CurrentLimits();
    if (i == 0) limits = own;
    limits.states = std::max(limits.states, own.states);
    limits.expressions.nodes = std::max(limits.expressions.nodes, own.expressions.nodes);
    limits.expressions.depth = std::max(limits.expressions.depth, own.expressions.depth);
    limits.expressions.width = std::max(limits.expressions.width, own.expressions.width);
    limits.expressions.emptiness = std::max(limits.expressions.emptiness, own.expressions.emptiness);
  }
  return Build(
      [&](Expressions* pool) {
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
  return Combine(parts, [](Expressions* p, std::vector<Expr> e) { return p->Intersect(std::move(e)); });
}
Language Language::Difference(const Language& a, const Language& b) {
  return Combine({a, b}, [](Expressions* p, const std::vector<Expr>& e) { return p->Difference(e[0], e[1]); });
}
Language Language::Complement(const Language& x) {
  return Combine({x}, [](Expressions* p, const std::vector<Expr>& e) { return p->Difference(p->AnyText(), e[0]); });
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

bool Language::Accepts(std::string_view text) const {
  const State q = acceptor_->Run(acceptor_->Start(), text);
  return q != DelayedAcceptor::kDead && acceptor_->IsFinal(q);
}

int64_t Language::ViablePrefix(std::string_view text) const {
  State q = acceptor_->Start();
  if (!q) return -1;
  for (size_t i = 0; i < text.size(); ++i) {
    q = acceptor_->Next(q, static_cast<uint8_t>(text[i]));
    if (!q) return static_cast<int64_t>(i);
  }
  return static_cast<int64_t>(text.size());
}

namespace {

// Breadth-first search results: how a state was first reached.
struct Reached {
  size_t parent;
  uint8_t byte;
};

std::string PathTo(const std::vector<Reached>& how, size_t i) {
  std::string text;
  for (; i != 0; i = how[i].parent) text.push_back(static_cast<char>(how[i].byte));
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace

std::string Language::ShortestCompletion(State q) const {
  std::vector<State> queue{q};
  std::vector<Reached> how{{0, 0}};
  std::unordered_set<State> seen{q};
  for (size_t i = 0; i < queue.size(); ++i) {
    if (acceptor_->IsFinal(queue[i])) return PathTo(how, i);
    const State* row = acceptor_->Row(queue[i]);
    State last = DelayedAcceptor::kDead;
    acceptor_->Live(queue[i]).ForEach([&](uint8_t b) {
      if (row[b] == last) return;  // neighbours mostly share their target
      last = row[b];
      if (seen.insert(last).second) {
        queue.push_back(last);
        how.push_back({i, b});
      }
    });
  }
  return {};  // the dead state
}

std::optional<std::string> Language::Counterexample(const Language& a, const Language& b) {
  DelayedAcceptor &x = *a.acceptor_, &y = *b.acceptor_;
  const auto pair = [](State p, State q) { return uint64_t{p} << 32 | q; };
  std::vector<std::pair<State, State>> queue{{x.Start(), y.Start()}};
  std::vector<Reached> how{{0, 0}};
  std::unordered_set<uint64_t> seen{pair(x.Start(), y.Start())};
  for (size_t i = 0; i < queue.size(); ++i) {
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
  constexpr size_t kLongWalk = 48;  // bytes after which a walk heads for the nearest end
  std::vector<std::string> out;
  if (IsEmpty()) return out;
  std::unordered_set<std::string> known;
  std::mt19937_64 random(seed);
  const auto below = [&random](size_t k) { return static_cast<size_t>(random() % k); };
  for (size_t tries = 0; out.size() < n && tries < 20 * n + 100; ++tries) {
    State q = acceptor_->Start();
    std::string text;
    for (;;) {
      const ByteSet live = acceptor_->Live(q);
      if (acceptor_->IsFinal(q) && (!live.Any() || below(4) == 0)) break;
      if (text.size() >= kLongWalk) {
        text += ShortestCompletion(q);
        break;
      }
      // A target first, then one of its bytes, printable ASCII before others: members look like text.
      const State* row = acceptor_->Row(q);
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
      q = row[byte];
    }
    if (known.insert(text).second) out.push_back(text);
  }
  return out;
}

Fst Language::ToFst(size_t most_states) const {
  Fst fst(SemiringKind::kTropical);
  if (IsEmpty()) return fst;
  std::vector<State> queue{acceptor_->Start()};
  std::unordered_map<State, StateId> id{{queue[0], 0}};
  fst.SetStart(fst.AddState());
  for (size_t i = 0; i < queue.size(); ++i) {
    const State q = queue[i];
    const State* row = acceptor_->Row(q);
    if (acceptor_->IsFinal(q)) fst.SetFinal(static_cast<StateId>(i), fst.One());
    const auto arc = [&](uint8_t b) {
      const auto [it, added] = id.emplace(row[b], static_cast<StateId>(queue.size()));
      if (added) {
        if (queue.size() >= most_states)
          throw LimitError("to_fst: the limit states=" + std::to_string(most_states) +
                           " was reached; pass a larger one or simplify the constraint");
        queue.push_back(row[b]);
        fst.AddState();
      }
      const Label label = b ? b : 256;
      fst.AddArc(static_cast<StateId>(i), {label, label, fst.One(), it->second});
    };
    const ByteSet live = acceptor_->Live(q);
    live.ForEach([&](uint8_t b) {
      if (b) arc(b);  // NUL last: its label is 256
    });
    if (live.Has(0)) arc(0);
  }
  return fst;
}

namespace {

void CheckBytes(const Fst& fst) {
  for (StateId s = 0; s < fst.NumStates(); ++s)
    for (const Arc& a : fst.Arcs(s)) {
      if (a.ilabel != a.olabel)
        throw FstError("from_fst: expected an acceptor, got a transducer (state " + std::to_string(s) + " has the arc " +
                       std::to_string(a.ilabel) + ":" + std::to_string(a.olabel) + "); project it to one side first");
      if (a.ilabel < 0 || a.ilabel > 256)
        throw FstError("from_fst: expected byte labels 0 (epsilon), 1..255 and 256 (NUL), got label " +
                       std::to_string(a.ilabel) + " at state " + std::to_string(s) + "; relabel the acceptor over bytes");
    }
}

[[noreturn]] void TooManyStates(uint32_t limit) {
  throw LimitError("from_fst: the limit states=" + std::to_string(limit) +
                   " was reached while determinizing; pass a smaller acceptor or raise it: tokamata.Limits(states=...)");
}

bool IsDeterministic(const Fst& fst) {
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    ByteSet seen;
    for (const Arc& a : fst.Arcs(s)) {
      const uint8_t byte = static_cast<uint8_t>(a.ilabel);  // NUL is 256
      if (a.ilabel == kEpsilon || seen.Has(byte)) return false;
      seen.Add(byte);
    }
  }
  return true;
}

// State s of the machine becomes state s + 1.
uint32_t CopyStates(const Fst& fst, uint32_t limit, ByteTable* table) {
  if (static_cast<uint64_t>(fst.NumStates()) >= limit) TooManyStates(limit);
  table->next.resize((static_cast<size_t>(fst.NumStates()) + 1) * 256, 0);
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    table->final.push_back(fst.IsFinal(s));
    uint32_t* row = table->next.data() + (static_cast<size_t>(s) + 1) * 256;
    for (const Arc& a : fst.Arcs(s))
      if (a.weight != fst.Zero()) row[static_cast<uint8_t>(a.ilabel)] = static_cast<uint32_t>(a.nextstate) + 1;
  }
  return static_cast<uint32_t>(fst.Start()) + 1;
}

// Sets of states become states (subset construction).
uint32_t DeterminizeStates(const Fst& fst, uint32_t limit, ByteTable* table) {
  std::map<std::vector<StateId>, uint32_t> known;
  std::vector<std::vector<StateId>> sets{{}};
  const auto intern = [&](std::vector<StateId> set) -> uint32_t {
    std::vector<StateId> stack = set;  // epsilon closure
    std::unordered_set<StateId> in(set.begin(), set.end());
    while (!stack.empty()) {
      const StateId s = stack.back();
      stack.pop_back();
      for (const Arc& a : fst.Arcs(s))
        if (a.ilabel == kEpsilon && a.weight != fst.Zero() && in.insert(a.nextstate).second) {
          stack.push_back(a.nextstate);
          set.push_back(a.nextstate);
        }
    }
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    const auto [it, added] = known.emplace(set, static_cast<uint32_t>(sets.size()));
    if (added) {
      if (sets.size() >= limit) TooManyStates(limit);
      table->final.push_back(std::any_of(set.begin(), set.end(), [&](StateId s) { return fst.IsFinal(s); }));
      sets.push_back(std::move(set));
      table->next.resize(table->next.size() + 256, 0);
    }
    return it->second;
  };
  const uint32_t start = intern({fst.Start()});
  for (uint32_t q = 1; q < sets.size(); ++q) {
    std::map<uint8_t, std::vector<StateId>> by_byte;
    for (StateId s : sets[q])
      for (const Arc& a : fst.Arcs(s))
        if (a.ilabel != kEpsilon && a.weight != fst.Zero()) by_byte[static_cast<uint8_t>(a.ilabel)].push_back(a.nextstate);
    for (auto& [byte, set] : by_byte) {
      const uint32_t target = intern(std::move(set));
      table->next[size_t{q} * 256 + byte] = target;
    }
  }
  return start;
}

// Sends every arc into a state that cannot reach a final one to the dead state; returns the start if it is alive.
uint32_t Trim(uint32_t start, ByteTable* table) {
  const uint32_t count = static_cast<uint32_t>(table->final.size());
  std::vector<std::vector<uint32_t>> before(count);
  for (uint32_t q = 1; q < count; ++q)
    for (size_t b = 0; b < 256; ++b)
      if (const uint32_t t = table->next[size_t{q} * 256 + b])
        if (before[t].empty() || before[t].back() != q) before[t].push_back(q);
  std::vector<uint8_t> alive(table->final);
  std::vector<uint32_t> stack;
  for (uint32_t q = 1; q < count; ++q)
    if (alive[q]) stack.push_back(q);
  while (!stack.empty()) {
    const uint32_t q = stack.back();
    stack.pop_back();
    for (uint32_t p : before[q])
      if (!alive[p]) {
        alive[p] = 1;
        stack.push_back(p);
      }
  }
  for (uint32_t& t : table->next)
    if (!alive[t]) t = 0;
  return alive[start] ? start : 0;
}

}  // namespace

Language Language::FromFst(const Fst& fst, const Limits& limits) {
  CheckBytes(fst);
  auto table = std::make_shared<ByteTable>();
  table->next.assign(256, 0);
  table->final.assign(1, 0);
  uint32_t start = 0;
  if (fst.Start() != kNoState) {
    start = IsDeterministic(fst) ? CopyStates(fst, limits.states, table.get())
                                 : DeterminizeStates(fst, limits.states, table.get());
    start = Trim(start, table.get());
  }
  return Build([&](Expressions* pool) { return pool->Automaton(table, start); }, limits);
}

std::string Language::Describe(size_t limit) const {
  return acceptor_->WithPool([&](const Expressions& pool) { return pool.Describe(acceptor_->Root(), limit); });
}

}  // namespace tokamata
