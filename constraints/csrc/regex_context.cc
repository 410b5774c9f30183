#include "constraints/csrc/regex_context.h"

#include <algorithm>
#include <string>
#include <utility>

#include "automata/csrc/bounded_parts.h"
#include "automata/csrc/errors.h"

namespace tokamata {
namespace {

constexpr int kFewSpelled = 64;     // steps until nothing is left to be intersected
constexpr uint32_t kMostCounted = 1u << 30;  // copies, so that some more are still a number
constexpr uint32_t kFewCopies = 8;  // of what is repeated; more of them are counted where that is possible

}  // namespace

// Recursion in this file follows the nesting of groups, which the parser limits.
RegexContext::RegexContext(RegexLowering* lowering)
    : lowering_(*lowering), pool_(lowering->pool()), size_at_start_(pool_.Size()) {}

Expr RegexContext::Lower(uint32_t root) {
  if (Expr made; LowerFromLeft(root, &made)) return made;
  BuildClasses(root);
  CollectPrefixes(root);
  BuildPrefixes();
  return Before(root, Vector(num_states_, kEpsilonExpr))[0];
}

// A concatenation in which nothing is asked but what came before a place, where that is more than a character and
// counted repetitions come before it: all that comes before is at hand as one language. False for all else.
bool RegexContext::LowerFromLeft(uint32_t root, Expr* made) {
  std::vector<uint32_t> parts;
  ListParts(root, &parts);
  bool unrolls = false, worthwhile = false;
  for (const uint32_t part : parts) {
    const RegexNode& n = Node(part);
    unrolls = unrolls || Unrolls(part);
    if (!lowering_.Asserts(part)) continue;
    if (!IsPrefixAssertion(part) || n.kind == RegexKind::kBoundary) return false;
    const RegexKind inside = n.kind == RegexKind::kLookbehind ? Node(n.first).kind : RegexKind::kEpsilon;
    worthwhile = worthwhile || (unrolls && (inside == RegexKind::kConcat || inside == RegexKind::kAlternate));
  }
  if (!worthwhile) return false;
  Expr before = kEpsilonExpr;
  for (const uint32_t part : parts) {
    if (!lowering_.Asserts(part)) {
      before = pool_.Concat(before, lowering_.Plain(part));
      continue;
    }
    const Expr language = PrefixLanguage(part);
    before = pool_.Intersect(before, Node(part).negated ? pool_.Complement(language) : language);
  }
  *made = before;
  return true;
}

void RegexContext::ListParts(uint32_t node, std::vector<uint32_t>* parts) const {
  const RegexNode& n = Node(node);
  const bool several = n.kind == RegexKind::kConcat || n.kind == RegexKind::kGroup;
  if (!several || !lowering_.Asserts(node)) return parts->push_back(node);
  for (uint32_t c = n.first; c; c = n.kind == RegexKind::kConcat ? Node(c).next : 0) ListParts(c, parts);
}

// Whether a node without assertions has a repetition of which there would be many copies.
bool RegexContext::Unrolls(uint32_t node) const {
  const RegexNode& n = Node(node);
  switch (n.kind) {
    case RegexKind::kRepeat: return (n.high == kUnbounded ? n.low : n.high) > kFewCopies || Unrolls(n.first);
    case RegexKind::kGroup: return Unrolls(n.first);
    case RegexKind::kConcat:
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = Node(c).next)
        if (Unrolls(c)) return true;
      return false;
    default: return false;
  }
}

bool RegexContext::IsPrefixAssertion(uint32_t node) const {
  const RegexKind kind = Node(node).kind;
  return kind == RegexKind::kStart || kind == RegexKind::kLineStart || kind == RegexKind::kLookbehind ||
         kind == RegexKind::kBoundary;
}

// ---------------------------------------------------------------------------------------------- classes

