// Lookaround of one character beside one: `(?!\d)\w+` is `[^\W\d]\w*`, the labels `(?!-)[a-z-]{1,63}(?<!-)` of host
// names are counters between two characters, `.*\bfoo\b.*` is `(?:.*[^\w\n])?foo(?:[^\w\n].*)?`. Without it there is no
// context to tell apart, and loops are seen as what they are.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "automata/csrc/expression.h"
#include "constraints/csrc/regex_syntax.h"

namespace tokamata {
namespace {

// Recursion follows the nesting of groups, which the parser limits. The tree is still one: no node has two parents.
class Folding {
 public:
  explicit Folding(RegexTree* tree) : tree_(*tree), places_(tree->nodes.size()), added_(tree) {}

  void Run() {
    FindPlaces(tree_.root);
    Visit(tree_.root, {true, true});
  }

 private:
  using Ranges = CodePointRanges;
  struct Ends {  // whether there is nothing of the text before, and after
    bool before = false, after = false;
  };
  // Of which characters one has to be beside a place, and whether none may be, where the text ends.
  struct Wanted {
    Ranges allowed;
    bool none = false;
  };
  static constexpr size_t kMostSteps = 1'000'000;  // what is left over goes the way of all lookaround

  RegexNode& Node(uint32_t node) { return tree_.nodes[node]; }

  bool FindPlaces(uint32_t node) {
    const RegexNode n = Node(node);
    bool place = true;
    switch (n.kind) {
      case RegexKind::kConcat:
      case RegexKind::kAlternate:
        for (uint32_t c = n.first; c; c = Node(c).next) place = FindPlaces(c) && place;
        break;
      case RegexKind::kGroup:
      case RegexKind::kRepeat:
      case RegexKind::kPossessive:
      case RegexKind::kAtomic:
        place = FindPlaces(n.first) || (n.kind != RegexKind::kGroup && n.kind != RegexKind::kAtomic && n.high == 0);
        break;
      case RegexKind::kLookahead:
      case RegexKind::kLookbehind: FindPlaces(n.first); break;
      default: place = IsZeroWidth(tree_, node);
    }
    places_[node] = place;
    return place;
  }

  void Visit(uint32_t node, Ends ends) {
    const RegexNode n = Node(node);
    switch (n.kind) {
      case RegexKind::kConcat: {
        const std::vector<uint32_t> children = Children(node);
        size_t first = 0, last = children.size();  // between them are all that are not only places
        while (first < last && places_[children[first]]) ++first;
        while (last > first && places_[children[last - 1]]) --last;
        for (size_t i = 0; i < children.size(); ++i)
          Visit(children[i], {ends.before && i <= first, ends.after && i + 1 >= last});
        return Fold(node, ends);
      }
      case RegexKind::kAlternate:
        for (const uint32_t c : Children(node)) Visit(c, ends);
        return;
      case RegexKind::kRepeat: return Visit(n.first, n.high > 1 ? Ends() : ends);
      case RegexKind::kGroup:
      case RegexKind::kLookahead:
      case RegexKind::kLookbehind: return Visit(n.first, ends);
      case RegexKind::kPossessive:
      case RegexKind::kAtomic: return Visit(n.first, Ends());
      default: return;
    }
  }

  std::vector<uint32_t> Children(uint32_t node) {
    std::vector<uint32_t> children;
    for (uint32_t c = Node(node).first; c; c = Node(c).next) children.push_back(c);
    steps_ += children.size();
    return children;
  }

  // Those of some siblings, from one on ahead or behind, that are looked at from a place there: up to the second one
  // that is not only a place.
  std::vector<uint32_t> Beside(const std::vector<uint32_t>& siblings, size_t from, bool ahead) {
    std::vector<uint32_t> beside;
    for (int found = 0; from < siblings.size() && found < 2; from += ahead ? 1 : ~size_t{0}) {
      beside.push_back(siblings[from]);
      found += !places_[siblings[from]];
    }
    steps_ += beside.size();
    return beside;
  }

  void Fold(uint32_t concat, Ends ends) {
    const std::vector<uint32_t> children = Children(concat);
    for (size_t i = 0; i < children.size() && steps_ < kMostSteps; ++i) {
      bool ahead = false;
      const std::optional<Wanted> wanted = WantedBy(children[i], &ahead);
      if (!wanted) continue;
      const std::vector<uint32_t> beside = Beside(children, ahead ? i + 1 : i - 1, ahead);
      const bool at_end = ahead ? ends.after : ends.before;
      steps_ += wanted->allowed.size() / 16;
      if (!Narrow(beside, *wanted, ahead, at_end, false)) continue;
      Narrow(beside, *wanted, ahead, at_end, true);
      tree_.Become(children[i], RegexKind::kEpsilon, 0);
    }
  }

