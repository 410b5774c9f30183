// Repetitions with assertions inside: the texts of a turn by the contexts that they lead from and to, and of all turns.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "constraints/csrc/regex_context.h"

namespace tokamata {
namespace {

constexpr size_t kVisits = 1000;  // what turns are charged for
constexpr size_t kMostContexts = 64;  // the star of a matrix costs their third power
constexpr size_t kFewContexts = 16;   // for which a matrix is worth it,
constexpr uint32_t kFewCopies = 16;   // rather than so many copies

bool Any(const std::vector<bool>& values) { return std::find(values.begin(), values.end(), true) != values.end(); }
bool All(const std::vector<bool>& values) { return std::find(values.begin(), values.end(), false) == values.end(); }

// Whether the same texts lead from each context to each other.
bool IsFromAnywhere(const ContextMatrix& m) {
  for (size_t c = 1; c < m.size; ++c)
    for (size_t d = 0; d < m.size; ++d)
      if (m.At(c, d) != m.At(0, d)) return false;
  return true;
}

// Turns after which nothing can follow are none.
void DropUseless(const std::vector<Expr>& last, ContextMatrix* turn) {
  std::vector<bool> useful;
  for (const Expr e : last) useful.push_back(e != kEmpty);
  for (size_t round = 0; round < turn->size; ++round)
    for (size_t c = 0; c < turn->size; ++c)
      for (size_t d = 0; d < turn->size && !useful[c]; ++d) useful[c] = useful[d] && turn->At(c, d) != kEmpty;
  for (size_t d = 0; d < turn->size; ++d)
    for (size_t c = 0; c < turn->size && !useful[d]; ++c) turn->At(c, d) = kEmpty;
}

}  // namespace

void RegexContext::CollectSuffixes(uint32_t node, Suffixes* suffixes) {
  if (!lowering_.Asserts(node)) return;
  const RegexNode& n = Node(node);
  switch (n.kind) {
    case RegexKind::kConcat:
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = Node(c).next) CollectSuffixes(c, suffixes);
      return;
    case RegexKind::kRepeat:
    case RegexKind::kGroup: CollectSuffixes(n.first, suffixes); return;
    case RegexKind::kStart:
    case RegexKind::kLineStart:
    case RegexKind::kLookbehind: return;
    default:
      for (size_t q = 0; q < num_states_; ++q) {
        const Expr e = SuffixLanguage(node, q);
        if (suffixes->index.emplace(e, static_cast<uint32_t>(suffixes->languages.size())).second)
          suffixes->languages.push_back(e);
      }
  }
}

// All derivatives of the languages, then the sets of them that some text belongs to, which make no more than `most` contexts.
void RegexContext::CloseSuffixes(uint32_t body, size_t most, Suffixes* s) {
  const auto check = [&](size_t size) {
    if (size > lowering_.options().contexts)
      throw LimitError("regex: the limit pattern_contexts=" + std::to_string(lowering_.options().contexts) +
                       " (states of what lookaheads inside a repetition ask) was reached: use shorter or fewer "
                       "lookaheads, or raise it with tokamata.regex(..., limits=tokamata.Limits(pattern_contexts=n))");
  };
  for (size_t i = 0; i < s->languages.size(); ++i) {
    s->step.emplace_back();
    for (size_t c = 0; c < classes_.size(); ++c) {
      const Expr e = Derivative(s->languages[i], c);
      const auto [it, added] = s->index.emplace(e, static_cast<uint32_t>(s->languages.size()));
      if (added) s->languages.push_back(e);
      s->step[i].push_back(it->second);
    }
    check(s->languages.size());
  }
  std::map<std::vector<bool>, uint32_t> known;
  std::vector<bool> start;
  for (Expr e : s->languages) start.push_back(pool_.Nullable(e));
  known.emplace(start, 0);
  s->states.push_back(start);
  for (size_t r = 0; r < s->states.size(); ++r) {
    s->before.emplace_back();
    for (size_t c = 0; c < classes_.size(); ++c) {
      std::vector<bool> left;
      for (size_t i = 0; i < s->languages.size(); ++i) left.push_back(s->states[r][s->step[i][c]]);
      const auto [it, added] = known.emplace(left, static_cast<uint32_t>(s->states.size()));
      if (added) s->states.push_back(left);
      s->before[r].push_back(it->second);
    }
    check(s->states.size());
    if (num_states_ * s->states.size() > most) TooManyContexts(body);
  }
}

