// Backreferences and conditional groups, where the pattern itself tells what they depend on: a group that has few texts and
// always stands, or not, before them. What lies from the group to its last reference is written once for each text, and
// once for where the group is not read: `(['"])[^'"]*\1` is `'[^'"]*'|"[^'"]*"`.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "constraints/csrc/regex_syntax.h"
#include "constraints/csrc/unicode.h"

namespace tokamata {
namespace {

using Text = std::vector<uint32_t>;

constexpr size_t kMostNodes = 300'000;
constexpr size_t kMostVisits = 20'000'000;
constexpr size_t kMostCharacters = 1'000'000;  // of the texts of a group, and of what they are put together from

// Recursion follows the nesting of groups, which the parser limits.
class Resolving {
 public:
  Resolving(RegexTree* tree, const RegexOptions& options) : tree_(*tree), options_(options) {}

  void Run() {
    const auto is_named = [](const RegexNode& n) { return n.kind == RegexKind::kGroup && n.high > 0; };
    has_names_ = options_.syntax == RegexSyntax::kPython &&  // of others it is not known what groups read
                 std::any_of(tree_.nodes.begin(), tree_.nodes.end(), is_named);
    if (options_.syntax != RegexSyntax::kPython) DropUnset();
    while (ResolveOne()) {
    }
  }

 private:
  // A group, what refers to it, and where all of that is: members of a concatenation, from the group's to the last one.
  struct Found {
    uint32_t group = 0, concat = 0, from = 0, to = 0;
    std::vector<uint32_t> references;
    std::vector<uint32_t> path;  // from the concatenation's member to the group
    bool optional = false;       // a match may go past the group
  };
  // How a copy differs: what stands for nodes. Of the choices on the path, it has the ones that lead to the group.
  struct Change {
    const Found* found;
    const Text* text;  // null: the group is not read
  };

  const RegexNode& Node(uint32_t node) const { return tree_.nodes[node]; }

  [[noreturn]] void Refuse(uint32_t reference, const char* why) const {
    const bool conditional = Node(reference).kind == RegexKind::kConditional;
    const std::string what = conditional ? "conditional group" : "backreference";
    const std::string remedy = conditional ? "write both cases out as alternatives" : "write out the texts that may repeat";
    ThrowUnsupported(tree_.text, Node(reference).position, what, std::string(why) + "; " + remedy);
  }

  // ECMA-262 forgets in each turn what groups in it have read, and matches nothing for those that have read nothing: those
  // that stand in another branch, or around the reference, or behind it.
  void DropUnset() {
    FindAll();
    for (const uint32_t reference : references_) {
      const std::vector<uint32_t> group = PathTo(groups_.at(Node(reference).low)[0]), path = PathTo(reference);
      size_t shared = 0;
      while (shared < group.size() && group[shared] == path[shared]) ++shared;
      bool unset = shared == group.size() || Node(path[shared - 1]).kind == RegexKind::kAlternate;
      if (!unset && Node(path[shared - 1]).kind == RegexKind::kConcat) {
        const bool backwards = std::any_of(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(shared), [&](uint32_t n) {
          return Node(n).kind == RegexKind::kLookbehind;
        });
        uint32_t c = Node(path[shared]).next;
        while (c && c != group[shared]) c = Node(c).next;
        unset = c && !backwards;
      }
      if (unset) tree_.Become(reference, RegexKind::kEpsilon, 0);
    }
  }

  void FindAll() {
    parents_.assign(tree_.nodes.size(), 0);
    groups_.clear();
    references_.clear();
    FindParents(tree_.root);
  }

  // Whether there was a reference. Groups that begin last come first, so that copies hold no group that is referred to.
  bool ResolveOne() {
    FindAll();
    if (references_.empty()) return false;
    const uint32_t reference = *std::max_element(references_.begin(), references_.end(), [&](uint32_t a, uint32_t b) {
      return Node(a).low < Node(b).low;
    });
    visited_ += tree_.nodes.size();
    Found found;
    const char* problem = visited_ > kMostVisits ? "there are too many groups that it may depend on" : Find(reference, &found);
    if (!problem) problem = WriteOut(found);
    if (problem) Refuse(reference, problem);
    return true;
  }

  void FindParents(uint32_t node) {
    const RegexNode& n = Node(node);
    if (Refers(n)) references_.push_back(node);
    if (n.kind == RegexKind::kGroup) groups_[n.position].push_back(node);
    ForEachChild(node, [&](uint32_t c) {
      parents_[c] = node;
      FindParents(c);
    });
  }

