#include "automata/csrc/expression_acceptor.h"

#include <algorithm>
#include <iterator>

#include "automata/csrc/bounded_parts.h"
#include "automata/csrc/counter_clamp.h"
#include "automata/csrc/expression_place.h"
#include "automata/csrc/utf8.h"

namespace tokamata {
namespace {

constexpr uint32_t kSomeTurns = 8;  // of a counter, from which it is worth telling it from none
constexpr int kMostNested = 3;      // unions in each other in which counters are looked for
constexpr int kBroad = 40;          // first bytes from which characters are of a class that loops, texts are of any kind

// Where calls have their source, leaves have their number.
uint32_t LeafNumber(const Expressions& pool, Expr leaf) { return pool.SourceOfRule(leaf); }

// A counter that the texts of e end with has as many turns as one likes where there may be `turns` of them: what begins some
// can be extended by further ones, and texts with fewer bytes have fewer. Characters by themselves are counted as cheaply.
Expr WithoutCountsAtEnd(Expressions* pool, Expr e, uint32_t turns) {
  constexpr size_t kMostParts = 16;
  if (!pool->Counts(e) || pool->MayBeEmpty(e) || pool->IsPushDown(e)) return e;
  if (pool->Kind(e) == ExprKind::kUnion) {
    if (pool->NumMembers(e) > kMostParts) return e;
    std::vector<Expr> members(pool->Members(e), pool->Members(e) + pool->NumMembers(e));
    for (Expr& m : members) m = WithoutCountsAtEnd(pool, m, turns);
    return pool->Union(std::move(members));
  }
  std::vector<Expr> parts;
  for (Expr rest = e; rest != kEpsilonExpr; rest = pool->Rest(rest)) {
    if (parts.size() == kMostParts) return e;
    parts.push_back(pool->FirstPart(rest));
  }
  Expr& last = parts.back();
  if (pool->Kind(last) != ExprKind::kRepeat || !pool->Counts(last) || pool->High(last) < turns) return e;
  if (parts.size() == 1 && pool->Parts().OneCharacter(*pool, pool->Body(last))) return e;
  last = pool->Star(pool->Body(last));
  return pool->Concat(parts);
}

}  // namespace

ExpressionAcceptor::ExpressionAcceptor(std::unique_ptr<Expressions> pool, Expr root)
    : pool_(std::move(pool)), root_(root), lengths_(pool_.get()) {
  AddState(kEmpty, false);  // the dead state
  if (pool_->IsEmpty(root_)) root_ = kEmpty;
  SetStart(StateOf(root_));
}

DelayedAcceptor::State ExpressionAcceptor::StateOf(Expr e) {
  if (e == kEmpty) return kDead;
  State& q = state_of_.Reach(e, kDead);
  if (!q) q = AddState(e, pool_->Nullable(e));
  return q;
}

const StateRow::Data* ExpressionAcceptor::MakeRow(State q, StateRows* rows) {
  if (const Expr e = Source(q); pool_->Kind(e) == ExprKind::kLeaf) {  // its arcs are what is asked for
    std::vector<LeafAutomaton::Arc> arcs;
    pool_->LeafOf(e)->Arcs(pool_->LeafState(e), &arcs);
    std::vector<StateRows::Step> steps;
    for (const LeafAutomaton::Arc& arc : arcs)
      steps.push_back({arc.bytes, StateOf(pool_->AfterArc(LeafNumber(*pool_, e), arc))});
    return rows->Make(steps);
  }
  if (IsProvisional(q)) return MakeProvisional(q, rows);
  pool_->Step(Source(q), &steps_);
  row_steps_.clear();
  for (const Expressions::Term& t : steps_) row_steps_.push_back({t.bytes, StateOf(t.target)});
  return rows->Make(row_steps_);
}

// The row of what forgets, or has models, but for the bytes that the texts begin with.
const StateRow::Data* ExpressionAcceptor::MakeProvisional(State q, StateRows* rows) {
  const Expr e = pool_->Forget(Source(q));
  std::vector<Expr> members{e}, like;
  if (pool_->Kind(e) == ExprKind::kUnion) members.assign(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
  ByteSet own;
  for (Expr member : members) {
    Expr call, rest;
    RuleText place;
    if (pool_->Remembers(member) && pool_->SplitCall(member, &call, &rest)) {
      RuleSource* const source = pool_->Rules(pool_->SourceOfRule(call));
      if (source->Texts(pool_->Rule(call), &member, &place)) {
        member = pool_->Concat(member, rest);
        own.Add('"');
        source->ForEachText(place, ByteSet::Range(0, 255), [&own](std::string_view text, const RuleText*, Expr) {
          own.Add(static_cast<uint8_t>(text[0]));
        });
      }
    }
    like.push_back(member);
  }
  const State model = StateOf(pool_->Union(std::move(like)));
  std::vector<StateRows::Step> steps;
  const auto add = [&steps](const ByteSet& bytes, State target) {
    if (target && bytes.Any()) steps.push_back({bytes, target});
  };
  const StateRow like_row = Row(model);
  like_row.ForEachStep([&](const ByteSet& bytes, State target) { add(bytes - own, target); });
  own.ForEach([&](uint8_t b) {
    Expr left = kEmpty;
    pool_->StepByte(e, b, &left);
    add(ByteSet::Of(b), Forget(StateOf(left)));
  });
  return rows->Make(steps);
}

// Where nothing says, all calls were read but for the root's own.
std::string ExpressionAcceptor::PlaceOf(State q) const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const std::string place = PlaceIn(*pool_, Source(q));
  return place.empty() && pool_->Kind(root_) == ExprKind::kCall ? PlaceIn(*pool_, root_) : place;
}

DelayedAcceptor::State ExpressionAcceptor::Forget(State q) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return StateOf(pool_->Forget(Source(q)));
}

