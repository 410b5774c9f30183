// BoundedParts: where an expression intersected with a counter of characters may be looked at operand by operand.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "automata/csrc/expression.h"

namespace tokamata {

class BoundedParts {
 public:
  struct Split {
    Expr unbounded, counter;
    uint32_t slack;  // kUnbounded: any
    Expr part, star;  // x, c*
    uint32_t high;
    bool ends;  // whether nothing can follow the last character of the counter but the rest
    Expr end;   // what may follow it before the rest
  };

  // Of e = (x & c{low,high})·rest: x·rest, c{low,high}·rest, and so many characters that no text of no more tells e and
  // both apart by what they allow. Where x is a part of c* and no c begins like the rest, such a text either goes on into
  // the rest, where all agree, or has at most as many c as characters, each c being one or more; then what is left of high
  // has room for the end of a member of x. A lower bound does no harm where members of x may go on with any c, or have so
  // many characters. Where x is no part of c*, or something follows the counter (c{low,high}·end, as `.{1,64}$` is read),
  // x & c*·end stands for x; so it does where x asks for things that are to be found anywhere (see Sought).
  bool Find(Expressions* pool, Expr e, Split* split);

  // Of what Find found: whether a text of d* can end in x as soon as it has one c of each of some disjoint sets, which are
  // then listed. So many c are left to read as there are sets of which none was read.
  struct Wanted {
    ByteSet among;           // d, bytes that are a c by themselves
    std::vector<Expr> sets;
    bool more = false;       // there is one more set, of which there may be one in what follows the counter
    bool ordered = false;    // some are to be read one after another, and need not be disjoint
  };
  bool SeeksCharacters(Expressions* pool, const Split& split, Wanted* sought);

  // x·rest for e = (x & c{low,high})·rest, where low says nothing and both allow the same texts of up to `length`
  // bytes: such a text has no more characters than bytes, and if it ends inside of x, high has room for the rest of a
  // member. The same for c{low,high}·end as above, for members of a union, in rules and behind a few bytes; e where
  // there is nothing of the kind.
  Expr WithoutBounds(Expressions* pool, Expr e, uint32_t length);
  // Whether what rules stand for may have bounds that the expressions calling them do not show.
  bool look_into_rules = false;

  // Bytes of a shortest member; a very large number where the structure does not tell.
  int64_t Least(Expressions* pool, Expr e) { return DistanceOf(pool, e).least; }
  // No member has fewer characters.
  int64_t LeastCharacters(Expressions* pool, Expr e) { return DistanceOf(pool, e).least_characters; }
  // Characters of each member; -1 where they are not all of so many, or the structure does not tell.
  int64_t NumCharacters(Expressions* pool, Expr e) {
    const Distance d = DistanceOf(pool, e);
    return d.least_characters == d.most_characters ? d.most_characters : -1;
  }
  // Whether all strings of x are surely ones of y.
  static bool IsIn(Expressions* pool, Expr x, Expr y);
  // Where each text of e is one character in UTF-8, and e is written as their bytes, those characters.
  const std::optional<CodePointRanges>& OneCharacter(const Expressions& pool, Expr e);
  // The bytes that are members by themselves.
  static ByteSet OneByteMembers(Expressions* pool, Expr e);
  // So many c are enough for a member of e, what is left of Split's part; a very large number where that is not known.
  int64_t Enough(Expressions* pool, Expr e, Expr star);
  // Whether e, an intersection, surely has a member: false where e = x & c{0,high} is not, or x may be no part of c*; or
  // where of several members one neither counts nor asks for something to be found anywhere.
  bool HasMember(Expressions* pool, Expr e);

 private:
  Expr WithoutBounds(Expressions* pool, Expr e, uint32_t length, int depth);
  Expr WithoutBound(Expressions* pool, Expr e, uint32_t length);
  // The most c that a text of x is away from a member's end wherever it leads, or more; x being a part of c*.
  int64_t MostToEnd(Expressions* pool, Expr x, Expr star);
  int64_t MostToEnd(Expressions* pool, Expr x, Expr star, uint32_t high);
  int64_t Search(Expressions* pool, Expr x, Expr star);
  struct Counter {  // a member c{low,high}·end of an intersection, and all the others, x
    Expr count, end;
    bool nothing;  // the member is that or nothing
    Expr others;
    Expr unbounded;  // what x is without the bound; from wherever a text leads, a member's end is no further than `most`
    int64_t most;    // c, or more than that
  };
  template <class F>
  bool ForSomeCounter(Expressions* pool, Expr e, F accept);
  // Finds these two; an end of the counter that no member of x has is dropped. False where that is not found out, or where
  // the lower bound says something about texts that the counter by itself (`beside`) does not.
  bool Unbound(Expressions* pool, bool beside, Counter* c);
  int64_t MostToEndOfMeet(Expressions* pool, Expr x, Expr y);
  int64_t Sought(Expressions* pool, Expr whole, Expr star);
  int64_t FindReset(Expressions* pool, Expr x, Expr star);
  static bool FindWay(Expressions* pool, Expr x, Expr star, std::string* text);
  int64_t SoughtByAll(Expressions* pool, Expr x, Expr star);
  int64_t SoughtAmong(Expressions* pool, Expr x, Expr c, Expr readable);
  struct Pair {
    Expr x, y;
    std::vector<uint32_t> before;
    int64_t distance;  // to a member of both
  };
  enum class Relation : uint8_t { kNone, kPart, kGoesAlong };  // of x to y
  static bool FindPairs(Expressions* pool, Expr x, Expr y, Relation relation, size_t most, std::vector<Pair>* pairs);
  struct Distance {
    int64_t least = 0;  // bytes of a shortest member
    int64_t most = 0;   // no derivative is further from a member's end
    int64_t least_characters = 0, most_characters = 0;  // of members; bytes that go on with a character are none
  };
  Distance DistanceOf(Expressions* pool, Expr e);
  struct Outline {  // see RuleSource::Outline
    Expr e = kEmpty;
    uint32_t slack = 0;
  };
  Outline OutlineOf(Expressions* pool, Expr call);
  bool Part(Expressions* pool, Expr x, Expr star);
  bool SomeArePart(Expressions* pool, Expr x, Expr star);
  bool IsPart(Expressions* pool, Expr e, Expr star);

  FlatMap<uint64_t, int64_t> to_end_;  // by x and c*; -1: no part, or not found out
  FlatMap<uint64_t, int64_t> to_end_of_meet_;
  FlatMap<uint64_t, int64_t> counted_;  // likewise; exact where it was found out
  FlatMap<uint64_t, int64_t> sought_;   // by x and c*
  FlatMap<uint64_t, bool> part_;
  FlatMap<Expr, Distance> distances_;
  FlatMap<Expr, uint32_t> one_character_;  // in character_sets_
  std::deque<std::optional<CodePointRanges>> character_sets_;
  size_t in_vain_ = 0, met_in_vain_ = 0, counted_in_vain_ = 0, sought_in_vain_ = 0;
  int visited_ = 0;  // by one call of WithoutBounds
};

}  // namespace tokamata
