// Lookahead that forbids characters up to the end of the text: `(?!.*\s).{8,15}` is `[^\s]{8,15}`, and so is
// `(?=\S+$).{8,15}`. What is read behind it is read without them, so that there are no two languages to intersect, and
// so is what further lookahead sees there: `(?=.*\d)(?!.*\s).{8,15}` is `(?=\S*\d)\S{8,15}`, loops over one set.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"
#include "constraints/csrc/regex_syntax.h"

namespace tokamata {
namespace {

// Recursion follows the nesting of groups, which the parser limits. The tree is still one: no node has two parents.
class Forbidding {
 public:
  explicit Forbidding(RegexTree* tree) : tree_(*tree), added_(tree) {}

  void Run() {
    const auto looks_ahead = [](const RegexNode& n) { return n.kind == RegexKind::kLookahead; };
    if (std::none_of(tree_.nodes.begin(), tree_.nodes.end(), looks_ahead)) return;
    do {  // with fewer characters read, others may be ones that a lookahead sees through
      changed_ = false;
      VisitAll();
      any_ = any_ || changed_;
    } while (changed_ && steps_ < kMostSteps);
    folded_ = true;
    VisitAll();
  }

 private:
  using Ranges = CodePointRanges;
  // All that is read from a place up to the end of the text, and only by way of this place.
  struct Rest {
    size_t from = 0;       // where its nodes of one character begin in characters_
    bool some = false;     // at least one of them is read
    bool unknown = false;  // there is more than these
  };
  // A lookahead holds just where none of `forbidden` is read, if besides them only characters `through` which it looks
  // are, and all are `seen`.
  struct Forbidden {
    Ranges forbidden, through = ComplementRanges({}), seen = ComplementRanges({});
    bool some = false;  // and at least one is read
  };
  static constexpr size_t kMostSteps = 1'000'000;  // what is left over goes the way of all lookaround

  RegexNode& Node(uint32_t node) { return tree_.nodes[node]; }

  std::vector<uint32_t> Children(uint32_t node) {
    std::vector<uint32_t> children;
    for (uint32_t c = Node(node).first; c; c = Node(c).next) children.push_back(c);
    steps_ += children.size();
    return children;
  }

  void VisitAll() {
    characters_.clear();
    rest_ = Rest();
    Visit(tree_.root);
  }

  bool NothingBehind() const { return rest_.from == characters_.size() && !rest_.unknown; }

  // From right to left.
  void Visit(uint32_t node) {
    const RegexNode n = Node(node);
    ++steps_;
    switch (n.kind) {
      case RegexKind::kGroup: return Visit(n.first);
      case RegexKind::kConcat: {
        const std::vector<uint32_t> children = Children(node);
        for (size_t i = children.size(); i-- > 0;) Visit(children[i]);
        return;
      }
      case RegexKind::kRepeat:
        if (n.low == 1 && n.high == 1) return Visit(n.first);
        if (n.high != 1 || !NothingBehind()) break;
        Visit(n.first);
        rest_.some = false;
        return;
      case RegexKind::kAlternate: {
        if (!NothingBehind()) break;
        Rest all{characters_.size(), true, false};
        for (const uint32_t c : Children(node)) {
          rest_ = Rest{characters_.size(), false, false};
          Visit(c);
          all.some = all.some && rest_.some;
          all.unknown = all.unknown || rest_.unknown;
        }
        rest_ = all;
        return;
      }
      case RegexKind::kLookahead: return folded_ ? NarrowInside(node) : Fold(node);
      default: break;
    }
    const bool some = Read(node);
    rest_.some = rest_.some || some;
  }

  // Adds to the rest what a node reads; whether that is something.
  bool Read(uint32_t node) {
    const RegexNode n = Node(node);
    ++steps_;
    switch (n.kind) {
      case RegexKind::kCharacter:
      case RegexKind::kSet: characters_.push_back(node); return true;
      case RegexKind::kConcat: {
        bool some = false;
        for (const uint32_t c : Children(node)) some = Read(c) || some;
        return some;
      }
      case RegexKind::kAlternate: {
        bool some = true;
        for (const uint32_t c : Children(node)) some = Read(c) && some;
        return some;
      }
      case RegexKind::kGroup:
      case RegexKind::kAtomic: return Read(n.first);
      case RegexKind::kRepeat:
      case RegexKind::kPossessive: return n.high > 0 && Read(n.first) && n.low > 0;
      case RegexKind::kWords:
      case RegexKind::kLanguage: rest_.unknown = true; return false;
      default: return false;
    }
  }

