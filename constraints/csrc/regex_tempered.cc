// Repetitions of characters that begin no text of a list, as in (?:(?!</a>).)*</a>: their languages without contexts.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "automata/csrc/utf8.h"
#include "constraints/csrc/regex.h"

namespace tokamata {
namespace {

constexpr size_t kMostTexts = 32, kMostBytes = 256, kMostKinds = 16;  // bytes: of all texts

bool AreFew(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return texts.size() <= kMostTexts && bytes <= kMostBytes;
}

// Makes all of a list longer by each of another one; false where they become many.
bool Append(const std::vector<std::string>& more, std::vector<std::string>* all) {
  if (all->size() * more.size() > kMostTexts) return false;
  std::vector<std::string> longer;
  for (const std::string& text : *all)
    for (const std::string& end : more) longer.push_back(text + end);
  *all = std::move(longer);
  return AreFew(*all);
}

}  // namespace

// The texts of a node without assertions; false where they are many.
bool RegexLowering::ListTexts(uint32_t node, std::vector<std::string>* texts) const {
  const RegexNode& n = tree_.nodes[node];
  texts->clear();
  const auto add_character = [&](uint32_t c) {
    if (c >= 0xD800 && c < 0xE000) return;  // no text has a surrogate
    texts->emplace_back();
    AppendUtf8(c, &texts->back());
  };
  std::vector<std::string> some;
  switch (n.kind) {
    case RegexKind::kEpsilon: texts->emplace_back(); return true;
    case RegexKind::kCharacter: add_character(n.first); return true;
    case RegexKind::kSet:
      for (const auto& [low, high] : tree_.sets[n.first]) {
        if (texts->size() + (high - low) >= kMostTexts) return false;
        for (uint32_t c = low; c <= high; ++c) add_character(c);
      }
      return true;
    case RegexKind::kGroup: return ListTexts(n.first, texts);
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
        if (!ListTexts(c, &some)) return false;
        texts->insert(texts->end(), some.begin(), some.end());
        if (!AreFew(*texts)) return false;
      }
      return true;
    case RegexKind::kConcat:
      texts->emplace_back();
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next)
        if (!ListTexts(c, &some) || !Append(some, texts)) return false;
      return true;
    case RegexKind::kRepeat:
      if (n.high > 1) return false;
      if (n.high && !ListTexts(n.first, texts)) return false;
      if (!n.low) texts->emplace_back();
      return true;
    default: return false;
  }
}

// Whether a node is such a repetition: of one character that no text of a list begins at.
bool RegexLowering::IsTempered(uint32_t node, Expr* turns, std::vector<std::string>* refused) {
  while (tree_.nodes[node].kind == RegexKind::kGroup) node = tree_.nodes[node].first;
  const RegexNode& repeat = tree_.nodes[node];
  if (repeat.kind != RegexKind::kRepeat) return false;
  uint32_t body = repeat.first;
  while (tree_.nodes[body].kind == RegexKind::kGroup) body = tree_.nodes[body].first;
  if (tree_.nodes[body].kind != RegexKind::kConcat) return false;
  refused->clear();
  for (uint32_t c = tree_.nodes[body].first; c; c = tree_.nodes[c].next) {
    const RegexNode& part = tree_.nodes[c];
    if (part.next) {
      std::vector<std::string> texts;
      if (part.kind != RegexKind::kLookahead || !part.negated || Asserts(part.first) ||
          !ListTexts(part.first, &texts) ||
          std::any_of(texts.begin(), texts.end(), [](const std::string& text) { return text.empty(); }))
        return false;
      refused->insert(refused->end(), texts.begin(), texts.end());
      if (!AreFew(*refused)) return false;
    } else {
      CodePointRanges characters;
      if (Asserts(c) || !ReadsOneCharacter(c, &characters)) return false;
      *turns = pool_.Repeat(Characters(characters), repeat.low, repeat.high);
    }
  }
  return !refused->empty();
}

// The texts of a node, and more where it has assertions: as if these held.
Expr RegexLowering::WithoutAssertions(uint32_t node) {
  if (!Asserts(node)) return Plain(node);
  const RegexNode& n = tree_.nodes[node];
  std::vector<Expr> parts;
  switch (n.kind) {
    case RegexKind::kGroup: return WithoutAssertions(n.first);
    case RegexKind::kRepeat: return pool_.Repeat(WithoutAssertions(n.first), n.low, n.high);
    case RegexKind::kAlternate:
    case RegexKind::kConcat:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) parts.push_back(WithoutAssertions(c));
      return n.kind == RegexKind::kConcat ? pool_.Concat(parts) : pool_.Union(std::move(parts));
    default: return kEpsilonExpr;
  }
}