void RegexContext::CollectSets(uint32_t node, bool inside, std::vector<CodePointRanges>* sets) const {
  if (!inside && !lowering_.Asserts(node)) return;
  const RegexNode& n = Node(node);
  switch (n.kind) {
    case RegexKind::kCharacter:
      if (inside) sets->push_back({{n.first, n.first}});
      return;
    case RegexKind::kSet:
      if (inside) sets->push_back(lowering_.tree().sets[n.first]);
      return;
    case RegexKind::kBoundary:
    case RegexKind::kLineStart:
    case RegexKind::kLineEnd: sets->push_back(lowering_.tree().sets[n.first]); return;
    case RegexKind::kLastLine: sets->push_back({{'\n', '\n'}}); return;
    case RegexKind::kConcat:
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = Node(c).next) CollectSets(c, inside, sets);
      return;
    case RegexKind::kLookahead:
    case RegexKind::kLookbehind: CollectSets(n.first, true, sets); return;
    case RegexKind::kRepeat:
    case RegexKind::kGroup: CollectSets(n.first, inside, sets); return;
    default: return;
  }
}

// Characters that exactly the same sets contain form a class.
void RegexContext::BuildClasses(uint32_t root) {
  std::vector<CodePointRanges> sets;
  CollectSets(root, false, &sets);
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  classes_ = {lowering_.Alphabet()};
  for (const CodePointRanges& set : sets) {
    const CodePointRanges other = ComplementRanges(set);
    std::vector<CodePointRanges> split;
    for (const CodePointRanges& c : classes_) {
      CodePointRanges in = IntersectRanges(c, set), out = IntersectRanges(c, other);
      if (!in.empty()) split.push_back(std::move(in));
      if (!out.empty()) split.push_back(std::move(out));
    }
    classes_.swap(split);
    if (classes_.size() > lowering_.options().contexts)
      throw LimitError("regex: the limit pattern_contexts=" + std::to_string(lowering_.options().contexts) +
                       " (classes of characters that assertions tell apart) was reached: use fewer different "
                       "characters inside lookaround, or raise it with tokamata.regex(..., limits=tokamata.Limits(pattern_contexts=n))");
  }
}

const std::vector<CodePointRanges>& RegexContext::Pieces(uint32_t node) {
  const auto [it, added] = pieces_.try_emplace(node);
  if (added) {
    const RegexNode& n = Node(node);
    const CodePointRanges all =
        n.kind == RegexKind::kSet ? lowering_.tree().sets[n.first] : CodePointRanges{{n.first, n.first}};
    for (const CodePointRanges& c : classes_) it->second.push_back(IntersectRanges(all, c));
  }
  return it->second;
}

// By any character of a class: all give the same.
Expr RegexContext::Derivative(Expr e, size_t character_class) {
  std::vector<Expressions::Term> steps;
  for (char b : lowering_.Spell(classes_[character_class][0].first)) {
    pool_.Step(e, &steps);
    e = kEmpty;
    for (const Expressions::Term& t : steps)
      if (t.bytes.Has(static_cast<uint8_t>(b))) e = t.target;
    if (e == kEmpty) break;
  }
  return e;
}

// ---------------------------------------------------------------------------------------------- prefixes

void RegexContext::CollectPrefixes(uint32_t node) {
  if (!lowering_.Asserts(node)) return;
  const RegexNode& n = Node(node);
  if (IsPrefixAssertion(node)) {
    const Expr language = PrefixLanguage(node);
    size_t i = 0;
    while (i < prefix_languages_.size() && prefix_languages_[i] != language) ++i;
    if (i == prefix_languages_.size()) prefix_languages_.push_back(language);
    prefix_of_node_[node] = i;
    return;  // assertions inside a lookbehind are part of its language
  }
  switch (n.kind) {
    case RegexKind::kConcat:
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = Node(c).next) CollectPrefixes(c);
      return;
    case RegexKind::kLookahead:
    case RegexKind::kRepeat:
    case RegexKind::kGroup: CollectPrefixes(n.first); return;
    default: return;
  }
}

// The texts before a place where the assertion, without its negation, holds.
Expr RegexContext::PrefixLanguage(uint32_t node) {
  const RegexNode& n = Node(node);
  switch (n.kind) {
    case RegexKind::kStart: return kEpsilonExpr;
    case RegexKind::kLineStart: return pool_.Optional(pool_.Concat(lowering_.AnyPrefix(), Word(node)));
    case RegexKind::kBoundary: return pool_.Concat(lowering_.AnyPrefix(), Word(node));
    default: return ExtendPrefix(n.first, lowering_.AnyPrefix());
  }
}