bool ExpressionAcceptor::Opens(State q) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return pool_->BeginsRemembering(Source(q));
}

bool ExpressionAcceptor::TextsSince(State q, State* before, TextNode* node) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Expr call, rest, earlier;
  RuleText text;
  if (!pool_->SplitCall(Source(q), &call, &rest)) return false;
  if (!pool_->Rules(pool_->SourceOfRule(call))->Since(pool_->Rule(call), &earlier, &text)) return false;
  *before = StateOf(pool_->Concat(earlier, rest));
  node->words[0] = rest;
  node->words[1] = pool_->SourceOfRule(call);
  std::copy(std::begin(text.words), std::end(text.words), node->words + 2);
  return true;
}

bool ExpressionAcceptor::AnyRules(bool (RuleSource::*holds)() const) const {
  return WithPool([holds](const Expressions& pool) {
    for (uint32_t i = 0; i < pool.NumRuleSources(); ++i)
      if ((pool.Rules(i)->*holds)()) return true;
    return false;
  });
}

DelayedAcceptor::State ExpressionAcceptor::Approximate(State q, Side side) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return StateOf(pool_->Approximate(Source(q), side));
}

DelayedAcceptor::State ExpressionAcceptor::Unite(const std::vector<State>& states) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  std::vector<Expr> parts;
  for (const State q : states) parts.push_back(Source(q));
  return StateOf(pool_->Union(std::move(parts)));
}

std::shared_ptr<DelayedAcceptor> ExpressionAcceptor::Renewed() const {
  auto pool = std::make_unique<Expressions>();
  const Expr root = WithPool([&](const Expressions& old) {
    pool->limits = old.limits;
    return pool->Import(old, root_);
  });
  auto fresh = std::make_shared<ExpressionAcceptor>(std::move(pool), root);
  fresh->max_states = max_states;
  fresh->exact_rows = exact_rows;
  fresh->seconds = seconds;
  return fresh;
}

void ExpressionAcceptor::Adopt(const DelayedAcceptor& old, std::vector<State>* states) {
  const auto& from = static_cast<const ExpressionAcceptor&>(old);
  std::vector<Expr> roots;
  for (State q : *states) roots.push_back(from.SourceOf(q));
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  from.WithPool([&](const Expressions& pool) { pool_->Import(pool, &roots); });
  for (size_t i = 0; i < states->size(); ++i) (*states)[i] = StateOf(roots[i]);
}

size_t ExpressionAcceptor::MemoryBytes() const {
  return DelayedAcceptor::MemoryBytes() +
         WithPool([this](const Expressions& pool) {
           size_t bytes = pool.MemoryBytes() + state_of_.capacity() * sizeof(State);
           if (wide_.IfMade())
             for (const Wide& w : *wide_.IfMade()) bytes += w.characters ? w.characters->MemoryBytes() : 0;
           return bytes;
         });
}

// In turns that begin with a repetition it is that one, of the first turn.
bool ExpressionAcceptor::SplitLoop(Expr e, Repetition* r) {
  const Expr head = pool_->FirstPart(e);
  if (pool_->Kind(head) != ExprKind::kRepeat || pool_->Low(head) == 0) return SplitRepetition(e, r);
  const Expr turn = pool_->Body(head);
  if (pool_->Kind(turn) != ExprKind::kConcat || pool_->Kind(pool_->Head(turn)) != ExprKind::kRepeat) return SplitRepetition(e, r);
  const uint32_t low = pool_->Low(head), high = pool_->High(head);
  const Expr rest = pool_->Rest(e), first = pool_->Head(turn), end = pool_->Tail(turn);
  const Expr more = pool_->Repeat(turn, low - 1, high == kUnbounded ? high : high - 1);
  SplitRepetition(first, r);
  r->rest = pool_->Concat(end, pool_->Concat(more, rest));
  return true;
}

bool ExpressionAcceptor::SplitRepetition(Expr e, Repetition* r) {
  const Expr head = pool_->FirstPart(e);
  r->rest = pool_->Rest(e);
  if (pool_->Kind(head) == ExprKind::kRepeat) {
    r->body = pool_->Body(head);
    r->low = pool_->Nullable(r->body) ? 0 : pool_->Low(head);
    r->high = pool_->High(head);
    return true;
  }
  if (pool_->First(head).Count() < kBroad || pool_->MayBeEmpty(head)) return false;
  if (pool_->Kind(head) != ExprKind::kUnion && pool_->Kind(head) != ExprKind::kBytes) return false;
  if (pool_->Kind(head) == ExprKind::kUnion) {
    const auto begins_with_call = [this](Expr m) {
      return pool_->Kind(pool_->FirstPart(m)) == ExprKind::kCall;
    };
    const Expr* const members = pool_->Members(head);
    if (std::any_of(members, members + pool_->NumMembers(head), begins_with_call)) return false;  // no class is
  }
  r->low = pool_->Nullable(head) ? 0 : 1;  // the rest may begin at once
  r->high = 1;
  r->body = head;
  if (pool_->Kind(head) == ExprKind::kUnion && pool_->Members(head)[0] == kEpsilonExpr) {  // x{0,1} is kept as x|ε
    r->body = pool_->Union(std::vector<Expr>(pool_->Members(head) + 1, pool_->Members(head) + pool_->NumMembers(head)));
  }
  if (pool_->Nullable(r->body)) r->low = 0;
  return true;
}