  template <class F>
  void ForEachChild(uint32_t node, F f) const {
    const RegexNode& n = Node(node);
    switch (n.kind) {
      case RegexKind::kConcat:
      case RegexKind::kAlternate:
      case RegexKind::kConditional:
        for (uint32_t c = n.first; c; c = Node(c).next) f(c);
        return;
      case RegexKind::kRepeat:
      case RegexKind::kPossessive:
      case RegexKind::kGroup:
      case RegexKind::kAtomic:
      case RegexKind::kLookahead:
      case RegexKind::kLookbehind: return f(n.first);
      default: return;
    }
  }

  // From the root to a node.
  std::vector<uint32_t> PathTo(uint32_t node) const {
    std::vector<uint32_t> path{node};
    while (path.back() != tree_.root) path.push_back(parents_[path.back()]);
    std::reverse(path.begin(), path.end());
    return path;
  }

  // What is wrong; null: nothing.
  const char* Find(uint32_t reference, Found* found) const {
    const auto known = groups_.find(Node(reference).low);
    if (known == groups_.end() || known->second.size() != 1) return "it stands beside its group in another branch or copy";
    found->group = known->second[0];
    const std::vector<uint32_t> to_group = PathTo(found->group);
    size_t shared = to_group.size();  // of the paths to all that is found
    for (const uint32_t r : references_) {
      if (Node(r).low != Node(reference).low) continue;
      found->references.push_back(r);
      const std::vector<uint32_t> path = PathTo(r);
      size_t i = 0;
      while (i < path.size() && i < shared && path[i] == to_group[i]) ++i;
      shared = i;
    }
    if (shared == to_group.size()) return "it stands inside its own group";
    found->concat = to_group[shared - 1];
    if (Node(found->concat).kind != RegexKind::kConcat) return "its group stands in another branch";
    found->path.assign(to_group.begin() + static_cast<std::ptrdiff_t>(shared), to_group.end());
    found->from = found->path[0];
    std::vector<uint32_t> members;
    for (uint32_t c = Node(found->concat).first; c; c = Node(c).next) members.push_back(c);
    const auto place = [&](uint32_t c) { return std::find(members.begin(), members.end(), c) - members.begin(); };
    std::ptrdiff_t last = place(found->from);
    for (const uint32_t r : found->references) {
      const std::ptrdiff_t at = place(PathTo(r)[shared]);
      if (at < place(found->from)) return "its group is read behind it";
      last = std::max(last, at);
    }
    found->to = members[static_cast<size_t>(last)];
    for (size_t i = 0; i + 1 < found->path.size(); ++i) {
      const RegexNode& n = Node(found->path[i]);
      const bool once = n.kind == RegexKind::kRepeat && n.high == 1;
      found->optional = found->optional || n.kind == RegexKind::kAlternate || (once && n.low == 0);
      if (n.kind == RegexKind::kRepeat && !once) return "its group is repeated";
      if (n.kind != RegexKind::kRepeat && n.kind != RegexKind::kConcat && n.kind != RegexKind::kGroup &&
          n.kind != RegexKind::kAlternate)
        return "its group stands inside a lookaround, an atomic or a conditional group";
      if (has_names_ && n.kind == RegexKind::kConcat && ChoosesBefore(n.first, found->path[i + 1]))
        return "what named groups read would depend on choices before its group (leave names out that are not needed)";
    }
    if (has_names_ && found->optional)
      return "what named groups read would depend on whether its group is read (leave names out that are not needed)";
    for (size_t i = 0; i < shared; ++i) {
      const RegexNode& n = Node(to_group[i]);
      if (n.kind == RegexKind::kAtomic || n.kind == RegexKind::kPossessive) return "it stands in an atomic group";
      if (options_.syntax != RegexSyntax::kPython) {
        if (n.kind == RegexKind::kLookbehind) return "lookbehind reads it before its group";
      } else if (n.kind == RegexKind::kRepeat && n.high > 1 && found->optional) {
        return "its group may have been read in an earlier turn";
      }
    }
    return nullptr;
  }

  // Whether a matcher chooses anything in the members of a concatenation before one of them.
  bool ChoosesBefore(uint32_t member, uint32_t end) const {
    for (; member != end; member = Node(member).next)
      if (Chooses(member)) return true;
    return false;
  }

  bool Chooses(uint32_t node) const {
    const RegexNode& n = Node(node);
    if (n.kind == RegexKind::kAlternate || n.kind == RegexKind::kWords || n.kind == RegexKind::kLanguage) return true;
    bool chooses = n.kind == RegexKind::kRepeat && n.low != n.high;
    if (n.kind == RegexKind::kLookahead || n.kind == RegexKind::kLookbehind) return false;
    ForEachChild(node, [&](uint32_t c) { chooses = chooses || Chooses(c); });
    return chooses;
  }

  // ---- the texts of a group, in the order in which a matcher tries them

