#include "constraints/csrc/lexer.h"

#include <algorithm>
#include <unordered_set>

#include "automata/csrc/bounded_parts.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/insert_new.h"
#include "automata/csrc/recall.h"
#include "automata/csrc/time_limit.h"
#include "automata/csrc/without_counters.h"

namespace tokamata {
namespace {

uint64_t HashOf(const std::vector<uint64_t>& words) {
  uint64_t hash = words.size();
  for (const uint64_t w : words) hash = MixHash(hash ^ w) + 0x9e3779b97f4a7c15ull;
  return hash;
}

// Whether e has one member only, as a spine of single bytes.
bool IsText(const Expressions& pool, Expr e) {
  for (;; e = pool.Tail(e)) {
    const Expr head = pool.FirstPart(e);
    if (pool.Kind(head) != ExprKind::kBytes || pool.First(head).Count() != 1) return false;
    if (head == e) return true;
  }
}

// Whether something, at any depth, may be repeated many times, but not any number of times.
bool CountsInside(const Expressions& pool, Expr root) {
  constexpr uint32_t kMany = 8;
  std::vector<Expr> work{root};
  std::unordered_set<Expr> seen{root};
  while (!work.empty()) {
    const Expr e = work.back();
    work.pop_back();
    const auto add = [&](Expr part) {
      if (seen.insert(part).second) work.push_back(part);
    };
    switch (pool.Kind(e)) {
      case ExprKind::kConcat: add(pool.Head(e)), add(pool.Tail(e)); break;
      case ExprKind::kRepeat:
        if (pool.High(e) >= kMany && pool.High(e) != kUnbounded) return true;
        add(pool.Body(e));
        break;
      case ExprKind::kComplement: add(pool.Body(e)); break;
      case ExprKind::kUnion:
      case ExprKind::kIntersect: std::for_each(pool.Members(e), pool.Members(e) + pool.NumMembers(e), add); break;
      default: break;
    }
  }
  return false;
}

}  // namespace

Lexer::Lexer(std::unique_ptr<Expressions> pool, std::vector<Expr> terminals, bool longest, const Indentation* indentation,
             std::vector<Guard> guards)
    : pool_(std::move(pool)),
      terminals_(std::move(terminals)),
      guards_(std::move(guards)),
      plain_(terminals_),
      longest_(longest),
      indentation_(indentation),
      overlap_(terminals_.size()),
      text_ends_(pool_.get()) {
  for (const Guard& g : guards_) plain_[g.terminal] = pool_->Difference(plain_[g.terminal], g.lexemes);
  for (uint32_t t = 0; t < terminals_.size(); ++t) {
    is_text_.push_back(plain_[t] == terminals_[t] && IsText(*pool_, terminals_[t]));
    (is_text_[t] ? texts_[terminals_[t]] : patterns_).push_back(t);
    const bool counts = CountsInside(*pool_, terminals_[t]);
    has_counters_ = has_counters_ || counts;
    const bool newline = indentation_ && t == indentation_->newline;  // whose columns are terminals
    calls_ = calls_ || pool_->IsPushDown(terminals_[t]);
    nests_.push_back(guards_.empty() && !newline && (pool_->IsPushDown(terminals_[t]) || counts));
  }
  parts_.Ensure(AddState(0, false));  // the dead state
}

std::shared_ptr<Lexer> Lexer::Fresh() const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  auto pool = std::make_unique<Expressions>();
  pool->limits = pool_->limits;
  std::vector<Expr> all = terminals_;
  for (const Guard& g : guards_) all.insert(all.end(), {g.lexemes, g.forbidden, g.allowed});
  pool->Import(*pool_, &all);
  std::vector<Guard> guards = guards_;
  for (size_t i = 0; i < guards.size(); ++i) {
    const Expr* own = &all[terminals_.size() + 3 * i];
    guards[i] = {guards[i].terminal, own[0], own[1], own[2]};
  }
  all.resize(terminals_.size());
  auto fresh = std::make_shared<Lexer>(std::move(pool), std::move(all), longest_, indentation_, std::move(guards));
  fresh->names = names;
  fresh->max_states = max_states;
  fresh->seconds = seconds;
  return fresh;
}