  // What lookaround of one character asks for.
  std::optional<Wanted> WantedBy(uint32_t node, bool* ahead) {
    const RegexNode n = Node(node);
    *ahead = n.kind == RegexKind::kBoundary ? n.low == kAhead : n.kind == RegexKind::kLookahead;
    if (n.kind == RegexKind::kBoundary) {
      if (n.low == kBothSides) return std::nullopt;
      return n.high ? Wanted{tree_.sets[n.first], false} : Wanted{Others(n.first), true};
    }
    if (n.kind != RegexKind::kLookahead && n.kind != RegexKind::kLookbehind) return std::nullopt;
    const std::optional<Ranges> one = OneOf(n.first);
    if (!one) return std::nullopt;
    return n.negated ? Wanted{ComplementRanges(*one), true} : Wanted{*one, false};
  }

  std::optional<Ranges> OneOf(uint32_t node) { return OneCharacterOf(tree_, node, &steps_); }

  // The characters that texts of a node begin with, or end with; none where it may be empty or that is not told.
  std::optional<Ranges> Edge(uint32_t node, bool ahead) {
    const RegexNode n = Node(node);
    switch (n.kind) {
      case RegexKind::kCharacter: return Ranges{{n.first, n.first}};
      case RegexKind::kSet: return tree_.sets[n.first];
      case RegexKind::kGroup: return Edge(n.first, ahead);
      case RegexKind::kRepeat: return n.low ? Edge(n.first, ahead) : std::nullopt;
      case RegexKind::kConcat: {
        const uint32_t c = FirstOf(Outward(node, ahead), 0);
        return c ? Edge(c, ahead) : std::nullopt;
      }
      case RegexKind::kAlternate: {
        Ranges all;
        for (const uint32_t c : Children(node)) {
          const std::optional<Ranges> edge = Edge(c, ahead);
          if (!edge) return std::nullopt;
          all.insert(all.end(), edge->begin(), edge->end());
        }
        return NormalizeRanges(all);
      }
      default: return std::nullopt;
    }
  }

  // The same of the children of a node, from its beginning or its end.
  std::vector<uint32_t> Outward(uint32_t node, bool ahead) {
    const std::vector<uint32_t> children = Children(node);
    return Beside(children, ahead ? 0 : children.size() - 1, ahead);
  }

  // The next one that is not only a place; 0: there is none.
  uint32_t FirstOf(const std::vector<uint32_t>& nodes, size_t from) {
    for (size_t i = from; i < nodes.size(); ++i)
      if (!places_[nodes[i]]) return nodes[i];
    return 0;
  }

  // Groups and concatenations of one part around a node are that.
  uint32_t Inside(uint32_t node) {
    const RegexNode& n = Node(node);
    const bool around = n.kind == RegexKind::kGroup || (n.kind == RegexKind::kConcat && n.first && !Node(n.first).next);
    return around ? Inside(n.first) : node;
  }

  // Whether what is beside a place can be written so that its character there is one that is wanted; with `apply`, it
  // is. `at_end`: beyond it there is nothing of the text.
  bool Narrow(const std::vector<uint32_t>& beside, const Wanted& wanted, bool ahead, bool at_end, bool apply) {
    for (size_t i = 0; i < beside.size(); ++i) {
      if (places_[beside[i]]) continue;
      const uint32_t node = Inside(beside[i]);
      if (NarrowNode(node, wanted, ahead, apply)) return true;
      const RegexNode n = Node(node);
      if (n.kind != RegexKind::kRepeat || n.low || !OneOf(n.first)) return false;
      // Turns or none: where there are some the first one is narrowed, else it is up to what comes next.
      const uint32_t next = FirstOf(beside, i + 1);
      const std::optional<Ranges> edge = next ? Edge(next, ahead) : std::nullopt;
      if (next ? !edge : !at_end) return false;
      const bool never = next ? IntersectRanges(*edge, wanted.allowed).empty() : !wanted.none;
      if (next && !never && !IntersectRanges(*edge, ComplementRanges(wanted.allowed)).empty()) return false;
      if (!apply) return true;
      const uint32_t turns = Turns(n, wanted.allowed, ahead);
      if (never) {
        tree_.Become(node, RegexKind::kConcat, turns);
      } else {
        const uint32_t some = Add(RegexKind::kConcat, n.position, turns);
        RegexNode& repeat = Node(node);
        repeat.first = some;
        repeat.high = 1;
      }
      return true;
    }
    return false;
  }