ContextMatrices RegexContext::Matrices(uint32_t node) {
  return ContextMatrices(&pool_, [this, node] { CheckGrowth(node); });
}

// Cell (q, r), (q', r'): the texts of the node that lead a prefix in state q to q' and a suffix in state r' to r.
ContextMatrix RegexContext::Transfer(uint32_t node, const Suffixes& s) {
  Spend(node);
  const RegexNode& n = Node(node);
  const size_t rights = s.states.size();
  ContextMatrix m(num_states_ * rights);
  switch (n.kind) {
    case RegexKind::kEpsilon: return ContextMatrix::Identity(m.size);
    case RegexKind::kNone: return m;
    case RegexKind::kCharacter:
    case RegexKind::kSet: {
      const std::vector<CodePointRanges>& pieces = Pieces(node);
      for (size_t q = 0; q < num_states_; ++q)
        for (size_t r = 0; r < rights; ++r) {
          std::map<std::pair<size_t, size_t>, CodePointRanges> cells;
          for (size_t c = 0; c < classes_.size(); ++c) {
            CodePointRanges& ranges = cells[{q * rights + s.before[r][c], next_[q][c] * rights + r}];
            ranges.insert(ranges.end(), pieces[c].begin(), pieces[c].end());
          }
          for (const auto& [cell, ranges] : cells)
            if (!ranges.empty()) m.At(cell.first, cell.second) = lowering_.Characters(ranges);
        }
      return m;
    }
    case RegexKind::kConcat: {
      std::vector<uint32_t> children;
      for (uint32_t c = n.first; c; c = Node(c).next) children.push_back(c);
      m = ContextMatrix::Identity(m.size);
      for (size_t i = children.size(); i-- > 0;) {
        if (!lowering_.Asserts(children[i]) && rights == 1 && IsFromAnywhere(m)) {  // where it leads to says nothing
          const Expr plain = lowering_.Plain(children[i]);
          for (Expr& cell : m.cells) cell = pool_.Concat(plain, cell);
        } else {
          m = Matrices(node).Product(Transfer(children[i], s), m);
        }
        CheckGrowth(node);
      }
      return m;
    }
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = Node(c).next) {
        const ContextMatrix branch = Transfer(c, s);
        for (size_t i = 0; i < m.cells.size(); ++i) m.cells[i] = pool_.Union(m.cells[i], branch.cells[i]);
      }
      return m;
    case RegexKind::kGroup: return Transfer(n.first, s);
    case RegexKind::kLanguage: LooksInto(node);
    case RegexKind::kRepeat: {
      const ContextMatrix body = Transfer(n.first, s);
      const uint32_t copies = n.high == kUnbounded ? n.low : n.high;
      if (n.high == 0) return ContextMatrix::Identity(m.size);
      if (ContextMatrix all; TransferTurns(node, body, &all)) return all;
      if (copies > lowering_.options().unrolled / m.size)
        lowering_.Unsupported(node, "large bounded repetition inside a repetition with lookaround or anchors",
                              "use a smaller bound, or no upper bound");
      ContextMatrix out = n.high == kUnbounded ? Matrices(node).Star(body) : ContextMatrix::Identity(m.size);
      if (n.high != kUnbounded)
        for (uint32_t i = n.low; i < n.high; ++i) {
          out = Matrices(node).Product(body, out);
          for (size_t k = 0; k < m.size; ++k) out.At(k, k) = pool_.Optional(out.At(k, k));
        }
      for (uint32_t i = 0; i < n.low; ++i) out = Matrices(node).Product(body, out);
      return out;
    }
    default:
      for (size_t q = 0; q < num_states_; ++q)
        for (size_t r = 0; r < rights; ++r) {
          bool holds;
          if (n.kind == RegexKind::kBoundary)
            holds = Holds(node, q) != s.states[r][s.index.at(SuffixLanguage(node, q))];
          else
            holds = IsPrefixAssertion(node) ? Holds(node, q) : s.states[r][s.index.at(SuffixLanguage(node, q))];
          if (holds != n.negated) m.At(q * rights + r, q * rights + r) = kEpsilonExpr;
        }
      return m;
  }
}

