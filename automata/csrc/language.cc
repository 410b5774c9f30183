#include "automata/csrc/language.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <random>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "automata/csrc/byte_table.h"
#include "automata/csrc/completion.h"
#include "automata/csrc/count.h"
#include "automata/csrc/endless.h"
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

bool HasMoreStates(DelayedAcceptor* acceptor, size_t most) {
  std::vector<State> queue{acceptor->Start()};
  std::unordered_set<State> seen{acceptor->Start()};
  for (size_t i = 0; i < queue.size() && queue.size() <= most; ++i) {
    TimeLimit::Spend(8);
    const StateRow row = acceptor->Row(queue[i]);
    acceptor->Live(queue[i]).ForEach([&](uint8_t b) {
      if (seen.insert(row[b]).second) queue.push_back(row[b]);
    });
  }
  return queue.size() > most;
}

// A shortest text that leads to a final state of exactly one of the two.
std::optional<std::string> ShortestDifference(DelayedAcceptor* left, DelayedAcceptor* right) {
  DelayedAcceptor &x = *left, &y = *right;
  const auto pair = [](State p, State q) { return uint64_t{p} << 32 | q; };
  std::vector<std::pair<State, State>> queue{{x.Start(), y.Start()}};
  std::vector<Reached> how{{0, 0}};
  std::unordered_set<uint64_t> seen{pair(x.Start(), y.Start())};
  for (size_t i = 0; i < queue.size(); ++i) {
    TimeLimit::Spend(4);
    const auto [p, q] = queue[i];
    if ((p && x.IsFinal(p)) != (q && y.IsFinal(q))) return PathTo(how, i);
    const StateRow rp = x.Row(p), rq = y.Row(q);
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

bool MayNest(const ExpressionAcceptor& x) {
  return x.WithPool([&](const Expressions& pool) { return pool.IsPushDown(x.Root()); });
}

// Behind the text of a limit: where a larger one may not help, what does.
std::string WhatHelpsToCompare(const ExpressionAcceptor& a, const ExpressionAcceptor& b) {
  if (!MayNest(a) && !MayNest(b)) return "";
  const std::string both = "whether two of them are equal cannot be decided in general";
  const std::string one =
      "equal ones are then searched without end ((a - b).is_empty() tells whether a regular b has all of a)";
  return "; no limit may be enough where a constraint nests without bound or remembers what was read: " +
         (MayNest(a) && MayNest(b) ? both : one) +
         "; compare the members up to some length: (a & r).counterexample(b & r) with r = tokamata.regex(\"(?s:.{0,10})\")";
}

// For messages: bytes as Python writes them.
std::string Quoted(const std::string& text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "b'";
  for (const char c : text) {
    const uint8_t b = static_cast<uint8_t>(c);
    if (b < 0x20 || b > 0x7E) {
      out += "\\x";
      out += {kDigits[b >> 4], kDigits[b & 15]};
    } else {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "'";
}

std::string Told(const Nesting& nesting) {
  return "as it does whenever " + Quoted(nesting.again) + " is read" +
         (nesting.before.empty() ? "" : " after " + Quoted(nesting.before));
}

// The widest of the operands' limits.
Limits Widest(const std::vector<Language>& parts) {
  Limits limits = parts.empty() ? Limits() : parts[0].OwnLimits();
  const auto widen = [](auto* mine, auto other) { *mine = std::max(*mine, other); };
  for (const Language& p : parts) {
    const Limits& own = p.OwnLimits();
    widen(&limits.expressions.nodes, own.expressions.nodes);
    widen(&limits.expressions.depth, own.expressions.depth);
    widen(&limits.expressions.width, own.expressions.width);
    widen(&limits.expressions.emptiness, own.expressions.emptiness);
    widen(&limits.states, own.states);
    widen(&limits.seconds, own.seconds);
    widen(&limits.search_seconds, own.search_seconds);
    widen(&limits.count_bytes, own.count_bytes);
    widen(&limits.cache_bytes, own.cache_bytes);
  }
  return limits;
}

}  // namespace

// An acceptor, or operands that are yet to be put together.
class Language::Whole {
 public:
  using Known = std::unordered_map<const Whole*, Expr>;  // operands may be shared

  explicit Whole(std::shared_ptr<ExpressionAcceptor> acceptor) : acceptor_(std::move(acceptor)), made_(true) {}
  Whole(std::vector<Language> parts, Combination combine, bool concatenates, uint32_t depth)
      : parts_(std::move(parts)), combine_(std::move(combine)), concatenates_(concatenates), depth_(depth) {}
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;

  // What nobody else has goes with it, one after the other: concatenations may be nested deeper than calls can be.
  ~Whole() {
    std::vector<Language> gone = std::move(parts_);
    while (!gone.empty()) {
      const Language last = std::move(gone.back());
      gone.pop_back();
      if (last.whole_.use_count() != 1) continue;
      const std::lock_guard<std::mutex> lock(last.whole_->mutex_);
      for (Language& part : last.whole_->parts_) gone.push_back(std::move(part));
      last.whole_->parts_.clear();
    }
  }

  const std::shared_ptr<ExpressionAcceptor>& Acceptor(const Limits& limits) {
    if (made_.load(std::memory_order_acquire)) return acceptor_;
    const std::lock_guard<std::mutex> lock(mutex_);
    Make(limits);
    return acceptor_;
  }

  Expr In(Expressions* pool, Known* known, const Limits& limits) {
    if (const auto found = known->find(this); found != known->end()) return found->second;
    const std::lock_guard<std::mutex> lock(mutex_);  // operands have theirs, and no operand is made of what it is one of
    if (!acceptor_ && !asked_) {
      asked_ = true;
      return (*known)[this] = Combined(pool, known);
    }
    Make(limits);  // what is used again is put together once
    return (*known)[this] =
               acceptor_->WithPool([&](const Expressions& other) { return pool->Import(other, acceptor_->Root()); });
  }

  // Of operands inside of operands that are yet to be put together; 0: none. Nested concatenations count as one.
  uint32_t Depth() const { return made_.load(std::memory_order_acquire) ? 0 : depth_; }
  bool Concatenates() const { return concatenates_; }

  static std::shared_ptr<ExpressionAcceptor> MakeAcceptor(const std::function<Expr(Expressions*)>& build,
                                                          const Limits& limits, const Expressions* prepared = nullptr) {
    const TimeLimit time("constraint", "seconds", limits.seconds);
    auto pool = prepared ? std::make_unique<Expressions>(prepared) : std::make_unique<Expressions>();
    pool->limits = limits.expressions;
    const Expr root = build(pool.get());
    auto acceptor = std::make_shared<ExpressionAcceptor>(std::move(pool), root);
    acceptor->max_states = limits.states;
    acceptor->seconds = limits.seconds;
    return acceptor;
  }

 private:
  void Make(const Limits& limits) {
    if (acceptor_) return;
    Known known;
    acceptor_ = MakeAcceptor([&](Expressions* pool) { return Combined(pool, &known); }, limits);
    parts_.clear();
    combine_ = nullptr;
    made_.store(true, std::memory_order_release);
  }
  Expr Combined(Expressions* pool, Known* known) const {
    return concatenates_ ? Concatenated(pool, known) : combine_(pool, Operands(parts_, pool, known));
  }
  static std::vector<Expr> Operands(const std::vector<Language>& parts, Expressions* pool, Known* known) {
    std::vector<Expr> operands;
    for (const Language& part : parts) operands.push_back(part.whole_->In(pool, known, part.limits_));
    return operands;
  }

  // (a + b) + c, nested however deep, is put together as a + b + c: from the left, each step would copy all before it.
  // What occurs several times is put together once.
  Expr Concatenated(Expressions* pool, Known* known) const {
    std::unordered_map<const Whole*, Concatenation> inner;
    const auto concatenation = [&](const Whole* whole) -> Concatenation* {
      const auto found = inner.find(whole);
      return found == inner.end() || found->second.parts.empty() ? nullptr : &found->second;
    };
    std::vector<std::pair<const std::vector<Language>*, size_t>> open{{&parts_, 0}};  // and how many were looked into
    std::vector<const Whole*> path{this}, order;                                     // operands before what has them
    while (!open.empty()) {
      auto& [parts, next] = open.back();
      if (next == parts->size()) {
        order.push_back(path.back());
        open.pop_back();
        path.pop_back();
        continue;
      }
      const Whole* whole = (*parts)[next++].whole_.get();
      const auto [it, added] = inner.try_emplace(whole);
      ++it->second.uses;
      if (!added || known->count(whole)) continue;
      it->second.parts = whole->PartsOfConcatenation();
      if (it->second.parts.empty()) continue;
      open.push_back({&it->second.parts, 0});
      path.push_back(whole);
    }
    Expr last = kEpsilonExpr;
    for (const Whole* whole : order) {
      const Concatenation* of = concatenation(whole);
      if (whole != this && of->uses == 1) continue;
      std::vector<Language> rest((of ? of->parts : parts_).rbegin(), (of ? of->parts : parts_).rend()), flat;
      while (!rest.empty()) {
        Language part = std::move(rest.back());
        rest.pop_back();
        const Concatenation* nested = concatenation(part.whole_.get());
        if (nested && nested->uses == 1)
          rest.insert(rest.end(), nested->parts.rbegin(), nested->parts.rend());
        else
          flat.push_back(std::move(part));
      }
      last = pool->Concat(Operands(flat, pool, known));
      if (whole != this) (*known)[whole] = last;
    }
    return last;
  }
  // Empty where it is none that is yet to be put together.
  std::vector<Language> PartsOfConcatenation() const {
    if (!concatenates_ || made_.load(std::memory_order_acquire)) return {};
    const std::lock_guard<std::mutex> lock(mutex_);
    return parts_;
  }
  struct Concatenation {
    size_t uses = 0;  // as an operand of others
    std::vector<Language> parts;
  };

  mutable std::mutex mutex_;
  std::shared_ptr<ExpressionAcceptor> acceptor_;
  std::vector<Language> parts_;
  Combination combine_;
  const bool concatenates_ = false;
  uint32_t depth_ = 0;
  bool asked_ = false;  // whether it was put together in another pool
  std::atomic<bool> made_{false};
};

Language Language::Build(const std::function<Expr(Expressions*)>& build, const Limits& limits,
                         const Expressions* prepared) {
  return Language(std::make_shared<Whole>(Whole::MakeAcceptor(build, limits, prepared)), limits);
}

const std::shared_ptr<ExpressionAcceptor>& Language::Acceptor() const { return whole_->Acceptor(limits_); }

Expr Language::In(Expressions* pool) const {
  Whole::Known known;
  return whole_->In(pool, &known, limits_);
}

Language Language::CombineLater(std::vector<Language> parts, Combination combine, bool concatenates) {
  constexpr uint32_t kMostDepth = 100;
  uint32_t depth = 1;
  for (const Language& part : parts) {
    const bool same = concatenates && part.whole_->Concatenates();
    if (!same && part.whole_->Depth() == kMostDepth) part.Acceptor();
    depth = std::max(depth, part.whole_->Depth() + (same ? 0 : 1));
  }
  const Limits limits = Widest(parts);
  return Language(std::make_shared<Whole>(std::move(parts), std::move(combine), concatenates, depth), limits);
}

Language Language::Combine(const std::vector<Language>& parts, const Combination& combine, bool forgets) {
  return Build(
      [&](Expressions* pool) {
        pool->forgets = forgets;
        Whole::Known known;
        std::vector<Expr> operands;
        for (const Language& part : parts) operands.push_back(part.whole_->In(pool, &known, part.limits_));
        return combine(pool, std::move(operands));
      },
      Widest(parts));
}

Language Language::Union(const std::vector<Language>& parts) {
  return CombineLater(parts, [](Expressions* p, std::vector<Expr> e) { return p->Union(std::move(e)); });
}
Language Language::Concat(const std::vector<Language>& parts) {
  return CombineLater(parts, {}, true);
}
Language Language::Intersect(const std::vector<Language>& parts) {
  return Combine(parts, [](Expressions* p, std::vector<Expr> e) { return p->Intersect(std::move(e)); }, true);
}
Language Language::Difference(const Language& a, const Language& b, bool texts) {
  const auto combine = [texts](Expressions* p, const std::vector<Expr>& e) {
    if (!texts || !p->IsPushDown(e[0]) || p->IsPushDown(e[1])) return p->Difference(e[0], e[1]);
    return p->Intersect({e[0], p->Difference(p->AnyText(), e[1])});
  };
  return Combine({a, b}, combine, true);
}
Language Language::Complement(const Language& x) {
  return Combine({x}, [](Expressions* p, const std::vector<Expr>& e) { return p->Difference(p->AnyText(), e[0]); }, true);
}
Language Language::Repeat(const Language& x, uint32_t low, uint32_t high) {
  return CombineLater({x}, [=](Expressions* p, const std::vector<Expr>& e) { return p->Repeat(e[0], low, high); });
}
Language Language::WithLimits(const Limits& limits) const {
  return Build([&](Expressions* pool) { return In(pool); }, limits);
}

std::shared_ptr<ExpressionAcceptor> Language::Scratch(bool exact_rows) const {
  std::shared_ptr<ExpressionAcceptor> acceptor = WithLimits(limits_).Acceptor();
  acceptor->exact_rows = exact_rows;
  return acceptor;
}

bool Language::Accepts(std::string_view text) const {
  const TimeLimit time("accepts", "search_seconds", limits_.search_seconds);
  const Reading reading = Read(Acceptor().get(), text);
  return reading.length == text.size() && reading.final;
}

int64_t Language::ViablePrefix(std::string_view text) const {
  const TimeLimit time("viable_prefix", "search_seconds", limits_.search_seconds);
  const Reading reading = Read(Acceptor().get(), text);
  return reading.alive ? static_cast<int64_t>(reading.length) : -1;
}

std::optional<std::string> Language::Counterexample(const Language& a, const Language& b) {
  const TimeLimit time("counterexample", "search_seconds", std::max(a.limits_.search_seconds, b.limits_.search_seconds));
  if (a.IsEmpty() != b.IsEmpty()) {
    const std::shared_ptr<ExpressionAcceptor> members = (a.IsEmpty() ? b : a).Scratch(false);
    return Completion(members.get(), members->Start());
  }
  const std::shared_ptr<ExpressionAcceptor> left = a.Scratch(), right = b.Scratch();
  try {
    return ShortestDifference(left.get(), right.get());
  } catch (const LimitError& error) {
    throw LimitError(error.what() + WhatHelpsToCompare(*left, *right));
  }
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
  size_t kept = 0;  // bytes
  const auto keep = [&](const std::string& text) {
    constexpr size_t kEach = 100;  // of a text that is kept twice, beside its bytes
    kept += kEach + 2 * text.size();
    if (kept > limits_.count_bytes)
      throw LimitError("examples: the limit count_bytes=" + std::to_string(limits_.count_bytes) + " was reached by " +
                       std::to_string(out.size()) + " texts; ask for fewer or raise it: tokamata.Limits(count_bytes=...)");
    out.push_back(text);
  };
  std::mt19937_64 random(seed);
  const auto below = [&random](size_t k) { return static_cast<size_t>(random() % k); };
  const auto goes_on = [&out](size_t fruitless) { return fruitless < 1000 + 40 * out.size(); };  // a finite language ends
  for (size_t tries = 0, last = 0, met = 0; out.size() < n && tries / 20 < n + 5 && goes_on(tries - last); ++tries) {
    if (out.size() > met) met = out.size(), last = tries;
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
      const StateRow row = acceptor->Row(q);
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
      keep(text);
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
    const StateRow row = acceptor->Row(q);
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
  constexpr size_t kMany = 2000;  // states, after which it is worth it to see whether there is no end of them
  static constexpr char kRemedy[] =
      "; bound its depth, or its length: (constraint & tokamata.regex(\"(?s:.{0,20})\")).minimize()";
  const TimeLimit time("minimize", "search_seconds", limits_.search_seconds);
  const std::shared_ptr<ExpressionAcceptor> acceptor = Scratch();
  if (acceptor->Start() && HasMoreStates(acceptor.get(), kMany))
    if (const auto nesting = acceptor->WithBuilder([&](Expressions& p) { return EndlessNesting(&p, acceptor->Root()); }))
      throw LimitError("minimize: the limit states=" + std::to_string(limits_.states) +
                       " is too small, as any other one is: the constraint nests without bound, " + Told(*nesting) +
                       kRemedy);
  auto table = std::make_shared<ByteTable>();
  uint32_t start;
  try {
    start = MinimalTable(acceptor.get(), table.get());
  } catch (const LimitError& error) {
    if (!MayNest(*acceptor)) throw;
    throw LimitError(std::string(error.what()) +
                     "; no limit is enough for a constraint that nests without bound or remembers what was read, whose "
                     "states have no end" + kRemedy);
  }
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
  const ExpressionAcceptor& acceptor = *Acceptor();
  return acceptor.WithPool([&](const Expressions& pool) { return pool.Describe(acceptor.Root(), limit); });
}

}  // namespace tokamata
