// ECMA-262 patterns, as JSON Schema's "pattern" has them: with the u flag, or without it by the laxer grammar of Annex
// B (identity escapes, octal escapes, braces and brackets that stand for themselves, ranges with a class at one end,
// repeated lookahead). Without the flag \p{..} and \u{..} still mean what they mean with it, since whoever writes them
// means that, and characters are code points. So do \A, \Z and \z mean the ends of the text, as in all other syntaxes;
// Annex B has them, properties that are not known (\p{Print}), and all other letters without a meaning, stand for
// themselves: these are errors.
#include <map>
#include <string>

#include "constraints/csrc/regex_parser.h"

namespace tokamata {
namespace {

class EcmaParser : public RegexParser {
 public:
  EcmaParser(RegexTree* tree, const RegexOptions& options, bool unicode)
      : RegexParser(tree, options), unicode_(unicode) {}

  void Parse() {
    if (!unicode_) CountGroups();
    for (char c : options_.flags) {
      if (c == 'm')
        multiline_ = true;
      else if (c == 's')
        dot_all_ = true;
      else
        throw ConstraintError(std::string("regex: flag ") + c + " is not known in ECMA syntax: use m or s");
    }
    tree_.root = ParseAlternation(0);
    if (Peek() == ')') Fail(at_, "unbalanced closing parenthesis", "remove it or write \\)");
    for (const auto& [group, position] : references_)
      if (group > groups_)
        Fail(position, "reference to group " + std::to_string(group) + ", which does not exist",
             "number an existing group");
    for (const auto& [name, position] : named_references_)
      if (!names_.count(name)) Fail(position, "unknown group name \"" + name + "\"", "name an existing group");
    if (tree_.refers)
      for (RegexNode& n : tree_.nodes)
        if (Refers(n)) n.low = n.high ? static_cast<uint32_t>(names_.at(referred_[n.low])) : places_[n.low - 1];
    ThrowIfUnsupported();
  }

 private:
  static bool IsSyntax(uint32_t c) {
    return c < 128 && c && std::string_view("^$\\.*+?()[]{}|/").find(static_cast<char>(c)) != std::string_view::npos;
  }

  uint32_t ParseAlternation(uint32_t depth) {
    const size_t start = at_;
    Sequence branches;
    do {
      Append(&branches, ParseSequence(depth));
    } while (Match('|'));
    return Finish(branches, RegexKind::kAlternate, start);
  }

  uint32_t ParseSequence(uint32_t depth) {
    const size_t start = at_;
    Sequence items;
    bool repeatable = false;  // whether the last item may take a quantifier
    for (;;) {
      const uint32_t c = Peek();
      if (c == kEndOfPattern || c == '|' || c == ')') break;
      const size_t here = at_;
      switch (c) {
        case '*':
        case '+':
        case '?':
        case '{':
          if (c == '{' && !unicode_ && !IsQuantifier()) {
            ++at_;
            Append(&items, Add(RegexKind::kCharacter, here, c));
            break;
          }
          ParseRepeat(repeatable, &items);
          repeatable = false;
          continue;
        case '\\': repeatable = ParseEscape(&items); continue;
        case '(': repeatable = ParseGroup(depth + 1, &items); continue;
        case '[': Append(&items, ParseClass()); break;
        case '^':
          ++at_;
          Append(&items, multiline_ ? Add(RegexKind::kLineStart, here, TerminatorSet()) : Add(RegexKind::kStart, here));
          repeatable = false;
          continue;
        case '$':
          ++at_;
          Append(&items, multiline_ ? Add(RegexKind::kLineEnd, here, TerminatorSet()) : Add(RegexKind::kEnd, here));
          repeatable = false;
          continue;
        case '.':
          ++at_;
          Append(&items, dot_all_ ? AddSet({{0, 0x10FFFF}}, here)
                                  : AddSet({{0, 9}, {11, 12}, {14, 0x2027}, {0x202A, 0x10FFFF}}, here));
          break;
        case ']':
        case '}':
          if (!unicode_) {
            ++at_;
            Append(&items, Add(RegexKind::kCharacter, here, c));
            break;
          }
          Fail(here, std::string("lone \"") + static_cast<char>(c) + "\"",
               std::string("write \\") + static_cast<char>(c));
        default:
          ++at_;
          Append(&items, Add(RegexKind::kCharacter, here, c));
      }
      repeatable = true;
    }
    return Finish(items, RegexKind::kConcat, start);
  }