const ExpressionAcceptor::LoopCharacters& ExpressionAcceptor::CharactersOf(Expr body) {
  const auto known = characters_->find(body);
  if (known != characters_->end()) return known->second;
  std::vector<Expressions::Term> steps;
  pool_->Step(body, &steps);
  LoopCharacters c;
  for (const auto& t : steps)
    if (t.target == kEpsilonExpr) c.ascii = c.ascii | t.bytes;
  c.ascii = c.ascii & ByteSet::Range(0, 0x7F);
  const ByteSet& first = pool_->First(body);
  if (!ByteSet::Range(0xC2, 0xF4).SubsetOf(first)) {
    c.han = ByteSet::Range(0xE4, 0xE9).SubsetOf(first) && HasUsualHan(steps);
    return characters_->emplace(body, c).first->second;
  }
  if (non_ascii_step_[0].empty()) pool_->Step(pool_->Characters({{0x80, 0x10FFFF}}), &non_ascii_step_[0]);
  c.non_ascii = std::all_of(non_ascii_step_[0].begin(), non_ascii_step_[0].end(), [&](const auto& all) {
    ByteSet missing = all.bytes;
    for (const auto& t : steps)
      if (t.target == all.target) missing = missing - t.bytes;
    return !missing.Any();
  });
  c.all_but_spaces = !c.non_ascii && AllButSpaces(steps);
  return characters_->emplace(body, c).first->second;
}

// Whether all characters of kUsualHan are read whole in one turn.
bool ExpressionAcceptor::HasUsualHan(const std::vector<Expressions::Term>& steps) {
  const ByteSet any = ByteSet::Range(0x80, 0xBF);
  const auto ends = [](const std::vector<Expressions::Term>& last) {  // the bytes that end a character
    ByteSet bytes;
    for (const auto& t : last)
      if (t.target == kEpsilonExpr) bytes = bytes | t.bytes;
    return bytes;
  };
  std::vector<Expressions::Term> second, third;
  Expr whole = kEmpty;  // a target after which all characters were found
  for (uint8_t lead = 0xE4; lead <= 0xE9; ++lead) {
    const auto at = std::find_if(steps.begin(), steps.end(), [=](const auto& t) { return t.bytes.Has(lead); });
    if (at == steps.end()) return false;
    if (at->target == whole) continue;
    ByteSet missing = lead == 0xE4 ? ByteSet::Range(0xB8, 0xBF) : lead == 0xE9 ? ByteSet::Range(0x80, 0xBE) : any;
    pool_->Step(at->target, &second);
    for (const auto& t : second) {
      if (!t.bytes.Intersects(missing)) continue;
      pool_->Step(t.target, &third);
      const ByteSet last = ends(third);
      if (any.SubsetOf(last))
        missing = missing - t.bytes;
      else if (lead == 0xE9 && ByteSet::Range(0x80, 0xA5).SubsetOf(last) && t.bytes.Has(0xBE))
        missing.Remove(0xBE);
    }
    if (missing.Any()) return false;
    if (lead > 0xE4 && lead < 0xE9) whole = at->target;
  }
  return true;
}

// Whether every byte that begins a character from U+0080 leads where it leads with all characters, without line
// separators, without ECMA-262's spaces, without Unicode's (as Python has them) or without what YAML leaves out.
bool ExpressionAcceptor::AllButSpaces(const std::vector<Expressions::Term>& steps) {
  ByteSet missing = ByteSet::Range(0xC2, 0xF4);
  for (const auto& t : steps) missing = missing - t.bytes;
  if (missing.Any()) return false;
  if (non_ascii_step_[1].empty()) {
    const CodePointRanges left_out[] = {
        {{0x2028, 0x2029}},
        {{0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
         {0x3000, 0x3000}, {0xFEFF, 0xFEFF}},
        {{0x85, 0x85}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
         {0x205F, 0x205F}, {0x3000, 0x3000}},
        {{0x80, 0x9F}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}, {0xFFFE, 0xFFFF}}};
    size_t next = 1;
    for (CodePointRanges ranges : left_out) {
      ranges.emplace_back(0, 0x7F);
      pool_->Step(pool_->Characters(ComplementRanges(ranges)), &non_ascii_step_[next++]);
    }
  }
  missing = ByteSet::Range(0xC2, 0xF4);
  for (const auto& variant : non_ascii_step_)
    for (const auto& expected : variant)
      for (const auto& t : steps)
        if (t.target == expected.target) missing = missing - (t.bytes & expected.bytes);
  return !missing.Any();
}

