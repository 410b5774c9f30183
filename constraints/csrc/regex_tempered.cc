// Repetitions of characters that begin no text of a list, as in (?:(?!</a>).)*</a>: their languages without contexts.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "constraints/csrc/regex.h"

namespace tokamata {
namespace {

constexpr size_t kMostTexts = 32, kMostLetters = 256, kMostKinds = 16;  // letters: of all texts
constexpr size_t kMostCuts = 20'000;  // of the code points by the sets of all letters

bool AreFew(const std::vector<std::u32string>& texts) {
  size_t letters = 0;
  for (const std::u32string& text : texts) letters += text.size();
  return texts.size() <= kMostTexts && letters <= kMostLetters;
}

// Makes all of a list longer by each of another one; false where they become many.
bool Append(const std::vector<std::u32string>& more, std::vector<std::u32string>* all) {
  if (all->size() * more.size() > kMostTexts) return false;
  std::vector<std::u32string> longer;
  for (const std::u32string& text : *all)
    for (const std::u32string& end : more) longer.push_back(text + end);
  *all = std::move(longer);
  return AreFew(*all);
}

CodePointRanges WithoutSurrogates(const CodePointRanges& ranges) {  // no text has one
  CodePointRanges kept;
  for (const auto& [low, high] : ranges) {
    if (low < 0xD800) kept.emplace_back(low, std::min(high, 0xD7FFu));
    if (high >= 0xE000) kept.emplace_back(std::max(low, 0xE000u), high);
  }
  return kept;
}

// Writes texts whose letters may have characters in common with letters that have none; false where that takes many.
bool SeparateLetters(std::vector<CodePointRanges>* letters, std::vector<std::u32string>* texts) {
  std::map<uint32_t, std::vector<size_t>> cuts;  // where a set begins or ends
  for (size_t letter = 0; letter < letters->size(); ++letter)
    for (const auto& [low, high] : (*letters)[letter]) {
      cuts[low].push_back(letter);
      cuts[high + 1].push_back(letter);
    }
  if (cuts.size() * letters->size() > kMostCuts) return false;
  std::vector<int> open(letters->size());  // a set may say a character twice
  std::map<std::vector<size_t>, CodePointRanges> classes;  // the characters that lie in just these sets
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    for (const size_t letter : cut->second) {
      const CodePointRanges& set = (*letters)[letter];
      open[letter] = std::any_of(set.begin(), set.end(), [&](const auto& range) {
        return range.first <= cut->first && cut->first <= range.second;
      });
    }
    std::vector<size_t> in;
    for (size_t letter = 0; letter < open.size(); ++letter)
      if (open[letter]) in.push_back(letter);
    if (!in.empty()) classes[in].emplace_back(cut->first, std::next(cut)->first - 1);
  }
  std::vector<std::vector<std::u32string>> spelled(letters->size());
  letters->clear();
  for (auto& [in, characters] : classes) {
    for (const size_t letter : in) spelled[letter].emplace_back(1, static_cast<char32_t>(letters->size()));
    letters->push_back(std::move(characters));
  }
  std::vector<std::u32string> separate;
  for (const std::u32string& text : *texts) {
    std::vector<std::u32string> all(1);
    for (const char32_t letter : text)
      if (!Append(spelled[letter], &all)) return false;
    separate.insert(separate.end(), all.begin(), all.end());
    if (!AreFew(separate)) return false;
  }
  *texts = std::move(separate);
  return true;
}

}  // namespace

// The texts of a node without assertions, whose letters are sets of characters; false where they are many.
bool RegexLowering::ListTexts(uint32_t node, Tempered* tempered, std::vector<std::u32string>* texts) const {
  const RegexNode& n = tree_.nodes[node];
  texts->clear();
  const auto add_letter = [&](const CodePointRanges& ranges) {
    const CodePointRanges characters = WithoutSurrogates(ranges);
    if (characters.empty()) return;
    std::vector<CodePointRanges>& letters = tempered->letters;
    const size_t letter = std::find(letters.begin(), letters.end(), characters) - letters.begin();
    if (letter == letters.size()) letters.push_back(characters);
    texts->emplace_back(1, static_cast<char32_t>(letter));
  };
  std::vector<std::u32string> some;
  switch (n.kind) {
    case RegexKind::kEpsilon: texts->emplace_back(); return true;
    case RegexKind::kCharacter: add_letter({{n.first, n.first}}); return true;
    case RegexKind::kSet: add_letter(tree_.sets[n.first]); return true;
    case RegexKind::kGroup: return ListTexts(n.first, tempered, texts);
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
        if (!ListTexts(c, tempered, &some)) return false;
        texts->insert(texts->end(), some.begin(), some.end());
        if (!AreFew(*texts)) return false;
      }
      return true;
    case RegexKind::kConcat:
      texts->emplace_back();
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next)
        if (!ListTexts(c, tempered, &some) || !Append(some, texts)) return false;
      return true;
    case RegexKind::kRepeat:
      if (n.high > 1) return false;
      if (n.high && !ListTexts(n.first, tempered, texts)) return false;
      if (!n.low) texts->emplace_back();
      return true;
    default: return false;
  }
}