bool Lexer::IsHalfFull() const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return NumRows() >= max_states / 2 || pool_->Size() >= pool_->limits.nodes / 2;
}

// 1 where two expressions surely have no text in common, 2 where they surely have one, 0 where a few steps do not tell:
// words differ soon.
uint8_t Lexer::OverlapByWalking(Expr a, Expr b) {
  constexpr size_t kMostPairs = 24;
  std::vector<std::pair<Expr, Expr>> pairs{{a, b}};
  const auto steps_of = [this](Expr e) -> const std::vector<Expressions::Term>& {
    return Recall(&walked_, e, [&] {
      std::vector<Expressions::Term> steps;
      pool_->Step(e, &steps);
      return steps;
    });
  };
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [x, y] = pairs[i];
    if (pool_->Nullable(x) && pool_->Nullable(y)) return 2;
    for (const Expressions::Term& s : steps_of(x))
      for (const Expressions::Term& t : steps_of(y)) {
        if (!s.bytes.Intersects(t.bytes)) continue;
        const std::pair<Expr, Expr> next{s.target, t.target};
        if (!pool_->First(s.target).Intersects(pool_->First(t.target)) &&
            !(pool_->Nullable(s.target) && pool_->Nullable(t.target)))
          continue;
        if (std::find(pairs.begin(), pairs.end(), next) != pairs.end()) continue;
        if (pairs.size() == kMostPairs) return 0;
        pairs.push_back(next);
      }
  }
  return 1;
}

// Whether two terminals have a lexeme in common.
bool Lexer::Overlap(uint32_t a, uint32_t b) {
  TimeLimit::Spend();
  if (is_text_[a] && is_text_[b]) return terminals_[a] == terminals_[b];
  if (is_text_[a] || (!is_text_[b] && b < a)) std::swap(a, b);
  overlap_[a].resize(terminals_.size());
  uint8_t& known = overlap_[a][b];
  if (known == 0) {
    known = 2;
    if (!pool_->First(terminals_[a]).Intersects(pool_->First(terminals_[b]))) {
      known = 1;
    } else if (const uint8_t found = OverlapByWalking(terminals_[a], terminals_[b])) {
      known = found;
    } else {
      try {
        known = pool_->IsEmpty(pool_->Intersect(terminals_[a], terminals_[b])) ? 1 : 2;
      } catch (const LimitError&) {  // too hard to tell; subtracting one that has nothing in common does no harm
        if (!TimeLimit::IsOver()) return true;
        known = 0;
        throw;
      }
    }
  }
  return known == 2;
}

// f(), with the terminal in errors about limits.
template <class F>
auto Lexer::Named(const char* what, uint32_t terminal, const char* of_it, F f) {
  try {
    return f();
  } catch (const CapacityError&) {
    throw;
  } catch (const LimitError& error) {
    if (terminal >= names.size()) throw;
    throw LimitError("grammar: " + std::string(what) + " " + names[terminal] + of_it + " was not decided (" + error.what() +
                     ")");
  }
}

Lexer::Competition& Lexer::CompetitionOf(const Terminals& competing) {
  std::vector<std::unique_ptr<Competition>>& known = competitions_[HashOf(competing)];
  for (const auto& c : known)
    if (c->competing == competing) return *c;
  auto fresh = std::make_unique<Competition>();
  fresh->competing = competing;
  for (uint32_t t = 0; t < terminals_.size(); ++t) {
    if (!HasTerminal(competing, t)) continue;
    const std::vector<Part> own = Named("which lexemes are of the terminal", t, "", [&] { return OwnOf(t, competing); });
    fresh->own.insert(fresh->own.end(), own.begin(), own.end());
  }
  for (const Guard& g : guards_)
    if (HasTerminal(competing, g.terminal)) fresh->guarded.push_back({kNoTerminal, g.lexemes, 0, g.allowed});
  walked_.clear();
  fresh->any = longest_ ? Simple(competing) : kEmpty;
  known.push_back(std::move(fresh));
  return *known.back();
}

