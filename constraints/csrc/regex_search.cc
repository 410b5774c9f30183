// A pattern that may match anywhere: any text before it and after it, unless it is anchored there. What the free text
// can take over anyway is dropped, so that common patterns stay simple: [a-z]+ becomes .*[a-z].* and ^a.* becomes a.*;
// whatever matches the empty text becomes any text.
#include "constraints/csrc/regex_syntax.h"

namespace tokamata {
namespace {

// Recursion in this file follows the nesting of groups, which the parser limits.
class Searcher {
 public:
  explicit Searcher(RegexTree* tree) : tree_(*tree) {}

  void Rewrite(uint32_t node) {
    const RegexNode n = tree_.nodes[node];
    if (n.kind == RegexKind::kGroup) return Rewrite(n.first);
    if (n.kind == RegexKind::kAlternate) {
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) Rewrite(c);
      return;
    }
    const bool before = !IsAnchor(First(node), RegexKind::kStart), after = !IsAnchor(Last(node), RegexKind::kEnd);
    if (!before && !after) return;
    if (before) Trim(node, true);
    if (after) Trim(node, false);
    const RegexNode trimmed = tree_.nodes[node];
    if (MatchesNothing(node, before, after))
      return Become(node, RegexKind::kRepeat, trimmed.next, AnySet(), trimmed.position);
    const uint32_t prefix = before ? Star(AnySet(), trimmed.position) : 0;
    // The node becomes the sequence; its old content moves.
    uint32_t first = trimmed.first;
    if (trimmed.kind != RegexKind::kConcat) {
      first = Add(trimmed);
      tree_.nodes[first].next = 0;
    }
    if (after) {
      uint32_t last = first;
      while (tree_.nodes[last].next) last = tree_.nodes[last].next;
      const uint32_t suffix = Star(AnySet(), trimmed.position);
      tree_.nodes[last].next = suffix;
    }
    if (prefix) tree_.nodes[prefix].next = first;
    Become(node, RegexKind::kConcat, trimmed.next, prefix ? prefix : first, trimmed.position);
  }

 private:
  uint32_t Add(const RegexNode& n) {
    const RegexNode copy = n;
    tree_.nodes.push_back(copy);
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }
  uint32_t AddSet(CodePointRanges ranges, uint32_t position) {
    tree_.sets.push_back(std::move(ranges));
    RegexNode n;
    n.kind = RegexKind::kSet;
    n.position = position;
    n.first = static_cast<uint32_t>(tree_.sets.size() - 1);
    return Add(n);
  }
  // No node has two parents.
  uint32_t AnySet() { return any_ ? Add(tree_.nodes[any_]) : any_ = AddSet(ComplementRanges({}), 0); }
  uint32_t Star(uint32_t set, uint32_t position) {
    RegexNode n;
    n.kind = RegexKind::kRepeat;
    n.position = position;
    n.first = set;
    n.high = kUnbounded;
    return Add(n);
  }
  // Any number of a child, or another node without bounds; the place among the siblings stays.
  void Become(uint32_t node, RegexKind kind, uint32_t next, uint32_t first, uint32_t position) {
    RegexNode n;
    n.kind = kind;
    n.position = position;
    n.first = first;
    n.next = next;
    n.high = kind == RegexKind::kRepeat ? kUnbounded : 0;
    tree_.nodes[node] = n;
  }

  uint32_t First(uint32_t node) const {
    while (tree_.nodes[node].kind == RegexKind::kConcat || tree_.nodes[node].kind == RegexKind::kGroup)
      node = tree_.nodes[node].first;
    return node;
  }
  uint32_t Last(uint32_t node) const {
    while (tree_.nodes[node].kind == RegexKind::kConcat || tree_.nodes[node].kind == RegexKind::kGroup)
      for (node = tree_.nodes[node].first; tree_.nodes[node].next;) node = tree_.nodes[node].next;
    return node;
  }
  bool IsAnchor(uint32_t node, RegexKind kind) const { return tree_.nodes[node].kind == kind; }

  // Drops the optional part of what the node begins (or ends) with, next to free text.
  void Trim(uint32_t node, bool start) {
    const RegexNode n = tree_.nodes[node];
    switch (n.kind) {
      case RegexKind::kGroup: return Trim(n.first, start);
      case RegexKind::kAlternate:
        for (uint32_t c = n.first; c; c = tree_.nodes[c].next) Trim(c, start);
        return;
      case RegexKind::kConcat: {
        std::vector<uint32_t> children;
        for (uint32_t c = n.first; c; c = tree_.nodes[c].next) children.push_back(c);
        for (size_t i = 0; i < children.size(); ++i) {
          const uint32_t child = children[start ? i : children.size() - 1 - i];
          Trim(child, start);
          if (tree_.nodes[child].kind != RegexKind::kEpsilon) return;
        }
        return;
      }
      case RegexKind::kRepeat:
        if (n.low == 0) return Become(node, RegexKind::kEpsilon, n.next, 0, n.position);
        tree_.nodes[node].high = n.low;
        if (n.low == 1) Trim(n.first, start);
        return;
      default: return;
    }
  }

  // Whether the empty text matches, wherever it stands; at the start, the end unless there is free text before, after.
  bool MatchesNothing(uint32_t node, bool before, bool after) const {
    const RegexNode& n = tree_.nodes[node];
    switch (n.kind) {
      case RegexKind::kEpsilon: return true;
      case RegexKind::kStart: return !before;
      case RegexKind::kEnd: return !after;
      case RegexKind::kGroup: return MatchesNothing(n.first, before, after);
      case RegexKind::kRepeat: return n.low == 0 || MatchesNothing(n.first, before, after);
      case RegexKind::kConcat:
        for (uint32_t c = n.first; c; c = tree_.nodes[c].next)
          if (!MatchesNothing(c, before, after)) return false;
        return true;
      case RegexKind::kAlternate:
        for (uint32_t c = n.first; c; c = tree_.nodes[c].next)
          if (MatchesNothing(c, before, after)) return true;
        return false;
      default: return false;
    }
  }

  RegexTree& tree_;
  uint32_t any_ = 0;
};

}  // namespace

void SearchRegex(RegexTree* tree) { Searcher(tree).Rewrite(tree->root); }

}  // namespace tokamata