  bool ListTexts(uint32_t node, std::vector<Text>* out) {
    const RegexNode& n = Node(node);
    switch (n.kind) {
      case RegexKind::kEpsilon: out->emplace_back(); return true;
      case RegexKind::kNone: return true;
      case RegexKind::kCharacter: out->push_back({n.first}); return true;
      case RegexKind::kSet:
        for (const auto& [low, high] : tree_.sets[n.first]) {
          if (high - low >= options_.unrolled) return false;
          for (uint32_t c = low; c <= high; ++c) out->push_back({c});
        }
        return out->size() <= options_.unrolled;
      case RegexKind::kGroup: return ListTexts(n.first, out);
      case RegexKind::kAlternate:
        for (uint32_t c = n.first; c; c = Node(c).next)
          if (!ListTexts(c, out)) return false;
        return true;
      case RegexKind::kWords:
        ForEachWord(tree_, n, [&](uint32_t begin, uint32_t end) {
          out->emplace_back(tree_.text.begin() + begin, tree_.text.begin() + end);
        });
        return out->size() <= options_.unrolled;
      case RegexKind::kConcat: {
        std::vector<Text> all{Text()};
        for (uint32_t c = n.first; c; c = Node(c).next) {
          std::vector<Text> more;
          if (!ListTexts(c, &more) || !Join(&all, more)) return false;
        }
        out->insert(out->end(), all.begin(), all.end());
        return out->size() <= options_.unrolled;
      }
      case RegexKind::kRepeat: {
        std::vector<Text> one;
        if (n.high > options_.unrolled || !ListTexts(n.first, &one)) return false;
        std::vector<std::vector<Text>> turns{{Text()}};
        for (uint32_t i = 0; i < n.high; ++i) {
          std::vector<Text> more = turns.back();
          if (!Join(&more, one)) return false;
          turns.push_back(std::move(more));
        }
        turns.erase(turns.begin(), turns.begin() + n.low);
        if (!n.negated) std::reverse(turns.begin(), turns.end());
        for (const std::vector<Text>& texts : turns) out->insert(out->end(), texts.begin(), texts.end());
        return out->size() <= options_.unrolled;
      }
      default: return false;
    }
  }

  bool Join(std::vector<Text>* all, const std::vector<Text>& more) {
    std::vector<Text> joined;
    for (const Text& a : *all)
      for (const Text& b : more) {
        joined.push_back(a);
        joined.back().insert(joined.back().end(), b.begin(), b.end());
        listed_ += joined.back().size() + 1;
        if (joined.size() > options_.unrolled || listed_ > kMostCharacters) return false;
      }
    *all = std::move(joined);
    return true;
  }

  // The characters that a reference without regard to case takes for one; false where that is not known here.
  static bool Folded(uint32_t c, bool ascii, CodePointRanges* out) {
    const auto add = [&](uint32_t x) { out->emplace_back(x, x); };
    if (!ascii && c == 0x212A) c = 'k';  // the kelvin sign and the dotted capital I have these as their small letters
    if (!ascii && c == 0x130) c = 'i';
    if (c < 0x80) {
      add(c);
      const uint32_t small = c | 32;
      if (small < 'a' || small > 'z') return true;
      add(c ^ 32);
      if (!ascii && small == 'k') add(0x212A);
      if (!ascii && small == 'i') add(0x130);
      return true;
    }
    if (ascii || c == 0x17F || c == 0x131) {  // the long s and the dotless i are small letters themselves
      add(c);
      return true;
    }
    CodePointRanges orbit;
    AppendOrbits(c, c, &orbit);
    *out = orbit;
    return orbit.size() == 1 && orbit[0].first == orbit[0].second;
  }

  // ---- writing out

  const char* WriteOut(const Found& found) {
    const bool by_text = std::any_of(found.references.begin(), found.references.end(),
                                     [&](uint32_t r) { return Node(r).kind == RegexKind::kReference; });
    std::vector<Text> texts;
    if (by_text) {
      listed_ = 0;
      if (!ListTexts(Node(found.group).first, &texts)) return "its group has no small number of texts";
      std::set<Text> seen;
      texts.erase(std::remove_if(texts.begin(), texts.end(), [&](const Text& t) { return !seen.insert(t).second; }),
                  texts.end());
    } else {
      texts.resize(1);  // that it is read is all that matters
    }
    by_text_ = by_text;
    // The members up to the last reference become one.
    std::vector<uint32_t> members;
    for (uint32_t c = found.from;; c = Node(c).next) {
      members.push_back(c);
      if (c == found.to) break;
    }
    const uint32_t behind = Node(found.to).next;
    std::vector<Change> changes;
    for (const Text& text : texts) changes.push_back({&found, &text});
    if (found.optional) changes.push_back({&found, nullptr});
    std::vector<uint32_t> copies;
    for (const Change& change : changes) {
      std::vector<uint32_t> parts;
      for (const uint32_t member : members) {
        const uint32_t part = Copy(member, change);
        if (part == kTooMany) return "there would be too many copies";
        parts.push_back(part);
      }
      copies.push_back(Join(RegexKind::kConcat, parts, Node(found.from).position));
    }
    const uint32_t all = copies.empty() ? tree_.Add(RegexKind::kNone, Node(found.from).position, 0)
                                        : Join(RegexKind::kAlternate, copies, Node(found.from).position);
    tree_.nodes[all].next = behind;
    if (Node(found.concat).first == found.from) {
      tree_.nodes[found.concat].first = all;
    } else {
      uint32_t before = Node(found.concat).first;
      while (Node(before).next != found.from) before = Node(before).next;
      tree_.nodes[before].next = all;
    }
    return nullptr;
  }

