// ECMA-262 patterns with the u flag, as JSON Schema's "pattern" has them.
#include <map>
#include <string>

#include "constraints/csrc/regex_parser.h"

namespace tokamata {
namespace {

class EcmaParser : public RegexParser {
 public:
  using RegexParser::RegexParser;

  void Parse() {
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
    if (Match('{')) {
      const size_t digits = ReadHex(SIZE_MAX, &value);
      size_t significant = at_ - digits;
      while (significant < at_ && text_[significant] == '0') ++significant;
      if (digits == 0 || !Match('}') || at_ - 1 - significant > 6 || value > 0x10FFFF)
        Fail(here, "bad escape " + Slice(here, at_), "write \\u{...} with a code point up to 10FFFF");
      return value;
    }
    if (ReadHex(4, &value) != 4)
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
        if (!IsLetter(Peek())) Fail(here, "incomplete escape \\c", "put a letter after it, as in \\cJ");
        return text_[at_++] & 31;
      case 'x': {
        uint32_t value;
        if (ReadHex(2, &value) != 2)
          Fail(here, "incomplete escape " + Slice(here, at_), "give exactly 2 hexadecimal digits after \\x");
        return value;
      }
      case '0':
        if (!IsDigit(Peek())) return 0;
        break;
      default:
        if (IsSyntax(c) || (in_class && c == '-')) return c;
    }
    Fail(here, "bad escape " + Slice(here, at_), "write the character itself, or \\\\ for a backslash");
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
    if (c == 'k') {
      if (!Match('<')) Fail(here, "\\k without a group name", "write \\k<name>");
      named_references_.emplace(ReadName(here), here);
      BackReference(here, items);
      return true;
    }
    if (c >= '1' && c <= '9') {
      --at_;
      bool any;
      references_.emplace(ReadNumber(&any), here);
      BackReference(here, items);
      return true;
    }
    const uint32_t value = ReadCharacterEscape(here, c, false);
    Append(items, Add(RegexKind::kCharacter, here, value));
    return true;
  }

  void BackReference(size_t here, Sequence* items) {
    Unsupported(here, "backreference", "what it matches is not regular; write out the texts that may repeat");
    Append(items, Add(RegexKind::kNone, here));
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
      if (!ReadClassItem(here, &high, &ranges) || !character || high < low)
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

  // Returns whether the group may be repeated.
  bool ParseGroup(uint32_t depth, Sequence* items) {
    const size_t start = at_++;
    CheckDepth(depth, start);
    RegexKind kind = RegexKind::kGroup;
    bool negated = false;
    size_t name = 0, name_end = 0;
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
        ++groups_;
      } else {
        Fail(start, "unknown group (?" + Slice(at_, at_ + 1),
             "use (?:...) for a plain group, or write \\( for a parenthesis");
      }
    } else {
      ++groups_;
    }
    const uint32_t child = ParseAlternation(depth);
    if (!Match(')')) Fail(start, "unterminated group", "close it with \")\", or write \\( for a parenthesis");
    const uint32_t node = Add(kind, start, child);
    tree_.nodes[node].negated = negated;
    tree_.nodes[node].low = static_cast<uint32_t>(name);
    tree_.nodes[node].high = static_cast<uint32_t>(name_end - name);
    Append(items, node);
    return kind == RegexKind::kGroup;
  }

  bool multiline_ = false, dot_all_ = false;
  uint32_t groups_ = 0;
  std::map<std::string, size_t> names_;
  std::map<uint32_t, size_t> references_;
  std::map<std::string, size_t> named_references_;
};

}  // namespace

void ParseEcmaRegex(RegexTree* tree, const RegexOptions& options) { EcmaParser(tree, options).Parse(); }

}  // namespace tokamata