// Whether the characters from U+0080 that members of e begin with are all of kWideSpaces.
bool ExpressionAcceptor::OnlySpacesBeyondAscii(Expr e) {
  const auto known = only_spaces_->find(e);
  if (known != only_spaces_->end()) return known->second;
  struct Partial {
    Expr rest;
    uint32_t code_point;
    int missing;
  };
  constexpr size_t kMost = 64;  // there are 59 such characters
  std::vector<Partial> work{{e, 0, -1}};
  std::vector<Expressions::Term> steps;
  bool only = true;
  for (size_t i = 0; only && i < work.size(); ++i) {
    const Partial at = work[i];
    pool_->Step(at.rest, &steps);
    for (const auto& t : steps) {
      (t.bytes & ByteSet::Range(0x80, 0xFF)).ForEach([&](uint8_t b) {
        const int missing = at.missing > 0 ? at.missing - 1 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
        const uint32_t c = at.missing > 0 ? at.code_point << 6 | (b & 63) : b & (0x3F >> missing);
        if (work.size() > kMost || !only) {
          only = false;
        } else if (missing) {
          work.push_back({t.target, c, missing});
        } else {
          only = std::any_of(std::begin(kWideSpaces), std::end(kWideSpaces),
                             [c](const auto& range) { return range.first <= c && c <= range.second; });
        }
      });
    }
  }
  return (*only_spaces_)[e] = only;
}

bool ExpressionAcceptor::Loop(State q, LoopShape* shape) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Repetition r;
  if (!SplitLoop(Source(q), &r)) return false;
  const LoopCharacters c = CharactersOf(r.body);
  shape->rest_first = pool_->First(r.rest);
  shape->body_first = pool_->First(r.body);
  // A character that may also begin the rest is no loop character: reading it does not only count.
  shape->ascii = c.ascii - shape->rest_first;
  const bool ends = shape->rest_first.Intersects(ByteSet::Range(0x80, 0xFF));
  const bool ends_at_spaces = ends && c.all_but_spaces && OnlySpacesBeyondAscii(r.rest);
  shape->non_ascii = c.non_ascii && !ends;
  shape->all_but_spaces = c.all_but_spaces && (!ends || ends_at_spaces);
  shape->han = c.han && !shape->rest_first.Intersects(ByteSet::Range(0xE4, 0xE9));
  shape->low = r.low;
  shape->high = r.high == kUnbounded ? kUnboundedLoop : r.high;
  return shape->ascii.Any() || shape->non_ascii || shape->all_but_spaces || shape->han;
}

DelayedAcceptor::State ExpressionAcceptor::AfterLoop(State q, uint32_t count) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Repetition r;
  if (!SplitLoop(Source(q), &r)) return q;
  const Expr left = pool_->Repeat(r.body, r.low > count ? r.low - count : 0, r.high == kUnbounded ? kUnbounded : r.high - count);
  return StateOf(pool_->Concat(left, r.rest));
}

DelayedAcceptor::State ExpressionAcceptor::Canonical(State q, uint32_t length) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Repetition r;
  if (!SplitRepetition(Source(q), &r)) return WithoutBounds(q, length);
  // Every turn of the loop reads a byte (a nullable body counts down no slower), so counters above the length are
  // alike.
  const uint32_t low = std::min(r.low, length + 1);
  uint32_t high = r.high;
  if (high != kUnbounded && high > length + 1) high = std::max(low, length + 1);
  if (low == r.low && high == r.high) return q;
  return StateOf(pool_->Concat(pool_->Repeat(r.body, low, high), r.rest));
}

DelayedAcceptor::State ExpressionAcceptor::Clamped(State q, CounterClamp* clamp) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q), clamped = clamp->Of(pool_.get(), e);
  return clamped == e ? q : StateOf(clamped);
}

DelayedAcceptor::State ExpressionAcceptor::Unbounded(State q, uint32_t length) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q);
  if (const Expr without = WithoutCountsAtEnd(pool_.get(), e, length + 1); without != e) return StateOf(without);
  return WithoutBounds(q, length);
}

// The same, final where q is.
DelayedAcceptor::State ExpressionAcceptor::WithoutBounds(State q, uint32_t length) {
  const Expr e = Source(q);
  uint32_t least;
  if (const Expr without = WithoutFarBounds(e, length + 1, &least); without != e && Plain(q)) return StateOf(without);
  if (!pool_->MayBeEmpty(e) && !pool_->Parts().look_into_rules) return q;
  return StateOf(pool_->Parts().WithoutBounds(pool_.get(), e, length));
}

bool ExpressionAcceptor::CountsSoon(State q, State* over, State* under) {
  constexpr size_t kSoon = 6;  // what is left of a character, and a quote
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  std::vector<Expr> front;
  for (Expr e = Source(q); front.size() < kSoon;) {
    const Expr head = pool_->FirstPart(e), rest = pool_->Rest(e);
    if (pool_->Kind(head) == ExprKind::kRepeat) {
      const uint32_t low = pool_->Low(head), high = pool_->High(head);
      const Expr body = pool_->Body(head);
      if (high == kUnbounded || high == low || pool_->MayBeEmpty(body)) return false;
      const auto with = [&](uint32_t most) {
        std::vector<Expr> parts = front;
        parts.push_back(pool_->Repeat(body, low, most));
        parts.push_back(rest);
        return StateOf(pool_->Concat(parts));
      };
      *over = with(kUnbounded);
      *under = with(low);
      return true;
    }
    if (head == e || pool_->IsPushDown(head) || pool_->MayBeEmpty(head)) return false;
    front.push_back(head);
    e = rest;
  }
  return false;
}