RegexContext::Turns& RegexContext::TurnsOf(uint32_t body, size_t most) {
  const auto [known, added] = turns_.try_emplace(body);
  Turns& turns = known->second;
  if (!turns.suffixes.empty()) return turns;
  Suffixes s;
  CollectSuffixes(body, &s);
  CloseSuffixes(body, most, &s);
  const size_t contexts = num_states_ * s.states.size();
  ContextMatrix turn = Transfer(body, s);
  turns.stays = Matrices(body).TakeEmpty(&turn);
  turns.contexts = Matrices(body).MergeAll(turn, StateOfContext(contexts));
  turns.turn = std::move(turn);
  for (const std::vector<bool>& state : s.states) {
    std::vector<Expr> parts{pool_.AnyBytes()};
    for (size_t i = 0; i < state.size(); ++i)
      parts.push_back(state[i] ? s.languages[i] : pool_.Complement(s.languages[i]));
    turns.suffixes.push_back(pool_.Intersect(std::move(parts)));
  }
  return turns;
}

// Null where there are too many contexts, or something is not told apart by them.
const RegexContext::Turns* RegexContext::TryTurnsOf(uint32_t body, size_t most) {
  if (without_turns_.count({body, most})) return nullptr;
  try {
    return &TurnsOf(body, most);
  } catch (const UnsupportedError&) {
  } catch (const LimitError&) {
  }
  without_turns_.insert({body, most});
  return nullptr;
}

std::vector<uint32_t> RegexContext::StateOfContext(size_t num_contexts) const {
  std::vector<uint32_t> states;
  for (size_t i = 0; i < num_contexts; ++i) states.push_back(static_cast<uint32_t>(i / (num_contexts / num_states_)));
  return states;
}

RegexContext::Vector RegexContext::AfterTurns(const MergedContexts& classes, const Vector& suffixes, const Vector& after) {
  const size_t rights = suffixes.size();
  std::vector<std::vector<size_t>> members(classes.group.size());
  for (size_t i = 0; i < classes.class_of.size(); ++i) members[classes.class_of[i]].push_back(i);
  Vector out;
  for (const std::vector<size_t>& contexts : members) {
    const Expr rest = after[contexts[0] / rights];
    std::vector<Expr> parts;
    for (const size_t i : contexts) parts.push_back(Meet(rest, suffixes[i % rights], kMostSpelled));
    out.push_back(contexts.size() == rights ? rest : pool_.Union(std::move(parts)));
  }
  return out;
}

RegexContext::Vector RegexContext::BeforeStar(uint32_t body, const Vector& after, Expr together) {
  Spend(body, kVisits);
  Turns& turns = TurnsOf(body, kMostContexts);
  const std::vector<uint32_t>& state = turns.contexts.group;
  if (!turns.star.size) turns.star = Matrices(body).Star(turns.contexts.between);
  const Vector last = AfterTurns(turns.contexts, turns.suffixes, after);
  std::vector<std::vector<Expr>> parts(num_states_);
  for (size_t c = 0; c < state.size(); ++c)
    for (size_t d = 0; d < state.size(); ++d)
      if (const Expr path = turns.star.At(c, d); path != kEmpty)
        parts[state[c]].push_back(pool_.Concat(pool_.Intersect(path, together), last[d]));
  Vector out;
  for (std::vector<Expr>& p : parts) out.push_back(pool_.Union(std::move(p)));
  return out;
}