// Where an earlier terminal has a lexeme only if its guard allows it, this one has it if not.
std::vector<Lexer::Part> Lexer::OwnOf(uint32_t terminal, const Terminals& competing) {
  std::vector<Part> own{{terminal, plain_[terminal]}};
  if (HasEnd() && terminal + 1 == NumTerminals()) own[0].guard = pool_->Bytes(ByteSet::All());  // nothing comes after it
  for (const Guard& g : guards_)
    if (g.terminal == terminal) own.push_back({terminal, g.lexemes, 0, g.forbidden});
  std::vector<Expr> earlier;
  const auto add_earlier = [&](const std::vector<uint32_t>& others) {
    for (const uint32_t h : others) {
      if (h >= terminal) break;
      if (HasTerminal(competing, h) && Overlap(h, terminal)) earlier.push_back(plain_[h]);
    }
  };
  if (longest_) {
    add_earlier(patterns_);
    if (is_text_[terminal]) {
      add_earlier(texts_.at(terminals_[terminal]));
    } else {
      for (uint32_t h = 0; h < terminal; ++h)
        if (is_text_[h] && HasTerminal(competing, h) && Overlap(h, terminal)) earlier.push_back(plain_[h]);
    }
  }
  if (!earlier.empty()) {
    const Expr all = pool_->Union(std::move(earlier));
    for (Part& p : own) p.rest = pool_->Difference(p.rest, all);
  }
  for (const Guard& g : guards_) {
    if (g.terminal >= terminal || !HasTerminal(competing, g.terminal) || !Overlap(g.terminal, terminal)) continue;
    for (size_t i = 0, n = own.size(); i < n; ++i) {
      const Expr common = pool_->Intersect(own[i].rest, g.lexemes);
      if (pool_->IsEmpty(common)) continue;
      own.push_back({terminal, common, 0, pool_->Union(own[i].guard, g.allowed)});
      own[i].rest = pool_->Difference(own[i].rest, g.lexemes);
    }
  }
  own.erase(std::remove_if(own.begin(), own.end(), [this](const Part& p) { return pool_->IsEmpty(p.rest); }), own.end());
  return own;
}

Lexer::State Lexer::Begin(const Terminals& competing, const Terminals& wanted) {
  const TimeLimit time("grammar", "seconds", seconds);
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Competition& competition = CompetitionOf(competing);
  std::vector<std::pair<Terminals, State>>& known = competition.begins[HashOf(wanted)];
  for (const auto& [set, state] : known)
    if (set == wanted) return state;
  std::vector<Part> parts;
  for (const Part& p : competition.own)
    if (HasTerminal(wanted, p.terminal)) parts.push_back(p);
  if (!parts.empty()) parts.insert(parts.end(), competition.guarded.begin(), competition.guarded.end());
  const State q = Intern(std::move(parts), competition.any);
  known.emplace_back(wanted, q);
  begin_of_.emplace(q, &competition);
  return q;
}