bool ExpressionAcceptor::Counts(State q, uint32_t* low, uint32_t* high, State* star, State* unbounded) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Expr head = Source(q), rest = kEpsilonExpr;
  if (pool_->Kind(head) == ExprKind::kConcat) {
    rest = pool_->Tail(head);
    head = pool_->Head(head);
  }
  if (pool_->Kind(head) != ExprKind::kRepeat || pool_->MayBeEmpty(head)) return false;
  *low = pool_->Low(head);
  *high = pool_->High(head);
  if (*low <= 1 && (*high == kUnbounded || *high <= 1)) return false;
  const Expr body = pool_->Body(head);
  *star = StateOf(pool_->Star(body));
  *unbounded = StateOf(pool_->Concat(pool_->Repeat(body, *low, kUnbounded), rest));
  return true;
}

bool ExpressionAcceptor::MayRepeat(State q, uint32_t* high, State* unbounded) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q), head = pool_->FirstPart(e);
  if (pool_->Kind(head) != ExprKind::kRepeat || pool_->Low(head) || pool_->High(head) == kUnbounded) return false;
  *high = pool_->High(head);
  *unbounded = StateOf(pool_->Concat(pool_->Star(pool_->Body(head)), pool_->Rest(e)));
  return true;
}

// Counters of at least so many turns at the front of e, a union, lose their upper bounds; *least is the fewest of these.
// As each turn reads a byte, shorter texts can be extended as before: a turn that has begun can be the last one.
Expr ExpressionAcceptor::WithoutFarBounds(Expr e, uint32_t turns, uint32_t* least) {
  const Expr head = pool_->FirstPart(e);
  if (pool_->Kind(head) != ExprKind::kUnion || !pool_->Counts(head)) return e;
  *least = kUnbounded;
  const Expr without = WithoutFarBounds(head, turns, kMostNested, least);
  return without == head ? e : head == e ? without : pool_->Concat(without, pool_->Tail(e));
}

Expr ExpressionAcceptor::WithoutFarBounds(Expr e, uint32_t turns, int nested, uint32_t* least) {
  constexpr uint32_t kFewMembers = 16;
  switch (pool_->Kind(e)) {
    case ExprKind::kConcat: {
      const Expr head = pool_->Head(e), without = WithoutFarBounds(head, turns, nested, least);
      return without == head ? e : pool_->Concat(without, pool_->Tail(e));
    }
    case ExprKind::kRepeat:
      if (pool_->High(e) == kUnbounded || pool_->High(e) < turns || pool_->MayBeEmpty(e)) return e;
      *least = std::min(*least, pool_->High(e));
      return pool_->Repeat(pool_->Body(e), pool_->Low(e), kUnbounded);
    case ExprKind::kUnion: {
      if (!nested || pool_->NumMembers(e) > kFewMembers || !pool_->Counts(e)) return e;
      std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
      bool changed = false;
      for (Expr& m : members) {
        const Expr before = m;
        m = WithoutFarBounds(m, turns, nested - 1, least);
        changed = changed || m != before;
      }
      return changed ? pool_->Union(std::move(members)) : e;
    }
    default: return e;
  }
}

bool ExpressionAcceptor::BoundIsFar(State q, uint32_t* length, State* unbounded) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q);
  if (const Expr without = WithoutFarBounds(e, kSomeTurns, length); without != e && Plain(q)) {
    *unbounded = StateOf(without);
    return true;
  }
  if (pool_->Kind(pool_->FirstPart(e)) != ExprKind::kIntersect) return false;
  for (const uint32_t bytes : {512, 128, 32}) {
    const Expr without = pool_->Parts().WithoutBounds(pool_.get(), e, bytes);
    if (without == e) continue;
    *length = bytes;
    *unbounded = StateOf(without);
    return true;
  }
  return false;
}

bool ExpressionAcceptor::Bounded(State q, State* unbounded, State* counter, uint32_t* slack, uint32_t* high) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  BoundedParts::Split split;
  if (!pool_->MayBeEmpty(Source(q))) return false;  // no intersection inside
  LoopShape any;  // where nearly all texts may come next, that says more
  const auto is_wide = [&any] { return any.non_ascii && (ByteSet::Range(0x20, 0x7E) - any.ascii).Count() <= 2; };
  if (StaysAlive(q, &any) && any.high == kUnboundedLoop && is_wide()) return false;
  if (!pool_->Parts().Find(pool_.get(), Source(q), &split)) return false;
  *unbounded = StateOf(split.unbounded);
  *counter = StateOf(split.counter);
  *slack = split.slack;
  *high = split.high;
  bounded_.of = q;
  bounded_.part = StateOf(split.part);
  bounded_.star = StateOf(split.star);
  bounded_.high = split.high;
  bounded_.ends = split.ends;
  bounded_.end = split.end;
  bounded_.seeks = false;
  bounded_.decided.Clear();
  return true;
}

