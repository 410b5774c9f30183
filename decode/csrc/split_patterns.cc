#include "decode/csrc/split_patterns.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "automata/csrc/errors.h"
#include "constraints/csrc/regex_syntax.h"

namespace tokamata {
namespace {

using Classes = SplitPatterns::Classes;
constexpr uint32_t kMostInstructions = 100'000, kMostPlaces = 10'000;

// A backtracking matcher's program: characters, choices with a preferred way, conditions on the next character.
struct Instruction {
  enum Kind : uint8_t { kCharacter, kChoice, kCondition, kDone } kind;
  uint32_t set = 0;                   // of kCharacter and kCondition
  uint32_t next = 0, otherwise = 0;   // of kChoice: the preferred one first
  bool negated = false, end = false;  // of kCondition: not of the set; whether the end of the text will do
};

class Program {
 public:
  Program(RegexTree* tree, std::vector<CodePointRanges>* sets) : tree_(*tree), sets_(*sets) {
    first_set_ = static_cast<uint32_t>(sets_.size());
    for (const CodePointRanges& ranges : tree_.sets) sets_.push_back(ranges);
    const uint32_t done = Add({Instruction::kDone});
    start_ = Build(tree_.root, done);
  }
  const std::vector<Instruction>& Instructions() const { return code_; }
  uint32_t Start() const { return start_; }

 private:
  uint32_t Add(Instruction i) {
    if (code_.size() >= kMostInstructions)
      throw LimitError("pretokenizer: limit instructions=" + std::to_string(kMostInstructions) +
                       " reached: the pattern has large counts; simplify it");
    code_.push_back(i);
    return static_cast<uint32_t>(code_.size() - 1);
  }
  uint32_t Condition(uint32_t set, bool negated, bool end, uint32_t next) {
    Instruction i{Instruction::kCondition};
    i.set = set;
    i.negated = negated;
    i.end = end;
    i.next = next;
    return Add(i);
  }
  uint32_t Choice(uint32_t preferred, uint32_t otherwise) {
    Instruction i{Instruction::kChoice};
    i.next = preferred;
    i.otherwise = otherwise;
    return Add(i);
  }
  uint32_t Character(uint32_t set, uint32_t next) {
    Instruction i{Instruction::kCharacter};
    i.set = set;
    i.next = next;
    return Add(i);
  }
  [[noreturn]] void Refuse(uint32_t node, const char* what, const char* remedy) const {
    ThrowUnsupported(tree_.text, tree_.nodes[node].position, what, remedy);
  }

  // The set of a node that reads exactly one character.
  uint32_t SetOf(uint32_t node, const char* what, const char* remedy) {
    const uint32_t whole = node;
    while (tree_.nodes[node].kind == RegexKind::kGroup) node = tree_.nodes[node].first;
    const RegexNode& n = tree_.nodes[node];
    if (n.kind == RegexKind::kSet) return first_set_ + n.first;
    if (n.kind == RegexKind::kCharacter) return Single(n.first);
    Refuse(whole, what, remedy);
  }
  uint32_t Single(uint32_t code_point) {
    const auto [at, fresh] = singles_.emplace(code_point, static_cast<uint32_t>(sets_.size()));
    if (fresh) sets_.push_back({{code_point, code_point}});
    return at->second;
  }