// The texts up to the end of the node when those up to its start are `prefix`.
Expr RegexContext::ExtendPrefix(uint32_t node, Expr prefix) {
  Spend(node);
  if (!lowering_.Asserts(node)) return pool_.Concat(prefix, lowering_.Plain(node));
  const RegexNode& n = Node(node);
  switch (n.kind) {
    case RegexKind::kConcat:
      for (uint32_t c = n.first; c; c = Node(c).next) prefix = ExtendPrefix(c, prefix);
      return prefix;
    case RegexKind::kAlternate: {
      std::vector<Expr> parts;
      for (uint32_t c = n.first; c; c = Node(c).next) parts.push_back(ExtendPrefix(c, prefix));
      return pool_.Union(std::move(parts));
    }
    case RegexKind::kGroup: return ExtendPrefix(n.first, prefix);
    case RegexKind::kRepeat: {
      if (n.high == kUnbounded || n.high > lowering_.options().unrolled) break;
      for (uint32_t i = 0; i < n.low; ++i) prefix = ExtendPrefix(n.first, prefix);
      std::vector<Expr> parts{prefix};
      for (uint32_t i = n.low; i < n.high; ++i) parts.push_back(prefix = ExtendPrefix(n.first, prefix));
      return pool_.Union(std::move(parts));
    }
    case RegexKind::kStart:
    case RegexKind::kLineStart:
    case RegexKind::kLookbehind: {
      const Expr language = PrefixLanguage(node);
      return pool_.Intersect(prefix, n.negated ? pool_.Complement(language) : language);
    }
    default: break;
  }
  const char* const what = n.kind == RegexKind::kBoundary
                               ? "word boundary inside a lookbehind"
                               : "assertion about what follows, or repeated assertion, inside a lookbehind";
  lowering_.Unsupported(node, what, "move it out of the lookbehind");
}

// The product of the automata of all prefix languages, over character classes.
void RegexContext::BuildPrefixes() {
  std::map<std::vector<Expr>, uint32_t> known{{prefix_languages_, 0}};
  std::vector<std::vector<Expr>> states{prefix_languages_};
  for (size_t q = 0; q < states.size(); ++q) {
    if (states.size() > lowering_.options().contexts)
      throw LimitError("regex: the limit pattern_contexts=" + std::to_string(lowering_.options().contexts) +
                       " (states of what lookbehinds and anchors saw) was reached: use shorter or fewer lookbehinds, or "
                       "raise it with tokamata.regex(..., limits=tokamata.Limits(pattern_contexts=n))");
    holds_.emplace_back();
    for (Expr e : states[q]) holds_[q].push_back(pool_.Nullable(e));
    next_.emplace_back();
    for (size_t c = 0; c < classes_.size(); ++c) {
      std::vector<Expr> target;
      for (Expr e : states[q]) target.push_back(Derivative(e, c));
      const auto [it, added] = known.emplace(target, static_cast<uint32_t>(states.size()));
      if (added) states.push_back(target);
      next_[q].push_back(it->second);
    }
  }
  num_states_ = states.size();
}

bool RegexContext::Holds(uint32_t node, size_t q) const { return holds_[q][prefix_of_node_.at(node)]; }

// ---------------------------------------------------------------------------------------------- what follows

Expr RegexContext::SuffixLanguage(uint32_t node, size_t q) {
  const RegexNode& n = Node(node);
  switch (n.kind) {
    case RegexKind::kEnd: return kEpsilonExpr;
    case RegexKind::kLastLine: return pool_.Optional(lowering_.Character('\n'));
    case RegexKind::kLineEnd: return pool_.Optional(pool_.Concat(Word(node), pool_.AnyBytes()));
    case RegexKind::kBoundary: return pool_.Concat(Word(node), pool_.AnyBytes());
    default: {
      const auto known = suffix_languages_.find(node);
      if (known != suffix_languages_.end()) return known->second[q];
      return suffix_languages_.emplace(node, Before(n.first, Vector(num_states_, pool_.AnyBytes()))).first->second[q];
    }
  }
}

Expr RegexContext::NoWord(uint32_t node) {
  const auto [known, added] = no_words_.emplace(Node(node).first, kEmpty);
  if (added) {
    const CodePointRanges others = ComplementRanges(lowering_.tree().sets[known->first]);
    known->second = lowering_.Characters(IntersectRanges(lowering_.Alphabet(), others));
  }
  return known->second;
}