// The language of a node all of whose assertions are in such repetitions, where it can be said what their last
// characters begin; `follow`: what may come behind the node, and maybe more; the empty text says that nothing does.
bool RegexLowering::LowerTempered(uint32_t node, Expr follow, Expr* made) {
  if (!Asserts(node)) {
    *made = Plain(node);
    return true;
  }
  const RegexNode& n = tree_.nodes[node];
  std::vector<std::string> refused;
  Expr part;
  if (IsTempered(node, &part, &refused)) return Temper(part, refused, kEpsilonExpr, follow, made);
  switch (n.kind) {
    case RegexKind::kGroup: return LowerTempered(n.first, follow, made);
    case RegexKind::kRepeat:
      if (n.high > 1) follow = pool_.Concat(pool_.Star(WithoutAssertions(n.first)), follow);
      if (!LowerTempered(n.first, follow, &part)) return false;
      *made = pool_.Repeat(part, n.low, n.high);
      return true;
    case RegexKind::kAlternate: {
      std::vector<Expr> parts;
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
        if (!LowerTempered(c, follow, &part)) return false;
        parts.push_back(part);
      }
      *made = pool_.Union(std::move(parts));
      return true;
    }
    case RegexKind::kConcat: {
      std::vector<uint32_t> children;
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) children.push_back(c);
      *made = kEpsilonExpr;
      for (size_t i = children.size(); i-- > 0;) {
        if (IsTempered(children[i], &part, &refused)) {
          if (!Temper(part, refused, *made, follow, made)) return false;
          continue;
        }
        if (!LowerTempered(children[i], pool_.Concat(*made, follow), &part)) return false;
        *made = pool_.Concat(part, *made);
      }
      return true;
    }
    default: return false;
  }
}

// Such a repetition, then `rest`. No refused text lies among the characters; what the last of them begin of one, the
// rest must not complete, which matters where the rest may begin so: the longest such beginning tells all of them.
bool RegexLowering::Temper(Expr turns, const std::vector<std::string>& refused, Expr rest, Expr follow, Expr* made) {
  std::set<std::string> begun;
  std::vector<Expr> texts;
  for (const std::string& text : refused) {
    texts.push_back(pool_.Literal(text));
    for (size_t size = 1; size < text.size(); ++size) begun.insert(text.substr(0, size));
  }
  const auto ends_with = [](const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  };
  enum class Answer { kNo, kYes, kUnknown };
  const Expr behind = pool_.Concat(rest, follow);
  std::vector<Expressions::Term> steps;
  const auto step = [&](Expr* at, char byte) {
    steps.clear();
    pool_.Step(*at, &steps);
    const auto found = std::find_if(steps.begin(), steps.end(), [&](const Expressions::Term& t) {
      return t.bytes.Has(static_cast<uint8_t>(byte));
    });
    *at = found == steps.end() ? kEmpty : found->target;
  };
  const auto may_begin = [&](const std::string& text) {  // whether the rest may
    bool within = true;  // the rest, or nothing comes behind it
    Expr at = rest, at_behind = behind;
    for (const char byte : text) {
      within = within && (follow == kEpsilonExpr || !pool_.Nullable(at));
      step(&at, byte);
      step(&at_behind, byte);
      if (at_behind == kEmpty) return Answer::kNo;
    }
    return within ? Answer::kYes : Answer::kUnknown;
  };
  std::map<std::string, Answer> known;  // of what is left of a text
  std::map<Expr, std::vector<std::string>> kinds;  // what the last characters begin, by what may come then, if not all
  for (const std::string& begin : begun) {
    std::vector<Expr> completed;
    for (size_t from = 0; from < begin.size(); ++from)
      for (const std::string& text : refused) {
        const size_t size = begin.size() - from;
        if (size >= text.size() || begin.compare(from, size, text, 0, size) != 0) continue;
        const std::string left = text.substr(size);
        const auto [answer, added] = known.emplace(left, Answer::kNo);
        if (added) answer->second = may_begin(left);
        if (answer->second == Answer::kUnknown) return false;
        if (answer->second == Answer::kYes) completed.push_back(pool_.Literal(left));
      }
    if (completed.empty()) continue;
    const Expr not_those = pool_.Complement(pool_.Concat(pool_.Union(std::move(completed)), pool_.AnyBytes()));
    kinds[pool_.Intersect(rest, not_those)].push_back(begin);
    if (kinds.size() > kMostKinds) return false;
  }
  const Expr any = pool_.AnyBytes();
  const Expr inside = pool_.Intersect(turns, pool_.Complement(pool_.Concat({any, pool_.Union(std::move(texts)), any})));
  std::vector<Expr> parts, others;
  for (const auto& [then, begins] : kinds) {
    std::vector<Expr> ends;
    for (const std::string& begin : begins) {
      std::vector<Expr> longer;
      for (const std::string& other : begun)
        if (other.size() > begin.size() && ends_with(other, begin)) longer.push_back(pool_.Literal(other));
      const Expr end = pool_.Concat(any, pool_.Literal(begin));
      const Expr ends_longer = pool_.Concat(any, pool_.Union(std::move(longer)));
      ends.push_back(pool_.Intersect(end, pool_.Complement(ends_longer)));
    }
    others.push_back(pool_.Union(std::move(ends)));
    if (then != kEmpty) parts.push_back(pool_.Concat(pool_.Intersect(inside, others.back()), then));
  }
  const Expr usual = pool_.Intersect(inside, pool_.Complement(pool_.Union(std::move(others))));
  parts.push_back(pool_.Concat(usual, rest));
  *made = pool_.Union(std::move(parts));
  return true;
}

}  // namespace tokamata