  // The program of a node that goes on at `next`. As deep as the tree, which the parser bounds.
  uint32_t Build(uint32_t node, uint32_t next) {
    const RegexNode n = tree_.nodes[node];
    switch (n.kind) {
      case RegexKind::kEpsilon: return next;
      case RegexKind::kCharacter: return Character(Single(n.first), next);
      case RegexKind::kSet: return Character(first_set_ + n.first, next);
      case RegexKind::kGroup: return Build(n.first, next);
      case RegexKind::kConcat: {
        std::vector<uint32_t> parts = Children(n);
        for (size_t i = parts.size(); i-- > 0;) next = Build(parts[i], next);
        return next;
      }
      case RegexKind::kAlternate: {
        std::vector<uint32_t> parts = Children(n);
        uint32_t at = Build(parts.back(), next);
        for (size_t i = parts.size() - 1; i-- > 0;) at = Choice(Build(parts[i], next), at);
        return at;
      }
      case RegexKind::kRepeat: return Repeat(n, next);
      case RegexKind::kPossessive: return Possessive(n, next);
      case RegexKind::kLookahead:
        return Condition(SetOf(n.first, "a lookahead at more than one character", "(?!C) and (?=C) take one class"),
                         n.negated, n.negated, next);
      case RegexKind::kEnd: return Condition(Nothing(), false, true, next);
      default:
        Refuse(node, "an assertion or group of this kind",
               "pretokenizers are followed where they consist of characters, classes, alternatives, quantifiers, "
               "lookahead at one character and the end of the text");
    }
  }
  std::vector<uint32_t> Children(const RegexNode& n) const {
    std::vector<uint32_t> found;
    for (uint32_t c = n.first; c; c = tree_.nodes[c].next) found.push_back(c);
    return found;
  }
  uint32_t Nothing() {
    if (nothing_ == 0xffffffff) {
      nothing_ = static_cast<uint32_t>(sets_.size());
      sets_.push_back({});
    }
    return nothing_;
  }
  // Whether a node may match the empty text. As deep as the tree.
  bool IsNullable(uint32_t node) const {
    const RegexNode& n = tree_.nodes[node];
    const auto is_nullable = [this](uint32_t child) { return IsNullable(child); };
    switch (n.kind) {
      case RegexKind::kCharacter:
      case RegexKind::kSet: return false;
      case RegexKind::kGroup: return IsNullable(n.first);
      case RegexKind::kConcat: {
        const std::vector<uint32_t> parts = Children(n);
        return std::all_of(parts.begin(), parts.end(), is_nullable);
      }
      case RegexKind::kAlternate: {
        const std::vector<uint32_t> parts = Children(n);
        return std::any_of(parts.begin(), parts.end(), is_nullable);
      }
      case RegexKind::kRepeat:
      case RegexKind::kPossessive: return n.low == 0 || IsNullable(n.first);
      default: return true;  // assertions
    }
  }
  uint32_t Repeat(const RegexNode& n, uint32_t next) {
    if (n.high == kUnbounded && IsNullable(n.first))  // engines leave such loops after an empty round, or try on
      Refuse(n.first, "an unbounded repetition of what may match the empty text", "repeat what reads a character");
    const auto choose = [&](uint32_t more, uint32_t enough) {
      return n.negated ? Choice(enough, more) : Choice(more, enough);
    };
    uint32_t at = next;
    if (n.high == kUnbounded) {
      at = choose(0, next);
      const uint32_t body = Build(n.first, at);
      (n.negated ? code_[at].otherwise : code_[at].next) = body;
    } else {
      for (uint32_t i = n.low; i < n.high; ++i) at = choose(Build(n.first, at), next);
    }
    for (uint32_t i = 0; i < n.low; ++i) at = Build(n.first, at);
    return at;
  }
  // One that reads a single class is greedy, and may only stop where no more can be read.
  uint32_t Possessive(const RegexNode& n, uint32_t next) {
    const uint32_t set = SetOf(n.first, "a possessive quantifier of more than one character", "repeat one class");
    const uint32_t enough = Condition(set, true, true, next);
    uint32_t at = next;
    if (n.high == kUnbounded) {
      at = Choice(0, enough);
      const uint32_t body = Character(set, at);
      code_[at].next = body;
    } else {
      for (uint32_t i = n.low; i < n.high; ++i) at = Choice(Character(set, at), enough);
    }
    for (uint32_t i = 0; i < n.low; ++i) at = Character(set, at);
    return at;
  }

