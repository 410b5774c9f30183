#include "constraints/csrc/regex.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/utf8.h"
#include "constraints/csrc/regex_context.h"
#include "constraints/csrc/unicode.h"

namespace tokamata {
namespace {

constexpr Expr kNotLowered = 0xffffffff;

bool IsSurrogate(uint32_t c) { return c >= 0xD800 && c < 0xE000; }

}  // namespace

Expr CompileRegex(Expressions* pool, std::string_view pattern, const RegexOptions& options,
                  CharacterSpelling* spelling) {
  RegexTree tree = ParseRegex(pattern, options);
  if (options.search) {
    SpellWords(&tree);
    SearchRegex(&tree);
  }
  return RegexLowering(pool, &tree, options, spelling).Lower();
}

Expr CompileRegex(Expressions* pool, std::string_view pattern, RegexSyntax syntax) {
  RegexOptions options;
  options.syntax = syntax;
  return CompileRegex(pool, pattern, options);
}

// Recursion in this file follows the nesting of groups, which the parser limits.
RegexLowering::RegexLowering(Expressions* pool, RegexTree* tree, const RegexOptions& options,
                             CharacterSpelling* spelling)
    : pool_(*pool), tree_(*tree), options_(options), spelling_(spelling), sets_(tree->sets.size(), kNotLowered) {}

Expr RegexLowering::Lower() {
  if (!RemoveAnchors()) return Plain(tree_.root);
  for (uint32_t n = 1; n < tree_.nodes.size(); ++n) DropCounts(n, n);
  Expr made;
  if (!spelling_ && LowerTempered(tree_.root, kEpsilonExpr, &made)) return made;
  PullLookahead(tree_.root, kEpsilonExpr);
  asserts_.assign(tree_.nodes.size(), 0);
  FindAsserts(tree_.root);
  return RegexContext(this).Lower(tree_.root);
}

bool RegexLowering::RemoveAnchors() {
  asserts_.assign(tree_.nodes.size(), 0);
  if (!FindAsserts(tree_.root)) return false;
  SpellWords(&tree_);
  asserts_.assign(tree_.nodes.size(), 0);
  FindAsserts(tree_.root);
  FoldForbidden(&tree_);
  SettleBoundaries(&tree_, options_.syntax != RegexSyntax::kPython || EmptyHasNonBoundary());
  FoldLookaround(&tree_);
  asserts_.assign(tree_.nodes.size(), 0);
  FindAsserts(tree_.root);
  SpecifyNonBoundaries();
  RemoveAtomic(tree_.root);
  SettleBoundaries(&tree_, true);
  DropStart(tree_.root);
  DropEnd(tree_.root);
  asserts_.assign(tree_.nodes.size(), 0);
  return FindAsserts(tree_.root);
}

// (x{1,9}|y)* = (x|y)*, and (x?|y)+ = (x|y)*: counts inside of a loop, which assertions would multiply with what they saw.
void RegexLowering::DropCounts(uint32_t loop, uint32_t n) {
  RegexNode& node = tree_.nodes[n];
  const auto repeats = [&node] { return node.kind == RegexKind::kRepeat && node.low <= 1 && node.high > 0; };
  if (n == loop && !(repeats() && node.high == kUnbounded)) return;
  if (n != loop && repeats()) {
    if (node.low == 0) tree_.nodes[loop].low = 0;
    node.low = node.high = 1;
  }
  if (node.kind != RegexKind::kRepeat && node.kind != RegexKind::kGroup && node.kind != RegexKind::kAlternate) return;
  if (node.kind == RegexKind::kRepeat && n != loop && node.high != 1) return;
  const bool several = node.kind == RegexKind::kAlternate;
  for (uint32_t child = node.first; child; child = several ? tree_.nodes[child].next : 0) DropCounts(loop, child);
}

// In Pythons whose \B does not match in the empty text it is \B(?!\A\Z).
void RegexLowering::SpecifyNonBoundaries() {
  if (options_.syntax != RegexSyntax::kPython || EmptyHasNonBoundary()) return;
  const uint32_t size = static_cast<uint32_t>(tree_.nodes.size());
  for (uint32_t node = 0; node < size; ++node) {
    const RegexNode n = tree_.nodes[node];
    if (n.kind != RegexKind::kBoundary || !n.negated) continue;
    const uint32_t start = Add(RegexKind::kStart, n.position);
    tree_.nodes[start].next = Add(RegexKind::kEnd, n.position);
    const uint32_t not_empty = Add(RegexKind::kLookahead, n.position, Add(RegexKind::kConcat, n.position, start));
    const uint32_t boundary = Add(RegexKind::kBoundary, n.position, n.first);
    tree_.nodes[not_empty].negated = tree_.nodes[boundary].negated = true;
    tree_.nodes[boundary].next = not_empty;
    Become(node, RegexKind::kConcat, boundary);
  }
  asserts_.assign(tree_.nodes.size(), 0);
  FindAsserts(tree_.root);
}

// Atomic groups and possessive quantifiers count until RemoveAtomic has rewritten them.
bool RegexLowering::FindAsserts(uint32_t node) {
  const RegexNode& n = tree_.nodes[node];
  bool found = false;
  switch (n.kind) {
    case RegexKind::kEpsilon:
    case RegexKind::kNone:
    case RegexKind::kCharacter:
    case RegexKind::kSet:
    case RegexKind::kLanguage:
    case RegexKind::kWords: return false;
    case RegexKind::kConcat:
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) found = FindAsserts(c) || found;
      break;
    case RegexKind::kRepeat:
    case RegexKind::kGroup: found = FindAsserts(n.first); break;
    case RegexKind::kAtomic:
    case RegexKind::kPossessive:
    case RegexKind::kLookahead:
    case RegexKind::kLookbehind:
      FindAsserts(n.first);
      found = true;
      break;
    default: found = true;
  }
  asserts_[node] = found;
  return found;
}