  bool NarrowNode(uint32_t node, const Wanted& wanted, bool ahead, bool apply) {
    const RegexNode n = Node(node);
    switch (n.kind) {
      case RegexKind::kCharacter:
      case RegexKind::kSet:
        if (apply) {
          const Ranges left = IntersectRanges(*OneOf(node), wanted.allowed);
          steps_ += left.size() / 16;
          if (left.empty())
            tree_.Become(node, RegexKind::kNone, 0);
          else if (n.kind == RegexKind::kSet)
            tree_.Become(node, RegexKind::kSet, added_.Add(left));
        }
        return true;
      case RegexKind::kGroup: return NarrowNode(n.first, wanted, ahead, apply);
      case RegexKind::kConcat: return Narrow(Outward(node, ahead), wanted, ahead, false, apply);
      case RegexKind::kAlternate: {
        const std::vector<uint32_t> children = Children(node);
        return std::all_of(children.begin(), children.end(),
                           [&](uint32_t c) { return NarrowNode(c, wanted, ahead, apply); });
      }
      case RegexKind::kRepeat: {
        if (!n.low) return false;
        if (n.low == 1 && n.high == 1) return NarrowNode(n.first, wanted, ahead, apply);
        if (!OneOf(n.first)) return false;
        if (apply) tree_.Become(node, RegexKind::kConcat, Turns(n, wanted.allowed, ahead));
        return true;
      }
      default: return false;
    }
  }

  // The turns of a repetition of one character, at least one, the first of which (the last one, of what stands before
  // the place) is narrowed: the first of these siblings.
  uint32_t Turns(const RegexNode& repeat, const Ranges& allowed, bool ahead) {
    const Ranges left = IntersectRanges(*OneOf(repeat.first), allowed);
    steps_ += left.size() / 16;
    const uint32_t one = left.empty() ? Add(RegexKind::kNone, repeat.position, 0)
                                      : Add(RegexKind::kSet, repeat.position, added_.Add(left));
    if (repeat.high == 1) return one;
    const uint32_t more = Add(RegexKind::kRepeat, repeat.position, repeat.first);
    RegexNode& others = Node(more);
    others.negated = repeat.negated;
    others.low = repeat.low ? repeat.low - 1 : 0;
    others.high = repeat.high == kUnbounded ? kUnbounded : repeat.high - 1;
    Node(ahead ? one : more).next = ahead ? more : one;
    return ahead ? one : more;
  }

  // All characters but those of a set.
  const Ranges& Others(uint32_t set) {
    const auto [at, added] = others_.try_emplace(set);
    if (added) at->second = ComplementRanges(tree_.sets[set]);
    return at->second;
  }

  uint32_t Add(RegexKind kind, uint32_t position, uint32_t first) {
    places_.push_back(false);
    return tree_.Add(kind, position, first);
  }

  RegexTree& tree_;
  std::vector<uint8_t> places_;  // IsZeroWidth of nodes, once of each
  AddedSets added_;
  std::map<uint32_t, Ranges> others_;
  size_t steps_ = 0;
};

}  // namespace

std::optional<CodePointRanges> OneCharacterOf(const RegexTree& tree, uint32_t node, size_t* steps) {
  const RegexNode& n = tree.nodes[node];
  switch (n.kind) {
    case RegexKind::kCharacter: return CodePointRanges{{n.first, n.first}};
    case RegexKind::kSet: return tree.sets[n.first];
    case RegexKind::kGroup: return n.high ? std::nullopt : OneCharacterOf(tree, n.first, steps);
    case RegexKind::kConcat:
      return n.first && !tree.nodes[n.first].next ? OneCharacterOf(tree, n.first, steps) : std::nullopt;
    case RegexKind::kAlternate: {
      CodePointRanges all;
      for (uint32_t c = n.first; c; c = tree.nodes[c].next) {
        ++*steps;
        const std::optional<CodePointRanges> one = OneCharacterOf(tree, c, steps);
        if (!one) return std::nullopt;
        all.insert(all.end(), one->begin(), one->end());
      }
      return NormalizeRanges(all);
    }
    default: return std::nullopt;
  }
}

void FoldLookaround(RegexTree* tree) { Folding(tree).Run(); }

}  // namespace tokamata
