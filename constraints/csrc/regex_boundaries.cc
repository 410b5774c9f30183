// Word boundaries of which the pattern itself tells whether they hold: in `\b\w+\b(?: \b\w+\b)*` all do, as what stands on
// their two sides is a character of a word and a blank, or nothing. Where it tells one side, as in `.*\bfoo\b.*`, the
// boundary is noted to be lookaround of one character on the other, for FoldLookaround.
#include <algorithm>
#include <map>
#include <vector>

#include "automata/csrc/expression.h"
#include "constraints/csrc/regex_syntax.h"

namespace tokamata {
namespace {

using Sides = uint8_t;  // what may stand beside a place
constexpr Sides kNothing = 0, kWord = 1, kOther = 2, kAnything = 3;  // kOther: another character, or none

// Recursion follows the nesting of groups, which the parser limits.
class Settling {
 public:
  Settling(RegexTree* tree, uint32_t words)
      : tree_(*tree), words_(words), other_(ComplementRanges(tree->sets[words])), edges_(tree->nodes.size()),
        known_(tree->nodes.size()) {}

  void Run(bool negated_too) {
    Visit(tree_.root, kOther, kOther);
    for (const auto& [node, beside] : boundaries_) {
      RegexNode& n = tree_.nodes[node];
      const bool before = IsOne(beside.before), after = IsOne(beside.after);
      if ((!before && !after) || (n.negated && !negated_too)) continue;
      if (!before || !after) {
        n.low = before ? kAhead : kBehind;
        n.high = ((before ? beside.before : beside.after) == kWord) == n.negated;
        continue;
      }
      const bool holds = (beside.before != beside.after) != n.negated;
      const uint32_t next = n.next, position = n.position;
      n = RegexNode();
      n.kind = holds ? RegexKind::kEpsilon : RegexKind::kNone;
      n.next = next;
      n.position = position;
    }
  }

 private:
  struct Edges {  // of a node's texts: what characters they begin and end with
    bool nullable = true;
    Sides first = kNothing, last = kNothing;
  };
  struct Beside {
    Sides before = kNothing, after = kNothing;
  };

  static bool IsOne(Sides s) { return s == kWord || s == kOther; }

  const RegexNode& Node(uint32_t node) const { return tree_.nodes[node]; }

  std::vector<uint32_t> Children(uint32_t node) const {
    std::vector<uint32_t> children;
    for (uint32_t c = Node(node).first; c; c = Node(c).next) children.push_back(c);
    return children;
  }

  Edges Character(const CodePointRanges& set) const {
    const Sides sides = static_cast<Sides>((IntersectRanges(set, tree_.sets[words_]).empty() ? kNothing : kWord) |
                                           (IntersectRanges(set, other_).empty() ? kNothing : kOther));
    return {false, sides, sides};
  }

  const Edges& EdgesOf(uint32_t node) {
    if (!known_[node]) {
      edges_[node] = FindEdges(node);
      known_[node] = true;
    }
    return edges_[node];
  }

  Edges FindEdges(uint32_t node) {
    const RegexNode& n = Node(node);
    switch (n.kind) {
      case RegexKind::kNone: return {false, kNothing, kNothing};
      case RegexKind::kCharacter: return Character({{n.first, n.first}});
      case RegexKind::kSet: return Character(tree_.sets[n.first]);
      case RegexKind::kGroup: return EdgesOf(n.first);
      case RegexKind::kRepeat: {
        if (n.high == 0) return {};
        Edges e = EdgesOf(n.first);
        e.nullable = e.nullable || n.low == 0;
        return e;
      }
      case RegexKind::kConcat: {
        Edges all;
        for (const uint32_t c : Children(node)) {
          const Edges e = EdgesOf(c);
          if (all.nullable) all.first |= e.first;
          all.last = e.nullable ? all.last | e.last : e.last;
          all.nullable = all.nullable && e.nullable;
        }
        return all;
      }
      case RegexKind::kAlternate: {
        Edges all{false, kNothing, kNothing};
        for (const uint32_t c : Children(node)) {
          const Edges e = EdgesOf(c);
          all = {all.nullable || e.nullable, static_cast<Sides>(all.first | e.first), static_cast<Sides>(all.last | e.last)};
        }
        return all;
      }
      case RegexKind::kAtomic:
      case RegexKind::kPossessive:
      case RegexKind::kWords:
      case RegexKind::kLanguage: return {true, kAnything, kAnything};
      default: return {};  // places
    }
  }

  // A node may be visited at several places, see RegexLowering::ToPossessive.
  void Visit(uint32_t node, Sides before, Sides after) {
    const RegexNode& n = Node(node);
    switch (n.kind) {
      case RegexKind::kBoundary:
        if (n.first != words_) return;
        boundaries_[node].before |= before;
        boundaries_[node].after |= after;
        return;
      case RegexKind::kConcat: {
        const std::vector<uint32_t> children = Children(node);
        std::vector<Sides> behind(children.size());
        for (size_t i = children.size(); i-- > 0;) {
          behind[i] = after;
          const Edges e = EdgesOf(children[i]);
          after = e.nullable ? after | e.first : e.first;
        }
        for (size_t i = 0; i < children.size(); ++i) {
          Visit(children[i], before, behind[i]);
          const Edges e = EdgesOf(children[i]);
          before = e.nullable ? before | e.last : e.last;
        }
        return;
      }
      case RegexKind::kAlternate:
        for (const uint32_t c : Children(node)) Visit(c, before, after);
        return;
      case RegexKind::kRepeat: {
        const Edges e = n.high > 1 ? EdgesOf(n.first) : Edges();
        return Visit(n.first, before | e.last, after | e.first);
      }
      case RegexKind::kGroup: return Visit(n.first, before, after);
      case RegexKind::kLookahead: return Visit(n.first, before, kAnything);
      case RegexKind::kLookbehind: return Visit(n.first, kAnything, after);
      case RegexKind::kAtomic:
      case RegexKind::kPossessive: return Visit(n.first, kAnything, kAnything);
      default: return;
    }
  }

  RegexTree& tree_;
  const uint32_t words_;  // the set of word characters
  const CodePointRanges other_;
  std::vector<Edges> edges_;
  std::vector<uint8_t> known_;
  std::map<uint32_t, Beside> boundaries_;
};

}  // namespace

void SettleBoundaries(RegexTree* tree, bool negated_too) {
  std::vector<uint32_t> sets;
  for (const RegexNode& n : tree->nodes)
    if (n.kind == RegexKind::kBoundary) sets.push_back(n.first);
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  for (const uint32_t words : sets) Settling(tree, words).Run(negated_too);
}

}  // namespace tokamata