RegexContext::Vector RegexContext::SuffixLanguages(uint32_t node) {
  Vector languages;
  for (size_t q = 0; q < num_states_; ++q) languages.push_back(SuffixLanguage(node, q));
  return languages;
}

RegexContext::Vector RegexContext::TextsInto(uint32_t node) {
  ContextMatrix steps(num_states_);
  for (size_t q = 0; q < num_states_; ++q) {
    std::map<uint32_t, CodePointRanges> to;
    for (size_t c = 0; c < classes_.size(); ++c) {
      CodePointRanges& ranges = to[next_[q][c]];
      ranges.insert(ranges.end(), classes_[c].begin(), classes_[c].end());
    }
    for (const auto& [target, ranges] : to) steps.At(q, target) = lowering_.Characters(ranges);
  }
  const ContextMatrix paths = Matrices(node).Star(std::move(steps));
  return Vector(paths.cells.begin(), paths.cells.begin() + static_cast<ptrdiff_t>(num_states_));
}

// What may follow a place in state q where the assertion holds.
Expr RegexContext::Filter(uint32_t node, size_t q, Expr after) {
  if (after == kEmpty) return kEmpty;
  const RegexNode& n = Node(node);
  // At a boundary exactly one of the two sides is a word character.
  if (n.kind == RegexKind::kBoundary) return BeforeSide(node, n.negated == Holds(node, q), after);
  if (IsPrefixAssertion(node)) return Holds(node, q) != n.negated ? after : kEmpty;
  const Expr language = SuffixLanguage(node, q);
  return pool_.Intersect(after, n.negated ? pool_.Complement(language) : language);
}

// Those texts that begin with a character of a boundary's set, or do not.
Expr RegexContext::BeforeSide(uint32_t node, bool word, Expr after) {
  constexpr size_t kMostSteps = 100;
  const Expr any = pool_.AnyBytes(), words = pool_.Concat(Word(node), any), others = pool_.Concat(NoWord(node), any);
  const auto never = [&](Expr side) { return pool_.IsSurelyEmpty(pool_.Intersect(after, side), kMostSteps); };
  if (word ? !pool_.Nullable(after) && never(others) : never(words)) return after;
  // No complement: whole characters are others, and steps of that are shorter.
  return pool_.Intersect(after, word ? words : pool_.Optional(others));
}

RegexContext::Vector RegexContext::Before(uint32_t node, const Vector& after) {
  Spend(node);
  const RegexNode& n = Node(node);
  Vector out(num_states_, kEmpty);
  const bool same = std::all_of(after.begin(), after.end(), [&](Expr e) { return e == after[0]; });
  if (!lowering_.Asserts(node) && same) return Vector(num_states_, pool_.Concat(lowering_.Plain(node), after[0]));
  switch (n.kind) {
    case RegexKind::kEpsilon: return after;
    case RegexKind::kNone: return out;
    case RegexKind::kCharacter:
    case RegexKind::kSet: {
      const std::vector<CodePointRanges>& pieces = Pieces(node);
      for (size_t q = 0; q < num_states_; ++q) {
        std::map<Expr, CodePointRanges> targets;
        for (size_t c = 0; c < classes_.size(); ++c) {
          CodePointRanges& ranges = targets[after[next_[q][c]]];
          ranges.insert(ranges.end(), pieces[c].begin(), pieces[c].end());
        }
        std::vector<Expr> parts;
        for (const auto& [target, ranges] : targets)
          if (!ranges.empty()) parts.push_back(pool_.Concat(lowering_.Characters(ranges), target));
        out[q] = pool_.Union(std::move(parts));
      }
      return out;
    }
    case RegexKind::kConcat: {
      std::vector<uint32_t> children;
      for (uint32_t c = n.first; c; c = Node(c).next) children.push_back(c);
      Vector v = after;
      for (size_t i = children.size(); i-- > 0;) v = Before(children[i], v);
      return v;
    }
    case RegexKind::kAlternate: {
      std::vector<std::vector<Expr>> parts(num_states_);
      for (uint32_t c = n.first; c; c = Node(c).next) {
        const Vector v = Before(c, after);
        for (size_t q = 0; q < num_states_; ++q) parts[q].push_back(v[q]);
      }
      for (size_t q = 0; q < num_states_; ++q) out[q] = pool_.Union(std::move(parts[q]));
      return out;
    }
    case RegexKind::kGroup: return Before(n.first, after);
    case RegexKind::kLanguage: LooksInto(node);
    case RegexKind::kRepeat: return BeforeRepeat(node, after);
    default:
      for (size_t q = 0; q < num_states_; ++q) out[q] = Filter(node, q, after[q]);
      return out;
  }
}