// ---------------------------------------------------------------------------------------------- without assertions

Expr RegexLowering::Character(uint32_t c) {
  if (IsSurrogate(c)) return kEmpty;
  if (spelling_) return spelling_->Character(c);
  std::string text;
  AppendUtf8(c, &text);
  return pool_.Literal(text);
}

Expr RegexLowering::Characters(const CodePointRanges& ranges) {
  return spelling_ ? spelling_->Characters(ranges) : pool_.Characters(ranges);
}

const CodePointRanges& RegexLowering::Alphabet() const {
  static const CodePointRanges all{{0, 0xD7FF}, {0xE000, 0x10FFFF}};
  return spelling_ ? spelling_->Alphabet() : all;
}

std::string RegexLowering::Spell(uint32_t c) const {
  if (spelling_) return spelling_->Spell(c);
  std::string text;
  AppendUtf8(c, &text);
  return text;
}

Expr RegexLowering::Set(uint32_t set) {
  if (set >= sets_.size()) sets_.resize(tree_.sets.size(), kNotLowered);
  if (sets_[set] != kNotLowered) return sets_[set];
  const CodePointRanges& ranges = tree_.sets[set];
  if (spelling_) return sets_[set] = spelling_->Characters(ranges);
  if (!ranges.empty() && ranges.back().second < 0x80) {
    ByteSet bytes;
    for (const auto& [low, high] : ranges)
      bytes = bytes | ByteSet::Range(static_cast<int>(low), static_cast<int>(high));
    return sets_[set] = pool_.Bytes(bytes);
  }
  return sets_[set] = pool_.Characters(ranges);
}

// Appends the text of a node that matches exactly one.
bool RegexLowering::AppendLiteral(uint32_t node, std::string* out) const {
  const RegexNode& n = tree_.nodes[node];
  if (n.kind == RegexKind::kEpsilon) return true;
  if (n.kind == RegexKind::kCharacter && !IsSurrogate(n.first)) {
    AppendUtf8(n.first, out);
    return true;
  }
  if (n.kind != RegexKind::kConcat) return false;
  for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
    const RegexNode& x = tree_.nodes[c];
    if (x.kind != RegexKind::kCharacter || IsSurrogate(x.first)) return false;
    AppendUtf8(x.first, out);
  }
  return true;
}