// The union of the competing terminals without those that are one text of another.
Expr Lexer::Simple(const Terminals& competing) {
  std::vector<Expr> others, parts;
  for (uint32_t t = 0; t < terminals_.size(); ++t)
    if (HasTerminal(competing, t) && !is_text_[t]) others.push_back(plain_[t]);
  const auto has = [this](Expr e, Expr text) {
    std::vector<Expressions::Term> steps;
    for (;; text = pool_->Rest(text)) {
      if (text == kEpsilonExpr) return pool_->Nullable(e);
      pool_->Step(e, &steps);
      e = kEmpty;
      for (const Expressions::Term& step : steps)
        if (step.bytes.Has(pool_->First(text).First())) e = step.target;
      if (e == kEmpty) return false;
    }
  };
  for (uint32_t t = 0; t < terminals_.size(); ++t) {
    const Expr own = plain_[t];
    if (!HasTerminal(competing, t)) continue;
    const bool subsumed = is_text_[t] && std::any_of(others.begin(), others.end(), [&](Expr o) {
      return pool_->First(o).Intersects(pool_->First(own)) && has(o, own);
    });
    if (!subsumed) parts.push_back(own);
  }
  return pool_->Union(std::move(parts));
}

Lexer::State Lexer::FindPending(State q) {
  const TimeLimit time("grammar", "seconds", seconds);
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Expr any = parts_[q].any;
  for (const Part& p : parts_[q].parts) {
    if (!p.Competes()) continue;
    const Expr longer = pool_->Nullable(p.rest) ? pool_->Difference(p.rest, kEpsilonExpr) : p.rest;
    any = pool_->Union(any, pool_->Concat(longer, p.guard));
  }
  const bool none = any == kEmpty || any == kEpsilonExpr || pool_->IsEmpty(any);
  const State pending = none ? State{kDead} : Intern({{kNoTerminal, any}}, kEmpty);
  parts_[q].pending.store(pending, std::memory_order_release);
  return pending;
}

void Lexer::FindEnds(State q) {
  const TimeLimit time("grammar", "seconds", seconds);
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Parts& at = parts_[q];
  if (at.ends_known.load(std::memory_order_relaxed)) return;
  std::vector<End> ends;
  for (size_t i = 0; i < at.parts.size(); ++i) {
    const Part p = at.parts[i];
    if (p.terminal == kNoTerminal || !pool_->Nullable(p.rest)) continue;
    const State guard = p.guard == kEmpty ? State{kDead} : Intern({{kNoTerminal, p.guard}}, kEmpty);
    ends.push_back({AcceptedOf(p), UnionOfPending(Pending(q), guard)});
  }
  at.ends = std::move(ends);
  at.ends_known.store(true, std::memory_order_release);
}

Lexer::State Lexer::UnionOfPending(State a, State b) {
  if (a == b || b == kDead) return a;
  if (a == kDead) return b;
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const uint64_t key = PairKey(std::min(a, b), std::max(a, b));
  if (const State* const known = pending_unions_.Find(key)) return *known;
  if (pending_unions_.Size() >= kMostPendingUnions) pending_unions_.Clear();
  const State both = Intern({{kNoTerminal, pool_->Union(parts_[a].parts[0].rest, parts_[b].parts[0].rest)}}, kEmpty);
  return pending_unions_[key] = both;
}

// Whether all texts of e that begin with some bytes are values of JSON, but for numbers: what has fewer texts than a rule
// of these has no others.
bool Lexer::AreValues(Expr e, const ByteSet& bytes) const {
  using End = RuleSource::End;
  static const ByteSet number = ByteSet::Range('0', '9') | ByteSet::Of('-');
  if (!pool_->First(e).Intersects(bytes)) return true;
  const auto are_values = [&](Expr member) { return AreValues(member, bytes); };
  switch (pool_->Kind(e)) {
    case ExprKind::kCall: {
      const End end = pool_->Rules(pool_->SourceOfRule(e))->EndOf(pool_->Rule(e));
      return end == End::kValue || (end == End::kAnyValue && !bytes.Intersects(number));
    }
    case ExprKind::kUnion: return std::all_of(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e), are_values);
    case ExprKind::kIntersect: return std::any_of(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e), are_values);
    default: return false;
  }
}

// The same of all lexemes of terminals that compete, none of which begins another one then.
bool Lexer::BeginApart(const Terminals& competing, const ByteSet& bytes) const {
  if (!longest_ || !calls_ || !guards_.empty()) return false;
  for (uint32_t t = 0; t < NumTerminals(); ++t)
    if (HasTerminal(competing, t) && !AreValues(terminals_[t], bytes)) return false;
  return true;
}