bool RegexContext::IsStar(uint32_t node) const {
  while (Node(node).kind == RegexKind::kGroup) node = Node(node).first;
  const RegexNode& n = Node(node);
  return n.kind == RegexKind::kRepeat && n.high > 0 && ((n.low == 0 && n.high == kUnbounded) || IsStar(n.first));
}

RegexContext::Vector RegexContext::BeforeRepeat(uint32_t node, const Vector& after) {
  const RegexNode& n = Node(node);
  const RegexKind body = Node(n.first).kind;
  if (n.high == 0) return after;
  if (IsStar(n.first)) return Before(n.first, after);  // once more adds nothing
  // Characters of a set, where the last one alone decides the state.
  if (body == RegexKind::kCharacter || body == RegexKind::kSet) {
    bool last_decides = true;
    for (size_t q = 1; q < num_states_; ++q) last_decides = last_decides && next_[q] == next_[0];
    if (last_decides) {
      const Expr loop = pool_.Repeat(lowering_.Plain(n.first), n.low ? n.low - 1 : 0,
                                     n.high == kUnbounded ? kUnbounded : n.high - 1);
      const Expr some = pool_.Concat(loop, Before(n.first, after)[0]);
      Vector out(num_states_, some);
      if (n.low == 0)
        for (size_t q = 0; q < num_states_; ++q) out[q] = pool_.Union(some, after[q]);
      return out;
    }
  }
  const uint32_t copies = n.high == kUnbounded ? n.low : n.high;
  if (Vector all; BeforeCharacters(node, after, &all) || BeforeTurns(node, after, &all)) return all;
  if (copies > lowering_.options().unrolled)
    lowering_.Unsupported(node, "large bounded repetition that a lookaround or anchor looks into",
                          "use a smaller bound, or no upper bound");
  Vector v = after;
  if (n.high == kUnbounded) {
    v = BeforeStar(n.first, after, pool_.AnyBytes());
  } else {
    const auto states = static_cast<uint32_t>(num_states_);
    const uint32_t series = pool_.NewSeries(2 * num_states_);  // by state; of turns, and of these or none
    for (uint32_t i = n.low; i < n.high; ++i) {
      const Vector more = Before(n.first, v);
      for (uint32_t q = 0; q < states; ++q) {
        v[q] = pool_.Union(after[q], more[q]);
        pool_.Rank(more[q], series + q, 0, i - n.low + 1);
        pool_.Rank(v[q], series + states + q, 0, i - n.low + 1);
      }
    }
  }
  for (uint32_t i = 0; i < n.low; ++i) v = Before(n.first, v);
  return v;
}

int64_t RegexContext::NumCharacters(const Vector& languages) {
  constexpr int64_t kMost = 1000;
  int64_t all = -1;
  for (const Expr e : languages) {
    if (e == kEmpty) continue;
    const int64_t one = e == kEpsilonExpr ? 0 : lowering_.SpellsPlainly() ? pool_.Parts().NumCharacters(&pool_, e) : -1;
    if (one < 0 || one > kMost || (all >= 0 && one != all)) return -1;
    all = one;
  }
  return all;
}

bool RegexContext::BeforeCharacters(uint32_t node, const Vector& after, Vector* out) {
  const RegexNode& n = Node(node);
  const uint32_t copies = n.high == kUnbounded ? n.low : n.high;
  if (n.high != kUnbounded && (copies <= kFewCopies || copies > kMostCounted)) return false;
  CodePointRanges characters;
  if (!lowering_.ReadsOneCharacter(n.first, &characters)) return false;
  const Expr one = lowering_.Characters(characters);
  return BeforeOneSplit(node, one, after, out) || (copies > kFewCopies && BeforeCounted(node, one, after, out));
}