bool RegexLowering::ReadsOneCharacter(uint32_t node, CodePointRanges* characters) const {
  const RegexNode& n = tree_.nodes[node];
  switch (n.kind) {
    case RegexKind::kGroup: return ReadsOneCharacter(n.first, characters);
    case RegexKind::kCharacter: characters->emplace_back(n.first, n.first); return true;
    case RegexKind::kSet: {
      const CodePointRanges& set = tree_.sets[n.first];
      characters->insert(characters->end(), set.begin(), set.end());
      return true;
    }
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next)
        if (!ReadsOneCharacter(c, characters)) return false;
      return true;
    case RegexKind::kConcat: {
      int read = 0;
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
        if (IsZeroWidth(tree_, c)) continue;
        if (++read > 1 || !ReadsOneCharacter(c, characters)) return false;
      }
      return read == 1;
    }
    default: return false;
  }
}

Expr RegexLowering::Words(const RegexNode& words) {
  std::string bytes;  // of all of them
  bytes.reserve(words.high * size_t{4});
  std::vector<std::string_view> texts;
  ForEachWord(tree_, words, [&](uint32_t begin, uint32_t end) {
    const size_t at = bytes.size();
    for (uint32_t i = begin; i < end; ++i) {
      const uint32_t c = tree_.text[i];
      if (IsSurrogate(c)) return;
      if (c < 0x80)
        bytes.push_back(static_cast<char>(c));
      else
        AppendUtf8(c, &bytes);
    }
    texts.push_back(std::string_view(bytes).substr(at));
  });
  if (spelling_) return spelling_->Choice(std::vector<std::string>(texts.begin(), texts.end()));
  return pool_.Choice(std::make_shared<const TextList>(texts));
}

// A few turns of (?:.*[A-Z]){2} are written one after another: what is searched for shows then.
Expr RegexLowering::Turns(Expr body, uint32_t low, uint32_t high) {
  constexpr uint32_t kFewTurns = 8;
  const Expr free = pool_.FirstPart(body), set = pool_.Rest(body);
  const bool searches = set != kEpsilonExpr && pool_.Kind(set) != ExprKind::kConcat &&
                        pool_.Kind(free) == ExprKind::kRepeat && pool_.Low(free) == 0 && pool_.High(free) == kUnbounded;
  if (!searches || low > kFewTurns || (high != low && high != kUnbounded)) return pool_.Repeat(body, low, high);
  std::vector<Expr> turns(low, body);
  if (high == kUnbounded) turns.push_back(pool_.Star(body));
  return pool_.Concat(turns);
}

Expr RegexLowering::Plain(uint32_t node) {
  const RegexNode& n = tree_.nodes[node];
  switch (n.kind) {
    case RegexKind::kEpsilon: return kEpsilonExpr;
    case RegexKind::kNone: return kEmpty;
    case RegexKind::kCharacter: return Character(n.first);
    case RegexKind::kSet: return Set(n.first);
    case RegexKind::kConcat: {
      std::vector<Expr> parts;
      parts.reserve(16);
      Expr body = kEmpty;  // of the repetition that parts ends with: x{a,b}x{c,d} is x{a+c,b+d}
      uint32_t low = 0, high = 0;
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
        const RegexNode x = tree_.nodes[c];
        if (x.kind == RegexKind::kCharacter && !spelling_ && !IsSurrogate(x.first)) {
          std::string text;
          AppendUtf8(x.first, &text);
          for (char b : text) parts.push_back(pool_.Byte(static_cast<uint8_t>(b)));
          body = kEmpty;
          continue;
        }
        if (x.kind != RegexKind::kRepeat) {
          parts.push_back(Plain(c));
          body = kEmpty;
          continue;
        }
        const Expr repeated = Plain(x.first);
        const bool joins = repeated == body && body != kEmpty && uint64_t{low} + x.low < kUnbounded &&
                           (high == kUnbounded || x.high == kUnbounded || uint64_t{high} + x.high < kUnbounded);
        if (joins) parts.pop_back();
        low = joins ? low + x.low : x.low;
        high = joins ? (high == kUnbounded || x.high == kUnbounded ? kUnbounded : high + x.high) : x.high;
        body = repeated;
        parts.push_back(Turns(body, low, high));
      }
      return pool_.Concat(parts);
    }
    case RegexKind::kAlternate: {
      std::vector<Expr> parts;
      std::vector<std::string> texts;
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
        std::string text;
        if (AppendLiteral(c, &text))
          texts.push_back(std::move(text));
        else
          parts.push_back(Plain(c));
      }
      if (!texts.empty())
        parts.push_back(spelling_ ? spelling_->Choice(std::move(texts)) : pool_.Choice(texts));
      return pool_.Union(std::move(parts));
    }
    case RegexKind::kWords: return Words(n);
    case RegexKind::kRepeat: return Turns(Plain(n.first), n.low, n.high);
    case RegexKind::kGroup: return Plain(n.first);
    case RegexKind::kLanguage: return options_.languages.at(n.first);
    default: Unsupported(node, "assertion", "move it out of the group");
  }
}

