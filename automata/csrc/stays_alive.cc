// Which characters may be read in any number, or up to some: told from what a language is written as, not its states.
#include <algorithm>
#include <tuple>

#include "automata/csrc/bounded_parts.h"
#include "automata/csrc/expression_acceptor.h"

namespace tokamata {
namespace {

constexpr int kMostNested = 16;        // operators inside each other that are looked into
constexpr int kFewCharacters = 10;     // in classes of so many nothing is gained
constexpr uint32_t kManyTurns = 1024;  // more make no difference

// Numbers of characters, of which kUnboundedLoop is the largest.
uint32_t Capped(uint64_t n) { return static_cast<uint32_t>(std::min<uint64_t>(n, kUnboundedLoop)); }

// What e, or a member of e as a union, begins with as often as it may be; kEmpty where there is nothing of the kind.
Expr StarOf(Expressions* pool, Expr e) {
  if (pool->Kind(e) == ExprKind::kUnion) {
    const std::vector<Expr> members(pool->Members(e), pool->Members(e) + pool->NumMembers(e));
    for (const Expr m : members)
      if (const Expr star = StarOf(pool, m); star != kEmpty) return star;  // unions have no unions as members
    return kEmpty;
  }
  const Expr head = pool->FirstPart(e);
  const bool is = pool->Kind(head) == ExprKind::kRepeat && pool->High(head) == kUnbounded;
  return is ? pool->Star(pool->Body(head)) : Expr{kEmpty};
}

// Whether any text of a star can be extended by texts of the star to a member of e, or of a member of e as a union, and
// is one however these are extended: so it is where e begins and ends with a star that has the one, with nothing between
// of which nothing is of it. What has to be added is counted in bytes.
bool GoesAround(Expressions* pool, Expr e, Expr star, int64_t* needed) {
  const auto covers = [pool, star](Expr x) {
    const bool is = pool->Kind(x) == ExprKind::kRepeat && pool->High(x) == kUnbounded;
    return is && pool->Covers(pool->Star(pool->Body(x)), star);
  };
  if (pool->Kind(e) == ExprKind::kUnion) {
    const std::vector<Expr> members(pool->Members(e), pool->Members(e) + pool->NumMembers(e));
    return std::any_of(members.begin(), members.end(), [&](Expr m) { return GoesAround(pool, m, star, needed); });
  }
  if (!covers(pool->FirstPart(e))) return false;
  Expr tail = pool->Rest(e);
  if (!pool->Nullable(tail)) {
    const ByteSet turns = BoundedParts::OneByteMembers(pool, pool->Body(star));
    for (; pool->Kind(tail) == ExprKind::kConcat; tail = pool->Tail(tail)) {
      const Expr part = pool->Head(tail);
      if (!pool->Covers(star, part) && !turns.Intersects(BoundedParts::OneByteMembers(pool, part))) return false;
    }
    if (!covers(tail)) return false;
  }
  *needed += pool->Parts().Least(pool, e);
  return true;
}

}  // namespace

bool ExpressionAcceptor::StaysAlive(State q, LoopShape* shape) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Alive alive = FindAlive(Source(q), kMostNested);
  // Bytes that begin a character may begin something else then: those of it are not all told from its first one.
  if (alive.high && Width(alive.characters) > alive.characters.ascii.Count() && text_phases_.Leaves(*pool_, Source(q)))
    alive.characters.non_ascii = alive.characters.all_but_spaces = false;
  if (!alive.high || Width(alive.characters) < kFewCharacters) return false;
  *shape = LoopShape();
  shape->ascii = alive.characters.ascii;
  shape->non_ascii = alive.characters.non_ascii;
  shape->all_but_spaces = alive.characters.all_but_spaces;
  shape->high = alive.high;
  ByteSet first = shape->ascii;
  if (shape->non_ascii || shape->all_but_spaces) first = first | ByteSet::Range(0xC2, 0xF4);
  shape->rest_first = BytesAfter(Source(q), first, kMostNested) - first;
  return true;
}

int ExpressionAcceptor::Width(const LoopCharacters& c) {
  return (c.non_ascii ? 512 : c.all_but_spaces ? 256 : 0) + c.ascii.Count();
}

ExpressionAcceptor::LoopCharacters ExpressionAcceptor::Common(const LoopCharacters& a, const LoopCharacters& b) {
  LoopCharacters c;
  c.ascii = a.ascii & b.ascii;
  c.non_ascii = a.non_ascii && b.non_ascii;
  c.all_but_spaces = !c.non_ascii && (a.non_ascii || a.all_but_spaces) && (b.non_ascii || b.all_but_spaces);
  return c;
}

// What every character of a text of some length, to which all texts of e have it, may be: *length is multiplied by that.
ExpressionAcceptor::LoopCharacters ExpressionAcceptor::FixedCharacters(Expr e, int nested, uint32_t* length) {
  if (!nested) return {};
  if (pool_->Kind(e) == ExprKind::kRepeat && pool_->Low(e) == pool_->High(e)) {
    const uint32_t times = pool_->Low(e);
    const LoopCharacters c = FixedCharacters(pool_->Body(e), nested - 1, length);
    *length = Capped(uint64_t{*length} * times);
    return c;
  }
  if (pool_->Kind(e) != ExprKind::kConcat) return CharactersOf(e);
  const Expr head = pool_->Head(e), tail = pool_->Tail(e);
  uint32_t first = 1, second = 1;
  const LoopCharacters c = FixedCharacters(head, nested - 1, &first);
  if (Width(c) < kFewCharacters) return {};
  const LoopCharacters both = Common(c, FixedCharacters(tail, nested - 1, &second));
  *length = Capped(uint64_t{*length} * Capped(uint64_t{first} + second));
  return both;
}