bool RegexContext::BeforeTurns(uint32_t node, const Vector& after, Vector* out) {
  const RegexNode& n = Node(node);
  if (n.high <= 2) return false;  // two copies are simpler
  Spend(node, kVisits);
  const Turns* const found = TryTurnsOf(n.first, n.high <= kFewCopies ? kFewContexts : kMostContexts);
  if (!found) return false;
  const std::vector<bool>& stays = found->stays;
  const std::vector<uint32_t>& state = found->contexts.group;
  if (n.low > 1 && Any(stays) && !All(stays)) return BeforePaths(*found, n.low, n.high, after, out);
  const uint32_t low = All(stays) ? 0 : n.low;
  const size_t rights = found->suffixes.size(), size = state.size();
  std::vector<std::vector<Expr>> parts(num_states_);
  for (size_t q = 0; q < num_states_ && low == 0; ++q) parts[q].push_back(after[q]);
  for (size_t i = 0; i < stays.size() && low == 1; ++i)
    if (stays[i]) parts[i / rights].push_back(Meet(after[i / rights], found->suffixes[i % rights], kMostSpelled));
  Vector last = AfterTurns(found->contexts, found->suffixes, after);
  ContextMatrix turn = found->contexts.between;
  DropUseless(last, &turn);
  // Where turns can end in several classes, the last one, which tells them apart, is none of those that are counted.
  size_t ends = 0;
  Vector before_last(size);
  for (size_t d = 0; d < size; ++d) {
    bool reached = false;
    std::vector<Expr> texts;
    for (size_t c = 0; c < size; ++c) {
      reached = reached || turn.At(c, d) != kEmpty;
      texts.push_back(pool_.Concat(turn.At(d, c), last[c]));
    }
    ends += reached && last[d] != kEmpty;
    before_last[d] = pool_.Union(std::move(texts));
  }
  const uint32_t apart = ends > 1 ? 1 : 0;
  if (apart) last = std::move(before_last);
  ContextMatrix turns;
  const uint32_t high = n.high == kUnbounded ? kUnbounded : n.high - apart;
  if (!Matrices(node).Counted(turn, std::max(low, 1u) - apart, high, &turns))
    return !CopiesAreSimple(*found, low, n.high) && BeforePaths(*found, low, n.high, after, out);
  for (size_t c = 0; c < size; ++c)
    for (size_t d = 0; d < size; ++d) parts[state[c]].push_back(pool_.Concat(turns.At(c, d), last[d]));
  out->clear();
  for (std::vector<Expr>& p : parts) out->push_back(pool_.Union(std::move(p)));
  return true;
}

// Where a lookahead says what a turn is, what is left of it is one intersection with what follows, but the texts between
// contexts are many. Copies are told apart by few who is left; those of turns that may be empty are inside each other.
bool RegexContext::CopiesAreSimple(const Turns& turns, uint32_t low, uint32_t high) const {
  constexpr uint32_t kFewTurns = 3, kMostCopies = 200;
  return turns.suffixes.size() > 1 && !Any(turns.stays) && low <= kFewTurns && high <= kMostCopies;
}