  // Of nodes that stand nowhere yet.
  uint32_t Join(RegexKind kind, const std::vector<uint32_t>& nodes, uint32_t position) {
    if (nodes.empty()) return tree_.Add(RegexKind::kEpsilon, position, 0);
    for (size_t i = 0; i < nodes.size(); ++i) tree_.nodes[nodes[i]].next = i + 1 < nodes.size() ? nodes[i + 1] : 0;
    return nodes.size() == 1 ? nodes[0] : tree_.Add(kind, position, nodes[0]);
  }

  static constexpr uint32_t kTooMany = 0xffffffff;

  // Without a sibling.
  uint32_t Copy(uint32_t node, const Change& change) {
    if (tree_.nodes.size() > kMostNodes + 4 * tree_.text.size()) return kTooMany;
    const RegexNode n = Node(node);
    const Found& found = *change.found;
    const bool read = change.text;
    if (node == found.group && !read) return tree_.Add(RegexKind::kNone, n.position, 0);
    if (node == found.group && by_text_) {
      const uint32_t group = tree_.Add(RegexKind::kGroup, n.position, Spell(*change.text, n.position, nullptr));
      tree_.nodes[group].low = n.low;
      tree_.nodes[group].high = n.high;
      return group;
    }
    if (Refers(n) && std::find(found.references.begin(), found.references.end(), node) != found.references.end()) {
      if (n.kind == RegexKind::kConditional) {
        const uint32_t branch = read ? n.first : Node(n.first).next;
        return Copy(branch, change);
      }
      if (!read && options_.syntax == RegexSyntax::kPython) return tree_.Add(RegexKind::kNone, n.position, 0);
      const Text nothing;
      return Spell(read ? *change.text : nothing, n.position, &n);
    }
    const auto on_path = std::find(found.path.begin(), found.path.end(), node);
    const bool leads = read && on_path != found.path.end() && on_path + 1 != found.path.end();
    if (leads && n.kind == RegexKind::kAlternate) return Copy(*(on_path + 1), change);
    std::vector<uint32_t> children;
    ForEachChild(node, [&](uint32_t c) { children.push_back(c); });
    for (uint32_t& c : children) {
      c = Copy(c, change);
      if (c == kTooMany) return kTooMany;
    }
    for (size_t i = 0; i + 1 < children.size(); ++i) tree_.nodes[children[i]].next = children[i + 1];
    tree_.nodes.push_back(n);
    RegexNode& copy = tree_.nodes.back();
    copy.next = 0;
    if (!children.empty()) copy.first = children[0];
    if (leads && n.kind == RegexKind::kRepeat) copy.low = 1;
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }

  uint32_t Spell(const Text& text, uint32_t position, const RegexNode* reference) {
    std::vector<uint32_t> characters;
    for (const uint32_t c : text) {
      CodePointRanges folded;
      if (!reference || !reference->first) {
        characters.push_back(tree_.Add(RegexKind::kCharacter, position, c));
        continue;
      }
      if (!Folded(c, reference->first & kReferenceAscii, &folded))
        ThrowUnsupported(tree_.text, reference->position, "backreference without regard to case to letters beyond ASCII",
                         "write out the texts that may repeat");
      tree_.sets.push_back(NormalizeRanges(std::move(folded)));
      characters.push_back(tree_.Add(RegexKind::kSet, position, static_cast<uint32_t>(tree_.sets.size() - 1)));
    }
    return Join(RegexKind::kConcat, characters, position);
  }

  RegexTree& tree_;
  const RegexOptions& options_;
  bool has_names_ = false, by_text_ = false;
  size_t visited_ = 0, listed_ = 0;
  std::vector<uint32_t> parents_;
  std::map<uint32_t, std::vector<uint32_t>> groups_;  // by position
  std::vector<uint32_t> references_;
};

}  // namespace

void ResolveReferences(RegexTree* tree, const RegexOptions& options) { Resolving(tree, options).Run(); }

}  // namespace tokamata