// Of a union, the characters of one member that goes on longest; after what need not be there, maybe those of the rest.
// An intersection of stars of one kind, and of complements of languages without some character of theirs, goes on after
// any text with that character. Where their turns are counted as well, there has to be room for that and for what is
// searched for between stars.
ExpressionAcceptor::Alive ExpressionAcceptor::FindAlive(Expr e, int nested) {
  constexpr uint32_t kMostMembers = 64;
  constexpr size_t kMostStars = 4;
  if (!nested) return {};
  const auto worth = [](const Alive& a) { return std::tuple(std::min(a.high, kManyTurns), Width(a.characters)); };
  switch (pool_->Kind(e)) {
    case ExprKind::kBytes: return {CharactersOf(e), 1, true};
    case ExprKind::kConcat: {
      const Expr tail = pool_->Tail(e);
      const Alive head = FindAlive(pool_->Head(e), nested - 1);
      const bool goes_on = head.high && Width(head.characters) >= kFewCharacters, optional = pool_->Nullable(pool_->Head(e));
      const bool adds = goes_on && head.high != kUnboundedLoop && head.whole;
      const Alive more = optional || adds ? FindAlive(tail, nested - 1) : Alive();  // once: tails are long
      if (optional && worth(more) > worth(head)) return more;
      if (!goes_on || (pool_->MayBeEmpty(tail) && pool_->IsEmpty(tail))) return {};
      if (!adds) return head;
      const LoopCharacters both = Common(head.characters, more.characters);
      if (!more.high || Width(both) != Width(head.characters)) return {head.characters, head.high, false};
      return {both, Capped(uint64_t{head.high} + more.high), more.whole};
    }
    case ExprKind::kRepeat: {
      uint32_t length = 1;
      const LoopCharacters c = FixedCharacters(pool_->Body(e), nested - 1, &length);
      return {c, pool_->High(e) == kUnbounded ? kUnboundedLoop : Capped(uint64_t{pool_->High(e)} * length), true};
    }
    case ExprKind::kUnion: {
      if (pool_->NumMembers(e) > kMostMembers) return {};
      Alive best{CharactersOf(e), 1, true};
      const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
      for (const Expr m : members)
        if (const Alive a = FindAlive(m, nested - 1); Width(a.characters) >= kFewCharacters && worth(a) > worth(best))
          best = a;
      return best;
    }
    case ExprKind::kIntersect: {
      ByteSet other;
      uint32_t high = kUnboundedLoop;
      int64_t needed = 0;
      std::vector<Expr> around, counters, stars;
      const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
      for (const Expr m : members) {
        if (pool_->Kind(m) == ExprKind::kComplement) {
          other = other | pool_->BytesOf(pool_->Body(m));
          continue;
        }
        const bool counts = pool_->Kind(m) == ExprKind::kRepeat && pool_->High(m) != kUnbounded;
        if (counts) high = std::min(high, pool_->High(m));
        (counts ? counters : around).push_back(m);
        const Expr own = counts ? pool_->Star(pool_->Body(m)) : StarOf(pool_.get(), m);
        if (own != kEmpty && std::find(stars.begin(), stars.end(), own) == stars.end()) stars.push_back(own);
      }
      const auto all_go_on = [&](Expr star) {
        needed = 0;
        const auto counts = [&](Expr m) { return BoundedParts::IsIn(pool_.get(), pool_->Body(star), pool_->Body(m)); };
        const auto goes_around = [&](Expr m) { return GoesAround(pool_.get(), m, star, &needed); };
        return std::all_of(counters.begin(), counters.end(), counts) &&  // its turns
               std::all_of(around.begin(), around.end(), goes_around);
      };
      const auto found = stars.size() > kMostStars ? stars.end() : std::find_if(stars.begin(), stars.end(), all_go_on);
      if (found == stars.end()) return {};
      const Expr star = *found;
      const LoopCharacters& c = CharactersOf(pool_->Body(star));
      if (other.Any() && !(c.ascii - other).Any()) return {};
      needed += other.Any();
      if (high != kUnboundedLoop) high = needed < high ? high - static_cast<uint32_t>(needed) : 0;
      return {c, high, false};
    }
    default: return {};
  }
}

// Bytes that may come after characters that begin with `first`, and maybe more.
ByteSet ExpressionAcceptor::BytesAfter(Expr e, const ByteSet& first, int nested) {
  if (!nested) return pool_->BytesOf(e);
  if (pool_->Kind(e) == ExprKind::kUnion) {
    ByteSet bytes;
    const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
    for (const Expr m : members) bytes = bytes | BytesAfter(m, first, nested - 1);
    return bytes;
  }
  if (pool_->Kind(e) != ExprKind::kConcat) return pool_->BytesOf(e);
  const Expr tail = pool_->Tail(e);
  const ByteSet bytes = pool_->BytesOf(pool_->Head(e)) | pool_->First(tail);
  return pool_->First(tail).Intersects(first) ? bytes | BytesAfter(tail, first, nested - 1) : bytes;
}

}  // namespace tokamata