// Where it can be said of a text which of its characters are the repetition's: those before what is always of k characters,
// or those before the first other one. Then a text that no place in there speaks against is a member.
bool RegexContext::BeforeOneSplit(uint32_t node, Expr one, const Vector& after, Vector* out) {
  const RegexNode& n = Node(node);
  if (num_states_ > 1) return false;  // what a place says depends on what came before
  const bool apart = !pool_.First(after[0]).Intersects(pool_.First(one));
  const int64_t k = apart ? 0 : NumCharacters(after);
  if (k < 0) return false;
  std::vector<Expr> refused;
  ListRefused(n.first, kEpsilonExpr, one, &refused);
  for (Expr& e : refused) {
    e = SpelledOut(Meet(e, pool_.Concat(one, pool_.AnyBytes()), kMostSpelled));
    if (apart) continue;
    const Expr character = lowering_.Characters(lowering_.Alphabet());
    e = Meet(e, pool_.Repeat(character, static_cast<uint32_t>(k) + 1, kUnbounded), kMostSpelled);
  }
  const Expr against = pool_.Concat(apart ? pool_.Star(one) : pool_.AnyBytes(), pool_.Union(std::move(refused)));
  const Expr turns = pool_.Repeat(one, n.low, n.high), allowed = pool_.Complement(against);
  if (apart && RefusesWithin(n.first, one)) {
    out->assign(1, pool_.Concat(pool_.Intersect(turns, allowed), after[0]));
  } else if (apart) {
    out->assign(1, pool_.Intersect(pool_.Concat(turns, after[0]), allowed));
  } else {  // texts are counted, which is simpler
    const uint32_t more = static_cast<uint32_t>(k), few = n.low > kFewCopies ? 0 : n.low;
    const uint32_t low = few == n.low ? 0 : n.low + more, high = n.high == kUnbounded ? kUnbounded : n.high + more;
    const bool counts = low > 0 || high != kUnbounded;
    const Expr counted = pool_.Repeat(lowering_.Characters(lowering_.Alphabet()), low, high);
    const Expr all = pool_.Concat(pool_.Repeat(one, few, kUnbounded), after[0]);
    out->assign(1, pool_.Intersect({all, allowed, counts ? counted : pool_.AnyBytes()}));
  }
  return true;
}

// Whether what the assertions of a turn refuse is made of its characters, so that the repetition has it as a whole.
bool RegexContext::RefusesWithin(uint32_t node, Expr one) {
  const RegexNode& n = Node(node);
  switch (n.kind) {
    case RegexKind::kEpsilon:
    case RegexKind::kCharacter:
    case RegexKind::kSet: return true;
    case RegexKind::kGroup: return RefusesWithin(n.first, one);
    case RegexKind::kConcat:
      for (uint32_t c = n.first; c; c = Node(c).next)
        if (!RefusesWithin(c, one)) return false;
      return true;
    case RegexKind::kLookahead:
      return n.negated && !lowering_.Asserts(n.first) && pool_.Covers(pool_.Star(one), lowering_.Plain(n.first));
    default: return false;
  }
}

// The texts after a place where a turn begins, whose character is one of `one`, that its assertions refuse: `before` and
// what they refuse behind that.
void RegexContext::ListRefused(uint32_t node, Expr before, Expr one, std::vector<Expr>* refused) {
  const RegexNode& n = Node(node);
  const auto refuse = [&](Expr e) { refused->push_back(pool_.Concat(before, e)); };
  switch (n.kind) {
    case RegexKind::kEpsilon:
    case RegexKind::kCharacter:
    case RegexKind::kSet: return;
    case RegexKind::kGroup: return ListRefused(n.first, before, one, refused);
    case RegexKind::kConcat:
      for (uint32_t c = n.first; c; c = Node(c).next) {
        ListRefused(c, before, one, refused);
        if (!IsZeroWidth(lowering_.tree(), c)) before = pool_.Concat(before, one);
      }
      return;
    case RegexKind::kLookahead: {
      const Expr language = SuffixLanguage(node, 0);
      return refuse(n.negated ? language : pool_.Complement(language));
    }
    default: return refuse(pool_.Complement(Before(node, Vector(1, pool_.AnyBytes()))[0]));
  }
}