  // Of the whole pattern: without the u flag \2 is a reference only if there are that many.
  void CountGroups() {
    bool in_class = false;
    for (size_t i = 0; i < text_.size(); ++i) {
      const uint32_t c = text_[i];
      if (c == '\\') {
        ++i;
      } else if (c == '[') {
        in_class = true;
      } else if (c == ']') {
        in_class = false;
      } else if (c == '(' && !in_class) {
        const auto ahead = [&](size_t n) { return i + n < text_.size() ? text_[i + n] : kEndOfPattern; };
        const bool named = ahead(1) == '?' && ahead(2) == '<' && ahead(3) != '=' && ahead(3) != '!';
        has_names_ = has_names_ || named;
        all_groups_ += named || ahead(1) != '?';
      }
    }
  }

  // Whether {n}, {n,} or {n,m} stands here.
  bool IsQuantifier() const {
    size_t n = 1;
    while (IsDigit(Peek(n))) ++n;
    if (n == 1) return false;
    if (Peek(n) == ',')
      for (++n; IsDigit(Peek(n));) ++n;
    return Peek(n) == '}';
  }

  uint32_t TerminatorSet() {
    tree_.sets.push_back({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
    return static_cast<uint32_t>(tree_.sets.size() - 1);
  }

  void ParseRepeat(bool repeatable, Sequence* items) {
    const size_t here = at_;
    const uint32_t c = text_[at_++];
    uint32_t low = c == '+' ? 1 : 0, high = c == '?' ? 1 : kUnbounded;
    if (c == '{') {
      bool any_low = false, any_high = true;
      low = high = ReadNumber(&any_low);
      const bool comma = any_low && Match(',');
      if (comma) {
        high = ReadNumber(&any_high);
        if (any_high && high == kUnbounded) low = kUnbounded;
        if (!any_high) high = kUnbounded;
      }
      if (!any_low || !Match('}')) Fail(here, "brace that is no quantifier", "write \\{, or {n}, {n,} or {n,m}");
      if (low == kUnbounded)
        ThrowUnsupported(text_, here, "repetition number above 4294967294",
                         "use a smaller one, or {n,} for no upper bound");
      if (low > high) Fail(here, "repetition whose minimum exceeds its maximum", "write {min,max} with min <= max");
    }
    if (!repeatable)
      Fail(here, "nothing to repeat",
           "put the quantifier after a character or group, or escape it with a backslash");
    Match('?');
    RegexNode repeat;
    repeat.kind = RegexKind::kRepeat;
    repeat.position = static_cast<uint32_t>(here);
    repeat.low = low;
    repeat.high = high;
    Wrap(items, repeat);
  }

  static bool ClassOf(uint32_t c, Class* out, bool* negated) {
    switch (c | 32) {
      case 'd': *out = kAsciiDigit; break;
      case 'w': *out = kAsciiWord; break;
      case 's': *out = kEcmaSpace; break;
      default: return false;
    }
    *negated = !(c & 32);
    return c < 128;
  }

  // After "\u": four digits, a surrogate pair of escapes, or a braced code point.
  uint32_t ReadUnicode(size_t here) {
    uint32_t value;
    const size_t start = at_;
    if (Match('{')) {
      const size_t digits = ReadHex(SIZE_MAX, &value);
      size_t significant = at_ - digits;
      while (significant < at_ && text_[significant] == '0') ++significant;
      if (digits == 0 || !Match('}') || at_ - 1 - significant > 6 || value > 0x10FFFF) {
        if (!unicode_) {
          at_ = start;
          return 'u';
        }
        Fail(here, "bad escape " + Slice(here, at_), "write \\u{...} with a code point up to 10FFFF");
      }
      return value;
    }
    if (ReadHex(4, &value) != 4 && !unicode_) {
      at_ = start;
      return 'u';
    }
    if (at_ - start != 4)
      Fail(here, "incomplete escape " + Slice(here, at_), "give exactly 4 hexadecimal digits after \\u, or braces");
    if (value >= 0xD800 && value < 0xDC00 && Peek() == '\\' && Peek(1) == 'u') {
      const size_t back = at_;
      at_ += 2;
      uint32_t low;
      if (ReadHex(4, &low) == 4 && low >= 0xDC00 && low < 0xE000)
        return 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
      at_ = back;
    }
    return value;
  }

  // The character that an escape stands for; at_ is after its first character c.
  uint32_t ReadCharacterEscape(size_t here, uint32_t c, bool in_class) {
    switch (c) {
      case 'f': return '\f';
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'v': return '\v';
      case 'u': return ReadUnicode(here);
      case 'c':
        if (!unicode_ && in_class && (IsDigit(Peek()) || Peek() == '_')) return text_[at_++] & 31;
        if (!IsLetter(Peek()) && !unicode_) {  // the backslash stands for itself
          --at_;
          return '\\';
        }
        if (!IsLetter(Peek())) Fail(here, "incomplete escape \\c", "put a letter after it, as in \\cJ");
        return text_[at_++] & 31;
      case 'x': {
        uint32_t value;
        const size_t start = at_;
        if (ReadHex(2, &value) != 2 && !unicode_) {
          at_ = start;
          return 'x';
        }
        if (at_ - start != 2)
          Fail(here, "incomplete escape " + Slice(here, at_), "give exactly 2 hexadecimal digits after \\x");
        return value;
      }
      case '0':
        if (!IsDigit(Peek())) return 0;
        [[fallthrough]];
      default:
        if (!unicode_ && IsOctal(c)) {
          uint32_t value = c - '0';
          for (int more = c <= '3' ? 2 : 1; more > 0 && IsOctal(Peek()); --more) value = value * 8 + text_[at_++] - '0';
          return value;
        }
        if (!unicode_ && (!IsLetter(c) || (c == 'k' && !has_names_))) return c;
        if (IsSyntax(c) || (in_class && c == '-')) return c;
    }
    Fail(here, "bad escape " + Slice(here, at_), InsteadOfEscape(c));
  }

  // Returns whether what was read may be repeated.
  bool ParseEscape(Sequence* items) {
    const size_t here = at_++;
    const uint32_t c = Peek();
    if (c == kEndOfPattern) Fail(here, "backslash at the end of the pattern", "write \\\\ for a backslash");
    ++at_;
    Class set;
    bool negated;
    if (ClassOf(c, &set, &negated)) {
      Append(items, AddClass(set, negated, here));
      return true;
    }
    if (!unicode_ && (c == 'A' || c == 'Z' || c == 'z')) {
      Append(items, Add(c == 'A' ? RegexKind::kStart : RegexKind::kEnd, here));
      return false;
    }
    if (c == 'b' || c == 'B') {
      const uint32_t node = Add(RegexKind::kBoundary, here, ClassIndex(kAsciiWord, false));
      tree_.nodes[node].negated = c == 'B';
      Append(items, node);
      return false;
    }
    if (c == 'p' || c == 'P') {
      Append(items, AddSet(ReadProperty(here, true), here, true));
      return true;
    }
    if (c == 'k' && (unicode_ || has_names_)) {
      if (!Match('<')) Fail(here, "\\k without a group name", "write \\k<name>");
      referred_.push_back(ReadName(here));
      named_references_.emplace(referred_.back(), here);
      const uint32_t node = BackReference(static_cast<uint32_t>(referred_.size() - 1), here, items);
      tree_.nodes[node].high = 1;
      return true;
    }
    if (c >= '1' && c <= '9') {
      const size_t after = at_--;
      bool any;
      const uint32_t group = ReadNumber(&any);
      if (unicode_ || group <= all_groups_) {
        references_.emplace(group, here);
        BackReference(group, here, items);
        return true;
      }
      at_ = after;
    }
    const uint32_t value = ReadCharacterEscape(here, c, false);
    Append(items, Add(RegexKind::kCharacter, here, value));
    return true;
  }

  // Its place, at the end: the group is a number, or where `high` is set, an index of its name.
  uint32_t BackReference(uint32_t group, size_t here, Sequence* items) {
    const uint32_t node = Add(RegexKind::kReference, here);
    tree_.nodes[node].low = group;
    tree_.refers = true;
    Append(items, node);
    return node;
  }

  bool ReadClassItem(size_t start, uint32_t* c, CodePointRanges* sets) {
    const size_t here = at_;
    *c = text_[at_++];
    if (*c != '\\') return true;
    const uint32_t e = Peek();
    if (e == kEndOfPattern) Fail(start, "unterminated character class", "close it with \"]\"");
    ++at_;
    Class set;
    bool negated;
    if (ClassOf(e, &set, &negated)) {
      const CodePointRanges& ranges = ClassRanges(set, negated);
      sets->insert(sets->end(), ranges.begin(), ranges.end());
      return false;
    }
    if (e == 'p' || e == 'P') {
      const CodePointRanges ranges = ReadProperty(here, true);
      sets->insert(sets->end(), ranges.begin(), ranges.end());
      return false;
    }
    *c = e == 'b' ? '\b' : ReadCharacterEscape(here, e, true);
    return true;
  }

  uint32_t ParseClass() {
    const size_t here = at_++;
    const bool negated = Match('^');
    CodePointRanges ranges;
    for (;;) {
      if (Peek() == kEndOfPattern) Fail(here, "unterminated character class", "close it with \"]\"");
      if (Match(']')) break;
      const size_t item = at_;
      uint32_t low, high;
      const bool character = ReadClassItem(here, &low, &ranges);
      if (Peek() != '-' || Peek(1) == ']' || Peek(1) == kEndOfPattern) {
        if (character) ranges.emplace_back(low, low);
        continue;
      }
      ++at_;
      const bool high_character = ReadClassItem(here, &high, &ranges);
      if (!unicode_ && !(character && high_character)) {  // the hyphen stands for itself
        ranges.emplace_back('-', '-');
        if (character) ranges.emplace_back(low, low);
        if (high_character) ranges.emplace_back(high, high);
        continue;
      }
      if (!character || !high_character || high < low)
        Fail(item, "bad character range " + Slice(item, at_), "order its ends, and write \\- for a hyphen");
      ranges.emplace_back(low, high);
    }
    if (negated) return AddSet(ComplementRanges(ranges), here, true);
    return AddSet(std::move(ranges), here);
  }

  // After "<"; up to ">".
  std::string ReadName(size_t start) {
    std::string name;
    for (bool first = true;; first = false) {
      uint32_t c = Peek();
      const size_t here = at_;
      if (c == kEndOfPattern) Fail(start, "unterminated group name", "close it with \">\"");
      ++at_;
      if (c == '>' && !first) return name;
      if (c == '\\' && Match('u')) c = ReadUnicode(here);
      const bool inner = IsIdentifierContinue(c) || c == 0x200C || c == 0x200D;
      const bool good = c == '$' || (first ? IsIdentifierStart(c) : inner);
      if (!good) Fail(here, "bad character in a group name", "use an identifier, as in (?<year>...)");
      name += std::to_string(c) + ' ';  // told apart by code points
    }
  }

  // ms-ms: of a group whose flags are other ones (ECMA-262, 16th edition).
  void ReadModifiers(size_t start) {
    std::string seen;
    for (bool on = true; !Match(':'); ++at_) {
      const uint32_t c = Peek();
      if (c == 'i') Unsupported(start, "group that ignores case", "write both cases, as in [aA]");
      if (c == ')')
        Fail(start, "flags without a group", "ECMA-262 has (?s:...) and (?m:...); for (?i) write both cases, as in [aA]");
      const bool known = c == 'i' || c == 'm' || c == 's' || (c == '-' && on);
      if (!known || seen.find(static_cast<char>(c)) != std::string::npos)
        Fail(start, "bad flags of a group", "use each flag once, as in (?s:...) or (?s-m:...)");
      seen += static_cast<char>(c);
      if (c == 'm') multiline_ = on;
      if (c == 's') dot_all_ = on;
      if (c == '-') on = false;
    }
    if (seen == "-") Fail(start, "bad flags of a group", "use each flag once, as in (?s:...) or (?s-m:...)");
  }

  void Open(size_t start) {
    ++groups_;
    places_.push_back(static_cast<uint32_t>(start));
  }

  // Returns whether the group may be repeated.
  bool ParseGroup(uint32_t depth, Sequence* items) {
    const size_t start = at_++;
    CheckDepth(depth, start);
    RegexKind kind = RegexKind::kGroup;
    bool negated = false;
    size_t name = 0, name_end = 0;
    const bool multiline = multiline_, dot_all = dot_all_;
    if (Match('?')) {
      const uint32_t c = Peek();
      if (c == ':') {
        ++at_;
      } else if (c == '=' || c == '!') {
        ++at_;
        kind = RegexKind::kLookahead;
        negated = c == '!';
      } else if (c == '<' && (Peek(1) == '=' || Peek(1) == '!')) {
        negated = Peek(1) == '!';
        at_ += 2;
        kind = RegexKind::kLookbehind;
      } else if (c == '<') {
        name = ++at_;
        if (!names_.emplace(ReadName(start), start).second)
          Fail(start, "second group of the same name",
               "rename one of them");
        name_end = at_ - 1;
        Open(start);
      } else if (c == 'i' || c == 'm' || c == 's' || c == '-') {
        ReadModifiers(start);
      } else {
        Fail(start, "unknown group (?" + Slice(at_, at_ + 1),
             c == 'P' && Peek(1) != '>' ? "use (?<name>...) for a named group, and \\k<name> for what it matched"
                                        : InsteadOfGroup(c == 'P' ? '&' : c, true));
      }
    } else {
      Open(start);
    }
    const uint32_t child = ParseAlternation(depth);
    multiline_ = multiline;
    dot_all_ = dot_all;
    if (!Match(')')) Fail(start, "unterminated group", "close it with \")\", or write \\( for a parenthesis");
    const uint32_t node = Add(kind, start, child);
    tree_.nodes[node].negated = negated;
    tree_.nodes[node].low = static_cast<uint32_t>(name);
    tree_.nodes[node].high = static_cast<uint32_t>(name_end - name);
    Append(items, node);
    return kind == RegexKind::kGroup || (kind == RegexKind::kLookahead && !unicode_);
  }

  const bool unicode_;
  bool has_names_ = false;
  uint32_t all_groups_ = 0;  // without the u flag: of the whole pattern
  bool multiline_ = false, dot_all_ = false;
  uint32_t groups_ = 0;
  std::vector<uint32_t> places_;  // of groups
  std::vector<std::string> referred_;  // names
  std::map<std::string, size_t> names_;
  std::map<uint32_t, size_t> references_;
  std::map<std::string, size_t> named_references_;
};

}  // namespace

void ParseEcmaRegex(RegexTree* tree, const RegexOptions& options, bool unicode) {
  EcmaParser(tree, options, unicode).Parse();
}

}  // namespace tokamata