  RegexTree& tree_;
  std::vector<CodePointRanges>& sets_;
  uint32_t first_set_, start_ = 0, nothing_ = 0xffffffff;
  std::map<uint32_t, uint32_t> singles_;
  std::vector<Instruction> code_;
};

// What can be done from an instruction, in order of priority.
std::vector<SplitPatterns::Item> ItemsOf(const std::vector<Instruction>& code, uint32_t at,
                                         const std::vector<Classes>& classes,
                                         const std::function<uint32_t(uint32_t)>& place_of) {
  struct Way {
    uint32_t at;
    Classes condition;
  };
  std::vector<SplitPatterns::Item> items;
  std::vector<Way> work{{at, ~Classes()}};
  std::set<std::pair<uint32_t, std::string>> seen;
  while (!work.empty()) {
    Way way = work.back();
    work.pop_back();
    const Instruction& i = code[way.at];
    if (!seen.emplace(way.at, way.condition.to_string()).second) continue;
    switch (i.kind) {
      case Instruction::kDone:
        items.push_back({way.condition, SplitPatterns::kMatch});
        if (way.condition.all()) return items;
        break;
      case Instruction::kCharacter: {
        const Classes next = way.condition & classes[i.set];
        if (next.any()) items.push_back({next, place_of(i.next)});
        break;
      }
      case Instruction::kChoice:
        work.push_back({i.otherwise, way.condition});
        work.push_back({i.next, way.condition});
        break;
      case Instruction::kCondition: {
        Classes allowed = i.negated ? ~classes[i.set] : classes[i.set];
        allowed[SplitPatterns::kEnd] = i.end;
        way.condition &= allowed;
        if (way.condition.any()) work.push_back({i.next, way.condition});
        break;
      }
    }
  }
  return items;
}

// Whether some text that is not empty does not begin with a match: follows all threads at once.
bool MayNotMatch(const std::vector<std::vector<SplitPatterns::Item>>& places, const Classes& unused) {
  std::set<std::vector<uint32_t>> seen;
  std::vector<std::vector<uint32_t>> work{{0}};
  for (bool begins = true; !work.empty(); begins = false) {  // a loop can lead back to place 0, where a text may end
    const std::vector<uint32_t> from = std::move(work.back());
    work.pop_back();
    for (uint32_t c = 0; c < SplitPatterns::kClasses; ++c) {
      if (unused[c] || (c == SplitPatterns::kEnd && begins)) continue;
      std::set<uint32_t> to;
      bool matches = false;
      for (const uint32_t place : from)
        for (const SplitPatterns::Item& item : places[place]) {
          if (!item.next[c]) continue;
          matches = matches || item.target == SplitPatterns::kMatch;
          to.insert(item.target);
        }
      if (matches) continue;
      if (to.empty() || seen.size() > kMostPlaces) return true;
      std::vector<uint32_t> next(to.begin(), to.end());
      if (seen.insert(next).second) work.push_back(std::move(next));
    }
  }
  return false;
}

}  // namespace

SplitPatterns::SplitPatterns(const std::vector<SplitStage>& stages) {
  std::vector<CodePointRanges> sets;
  std::vector<Program> programs;
  for (const SplitStage& stage : stages) {
    RegexTree tree = ParseRegex(stage.pattern, RegexOptions());
    SpellWords(&tree);
    programs.emplace_back(&tree, &sets);
  }
  std::vector<Classes> classes;
  FindClasses(sets, &classes);
  for (size_t k = 0; k < stages.size(); ++k) {
    const std::vector<Instruction>& code = programs[k].Instructions();
    Stage stage;
    std::map<uint32_t, uint32_t> places{{programs[k].Start(), 0}};
    std::vector<uint32_t> order{programs[k].Start()};
    const auto place_of = [&](uint32_t at) {
      const auto [found, fresh] = places.emplace(at, static_cast<uint32_t>(order.size()));
      if (fresh) order.push_back(at);
      if (order.size() > kMostPlaces)
        throw LimitError("pretokenizer: limit places=" + std::to_string(kMostPlaces) +
                         " reached: the pattern is too long; simplify it");
      return found->second;
    };
    for (size_t i = 0; i < order.size(); ++i)
      stage.places.push_back(ItemsOf(code, order[i], classes, place_of));
    for (const std::vector<Item>& items : stage.places) {
      Classes matches = unused_;
      for (const Item& item : items)
        if (item.target == kMatch) matches |= item.next;
      stage.matches.push_back(matches);
    }
    for (const Item& item : stage.places[0])
      if (item.target == kMatch)
        throw UnsupportedError("pretokenizer: the pattern " + stages[k].pattern +
                               " matches the empty text; pieces of texts are not empty");
    stage.has_gaps = MayNotMatch(stage.places, unused_);
    if (stage.has_gaps && !stages[k].keeps_gaps)
      throw UnsupportedError("pretokenizer: texts may have parts that the pattern " + stages[k].pattern +
                             " does not match, and the tokenizer loses them; so it does not keep texts");
    stages_.push_back(std::move(stage));
  }
}

// Characters that no set tells apart are one class.
void SplitPatterns::FindClasses(const std::vector<CodePointRanges>& sets, std::vector<Classes>* classes) {
  struct Change {
    uint32_t at, set;
  };
  std::vector<Change> changes;
  for (uint32_t s = 0; s < sets.size(); ++s)
    for (const auto& [low, high] : NormalizeRanges(sets[s])) {
      changes.push_back({low, s});
      changes.push_back({high + 1, s});
    }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  std::vector<uint8_t> class_of(0x110000);
  std::vector<bool> inside(sets.size());
  std::map<std::vector<bool>, uint8_t> known;
  classes->assign(sets.size(), Classes());
  size_t next = 0;
  for (uint32_t c = 0; c < 0x110000;) {
    for (; next < changes.size() && changes[next].at == c; ++next) inside[changes[next].set].flip();
    const uint32_t end = next < changes.size() ? changes[next].at : 0x110000;
    if (c >= 0xD800 && end <= 0xE000) {  // surrogates are no characters
      c = end;
      continue;
    }
    const auto [at, fresh] = known.emplace(inside, static_cast<uint8_t>(known.size()));
    if (fresh) {
      if (known.size() > kEnd)
        throw LimitError("pretokenizer: limit classes=" + std::to_string(kEnd) +
                         " reached: the patterns tell too many characters apart; simplify them");
      for (uint32_t s = 0; s < sets.size(); ++s) (*classes)[s][at->second] = inside[s];
    }
    std::fill(class_of.begin() + c, class_of.begin() + end, at->second);
    c = end;
  }
  for (uint32_t c = static_cast<uint32_t>(known.size()); c < kEnd; ++c) unused_[c] = true;
  BuildNodes(class_of);
}

// Nodes are ranges of code points by the bytes that are still to come; equal ones are one.
void SplitPatterns::BuildNodes(const std::vector<uint8_t>& class_of) {
  std::map<std::array<uint32_t, 256>, uint32_t> known;
  std::array<uint32_t, 256> bad;
  bad.fill(kBad);
  nodes_.assign(1, bad);
  below_.assign(1, Classes());
  const auto intern = [&](const std::array<uint32_t, 256>& node) {
    const auto [at, fresh] = known.emplace(node, static_cast<uint32_t>(nodes_.size()));
    if (fresh) {
      nodes_.push_back(node);
      AddBelow(node);
    }
    return at->second;
  };
  const auto is_valid = [](uint32_t c) { return c < 0xD800 || (c > 0xDFFF && c < 0x110000); };
  // Levels of the last 6, 12 and 18 bits.
  std::vector<uint32_t> below;  // by code point / 64
  std::vector<uint32_t> alike(kClasses, kBad);  // by class: the node of characters that are all of it
  for (uint32_t block = 0; block < 0x110000 / 64; ++block) {
    const uint8_t first = class_of[block * 64];
    const auto begin = class_of.begin() + block * 64;
    const bool uniform = is_valid(block * 64) && std::all_of(begin, begin + 64, [&](uint8_t c) { return c == first; });
    if (uniform && alike[first] != kBad) {
      below.push_back(alike[first]);
      continue;
    }
    std::array<uint32_t, 256> node = bad;
    for (uint32_t i = 0; i < 64; ++i)
      if (is_valid(block * 64 + i)) node[0x80 + i] = kWhole | class_of[block * 64 + i];
    below.push_back(node == bad ? kBad : intern(node));
    if (uniform) alike[first] = below.back();
  }
  std::array<uint32_t, 256> root = bad;
  for (uint32_t c = 0; c < 0x80; ++c) root[c] = kWhole | class_of[c];
  for (uint32_t block = 2; block < 32; ++block) root[0xC0 + block] = below[block];
  std::vector<uint32_t> middle;  // by code point / 4096
  for (uint32_t block = 0; block < 0x110000 / 4096; ++block) {
    std::array<uint32_t, 256> node = bad;
    for (uint32_t i = 0; i < 64; ++i)
      if (block || i >= 32) node[0x80 + i] = below[block * 64 + i];  // shorter forms are no UTF-8
    middle.push_back(intern(node));
  }
  for (uint32_t block = 0; block < 16; ++block) root[0xE0 + block] = middle[block];
  for (uint32_t block = 0; block < 5; ++block) {
    std::array<uint32_t, 256> node = bad;
    for (uint32_t i = 0; i < 64; ++i) {
      const uint32_t at = block * 64 + i;
      if (at >= 16 && at < middle.size()) node[0x80 + i] = middle[at];
    }
    root[0xF0 + block] = intern(node);
  }
  nodes_[0] = root;
}

void SplitPatterns::AddBelow(const std::array<uint32_t, 256>& node) {
  Classes below;
  for (const uint32_t next : node) {
    if (next == kBad) continue;
    if (next & kWhole)
      below[next & ~kWhole] = true;
    else
      below |= below_[next];
  }
  below_.push_back(below);
}

}  // namespace tokamata