  void Fold(uint32_t lookahead) {
    if (rest_.unknown || steps_ >= kMostSteps) return;
    const std::optional<Forbidden> look = Node(lookahead).negated ? ForbiddenBy(Node(lookahead).first)
                                                                  : AllowedBy(Node(lookahead).first);
    if (!look || (look->some && !rest_.some)) return;
    const Ranges others = ComplementRanges(look->forbidden);
    const Ranges not_through = ComplementRanges(look->through), not_seen = ComplementRanges(look->seen);
    bool reads_forbidden = false, sees_all = true;
    const auto check = [&](const Ranges& set) {
      const Ranges left = IntersectRanges(set, others);
      reads_forbidden = reads_forbidden || left != set;
      sees_all = sees_all && IntersectRanges(left, not_through).empty() && IntersectRanges(set, not_seen).empty();
      steps_ += (set.size() + others.size()) / 16;
    };
    std::set<std::pair<RegexKind, uint32_t>> seen;
    steps_ += characters_.size() - rest_.from;
    for (size_t i = rest_.from; i < characters_.size(); ++i) {
      const RegexNode& n = Node(characters_[i]);
      if (n.kind != RegexKind::kNone && seen.emplace(n.kind, n.first).second) check(CharactersOf(n));
      if (reads_forbidden && !sees_all) return;
    }
    if (reads_forbidden) KeepOnly(others, characters_.data() + rest_.from, characters_.data() + characters_.size());
    tree_.Become(lookahead, RegexKind::kEpsilon, 0);
    changed_ = true;
  }

  Ranges CharactersOf(const RegexNode& n) const {
    return n.kind == RegexKind::kSet ? tree_.sets[n.first] : Ranges{{n.first, n.first}};
  }

  // Of the characters that some nodes read.
  void KeepOnly(const Ranges& kept, const uint32_t* begin, const uint32_t* end) {
    std::map<std::pair<RegexKind, uint32_t>, uint32_t> becomes;  // a set, or kNothing
    constexpr uint32_t kNothing = kUnbounded;
    steps_ += static_cast<size_t>(end - begin);
    for (; begin != end; ++begin) {
      const RegexNode n = Node(*begin);
      if (n.kind == RegexKind::kNone) continue;
      const auto [at, added] = becomes.try_emplace({n.kind, n.first}, kNothing);
      if (added) {
        const Ranges all = CharactersOf(n), left = IntersectRanges(all, kept);
        steps_ += (all.size() + kept.size()) / 16;
        if (!left.empty()) at->second = left == all ? n.first : added_.Add(left);
      }
      if (at->second == kNothing)
        tree_.Become(*begin, RegexKind::kNone, 0);
      else
        Node(*begin).first = at->second;
    }
  }

  // Whether lookahead counts characters.
  bool Counts(uint32_t node) {
    const RegexNode n = Node(node);
    switch (n.kind) {
      case RegexKind::kRepeat: return n.low > 1 || (n.high > 1 && n.high != kUnbounded);
      case RegexKind::kGroup: return Counts(n.first);
      case RegexKind::kConcat:
      case RegexKind::kAlternate: {
        const std::vector<uint32_t> children = Children(node);
        return std::any_of(children.begin(), children.end(), [this](uint32_t c) { return Counts(c); });
      }
      default: return false;
    }
  }