bool Lexer::EndsApart(State q) const {
  if (!calls_) return false;
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return apart_.Find(parts_[q].any) != nullptr;
}

Lexer::State Lexer::PastCall(State q, Expr* call) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  if (parts_[q].parts.size() != 1) return q;
  Part part = parts_[q].parts[0];
  const bool alone = !longest_ || parts_[q].any == part.rest;
  if (!alone || part.column || !pool_->SplitCall(part.rest, call, &part.rest)) return q;
  return text_ends_.AreSure(*call, part.rest) ? Intern({part}, longest_ ? part.rest : kEmpty) : q;
}

const std::vector<Lexer::State>& Lexer::Ahead(State q) {
  static const std::vector<State> none;
  if (!calls_) return none;
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return Recall(&ahead_, q, [&] {
    std::vector<State> ahead;
    uint32_t terminal;
    Expr call;
    if (longest_ && !IsFinal(q) && (EndsApart(q) || EndsByItself(q, &terminal))) {
      for (size_t i = 0; i < parts_[q].parts.size(); ++i)
        ahead.push_back(Intern({{parts_[q].parts[i].terminal, kEpsilonExpr}}, kEpsilonExpr));
    } else if (const State past = PastCall(q, &call); past != q) {
      ahead.push_back(past);
    }
    return ahead;
  });
}

bool Lexer::EndsByItself(State q, uint32_t* terminal) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  if (parts_[q].parts.size() != 1) return false;
  const Part part = parts_[q].parts[0];
  if (part.terminal == kNoTerminal || !nests_[part.terminal]) return false;
  *terminal = part.terminal;
  if (!longest_) return true;
  if (IsFinal(q) || parts_[q].any != part.rest) return false;
  if (EndsApart(q)) return true;
  if (const bool* const known = ends_by_itself_.Find(q)) return *known;
  using Answer = TextEnds::Answer;
  Answer unique = Answer::kUnknown;
  if (Calls(part.terminal)) {
    unique = text_ends_.AreUnique(part.rest);
    if (unique == Answer::kUnknown) nests_[part.terminal] = 0;  // which would take as long again
  } else {  // once and for all: what begins no other lexeme has left what begins no other
    const Expr whole = terminals_[part.terminal];
    unique = text_ends_.AreUnique(WithoutCounters(pool_.get(), whole));  // which has more texts
    if (unique != Answer::kYes) unique = text_ends_.AreUnique(whole);
    if (unique != Answer::kYes) nests_[part.terminal] = 0;
  }
  return ends_by_itself_[q] = unique == Answer::kYes;
}

bool Lexer::EndTogether(State q, std::vector<uint32_t>* terminals) const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  terminals->clear();
  if (longest_ ? IsFinal(q) || !EndsApart(q) : parts_[q].parts.size() < 2) return false;
  for (const Part& p : parts_[q].parts) {
    if (p.terminal == kNoTerminal || !nests_[p.terminal] || !pool_->IsPushDown(terminals_[p.terminal])) return false;
    terminals->push_back(p.terminal);
  }
  return true;
}

uint32_t Lexer::OwnNumber(uint32_t terminal, const Terminals& competing) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Expr own = kEmpty;
  for (const Part& p : CompetitionOf(competing).own)
    if (p.terminal == terminal) own = pool_->Union(own, p.rest);
  InsertNew(&own_, own);
  return static_cast<uint32_t>(std::find(own_.begin(), own_.end(), own) - own_.begin());
}