// Whether a node repeats a part that some lookaheads refuse to begin at: says the part, and what they refuse.
bool RegexLowering::FindTempered(uint32_t* node, uint32_t* part, std::vector<uint32_t>* refused) const {
  while (tree_.nodes[*node].kind == RegexKind::kGroup) *node = tree_.nodes[*node].first;
  if (tree_.nodes[*node].kind != RegexKind::kRepeat) return false;
  uint32_t body = tree_.nodes[*node].first;
  while (tree_.nodes[body].kind == RegexKind::kGroup) body = tree_.nodes[body].first;
  if (tree_.nodes[body].kind != RegexKind::kConcat) return false;
  refused->clear();
  for (uint32_t c = tree_.nodes[body].first; c; c = tree_.nodes[c].next) {
    const RegexNode& n = tree_.nodes[c];
    *part = c;
    if (!n.next) break;
    if (n.kind != RegexKind::kLookahead || !n.negated) return false;
    refused->push_back(n.first);
  }
  return !refused->empty() && !Asserts(*part);
}

// Whether that is one character that no text of a list begins at.
bool RegexLowering::IsTempered(uint32_t node, Tempered* tempered) {
  uint32_t part;
  std::vector<uint32_t> refused;
  CodePointRanges characters;
  if (!FindTempered(&node, &part, &refused) || !ReadsOneCharacter(part, &characters)) return false;
  *tempered = {};
  std::vector<std::u32string> texts;
  for (const uint32_t lookahead : refused) {
    if (Asserts(lookahead) || !ListTexts(lookahead, tempered, &texts) ||
        std::any_of(texts.begin(), texts.end(), [](const std::u32string& text) { return text.empty(); }))
      return false;
    tempered->refused.insert(tempered->refused.end(), texts.begin(), texts.end());
    if (!AreFew(tempered->refused)) return false;
  }
  if (!SeparateLetters(&tempered->letters, &tempered->refused)) return false;
  tempered->turns = pool_.Repeat(Characters(characters), tree_.nodes[node].low, tree_.nodes[node].high);
  return !tempered->refused.empty();
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
  Tempered tempered;
  Expr part;
  if (IsTempered(node, &tempered)) return Temper(tempered, kEpsilonExpr, follow, made);
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
        if (IsTempered(children[i], &tempered)) {
          if (!Temper(tempered, *made, follow, made)) return false;
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

// What may come behind a character in the texts of `at`.
Expr RegexLowering::Behind(Expr at, Expr character) {
  std::vector<std::pair<Expr, Expr>> open{{at, character}};
  std::vector<Expressions::Term> steps, bytes;
  std::vector<Expr> found;
  while (!open.empty()) {
    const auto [text, left] = open.back();
    open.pop_back();
    steps.clear();
    bytes.clear();
    pool_.Step(text, &steps);
    pool_.Step(left, &bytes);
    for (const Expressions::Term& step : steps)
      for (const Expressions::Term& byte : bytes) {
        if (!(step.bytes & byte.bytes).Any()) continue;
        if (byte.target == kEpsilonExpr)
          found.push_back(step.target);
        else
          open.emplace_back(step.target, byte.target);
      }
  }
  return pool_.Union(std::move(found));
}

// Such a repetition, then `rest`. No refused text lies among the characters; what the last of them begin of one, the
// rest must not complete, which matters where the rest may begin so: the longest such beginning tells all of them.
bool RegexLowering::Temper(const Tempered& tempered, Expr rest, Expr follow, Expr* made) {
  const std::vector<std::u32string>& refused = tempered.refused;
  std::vector<Expr> letters;
  for (const CodePointRanges& characters : tempered.letters) letters.push_back(Characters(characters));
  const auto spell = [&](const std::u32string& text) {
    std::vector<Expr> parts;
    for (const char32_t letter : text) parts.push_back(letters[letter]);
    return pool_.Concat(parts);
  };
  std::set<std::u32string> begun;
  std::vector<Expr> texts;
  for (const std::u32string& text : refused) {
    texts.push_back(spell(text));
    for (size_t size = 1; size < text.size(); ++size) begun.insert(text.substr(0, size));
  }
  const auto ends_with = [](const std::u32string& text, const std::u32string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  };
  enum class Answer { kNo, kYes, kUnknown };
  const Expr behind = pool_.Concat(rest, follow);
  const auto may_begin = [&](const std::u32string& text) {  // whether the rest may
    bool within = true;  // the rest, or nothing comes behind it
    Expr at = rest, at_behind = behind;
    for (const char32_t letter : text) {
      within = within && (follow == kEpsilonExpr || !pool_.Nullable(at));
      at = Behind(at, letters[letter]);
      at_behind = Behind(at_behind, letters[letter]);
      if (at_behind == kEmpty) return Answer::kNo;
    }
    return within ? Answer::kYes : Answer::kUnknown;
  };
  std::map<std::u32string, Answer> known;  // of what is left of a text
  std::map<Expr, std::vector<std::u32string>> kinds;  // what the last ones begin, by what may come then, if not all
  for (const std::u32string& begin : begun) {
    std::vector<Expr> completed;
    for (size_t from = 0; from < begin.size(); ++from)
      for (const std::u32string& text : refused) {
        const size_t size = begin.size() - from;
        if (size >= text.size() || begin.compare(from, size, text, 0, size) != 0) continue;
        const std::u32string left = text.substr(size);
        const auto [answer, added] = known.emplace(left, Answer::kNo);
        if (added) answer->second = may_begin(left);
        if (answer->second == Answer::kUnknown) return false;
        if (answer->second == Answer::kYes) completed.push_back(spell(left));
      }
    if (completed.empty()) continue;
    const Expr not_those = pool_.Complement(pool_.Concat(pool_.Union(std::move(completed)), pool_.AnyBytes()));
    kinds[pool_.Intersect(rest, not_those)].push_back(begin);
    if (kinds.size() > kMostKinds) return false;
  }
  const Expr any = pool_.AnyBytes();
  const Expr has_refused = pool_.Concat({any, pool_.Union(std::move(texts)), any});
  const Expr inside = pool_.Intersect(tempered.turns, pool_.Complement(has_refused));
  std::vector<Expr> parts, others;
  for (const auto& [then, begins] : kinds) {
    std::vector<Expr> ends;
    for (const std::u32string& begin : begins) {
      std::vector<Expr> longer;
      for (const std::u32string& other : begun)
        if (other.size() > begin.size() && ends_with(other, begin)) longer.push_back(spell(other));
      const Expr end = pool_.Concat(any, spell(begin));
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

// Rewrites (?:(?!x)c)* to (?!c*x)c* where no further c, and no x, begins what comes behind it, so that assertions in x
// are told apart once instead of at every turn; `follow` as above.
void RegexLowering::PullLookahead(uint32_t node, Expr follow) {
  if (!Asserts(node)) return;
  const RegexNode n = tree_.nodes[node];
  uint32_t repeat = node, part;
  std::vector<uint32_t> refused;
  if (FindTempered(&repeat, &part, &refused)) {
    const Expr turn = Plain(part);
    const auto may_begin = [&](Expr x) { return (pool_.First(x) & pool_.First(follow)).Any(); };
    if (pool_.Nullable(turn) || !IsPrefixFree(part) || may_begin(turn)) return;
    std::vector<uint32_t> parts;
    for (const uint32_t x : refused) {
      const Expr texts = WithoutAssertions(x);
      if (pool_.Nullable(texts) || may_begin(texts)) return;
      const uint32_t before = Add(RegexKind::kRepeat, n.position, part);
      tree_.nodes[before].high = kUnbounded;
      tree_.nodes[before].next = Add(RegexKind::kGroup, n.position, x);
      parts.push_back(Add(RegexKind::kLookahead, n.position, Add(RegexKind::kConcat, n.position, before)));
      tree_.nodes[parts.back()].negated = true;
    }
    parts.push_back(Add(RegexKind::kRepeat, n.position, part));
    tree_.nodes[parts.back()].low = tree_.nodes[repeat].low;
    tree_.nodes[parts.back()].high = tree_.nodes[repeat].high;
    for (size_t i = 1; i < parts.size(); ++i) tree_.nodes[parts[i - 1]].next = parts[i];
    Become(node, RegexKind::kConcat, parts.front());
    return;
  }
  switch (n.kind) {
    case RegexKind::kGroup: return PullLookahead(n.first, follow);
    case RegexKind::kRepeat:
      if (n.high > 1) follow = pool_.Concat(pool_.Star(WithoutAssertions(n.first)), follow);
      return PullLookahead(n.first, follow);
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) PullLookahead(c, follow);
      return;
    case RegexKind::kConcat: {
      std::vector<uint32_t> children;
      for (uint32_t c = n.first; c; c = tree_.nodes[c].next) children.push_back(c);
      for (size_t i = children.size(); i-- > 0;) {
        const Expr texts = WithoutAssertions(children[i]);
        PullLookahead(children[i], follow);
        follow = pool_.Concat(texts, follow);
      }
      return;
    }
    default: return;
  }
}

}  // namespace tokamata