  // (?=A*X), where what comes behind does not matter. `set` is A, `found` A and X.
  struct Seek {
    uint32_t set;
    Ranges through, found;
  };
  std::optional<Seek> SeekOf(uint32_t content) {
    std::vector<uint32_t> parts;
    if (!ListParts(content, &parts) || parts.size() < 2) return std::nullopt;
    const std::optional<Ranges> through = AnyOf(parts[0], 0);
    if (!through) return std::nullopt;
    const RegexNode& turns = Node(parts[1]);
    const bool repeats = turns.kind == RegexKind::kRepeat && turns.low == 1 && turns.high > 0;
    const std::optional<Ranges> one = OneCharacterOf(tree_, repeats ? turns.first : parts[1], &steps_);
    const uint32_t set = Node(parts[0]).first;
    const bool plain = Node(set).kind == RegexKind::kSet || Node(set).kind == RegexKind::kCharacter;
    const auto says_nothing = [this](uint32_t part) { return IsOptional(part); };
    if (!one || !plain || !std::all_of(parts.begin() + 2, parts.end(), says_nothing)) return std::nullopt;
    Ranges found = *through;
    found.insert(found.end(), one->begin(), one->end());
    return Seek{set, *through, NormalizeRanges(std::move(found))};
  }

  // What else looks at the rest sees no characters but those that it reads. (?=[^x]*x) looks through all of these: whether
  // it does at an x or not, it finds the first one. This makes loops of one set where others were
  // taken out of it, and counters of what is read.
  void NarrowInside(uint32_t lookahead) {
    const uint32_t content = Node(lookahead).first;
    const std::optional<Seek> seek = SeekOf(content);
    if (!any_ && !seek && !Counts(content)) return;
    if (rest_.unknown || steps_ >= kMostSteps || OneCharacterOf(tree_, content, &steps_)) return;
    Ranges read;
    std::set<std::pair<RegexKind, uint32_t>> seen;
    steps_ += characters_.size() - rest_.from;
    for (size_t i = rest_.from; i < characters_.size(); ++i) {
      const RegexNode& n = Node(characters_[i]);
      if (n.kind == RegexKind::kNone || !seen.emplace(n.kind, n.first).second) continue;
      const Ranges some = CharactersOf(n);
      read.insert(read.end(), some.begin(), some.end());
    }
    steps_ += read.size() / 16;
    const Ranges characters = NormalizeRanges(std::move(read));
    if (seek && !IntersectRanges(characters, ComplementRanges(seek->through)).empty() &&
        IntersectRanges(characters, ComplementRanges(seek->found)).empty())
      tree_.Become(seek->set, RegexKind::kSet, added_.Add(characters));
    if (!any_ && !Counts(content)) return;
    std::vector<uint32_t> inside, last_lines;
    ListAhead(content, &inside, &last_lines);
    KeepOnly(characters, inside.data(), inside.data() + inside.size());
    if (!IntersectRanges(characters, {{'\n', '\n'}}).empty()) return;
    for (const uint32_t line : last_lines) tree_.Become(line, RegexKind::kEnd, 0);
  }

  // The nodes of one character that read what is ahead, and where the last line may end: lookbehind may see what came
  // before.
  void ListAhead(uint32_t node, std::vector<uint32_t>* inside, std::vector<uint32_t>* last_lines) {
    const RegexNode n = Node(node);
    ++steps_;
    switch (n.kind) {
      case RegexKind::kCharacter:
      case RegexKind::kSet: inside->push_back(node); return;
      case RegexKind::kLastLine: last_lines->push_back(node); return;
      case RegexKind::kConcat:
      case RegexKind::kAlternate:
        for (const uint32_t c : Children(node)) ListAhead(c, inside, last_lines);
        return;
      case RegexKind::kGroup:
      case RegexKind::kAtomic:
      case RegexKind::kRepeat:
      case RegexKind::kPossessive:
      case RegexKind::kLookahead: return ListAhead(n.first, inside, last_lines);
      default: return;
    }
  }

  // The parts of a node without names, one behind the other.
  bool ListParts(uint32_t node, std::vector<uint32_t>* parts) {
    const RegexNode n = Node(node);
    switch (n.kind) {
      case RegexKind::kEpsilon: return true;
      case RegexKind::kGroup: return !n.high && ListParts(n.first, parts);
      case RegexKind::kConcat: {
        for (const uint32_t c : Children(node))
          if (!ListParts(c, parts)) return false;
        return true;
      }
      default: parts->push_back(node); return true;
    }
  }

