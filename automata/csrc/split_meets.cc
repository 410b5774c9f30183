#include "automata/csrc/split_meets.h"

#include <algorithm>

#include "automata/csrc/counted_meets.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/insert_new.h"
#include "automata/csrc/without_counters.h"

namespace tokamata {
namespace {

constexpr size_t kMostWays = 6;    // of all complements together, of which any may end along
constexpr size_t kMostPairs = 256;  // that one intersection is split into
constexpr uint32_t kMostVisited = 1000;  // expressions that are looked at for the ways of one member

const ByteSet& NumberBytes() {
  static const ByteSet bytes = ByteSet::Range('0', '9') | ByteSet::Of('.') | ByteSet::Of('e') | ByteSet::Of('E') |
                               ByteSet::Of('+') | ByteSet::Of('-');
  return bytes;
}

const ByteSet& Blanks() {
  static const ByteSet bytes = ByteSet::Of(' ') | ByteSet::Of('\t') | ByteSet::Of('\n') | ByteSet::Of('\r');
  return bytes;
}

}  // namespace

SplitMeets::Answer SplitMeets::Find(Expr meet) {
  try {
    const Node root = NodeOf(meet);
    for (size_t first = 0; states_[root].missing && first < work_.size();) {
      if (nodes_.size() > most_) return Answer::kUnknown;
      pool_->Spend(4);
      Expand(work_[first++]);
    }
    if (states_[root].missing) {
      for (const auto& [e, node] : nodes_)
        if (states_[node].missing) pool_->KeepEmptiness(e, true);
    }
    return states_[root].missing ? Answer::kNo : Answer::kYes;
  } catch (const LimitError&) {
    if (TimeLimit::IsOver()) throw;
    return Answer::kUnknown;
  }
}

SplitMeets::Node SplitMeets::NodeOf(Expr e) {
  const auto [it, added] = nodes_.emplace(e, static_cast<Node>(states_.size()));
  const Node node = it->second;
  if (!added) return node;
  states_.push_back({e, 1, {}});
  if (pool_->SurelyNotEmpty(e) || (!pool_->IsPushDown(e) && !pool_->IsEmpty(e))) {
    states_[node].missing = 0;
  } else if (pool_->IsPushDown(e) && pool_->nodes_[e].emptiness != 1) {
    const int empty = pool_->SummarizeEmpty(e);  // 1, 0, or another kind of question
    if (empty == 0) states_[node].missing = 0;
    if (empty < 0) work_.push_back(node);
  }
  return node;
}

void SplitMeets::AddReader(Node node, Node reader) {
  if (states_[node].missing)
    states_[node].readers.push_back(reader);
  else
    HasText(reader);
}

// One of what the node waits for has a text.
void SplitMeets::HasText(Node node) {
  news_.push_back(node);
  while (!news_.empty()) {
    State& state = states_[news_.back()];
    news_.pop_back();
    if (!state.missing || --state.missing) continue;
    if (state.e != kEmpty) pool_->KeepEmptiness(state.e, false);
    news_.insert(news_.end(), state.readers.begin(), state.readers.end());
    state.readers.clear();
  }
}

void SplitMeets::Expand(Node node) {
  const Expr e = states_[node].e;
  if (!states_[node].missing) return;
  switch (pool_->Kind(e)) {
    case ExprKind::kUnion: {
      const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
      for (const Expr m : members) AddReader(NodeOf(m), node);
      return;
    }
    case ExprKind::kConcat: {
      states_[node].missing = 2;
      const Node head = NodeOf(pool_->FirstPart(e)), tail = NodeOf(pool_->Rest(e));
      AddReader(head, node);
      AddReader(tail, node);
      return;
    }
    case ExprKind::kRepeat: return AddReader(NodeOf(pool_->Body(e)), node);
    default: return ExpandMeet(node, e);
  }
}

void SplitMeets::ExpandMeet(Node node, Expr e) {
  ByteSet split_at;  // what begins with these bytes is split
  if (pool_->Kind(e) == ExprKind::kIntersect) {
    const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
    for (const Expr m : members) {
      const Expr meet = pool_->Kind(m) == ExprKind::kComplement ? pool_->Body(m) : Expr{kEmpty};
      if (pool_->Kind(meet) != ExprKind::kIntersect || !pool_->IsPushDown(meet)) continue;
      ExprList others;
      for (const Expr o : members)
        if (o != m) others.push_back(o);
      const Expr rest = pool_->Intersect(std::move(others));
      const std::vector<Expr> of(pool_->Members(meet), pool_->Members(meet) + pool_->NumMembers(meet));
      for (const Expr part : of)  // what is not in all of them
        if (const Expr without = pool_->Difference(rest, part)) AddReader(NodeOf(without), node);
      return;
    }
    std::vector<Side> sides(members.size()), split;
    for (const bool blanks : {true, false}) {
      for (size_t i = 0; i < members.size(); ++i) {
        sides[i] = {};
        sides[i].complement = pool_->Kind(members[i]) == ExprKind::kComplement;
        sides[i].blanks = blanks;
        AddWays(sides[i].complement ? pool_->Body(members[i]) : members[i], kEpsilonExpr, &sides[i]);
      }
      ByteSet calls;
      if (!SplitCalls(sides, &split, &calls)) continue;
      if (AddPairs(node, split)) split_at = calls;
      break;
    }
    if (!split_at.Any() && SplitRegular(sides) && AddPairs(node, sides)) return;
  }
  if (!(pool_->First(e) - split_at).Any()) return;
  std::vector<Expressions::Term> steps;
  pool_->Partition(e, &steps);  // which asks of no target whether it is empty
  for (const Expressions::Term& t : steps)
    if ((t.bytes - split_at).Any()) AddReader(NodeOf(t.target), node);
}

// The ways of e·rest; the empty text is none.
void SplitMeets::AddWays(Expr e, Expr rest, Side* side) {
  if (++side->visited > kMostVisited) {  // many that may be left out, one after another
    side->others = side->others | pool_->First(pool_->Concat(e, rest));
    return;
  }
  switch (pool_->Kind(e)) {
    case ExprKind::kEmpty: return;
    case ExprKind::kEpsilon:
      if (rest != kEpsilonExpr) AddWays(pool_->FirstPart(rest), pool_->Rest(rest), side);
      return;
    case ExprKind::kConcat: return AddWays(pool_->Head(e), pool_->Concat(pool_->Tail(e), rest), side);
    case ExprKind::kUnion: {
      const std::vector<Expr> members(pool_->Members(e), pool_->Members(e) + pool_->NumMembers(e));
      for (const Expr m : members) AddWays(m, rest, side);
      return;
    }
    case ExprKind::kCall: return side->ways.push_back({e, e, rest});
    default: break;
  }
  if (pool_->IsPushDown(e)) {
    side->others = side->others | pool_->First(pool_->Concat(e, rest));
    return;
  }
  std::vector<Expr> parts{e};
  for (; rest != kEpsilonExpr && !pool_->IsPushDown(pool_->FirstPart(rest)); rest = pool_->Rest(rest))
    parts.push_back(pool_->FirstPart(rest));
  const Expr head = pool_->Concat(parts), next = pool_->FirstPart(rest);
  if (side->blanks && pool_->Kind(next) == ExprKind::kCall && !(pool_->BytesOf(head) - Blanks()).Any()) {
    side->ways.push_back({pool_->Concat(head, next), next, pool_->Rest(rest)});
  } else if (pool_->Nullable(head) && rest != kEpsilonExpr) {
    side->others = side->others | pool_->First(head);
    AddWays(next, pool_->Rest(rest), side);
  } else {
    side->ways.push_back({head, kEmpty, rest});
  }
}

// The ways that begin with calls, maybe behind blanks, if all that begin with one of their bytes do and end in the same
// way; what is called behind blanks begins with none.
bool SplitMeets::SplitCalls(const std::vector<Side>& sides, std::vector<Side>* split, ByteSet* first) const {
  using End = RuleSource::End;
  const auto end_of = [this](Expr call) {
    if (call == kEmpty) return End::kUnknown;
    return pool_->Rules(pool_->SourceOfRule(call))->EndOf(pool_->Rule(call));
  };
  bool goes_on = false, numbers = false, before_numbers = false, behind_blanks = false, blanks = false;
  for (const Side& side : sides)
    for (const Way& way : side.ways) {
      if (end_of(way.call) == End::kUnknown) continue;
      *first = *first | pool_->First(way.head);
      goes_on = goes_on || way.rest != kEpsilonExpr;
      behind_blanks = behind_blanks || way.head != way.call;
      blanks = blanks || pool_->First(way.call).Intersects(Blanks());
    }
  if (!goes_on || (behind_blanks && blanks)) return false;
  End end = End::kUnknown;
  split->clear();
  for (const Side& side : sides) {
    if (side.others.Intersects(*first)) return false;
    split->push_back(side);
    split->back().ways.clear();
    for (const Way& way : side.ways) {
      if (!pool_->First(way.head).Intersects(*first) && !pool_->Nullable(way.head)) continue;
      End own = end_of(way.call);
      numbers = numbers || own == End::kAnyValue;
      before_numbers = before_numbers || pool_->Nullable(way.rest) || pool_->First(way.rest).Intersects(NumberBytes());
      if (own == End::kAnyValue) own = End::kValue;
      if (own == End::kUnknown || (end != End::kUnknown && own != end)) return false;
      end = own;
      split->back().ways.push_back(way);
    }
  }
  return !numbers || !before_numbers;
}

bool SplitMeets::SplitRegular(const std::vector<Side>& sides) {
  std::vector<Expr> heads;
  bool goes_on = false;
  for (const Side& side : sides) {
    if (side.others.Any()) return false;
    for (const Way& way : side.ways) {
      if (way.call != kEmpty || pool_->Nullable(way.head)) return false;
      goes_on = goes_on || way.rest != kEpsilonExpr;
      InsertNew(&heads, way.head);
    }
  }
  if (!goes_on) return false;
  if (!pool_->counted_) pool_->counted_ = std::make_shared<CountedMeets>();  // no text of one begins one of another
  return pool_->counted_->IsCode(pool_, WithoutCounters(pool_, pool_->Union(ExprList(heads.begin(), heads.end()))));
}

// False where these are too many.
bool SplitMeets::AddPairs(Node node, const std::vector<Side>& sides) {
  std::vector<Way> without;  // of complements
  std::vector<std::vector<Way>> choices{{}};
  for (const Side& side : sides) {
    if (side.complement) {
      without.insert(without.end(), side.ways.begin(), side.ways.end());
      continue;
    }
    std::vector<std::vector<Way>> next;
    for (const std::vector<Way>& choice : choices)
      for (const Way& way : side.ways) {
        next.push_back(choice);
        next.back().push_back(way);
      }
    choices.swap(next);
    if (choices.size() > kMostPairs) return false;
  }
  if (without.size() > kMostWays || choices.size() << without.size() > kMostPairs) return false;
  for (const std::vector<Way>& choice : choices) {
    if (choice.empty()) return false;  // all are complements
    for (size_t along = 0; along < size_t{1} << without.size(); ++along) {
      ExprList heads, rests;
      for (const Way& way : choice) {
        heads.push_back(way.head);
        rests.push_back(way.rest);
      }
      for (size_t k = 0; k < without.size(); ++k) {
        if (along >> k & 1)
          rests.push_back(pool_->Complement(without[k].rest));
        else
          heads.push_back(pool_->Complement(without[k].head));
      }
      const Expr head = pool_->Intersect(std::move(heads)), rest = pool_->Intersect(std::move(rests));
      if (head == kEmpty || rest == kEmpty) continue;
      const Node both = static_cast<Node>(states_.size());
      states_.push_back({kEmpty, 2, {}});
      AddReader(both, node);
      AddReader(NodeOf(head), both);
      AddReader(NodeOf(rest), both);
      if (!states_[node].missing) return true;
    }
  }
  return true;
}

}  // namespace tokamata