// What is wanted and cannot be read is read as an earlier terminal, so all that may be read at all is one of these.
bool Lexer::CompeteAlone(const std::vector<uint32_t>& terminals, const Terminals& competing, const Terminals& wanted,
                         bool* apart) {
  *apart = true;
  if (!longest_) return true;
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  ByteSet first;
  for (const uint32_t t : terminals) first = first | FirstOf(t);
  for (uint32_t t = 0; t < NumTerminals(); ++t)
    if (HasTerminal(competing, t) && !HasTerminal(wanted, t) && FirstOf(t).Intersects(first)) return false;
  for (const Part& p : CompetitionOf(competing).own)
    if (std::find(terminals.begin(), terminals.end(), p.terminal) != terminals.end())
      *apart = *apart && p.rest == terminals_[p.terminal];
  return true;
}

bool Lexer::Counts(State q, State* star, uint32_t* high) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  if (parts_[q].parts.size() != 1) return false;
  Part part = parts_[q].parts[0];
  const bool alone = !longest_ || parts_[q].any == part.rest;
  if (!alone || part.terminal == kNoTerminal || part.column || part.guard != kEmpty || pool_->MayBeEmpty(part.rest))
    return false;
  const auto split = [this](Expr e, Expr* tail) {
    *tail = pool_->Rest(e);
    return pool_->FirstPart(e);
  };
  std::vector<Expr> begun;  // what is left of a character
  Expr tail, head = split(part.rest, &tail);
  for (; begun.size() < 3 && pool_->Kind(head) == ExprKind::kBytes; head = split(tail, &tail)) begun.push_back(head);
  if (pool_->Kind(head) != ExprKind::kRepeat || pool_->High(head) == kUnbounded) return false;
  const Expr body = pool_->Body(head);
  if (pool_->Nullable(body) || pool_->First(body).Intersects(pool_->First(tail))) return false;
  if (pool_->Nullable(tail) && pool_->Kind(body) != ExprKind::kBytes) {
    // What is pending inside of a character is a longer lexeme at its end, whatever may come after it.
    if (tail != kEpsilonExpr || text_ends_.AreUnique(body) != TextEnds::Answer::kYes) return false;
  }
  *high = pool_->High(head);
  part.rest = pool_->Concat(pool_->Repeat(body, pool_->Low(head), kUnbounded), tail);
  for (; !begun.empty(); begun.pop_back()) part.rest = pool_->Concat(begun.back(), part.rest);
  *star = Intern({part}, longest_ ? part.rest : kEmpty);
  return true;
}

bool Lexer::Calls(uint32_t terminal) const {
  return WithTerminal(terminal, [](const Expressions& pool, Expr e) { return pool.IsPushDown(e); });
}

uint32_t Lexer::LeastLength(State q) const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  uint32_t least = 0xffffffff;
  for (const Part& p : parts_[q].parts) least = std::min(least, pool_->LeastLength(p.rest));
  return least;
}

bool Lexer::MayRead(State q, uint8_t byte) const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Parts& at = parts_[q];
  return pool_->BytesOf(at.any).Has(byte) || std::any_of(at.parts.begin(), at.parts.end(), [&](const Part& p) {
    return p.guard != kEmpty && (pool_->BytesOf(p.rest).Has(byte) || pool_->BytesOf(p.guard).Has(byte));
  });
}

ByteSet Lexer::BytesOf(uint32_t terminal) const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  ByteSet bytes = pool_->BytesOf(terminals_[terminal]);
  for (const Guard& g : guards_)
    if (g.terminal == terminal) bytes = bytes | pool_->BytesOf(g.forbidden) | pool_->BytesOf(g.allowed);
  return bytes;
}

uint32_t Lexer::LeastCharactersOf(uint32_t terminal) const {
  constexpr int64_t kMost = 0x7fffffff;
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return static_cast<uint32_t>(std::min(kMost, pool_->Parts().LeastCharacters(pool_.get(), terminals_[terminal])));
}

bool Lexer::Occurs(uint32_t terminal, const Terminals& competing) {
  return IsPossible(Begin(competing, competing), terminal);
}