// ---------------------------------------------------------------------------------------------- atomic groups

uint32_t RegexLowering::Add(RegexKind kind, uint32_t position, uint32_t first) {
  asserts_.push_back(0);
  return tree_.Add(kind, position, first);
}

// Another meaning for a node, in its place among its siblings.
void RegexLowering::Become(uint32_t node, RegexKind kind, uint32_t first) {
  RegexNode& n = tree_.nodes[node];
  n.kind = kind;
  n.first = first;
  n.negated = false;
  n.low = n.high = 0;
}

// No member is a proper prefix of another, so a match that starts at a place can end at one place only.
bool RegexLowering::IsPrefixFree(uint32_t node) {
  if (Asserts(node)) return false;
  const RegexKind kind = tree_.nodes[node].kind;
  if (kind == RegexKind::kCharacter || kind == RegexKind::kSet || kind == RegexKind::kEpsilon) return true;
  const Expr x = Plain(node);
  if (x == kEpsilonExpr) return true;
  if (pool_.Nullable(x)) return false;
  const Expr longer = pool_.Concat(x, pool_.Repeat(pool_.Bytes(ByteSet::All()), 1, kUnbounded));
  return pool_.IsEmpty(pool_.Intersect(x, longer));
}

// x{m,}+ is x{m,}(?!x), and x{m,n}+ is x{n} | x{m,n-1}(?!x), where x is prefix-free: every iteration can end at one
// place only, so that the greedy choice is the number of iterations.
bool RegexLowering::ToPossessive(uint32_t node, uint32_t body, uint32_t low, uint32_t high) {
  if (!IsPrefixFree(body)) return false;
  const uint32_t position = tree_.nodes[node].position;
  if (low == high || Plain(body) == kEpsilonExpr) {  // nothing to choose
    Become(node, RegexKind::kRepeat, body);
    tree_.nodes[node].low = low;
    tree_.nodes[node].high = high;
    return true;
  }
  const uint32_t most = Add(RegexKind::kRepeat, position, body);
  tree_.nodes[most].low = low;
  tree_.nodes[most].high = high == kUnbounded ? kUnbounded : high - 1;
  const uint32_t stop = Add(RegexKind::kLookahead, position, body);
  tree_.nodes[stop].negated = true;
  tree_.nodes[most].next = stop;
  if (high == kUnbounded) {
    Become(node, RegexKind::kConcat, most);
    return true;
  }
  const uint32_t all = Add(RegexKind::kRepeat, position, body);
  tree_.nodes[all].low = tree_.nodes[all].high = high;
  tree_.nodes[all].next = Add(RegexKind::kConcat, position, most);
  Become(node, RegexKind::kAlternate, all);
  return true;
}