  // The characters of a part that repeats one without bounds.
  std::optional<Ranges> AnyOf(uint32_t node, uint32_t low) {
    const RegexNode& n = Node(node);
    const bool any = n.kind == RegexKind::kRepeat && n.low == low && n.high == kUnbounded;
    return any ? OneCharacterOf(tree_, n.first, &steps_) : std::nullopt;
  }

  bool IsEnd(uint32_t node) {
    const RegexKind kind = Node(node).kind;
    return kind == RegexKind::kEnd || kind == RegexKind::kLastLine || kind == RegexKind::kLineEnd;
  }

  bool IsOptional(uint32_t node) {
    const RegexNode& n = Node(node);
    return n.kind == RegexKind::kRepeat && n.low == 0 && OneCharacterOf(tree_, n.first, &steps_);
  }

  // (?!A*X): the first character of X that is read has others before it, and if all of these are in A it is found. With
  // further alternatives, the first one of any of them. In (?!A*XB*$) all that is read behind it has to be in B.
  std::optional<Forbidden> ForbiddenBy(uint32_t node) {
    Forbidden all;
    if (!AddForbidden(node, &all)) return std::nullopt;
    all.forbidden = NormalizeRanges(std::move(all.forbidden));
    return all;
  }

  bool AddForbidden(uint32_t node, Forbidden* all) {
    std::vector<uint32_t> parts;
    if (!ListParts(node, &parts)) return false;
    if (parts.size() == 1 && Node(parts[0]).kind == RegexKind::kAlternate) {
      for (const uint32_t c : Children(parts[0]))
        if (!AddForbidden(c, all)) return false;
      return true;
    }
    if (parts.size() < 2) return false;
    const std::optional<Ranges> through = AnyOf(parts[0], 0);
    const RegexNode& turns = Node(parts[1]);
    const bool repeats = turns.kind == RegexKind::kRepeat && turns.low == 1 && turns.high > 0;
    const std::optional<Ranges> one = OneCharacterOf(tree_, repeats ? turns.first : parts[1], &steps_);
    if (!through || !one) return false;
    size_t end = parts.size();
    while (end > 2 && IsEnd(parts[end - 1])) --end;
    if (end < parts.size()) {
      const std::optional<Ranges> seen = end == 3 ? AnyOf(parts[2], 0) : std::nullopt;
      if (!seen) return false;
      all->seen = IntersectRanges(all->seen, *seen);
    } else if (!std::all_of(parts.begin() + 2, parts.end(), [this](uint32_t part) { return IsOptional(part); })) {
      return false;
    }
    all->through = IntersectRanges(all->through, *through);
    all->forbidden.insert(all->forbidden.end(), one->begin(), one->end());
    steps_ += all->forbidden.size() / 16;
    return true;
  }

  // (?=B*$) and (?=B+$) forbid the others. Where something may come behind the place of $, that must not be read.
  std::optional<Forbidden> AllowedBy(uint32_t node) {
    std::vector<uint32_t> parts;
    if (!ListParts(node, &parts) || parts.size() != 2 || !IsEnd(parts[1])) return std::nullopt;
    Forbidden all;
    all.some = Node(parts[0]).low > 0;
    const std::optional<Ranges> one = AnyOf(parts[0], all.some);
    if (!one) return std::nullopt;
    all.forbidden = ComplementRanges(*one);
    const RegexNode& end = Node(parts[1]);
    if (end.kind == RegexKind::kLineEnd) all.seen = ComplementRanges(tree_.sets[end.first]);
    if (end.kind == RegexKind::kLastLine) all.seen = ComplementRanges(IntersectRanges(all.forbidden, {{'\n', '\n'}}));
    return all;
  }

  RegexTree& tree_;
  std::vector<uint32_t> characters_;
  Rest rest_;
  AddedSets added_;
  bool changed_ = false, any_ = false, folded_ = false;  // folded_: once no more is taken out
  size_t steps_ = 0;
};

}  // namespace

void FoldForbidden(RegexTree* tree) { Forbidding(tree).Run(); }

}  // namespace tokamata