Lexer::State Lexer::Intern(std::vector<Part> parts, Expr any) {
  if (parts.empty()) return kDead;
  uint64_t hash = MixHash(any) + parts.size();
  for (const Part& p : parts) {
    hash ^= (uint64_t{p.terminal} << 32 | p.rest) ^ uint64_t{p.column} << 20 ^ uint64_t{p.guard} << 40;
    hash = MixHash(hash) + 0x9e3779b97f4a7c15ull;
  }
  std::vector<State>& known = index_[hash];
  for (const State q : known)
    if (parts_[q].any == any && parts_[q].parts == parts) return q;
  uint32_t accepted = kNoTerminal;
  std::vector<uint32_t> ended;
  bool final = false, guarded = false;
  for (const Part& p : parts) {
    if (p.Competes()) continue;
    const bool nullable = pool_->Nullable(p.rest);
    final = final || nullable;
    if (p.terminal == kNoTerminal) continue;
    if (nullable) ended.push_back(AcceptedOf(p));
    guarded = guarded || (nullable && p.guard != kEmpty);
  }
  if (ended.size() == 1) accepted = ended[0];
  if (ended.size() > 1) {
    const auto [it, added] = accepted_ids_.emplace(ended, static_cast<uint32_t>(accepted_ids_.size()));
    if (added) {
      accepted_sets_.Ensure(it->second);
      accepted_sets_[it->second] = std::move(ended);
    }
    accepted = kFirstSet + it->second;
  }
  const State q = AddState(0, final);
  parts_.Ensure(q);
  Parts& all = parts_[q];
  all.parts = std::move(parts);
  all.any = any;
  all.accepted = accepted;
  all.guarded = guarded;
  known.push_back(q);
  return q;
}

template <class F>
void Lexer::Refine(const ByteSet& bytes, std::vector<Class>* classes, F f) {
  for (size_t c = 0, n = classes->size(); c < n; ++c) {
    const ByteSet common = (*classes)[c].bytes & bytes;
    if (!common.Any()) continue;
    if (common != (*classes)[c].bytes) {
      Class rest = (*classes)[c];
      rest.bytes = rest.bytes - common;
      classes->push_back(std::move(rest));
      (*classes)[c].bytes = common;
    }
    f(&(*classes)[c]);
  }
}

// Whether a line end has to come before the lexeme can end: then the column up to here does not matter.
bool Lexer::NeedsLineEnd(Expr rest) {
  return Recall(&needs_line_end_, rest, [&] {
    const Expr in_line = pool_->Star(pool_->Bytes(ByteSet::All() - ByteSet::Of('\n')));
    return !pool_->Nullable(rest) && pool_->IsEmpty(pool_->Intersect(rest, in_line));
  });
}

// Puts what a part becomes on some bytes into the classes.
void Lexer::SplitBySteps(const Part& part, const Expressions::Term& step, std::vector<Class>* classes, ByteSet* seen) {
  ByteSet left = step.bytes;
  const Part target{part.terminal, step.target, part.column && NeedsLineEnd(step.target) ? 0 : part.column,
                    part.guard};
  if (left.Intersects(*seen))
    for (size_t c = 0, n = classes->size(); c < n && left.Any(); ++c) {
      const ByteSet common = (*classes)[c].bytes & left;
      if (!common.Any()) continue;
      left = left - common;
      if (common != (*classes)[c].bytes) {
        classes->push_back({(*classes)[c].bytes - common, (*classes)[c].parts, kEmpty});
        (*classes)[c].bytes = common;
      }
      (*classes)[c].parts.push_back(target);
    }
  if (left.Any()) classes->push_back({left, {target}, kEmpty});
  *seen = *seen | step.bytes;
}

// The steps of what is left of a lexeme that lead to its end.
void Lexer::FindSteps(const Part& part) {
  Named("how lexemes of the terminal", part.terminal, " go on", [&] {
    pool_->Step(part.rest, &steps_);
    const auto is_dead = [this](const Expressions::Term& t) { return pool_->IsEmpty(t.target); };
    steps_.erase(std::remove_if(steps_.begin(), steps_.end(), is_dead), steps_.end());
  });
}