// As paths through the graph of contexts, whichever way they lead.
bool RegexContext::BeforePaths(const Turns& turns, uint32_t low, uint32_t high, const Vector& after, Vector* out) {
  constexpr size_t kMostArcs = 10'000, kMostTurns = 10'000'000;  // those that have to be, of all contexts
  const size_t rights = turns.suffixes.size();
  std::vector<uint32_t> group = StateOfContext(turns.stays.size());
  MergedContexts apart;  // and by whether the empty text is a turn, where that saves turns that have to be
  if (low > 1) {
    for (size_t i = 0; i < group.size(); ++i) group[i] = group[i] * 2 + turns.stays[i];
    apart = ContextMatrices(&pool_, [] {}).MergeAll(turns.turn, group);
    for (uint32_t& g : apart.group) g /= 2;
  }
  const MergedContexts& contexts = low > 1 ? apart : turns.contexts;
  const size_t size = contexts.group.size();
  if (size * size > kMostArcs || low > kMostTurns / size) return false;
  const Vector last = AfterTurns(contexts, turns.suffixes, after);
  std::vector<PathState> graph(size);
  try {
    const auto none = [this](Expr e) { return e == kEmpty || pool_.IsEmpty(e); };
    const auto unusable = [this](Expr e) { return pool_.IsPushDown(e); };
    for (size_t c = 0; c < size; ++c) {
      graph[c].last = none(last[c]) ? kEmpty : last[c];
      if (unusable(last[c])) return false;
      for (size_t d = 0; d < size; ++d)
        if (const Expr texts = contexts.between.At(c, d); !none(texts)) graph[c].arcs.push_back({texts, static_cast<uint32_t>(d)});
    }
  } catch (const LimitError&) {  // it takes long to see whether something is left
    if (TimeLimit::IsOver()) throw;
    return false;
  }
  for (size_t i = 0; i < turns.stays.size() && low > 1; ++i) graph[contexts.class_of[i]].stays = turns.stays[i];
  const uint32_t first = pool_.AddGraph(std::move(graph));
  std::vector<std::vector<Expr>> parts(num_states_);
  for (size_t q = 0; q < num_states_ && low == 0; ++q) parts[q].push_back(after[q]);
  for (size_t i = 0; i < turns.stays.size() && low == 1; ++i)
    if (turns.stays[i]) parts[i / rights].push_back(Meet(after[i / rights], turns.suffixes[i % rights], kMostSpelled));
  for (uint32_t c = 0; c < size; ++c) parts[contexts.group[c]].push_back(pool_.Paths(first + c, std::max(low, 1u), high));
  out->clear();
  for (std::vector<Expr>& p : parts) out->push_back(pool_.Union(std::move(p)));
  return true;
}

// x·x{l,h}R = x{l+1,h+1}R.
Expr RegexContext::OnceMore(Expr x, Expr turns) {
  const Expr head = pool_.FirstPart(turns);
  if (x == kEmpty || pool_.Kind(head) != ExprKind::kRepeat || pool_.Body(head) != x) return pool_.Concat(x, turns);
  const uint32_t high = pool_.High(head);
  return pool_.Concat(pool_.Repeat(x, pool_.Low(head) + 1, high == kUnbounded ? high : high + 1), pool_.Rest(turns));
}

// The same for a repetition among the texts of a turn: the first of its turns leads to a class of contexts.
bool RegexContext::TransferTurns(uint32_t node, const ContextMatrix& body, ContextMatrix* out) {
  const RegexNode& n = Node(node);
  ContextMatrix turn = body, more;
  const std::vector<bool> stays = Matrices(node).TakeEmpty(&turn);
  if (n.low > 1 && Any(stays)) return false;
  const MergedContexts classes = Matrices(node).Merge(turn, StateOfContext(body.size));
  const uint32_t low = std::max(n.low, 1u) - 1, high = n.high == kUnbounded ? kUnbounded : n.high - 1;
  if (!Matrices(node).Counted(classes.between, low, high, &more)) return false;
  ContextMatrix first(body.size);  // from a context to a class
  for (size_t i = 0; i < body.size; ++i)
    for (size_t j = 0; j < body.size; ++j) first.At(i, classes.class_of[j]) = turn.At(i, j);
  *out = ContextMatrix(body.size);
  for (size_t i = 0; i < body.size; ++i)
    for (size_t j = 0; j < body.size; ++j) {
      std::vector<Expr> parts;
      for (size_t c = 0; c < classes.group.size(); ++c)
        parts.push_back(OnceMore(first.At(i, c), more.At(c, classes.class_of[j])));
      if (i == j && (n.low == 0 || stays[i])) parts.push_back(kEpsilonExpr);
      out->At(i, j) = pool_.Union(std::move(parts));
    }
  return true;
}

}  // namespace tokamata