// The turns of the repetition have so many characters, and so do the texts, and k more, where what follows is always of k:
// that counts one text instead of several.
bool RegexContext::BeforeCounted(uint32_t node, Expr one, const Vector& after, Vector* out) {
  const RegexNode& n = Node(node);
  const auto counted = [&](Expr body, uint32_t more) {
    return pool_.Repeat(body, n.low + more, n.high == kUnbounded ? kUnbounded : n.high + more);
  };
  const int64_t more = NumCharacters(after);
  try {
    if (more <= 0) {
      *out = BeforeStar(n.first, after, counted(one, 0));
    } else {
      *out = BeforeStar(n.first, after, pool_.AnyBytes());
      const Expr count = counted(lowering_.Characters(lowering_.Alphabet()), static_cast<uint32_t>(more));
      for (Expr& e : *out) e = pool_.Intersect(e, count);
    }
  } catch (const UnsupportedError&) {  // too many contexts for a star
    return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------- limits, and simpler languages

void RegexContext::TooManyContexts(uint32_t node) const {
  lowering_.Unsupported(node, "repetition with lookaround or anchors that needs too many contexts",
                        "shorten what is looked for, or bound the repetition");
}

void RegexContext::LooksInto(uint32_t node) const {
  lowering_.Unsupported(node, "named group that an assertion beside it looks into",
                        "take the assertion out, or say in other words what stands beside the group");
}

void RegexContext::CheckGrowth(uint32_t node) const {
  constexpr size_t kMostExpressions = 300'000;  // the star of a matrix may cost more than its third power
  if (pool_.Size() - size_at_start_ > kMostExpressions) TooManyContexts(node);
}

void RegexContext::Spend(uint32_t node, size_t visits) {
  constexpr size_t kMostVisits = 2'000'000;
  spent_ += visits * num_states_;
  if (spent_ > kMostVisits + 4 * lowering_.tree().nodes.size())
    lowering_.Unsupported(node, "repetitions that a lookaround or anchor looks into, with too many copies in all",
                          "use smaller bounds, or no upper bounds");
}

// Their intersection; where the one is bytes after each other it is spelled out, which leaves nothing to intersect later.
Expr RegexContext::Meet(Expr bytes, Expr e, int most) {
  if (bytes == kEpsilonExpr) return pool_.Nullable(e) ? kEpsilonExpr : kEmpty;
  const Expr head = pool_.FirstPart(bytes), rest = pool_.Rest(bytes);
  if (most <= 0 || pool_.Kind(head) != ExprKind::kBytes) return pool_.Intersect(bytes, e);
  std::vector<Expressions::Term> steps;
  pool_.Step(e, &steps);
  const ByteSet set = pool_.First(head);
  const int most_each = (most - 1) / std::max(static_cast<int>(steps.size()), 1);
  std::vector<Expr> parts;
  for (const Expressions::Term& t : steps) {
    if (!set.Intersects(t.bytes)) continue;
    parts.push_back(pool_.Concat(pool_.Bytes(set & t.bytes), Meet(rest, t.target, most_each)));
  }
  return pool_.Union(std::move(parts));
}

// The same language, without intersections and complements where those end after a few bytes: of `~(a.*|-a.*)&[a-].*`,
// `-` and what does not begin with `a`.
Expr RegexContext::SpelledOut(Expr e) {
  int left = kFewSpelled;
  const Expr spelled = SpelledOut(e, &left);
  return left < 0 ? e : spelled;
}

Expr RegexContext::SpelledOut(Expr e, int* left) {
  if (!pool_.MayBeEmpty(e) || *left < 0) return e;
  std::vector<Expressions::Term> steps;
  pool_.Step(e, &steps);
  *left -= static_cast<int>(steps.size()) + 1;
  std::vector<Expr> parts;
  if (pool_.Nullable(e)) parts.push_back(kEpsilonExpr);
  for (const Expressions::Term& t : steps)
    if (t.target != kEmpty) parts.push_back(pool_.Concat(pool_.Bytes(t.bytes), SpelledOut(t.target, left)));
  return pool_.Union(std::move(parts));
}

}  // namespace tokamata