const StateRow::Data* Lexer::MakeRow(State q, StateRows* rows) {
  State row[256] = {};
  std::vector<Class> classes;
  ByteSet seen;
  for (size_t i = 0; i < parts_[q].parts.size(); ++i) {
    const Part part = parts_[q].parts[i];
    if (part.Competes()) continue;
    FindSteps(part);
    TimeLimit::Spend(static_cast<int64_t>(steps_.size() + classes.size() / 8));
    for (const Expressions::Term& t : steps_) {
      if (!indentation_ || part.terminal != indentation_->newline) {
        SplitBySteps(part, t, &classes, &seen);
        continue;
      }
      for (const uint8_t blank : {uint8_t{' '}, uint8_t{'\t'}}) {
        Part deeper = part;
        deeper.column += blank == ' ' ? 1 : indentation_->tab_length;
        if (t.bytes.Has(blank) && deeper.column <= indentation_->most_columns)
          SplitBySteps(deeper, {ByteSet::Of(blank), t.target}, &classes, &seen);
      }
      Part outer = part;
      outer.column = 0;
      if (t.bytes.Has('\n')) SplitBySteps(outer, {ByteSet::Of('\n'), t.target}, &classes, &seen);
      const ByteSet others = t.bytes - ByteSet::Of(' ') - ByteSet::Of('\t') - ByteSet::Of('\n');
      if (others.Any()) SplitBySteps(part, {others, t.target}, &classes, &seen);
    }
  }
  // What competes tells bytes apart that are live; it makes none live.
  for (size_t i = 0; i < parts_[q].parts.size(); ++i) {
    const Part part = parts_[q].parts[i];
    if (!part.Competes()) continue;
    pool_->Step(part.rest, &steps_);
    for (const Expressions::Term& t : steps_)
      if (!pool_->IsEmpty(t.target))
        Refine(t.bytes, &classes, [&](Class* c) { c->parts.push_back({kNoTerminal, t.target, 0, part.guard}); });
  }
  if (const Expr any = parts_[q].any; any != kEmpty) {
    pool_->Step(any, &steps_);
    for (const Expressions::Term& t : steps_) Refine(t.bytes, &classes, [&](Class* c) { c->any = t.target; });
  }
  const auto begin = begin_of_.find(q);
  const bool apart = EndsApart(q);
  for (Class& c : classes) {
    if (c.any != kEmpty && (apart || (begin != begin_of_.end() && BeginApart(begin->second->competing, c.bytes))))
      apart_[c.any] = true;
    const State target = Intern(std::move(c.parts), c.any);
    c.bytes.ForEachRun([&row, target](int first, int last) { std::fill(row + first, row + last + 1, target); });
  }
  return rows->MakeDense(row);
}

void Lexer::Adopt(const Lexer& other, std::vector<State>* states) {
  if (&other == this) return;
  std::vector<Expr> rests;
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  {
    const std::lock_guard<ReentrantMutex> other_lock(other.mutex_);
    for (const State q : *states) {
      for (const Part& p : other.parts_[q].parts) rests.insert(rests.end(), {p.rest, p.guard});
      rests.push_back(other.parts_[q].any);
    }
    pool_->Import(*other.pool_, &rests);
  }
  auto next = rests.begin();
  for (State& q : *states) {
    std::vector<Part> parts = other.parts_[q].parts;
    for (Part& p : parts) {
      p.rest = *next++;
      p.guard = *next++;
    }
    const Expr any = *next++;
    if (q != kDead) q = Intern(std::move(parts), any);
  }
}

size_t Lexer::MemoryBytes() const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return DelayedAcceptor::MemoryBytes() + pool_->MemoryBytes();
}

}  // namespace tokamata