// As that state was split, with what is left of x and of the characters.
BoundedParts::Split ExpressionAcceptor::BoundedSplit(Expr part, uint32_t high) {
  return {kEmpty, kEmpty, 0, part, Source(bounded_.star), high, bounded_.ends, bounded_.end};
}

// The bytes that are a character by themselves, counted by the star of the state that Bounded was asked about last.
const ByteSet& ExpressionAcceptor::BoundedWhole() {
  const State star = bounded_.star;
  if (bounded_.whole_of == star) return bounded_.whole;
  const StateRow row = Row(star);
  bounded_.whole = ByteSet();
  row.ForEachStep([&](const ByteSet& bytes, State next) {
    if (next == star) bounded_.whole = bounded_.whole | bytes;
  });
  bounded_.whole_of = star;
  return bounded_.whole;
}

// Counts the characters that the text begins. Where it goes on into the rest both operands have said all, unless some of
// its characters may be what follows the counter, too: then each may have meant another place.
DelayedAcceptor::Allows ExpressionAcceptor::BoundedAllows(State q, std::string_view text) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  if (bounded_.of != q) return Allows::kUnsure;
  State part = bounded_.part, star = bounded_.star;
  const ByteSet& whole = BoundedWhole();
  uint32_t characters = 0;
  const bool end_known = bounded_.end != kEmpty;
  const ByteSet ends_with = end_known ? pool_->First(bounded_.end) : ByteSet::All();
  bool may_have_ended = false;
  for (char c : text) {
    const uint8_t b = static_cast<uint8_t>(c);
    const bool begins = star == bounded_.star;
    if (!begins || !whole.Has(b)) star = Next(star, b);
    if (begins) {
      if (!star) return may_have_ended ? Allows::kUnsure : Allows::kYes;
      ++characters;
      may_have_ended = may_have_ended || ends_with.Has(b);
    }
    part = Next(part, b);
    if (!part || !star) return Allows::kUnsure;
  }
  if (characters > bounded_.high) return Allows::kUnsure;
  const int64_t enough = pool_->Parts().Enough(pool_.get(), Source(part), Source(bounded_.star));
  if (enough <= int64_t{bounded_.high} - int64_t{characters}) return Allows::kYes;
  if (star != bounded_.star || !end_known || may_have_ended) return Allows::kUnsure;
  const uint32_t left = bounded_.high - characters;
  if (const Allows* const known = bounded_.decided.Find(PairKey(part, left))) return *known;
  BoundedParts::Wanted wanted;
  bool empty;
  if (bounded_.seeks && pool_->Parts().SeeksCharacters(pool_.get(), BoundedSplit(Source(part), left), &wanted) && !wanted.more) {
    empty = wanted.sets.size() > left;
  } else {
    const Expr counter = pool_->Concat(pool_->Repeat(pool_->Body(Source(star)), 0, left), bounded_.end);
    empty = pool_->IsEmpty(pool_->Intersect(Source(part), counter));
  }
  return bounded_.decided[PairKey(part, left)] = empty ? Allows::kNo : Allows::kYes;
}

bool ExpressionAcceptor::BoundedSeeks(State q, ByteSet* plain, std::vector<ByteSet>* sought) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  if (bounded_.of != q || bounded_.end == kEmpty) return false;
  BoundedParts::Wanted found;
  if (!pool_->Parts().SeeksCharacters(pool_.get(), BoundedSplit(Source(bounded_.part), bounded_.high), &found)) return false;
  *plain = BoundedWhole() & found.among & ByteSet::Range(0, 0x7F);
  if (plain->Intersects(pool_->First(bounded_.end))) return false;
  sought->clear();
  for (const Expr set : found.sets) sought->push_back(BoundedParts::OneByteMembers(pool_.get(), set) & *plain);
  bounded_.seeks = !found.more;
  return !found.ordered;
}

// Whether e is an intersection with one member that pushes, which begins with a delayed automaton.
bool ExpressionAcceptor::MeetsLeaf(Expr e) const {
  if (pool_->Kind(e) != ExprKind::kIntersect || !pool_->IsPushDown(e)) return false;
  int leaves = 0;
  for (uint32_t i = 0; i < pool_->NumMembers(e); ++i) {
    const Expr m = pool_->Members(e)[i];
    if (!pool_->IsPushDown(m)) continue;
    if (pool_->Kind(pool_->FirstPart(m)) != ExprKind::kLeaf || ++leaves > 1) return false;
  }
  return true;
}