// Rewrites a node to mean its content (which nothing else refers to) matched atomically.
void RegexLowering::LowerAtomic(uint32_t node, uint32_t content) {
  static const char* kWhat = "atomic group or possessive quantifier";
  static const char* kRemedy = "its language depends on the order of tries; use a plain group, or repeat something of "
                               "which no match begins another";
  while (tree_.nodes[content].kind == RegexKind::kGroup)
    content = tree_.nodes[content].first;
  const RegexNode inner = tree_.nodes[content];
  if (inner.kind == RegexKind::kPossessive || (inner.kind == RegexKind::kRepeat && !inner.negated)) {
    if (ToPossessive(node, inner.first, inner.low, inner.high)) return;
  } else if (inner.kind == RegexKind::kConcat) {
    // (?>PR) is P(?>R) where P is prefix-free.
    uint32_t before = 0, c = inner.first;
    while (tree_.nodes[c].next && IsPrefixFree(c)) c = tree_.nodes[before = c].next;
    if (before) {
      const uint32_t tail = tree_.nodes[c].next ? Add(RegexKind::kConcat, inner.position, c) : c;
      FindAsserts(tail);
      const uint32_t atomic = Add(RegexKind::kAtomic, inner.position);
      LowerAtomic(atomic, tail);
      tree_.nodes[before].next = atomic;
      Become(node, RegexKind::kConcat, inner.first);
      return;
    }
  } else if (inner.kind == RegexKind::kAlternate) {
    // (?>A|B) is (?>A) | (?!A)(?>B).
    constexpr size_t kMostBranches = 100;  // they cost their square
    bool plain = true;
    std::vector<uint32_t> branches;
    for (uint32_t c = inner.first; c; c = tree_.nodes[c].next) {
      plain = plain && !Asserts(c);
      branches.push_back(c);
    }
    if (plain && branches.size() <= kMostBranches && !IsPrefixFree(content)) {
      uint32_t first = 0, last = 0;
      for (size_t i = 0; i < branches.size(); ++i) {
        tree_.nodes[branches[i]].next = 0;
        const uint32_t atomic = Add(RegexKind::kAtomic, inner.position);
        LowerAtomic(atomic, branches[i]);
        uint32_t sequence = atomic;
        if (i) {
          uint32_t earlier = 0;
          for (size_t k = i; k-- > 0;) {
            const uint32_t stop = Add(RegexKind::kLookahead, inner.position, branches[k]);
            tree_.nodes[stop].negated = true;
            tree_.nodes[stop].next = earlier ? earlier : atomic;
            earlier = stop;
          }
          sequence = Add(RegexKind::kConcat, inner.position, earlier);
        }
        if (i)
          tree_.nodes[last].next = sequence;
        else
          first = sequence;
        last = sequence;
      }
      Become(node, RegexKind::kAlternate, first);
      return;
    }
  }
  if (!IsPrefixFree(content)) Unsupported(node, kWhat, kRemedy);
  Become(node, RegexKind::kGroup, content);
}

void RegexLowering::RemoveAtomic(uint32_t node) {
  if (!Asserts(node)) return;
  const RegexNode n = tree_.nodes[node];
  switch (n.kind) {
    case RegexKind::kConcat:
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) RemoveAtomic(c);
      return;
    case RegexKind::kRepeat:
    case RegexKind::kGroup:
    case RegexKind::kLookahead:
    case RegexKind::kLookbehind: RemoveAtomic(n.first); return;
    case RegexKind::kAtomic:
      RemoveAtomic(n.first);
      FindAsserts(n.first);
      LowerAtomic(node, n.first);
      return;
    case RegexKind::kPossessive: {
      RemoveAtomic(n.first);
      FindAsserts(n.first);
      const uint32_t inner = Add(RegexKind::kRepeat, n.position, n.first);
      tree_.nodes[inner].low = n.low;
      tree_.nodes[inner].high = n.high;
      FindAsserts(inner);
      LowerAtomic(node, inner);
      return;
    }
    default: return;
  }
}

// ---------------------------------------------------------------------------------------------- anchors at the ends

// The node is matched where nothing stands before: anchors to the start hold there.
void RegexLowering::DropStart(uint32_t node) {
  const RegexNode n = tree_.nodes[node];
  switch (n.kind) {
    case RegexKind::kStart:
    case RegexKind::kLineStart: Become(node, RegexKind::kEpsilon, 0); return;
    case RegexKind::kConcat:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
        const bool zero_width = IsZeroWidth(tree_, c);
        DropStart(c);
        if (!zero_width) return;
      }
      return;
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) DropStart(c);
      return;
    case RegexKind::kGroup:
    case RegexKind::kLookahead: DropStart(n.first); return;
    default: return;
  }
}

// The node is matched where nothing stands after it.
void RegexLowering::DropEnd(uint32_t node) {
  const RegexNode n = tree_.nodes[node];
  switch (n.kind) {
    case RegexKind::kEnd:
    case RegexKind::kLastLine:
    case RegexKind::kLineEnd: Become(node, RegexKind::kEpsilon, 0); return;
    case RegexKind::kConcat: {
      std::vector<uint32_t> children;
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) children.push_back(c);
      for (size_t i = children.size(); i-- > 0;) {
        const bool zero_width = IsZeroWidth(tree_, children[i]);
        DropEnd(children[i]);
        if (!zero_width) return;
      }
      return;
    }
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) DropEnd(c);
      return;
    case RegexKind::kGroup:
    case RegexKind::kLookbehind: DropEnd(n.first); return;
    default: return;
  }
}

}  // namespace tokamata
