// TokenLengths: the least number of tokens that members of an expression take, by summaries of its parts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/expression_acceptor.h"
#include "automata/csrc/flat_map.h"
#include "tokenizer_fst/csrc/suffix_spelling.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// A shortest path in the composition of D and a push-down constraint. Where a part begins inside of a token (a node of
// the trie), its summary tells with how many more tokens, and where inside of the last one, it can end. Summaries do
// not depend on what follows a part, so stacks of calls share them: a rule is looked at once for each place in a token
// where it is called, however deep. It is a search for the lightest derivation (Knuth 1977; Felzenszwalb, McAllester
// 2007), in the order of what the beginning of a whole text costs: the cheapest way to a part, and from there.
//
// A place inside of a token is dropped where beginning a new token instead costs no more, whatever follows: where the
// rest of every token from there takes few enough tokens (SuffixSpelling). So this is for vocabularies without markers
// and classes that spell any text. What was found is kept for later questions. Not thread-safe.
class TokenLengths {
 public:
  static constexpr uint32_t kFar = 0xffffffff, kUnknown = 0xfffffffe;

  // max_items: places in expressions and tokens that are kept.
  TokenLengths(ExpressionAcceptor* acceptor, const Vocabulary* vocabulary, size_t max_items);

  // The least number of tokens from a live state to a final one if that is at most `most`, else kFar. LimitError past
  // max_items, or where time is over; kUnknown after *room steps, which are counted down unless it is SIZE_MAX.
  uint32_t Distance(DelayedAcceptor::State q, uint32_t most, size_t* room);

 private:
  using Part = uint32_t;  // an expression that begins at a node: an index into parts_
  struct Item {
    Part part;      // inside of which
    Expr rest;      // is to be read,
    uint32_t node;  // behind the bytes of this node
    bool operator==(const Item& o) const { return part == o.part && rest == o.rest && node == o.node; }
  };
  struct Caller {
    Part part;
    Expr rest;  // what follows the callee
    uint32_t cost;
  };
  struct Bucket {  // items of one cost; those between two tokens first, as they make others needless
    std::vector<Item> between, inside;
    bool Empty() const { return between.empty() && inside.empty(); }
  };
  struct Summary {
    Expr whole = kEmpty;
    uint32_t node;
    uint32_t least = kFar;  // cost of the cheapest way to end between two tokens
    uint32_t gain = 0;      // the most tokens that a rest of a token may take where callers go on
    ByteSet follow;         // what may follow, as far as callers say
    std::vector<Caller> callers;
    std::vector<std::pair<uint32_t, uint32_t>> ends;  // node, cost
    std::vector<std::pair<uint32_t, uint32_t>> idle;  // ends that no caller goes on from, as far as they say
    std::vector<std::pair<Part, uint32_t>> calls;     // callees, and at what cost
    std::vector<Part> passes;                         // callees behind which this part may end, too
    std::vector<Bucket> pending;                      // items by cost
    uint32_t lowest = 0;                              // no bucket below has items
    std::vector<std::pair<uint32_t, Item>> parked;    // cost and item, from when nothing more was to be found
    bool pruned = false;                              // something was left out because of what may follow
    Part renewed = kFar;                              // what took its place since
    uint32_t question = 0, way = kFar;                // the last question that came here, and at what cost
    uint32_t queued = kFar;                           // its place in the queue
  };
  struct ItemKeys {
    static Item None() { return {kFar, 0, 0}; }
    static uint64_t Hash(const Item& i) { return MixHash(PairKey(i.part, i.rest) * 0x9E3779B97F4A7C15u ^ i.node); }
  };
  struct Cost {
    uint32_t least = kFar;
  };
  struct Turns {  // x{0,high}, to be read at a cost
    uint32_t high = 0, cost = kFar;
  };

  Part PartOf(Expr whole, uint32_t node);
  Part Current(Part part) const;
  void Reach(Part part, uint32_t way);
  void Queue(Part part);
  void Await(Part part, const Item& item, uint32_t cost);
  bool IsDone(const Summary& s, uint32_t cost) const;
  bool IsNeedless(Part part, Expr rest, uint32_t node, uint32_t cost, uint32_t between);
  bool HasMoreTurns(Part part, Expr rest, uint32_t node, uint32_t cost);
  void Push(Part part, Expr rest, uint32_t node, uint32_t cost);
  void Settle(const Item& item, uint32_t cost);
  void Call(const Item& item, uint32_t cost, Expr head, Expr tail);
  void Step(const Item& item, uint32_t cost, Expr head, Expr tail);
  void End(Part part, uint32_t node, uint32_t cost);
  void Return(const Caller& caller, uint32_t node, uint32_t cost);
  void Follow(Part part, const ByteSet& bytes);
  uint32_t Gain(uint32_t node, const ByteSet& bytes) const;
  const ByteSet& Unfinished(Expr x);
  const std::vector<uint8_t>& GainsBelow(const ByteSet& bytes);
  void Renew(Part part);

  ExpressionAcceptor* acceptor_;
  const Trie& trie_;
  const SuffixSpelling& spelling_;
  size_t max_items_;
  Expressions* pool_ = nullptr;  // while a question is answered
  std::vector<Summary> parts_;
  std::unordered_map<uint64_t, Part> part_of_;  // by expression and node
  FlatMap<Item, Cost, ItemKeys> costs_;  // the least ones
  FlatMap<Item, Turns, ItemKeys> turns_;  // by x, the most for which items wait
  uint32_t question_ = 0;
  // Parts with something to settle, or to reach, in this question; by cost.
  std::vector<std::vector<std::pair<Part, bool>>> queue_;
  uint32_t lowest_ = 0;
  std::unordered_map<Expr, std::vector<Expressions::Term>> steps_;
  std::deque<std::pair<ByteSet, std::vector<uint8_t>>> below_;
  std::unordered_map<Expr, ByteSet> unfinished_;
};

}  // namespace tokamata