size_t ExpressionAcceptor::Step(State q, std::string_view bytes, State* next) {
  constexpr size_t kMostBytes = 128;  // which no token exceeds; on longer texts rows pay off
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q);
  if (pool_->Kind(e) == ExprKind::kLeaf) {
    const uint32_t number = LeafNumber(*pool_, e);
    if (number >= stepping_.size()) stepping_.resize(number + 1);
    Stepping& stepping = stepping_[number];
    if (!stepping.asked) {
      stepping.asked = true;
      stepping.leaf = dynamic_cast<SteppingLeaf*>(pool_->LeafOf(e));
    }
    const std::string_view first = bytes.substr(0, kMostBytes);
    SteppingLeaf::After after;
    if (!stepping.leaf || !stepping.leaf->Step(pool_->LeafState(e), first, &after)) return 0;
    if (after.state == SteppingLeaf::kNowhere) {
      *next = kDead;
      return first.size();
    }
    if (after.nested != LeafAutomaton::kNotNested) {
      *next = StateOf(pool_->NestedInLeaf(number, after.nested, first.substr(after.begin), after.state, after.others));
      return first.size();
    }
    if (after.state >= stepping.states.size()) stepping.states.resize(after.state + after.state / 2 + 64, kDead);
    State& known = stepping.states[after.state];
    if (!known) known = StateOf(pool_->Leaf(number, after.state));
    *next = known;
    return first.size();
  }
  if (MeetsLeaf(e)) {  // of which each member is stepped by itself
    const std::string_view first = bytes.substr(0, kMostBytes);
    const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
    ExprList after;
    for (const Expr m : members) {
      const State left = Run(StateOf(m), first);
      if (left == kDead) return *next = kDead, first.size();
      after.push_back(Source(left));
    }
    const Expr meet = pool_->Intersect(std::move(after));
    *next = pool_->IsEmpty(meet) ? State{kDead} : StateOf(meet);
    return first.size();
  }
  if (const size_t counted = StepCounted(q, bytes.substr(0, kMostBytes), next)) return counted;
  const uint8_t b = static_cast<uint8_t>(bytes[0]);
  Expr head, left;
  if (pool_->SplitBytes(e, &head, &left)) {
    *next = pool_->Set(head).Has(b) ? StateOf(left) : kDead;
    return 1;
  }
  if (!pool_->StepByte(e, b, &left)) return 0;
  *next = StateOf(left);
  return 1;
}

// Characters that are only counted: the state after all of them, without those between. Where nothing is counted a row
// leads back to itself.
size_t ExpressionAcceptor::StepCounted(State q, std::string_view bytes, State* next) {
  const Expr e = Source(q), head = pool_->FirstPart(e);
  if (pool_->Kind(head) != ExprKind::kRepeat) return 0;
  Repetition r;
  SplitLoop(e, &r);
  if (r.high == kUnbounded && r.low == 0) return 0;
  const ByteSet ends = pool_->First(r.rest);  // a copy: expressions move when others are made
  const LoopCharacters& known = CharactersOf(r.body);
  const ByteSet ascii = known.ascii - ends;
  const bool wide = known.non_ascii && !ends.Intersects(ByteSet::Range(0x80, 0xFF));
  size_t taken = 0;
  uint32_t count = 0;
  for (; taken < bytes.size() && count < r.high; ++count) {
    const uint8_t b = static_cast<uint8_t>(bytes[taken]);
    const size_t length = b < 0x80 ? ascii.Has(b) : wide ? CharacterLength(bytes.substr(taken)) : 0;
    if (!length) break;
    taken += length;
  }
  if (taken) *next = AfterLoop(q, count);
  return taken;
}

ByteSet ExpressionAcceptor::First(State q) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return pool_->First(Source(q));
}

bool ExpressionAcceptor::ReadsOneByte(State q, uint8_t* byte, State* next) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Expr head, rest;
  if (!pool_->SplitBytes(Source(q), &head, &rest) || pool_->Set(head).Count() != 1) return false;
  *byte = pool_->Set(head).First();
  *next = StateOf(rest);
  return true;
}

bool ExpressionAcceptor::Plain(State q) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q), first = pool_->FirstPart(e);
  const ExprKind kind = pool_->Kind(first);
  if (kind == ExprKind::kCall || kind == ExprKind::kTexts) return false;
  if (kind == ExprKind::kRepeat) return pool_->Low(first) == 0 && pool_->High(first) == kUnbounded;
  if (kind == ExprKind::kIntersect) return !pool_->MayBeEmpty(first);
  if (kind != ExprKind::kUnion || (first != e && pool_->First(first).Count() < kBroad)) return true;
  const Expr* members = pool_->Members(first);
  return std::none_of(members, members + pool_->NumMembers(first), [&](Expr m) {
    const ExprKind begins = pool_->Kind(pool_->FirstPart(m));
    return begins == ExprKind::kCall || (first == e && begins == ExprKind::kTexts);
  });
}

// The words of a node: what follows the texts; the source of the rule, and the rule's own, or kOfList and the list with
// a node of it.
bool ExpressionAcceptor::Texts(State q, State* model, TextNode* node) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Expr head, rest;
  if (pool_->SplitCall(Source(q), &head, &rest)) {
    RuleText text;
    Expr like;
    if (!pool_->Rules(pool_->SourceOfRule(head))->Texts(pool_->Rule(head), &like, &text)) return false;
    *model = StateOf(pool_->Concat(like, rest));
    node->words[0] = rest;
    node->words[1] = pool_->SourceOfRule(head);
    std::copy(std::begin(text.words), std::end(text.words), node->words + 2);
    return true;
  }
  if (pool_->Kind(head) != ExprKind::kTexts) return false;
  if (pool_->Nullable(head) && pool_->First(head).Intersects(pool_->First(rest))) return false;
  *model = pool_->Nullable(head) ? StateOf(rest) : State{kDead};
  const TextList::Node place = pool_->TextNodeOf(head);
  *node = {{rest, kOfList, pool_->ListOf(head), place.low, place.high, place.depth, 0, 0}};
  return true;
}

void ExpressionAcceptor::ForEachText(const TextNode& node, const ByteSet& first, const TextVisitor& visit) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr rest = node.words[0];
  if (node.words[1] == kOfList) return ForEachListed(node, first, visit);
  RuleText text;
  std::copy(node.words + 2, node.words + 2 + std::size(text.words), text.words);
  const auto visit_rule = [&](std::string_view bytes, const RuleText* child, Expr after) {
    if (!child) return visit(bytes, nullptr, StateOf(pool_->Concat(after, rest)));
    TextNode below = node;
    std::copy(std::begin(child->words), std::end(child->words), below.words + 2);
    visit(bytes, &below, kDead);
  };
  pool_->Rules(node.words[1])->ForEachText(text, first, std::cref(visit_rule));  // by reference: a copy takes memory
}

bool ExpressionAcceptor::ForEachRawByte(const TextNode& node, const ByteVisitor& enter) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  if (node.words[1] == kOfList) return false;
  RuleText text;
  std::copy(node.words + 2, node.words + 2 + std::size(text.words), text.words);
  return pool_->Rules(node.words[1])->ForEachRawByte(text, enter);
}

// Where a text ends that others begin with, a state goes on, since no text may be a prefix of another one.
void ExpressionAcceptor::ForEachListed(const TextNode& node, const ByteSet& first, const TextVisitor& visit) {
  const Expr rest = node.words[0];
  const uint32_t list = node.words[2];
  const TextList& texts = pool_->List(list);
  texts.ForEachChild({node.words[3], node.words[4], node.words[5]}, [&](uint8_t byte, TextList::Node child) {
    if (!first.Has(byte)) return;
    const bool last = child.high - child.low == 1;
    const uint32_t from = child.depth - 1;
    child.depth = texts.CommonLength(child);
    const std::string_view text = texts.Text(child.low).substr(from, child.depth - from);
    if (last) return visit(text, nullptr, StateOf(rest));
    if (texts.IsFinal(child)) return visit(text, nullptr, StateOf(pool_->Concat(pool_->Texts(list, child), rest)));
    const TextNode below{{rest, kOfList, list, child.low, child.high, child.depth, 0, 0}};
    visit(text, &below, kDead);
  });
}

// Where there are too many members, those that read little next are one.
std::vector<DelayedAcceptor::State> ExpressionAcceptor::Alternatives(State q, size_t most) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const Expr e = Source(q);
  std::vector<State> out;
  const Expr head = pool_->FirstPart(e), rest = pool_->Rest(e);
  const bool more = head != e;
  if (pool_->Kind(head) != ExprKind::kUnion || pool_->MayBeEmpty(e)) return out;
  std::vector<Expr> members(pool_->Members(head), pool_->Members(head) + pool_->NumMembers(head));
  const auto kind_of = [this](Expr m) { return pool_->Kind(pool_->FirstPart(m)); };
  const auto matters = [&](Expr m) {
    const ExprKind kind = kind_of(m);
    return kind == ExprKind::kRepeat || (kind == ExprKind::kCall && pool_->First(m).Count() >= kBroad);
  };
  if (more && std::none_of(members.begin(), members.end(), matters)) return out;  // of no use then
  if (members.size() > most) {
    const auto few = std::stable_partition(members.begin(), members.end(), [&](Expr m) {
      const ExprKind kind = kind_of(m);
      return kind == ExprKind::kCall || kind == ExprKind::kTexts || pool_->First(m).Count() >= kBroad;
    });
    if (few == members.begin() || static_cast<size_t>(few - members.begin()) >= most) return out;
    const Expr others = pool_->Union(std::vector<Expr>(few, members.end()));
    members.erase(few, members.end());
    if (others != kEmpty) members.push_back(others);
  }
  for (Expr m : members)
    if (m != kEpsilonExpr || more) out.push_back(StateOf(pool_->Concat(m, rest)));
  return out;
}

uint32_t ExpressionAcceptor::LeastLength(State q) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return lengths_.Least(Source(q));
}

bool ExpressionAcceptor::MeasureAnew() {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return lengths_.Renew();
}

bool ExpressionAcceptor::SurelyEnds(State q, const ByteSet& bytes) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return pool_->SurelyEnds(Source(q), bytes);
}

bool ExpressionAcceptor::SurelyEndsNot(State q, const ByteSet& bytes) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return Meets(q, pool_->Star(pool_->Bytes(bytes))) == false;
}

Expr ExpressionAcceptor::Sequences(const std::vector<std::string>& parts) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return pool_->Star(pool_->Choice(parts));
}

std::optional<bool> ExpressionAcceptor::Meets(State q, Expr texts) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  if (MayRemember()) return std::nullopt;
  try {
    return !pool_->IsEmpty(pool_->Intersect(Source(q), texts));
  } catch (const CapacityError&) {
    throw;
  } catch (const LimitError&) {
    return std::nullopt;
  }
}

uint32_t ExpressionAcceptor::MostLength(State q) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return lengths_.Most(Source(q));
}

}  // namespace tokamata
