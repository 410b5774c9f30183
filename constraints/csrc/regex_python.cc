// Python's re syntax for str patterns, with the rules of that module on what is an error.
#include <algorithm>
#include <map>
#include <string>

#include "automata/csrc/utf8.h"
#include "constraints/csrc/regex_parser.h"

namespace tokamata {
namespace {

enum Flag : uint32_t { kAscii = 1, kIgnoreCase = 2, kMultiline = 4, kDotAll = 8, kVerbose = 16, kUnicode = 32 };

class PythonParser : public RegexParser {
 public:
  using RegexParser::RegexParser;

  void Parse() {
    for (char c : options_.flags) global_ |= FlagOf(static_cast<uint32_t>(c));
    if (global_ & kAscii && global_ & kUnicode)
      Fail(0, "flags a and u together", "keep one of them: str patterns are Unicode unless a is given");
    if (!text_.empty() && text_.back() == '\\') {
      size_t slashes = 0;
      while (slashes < text_.size() && text_[text_.size() - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2) Fail(text_.size() - 1, "backslash at the end of the pattern", "write \\\\ for a backslash");
    }
    tree_.root = ParseAlternation(0, global_, true);
    if (Peek() == ')') Fail(at_, "unbalanced closing parenthesis", "remove it or write \\)");
    for (const auto& [group, position] : conditions_)
      if (group >= groups_.size())
        Fail(position, "reference to group " + std::to_string(group) + ", which does not exist",
             "number an existing group");
    if (tree_.refers)
      for (RegexNode& n : tree_.nodes)
        if (Refers(n)) n.low = groups_[n.low].position;
    ThrowIfUnsupported();
  }

 private:
  struct Width {
    uint64_t low = 0, high = 0;
  };
  struct Group {
    uint32_t position = 0;
    bool closed = false;
    uint32_t inside = 0;  // when it is closed
    bool measured = false;
    Width width;
  };
  static constexpr uint64_t kMaxWidth = uint64_t{1} << 62;

  static uint32_t FlagOf(uint32_t c) {
    switch (c) {
      case 'a': return kAscii;
      case 'i': return kIgnoreCase;
      case 'm': return kMultiline;
      case 's': return kDotAll;
      case 'x': return kVerbose;
      case 'u': return kUnicode;
      default: return 0;
    }
  }

  uint32_t ParseAlternation(uint32_t depth, uint32_t flags, bool outermost = false) {
    const size_t start = at_;
    if (!(flags & (kVerbose | kIgnoreCase)))
      if (const uint32_t words = ReadWords()) return words;
    Sequence branches;
    for (;;) {
      Append(&branches, ParseSequence(depth, &flags, outermost && branches.size == 0));
      if (!Match('|')) break;
    }
    return Finish(branches, RegexKind::kAlternate, start);
  }

  // Skips one token, of which a backslash takes two characters.
  void SkipToken() { at_ += Peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1; }

  // *flags changes where global flags stand at the start of the pattern.
  uint32_t ParseSequence(uint32_t depth, uint32_t* flags, bool first) {
    const size_t start = at_;
    Sequence items;
    for (;;) {
      const uint32_t c = Peek();
      if (c == kEndOfPattern || c == '|' || c == ')') break;
      const size_t here = at_;
      if (*flags & kVerbose) {
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
          ++at_;
          continue;
        }
        if (c == '#') {
          while (Peek() != kEndOfPattern) {
            const bool newline = Peek() == '\n';
            SkipToken();
            if (newline) break;
          }
          continue;
        }
      }
      switch (c) {
        case '\\': Append(&items, ParseEscape(*flags)); break;
        case '[': Append(&items, ParseClass(*flags)); break;
        case '.':
          ++at_;
          Append(&items, *flags & kDotAll ? AddSet({{0, 0x10FFFF}}, here) : AddSet({{0, 9}, {11, 0x10FFFF}}, here));
          break;
        case '(': ParseGroup(depth + 1, flags, first && items.size == 0, &items); break;
        case '^':
          ++at_;
          Append(&items, *flags & kMultiline ? Add(RegexKind::kLineStart, here, NewlineSet())
                                             : Add(RegexKind::kStart, here));
          break;
        case '$':
          ++at_;
          Append(&items, *flags & kMultiline ? Add(RegexKind::kLineEnd, here, NewlineSet())
                                             : Add(RegexKind::kLastLine, here));
          break;
        case '*':
        case '+':
        case '?':
        case '{':
          if (!ParseRepeat(&items)) {
            at_ = here + 1;
            Append(&items, AddLiteral(c, *flags, here));
          }
          break;
        default:
          ++at_;
          Append(&items, AddLiteral(c, *flags, here));
      }
    }
    return Finish(items, RegexKind::kConcat, start);
  }

  uint32_t NewlineSet() {
    tree_.sets.push_back({{'\n', '\n'}});
    return static_cast<uint32_t>(tree_.sets.size() - 1);
  }

  // False: the brace is a literal.
  bool ParseRepeat(Sequence* items) {
    const size_t here = at_;
    const uint32_t c = text_[at_++];
    uint32_t low = c == '+' ? 1 : 0, high = c == '?' ? 1 : kUnbounded;
    if (c == '{') {
      if (Peek() == '}') return false;
      bool has_low = false, has_high = false;
      const uint32_t l = ReadNumber(&has_low);
      uint32_t h = l;
      if (Match(','))
        h = ReadNumber(&has_high);
      else
        has_high = has_low;
      if (!Match('}')) return false;
      if ((has_low && l == kUnbounded) || (has_high && h == kUnbounded))
        Fail(here, "repetition number too large", "use one below 4294967295, or {n,} for no upper bound");
      if (has_low) low = l;
      if (has_high) high = h;
      if (high < low) Fail(here, "repetition whose minimum exceeds its maximum", "write {min,max} with min <= max");
    }
    const RegexKind last = items->size ? tree_.nodes[items->last].kind : RegexKind::kStart;
    switch (last) {
      case RegexKind::kStart:
      case RegexKind::kEnd:
      case RegexKind::kLastLine:
      case RegexKind::kLineStart:
      case RegexKind::kLineEnd:
      case RegexKind::kBoundary:
        Fail(here, "nothing to repeat", "put the quantifier after a character or group, or escape it with a backslash");
      case RegexKind::kRepeat:
      case RegexKind::kPossessive:
        Fail(here, "multiple repeat", "put the repeated part in a group, as in (?:a*)*");
      default: break;
    }
    RegexNode repeat;
    repeat.kind = RegexKind::kRepeat;
    repeat.position = static_cast<uint32_t>(here);
    repeat.low = low;
    repeat.high = high;
    repeat.negated = Match('?');
    if (!repeat.negated && Match('+')) repeat.kind = RegexKind::kPossessive;
    Wrap(items, repeat);
    return true;
  }

  // ---- characters

  uint32_t AddLiteral(uint32_t c, uint32_t flags, size_t position) {
    if (flags & kIgnoreCase) {
      CodePointRanges ranges;
      AppendFolded(c, c, flags, &ranges);
      if (ranges.size() > 1) return AddSet(std::move(ranges), position);
    }
    return Add(RegexKind::kCharacter, position, c);
  }

  static void AppendFolded(uint32_t low, uint32_t high, uint32_t flags, CodePointRanges* out) {
    if (!(flags & kIgnoreCase)) {
      out->emplace_back(low, high);
    } else if (flags & kAscii) {
      out->emplace_back(low, high);
      const uint32_t upper_low = std::max<uint32_t>(low, 'A'), upper_high = std::min<uint32_t>(high, 'Z');
      if (upper_low <= upper_high) out->emplace_back(upper_low + 32, upper_high + 32);
      const uint32_t lower_low = std::max<uint32_t>(low, 'a'), lower_high = std::min<uint32_t>(high, 'z');
      if (lower_low <= lower_high) out->emplace_back(lower_low - 32, lower_high - 32);
    } else {
      AppendOrbits(low, high, out);
    }
  }

  // \d \w \s and their complements; false for other letters.
  static bool ClassOf(uint32_t c, uint32_t flags, Class* out, bool* negated) {
    const bool ascii = flags & kAscii;
    switch (c | 32) {
      case 'd': *out = ascii ? kAsciiDigit : kDigitClass; break;
      case 'w': *out = ascii ? kAsciiWord : kWord; break;
      case 's': *out = ascii ? kAsciiSpace : kSpace; break;
      default: return false;
    }
    *negated = !(c & 32);
    return c < 128;
  }

  CodePointRanges FoldedProperty(size_t escape, uint32_t flags) {
    CodePointRanges ranges = ReadProperty(escape, false);
    if (!(flags & kIgnoreCase)) return ranges;
    CodePointRanges folded;
    for (const auto& [low, high] : ranges) AppendFolded(low, high, flags, &folded);
    return NormalizeRanges(std::move(folded));
  }

  [[noreturn]] void BadEscape(size_t here, size_t end) {
    Fail(here, "bad escape " + Slice(here, end), InsteadOfEscape(text_[here + 1]));
  }

  // \x \u \U \N, after the letter; also the plain control escapes. False: another escape.
  bool ReadCharacterEscape(size_t here, uint32_t* out) {
    const uint32_t c = text_[here + 1];
    size_t digits = 0;
    switch (c) {
      case 'a': *out = '\a'; return true;
      case 'f': *out = '\f'; return true;
      case 'n': *out = '\n'; return true;
      case 'r': *out = '\r'; return true;
      case 't': *out = '\t'; return true;
      case 'v': *out = '\v'; return true;
      case 'x': digits = 2; break;
      case 'u': digits = 4; break;
      case 'U': digits = 8; break;
      case 'N': {
        if (!Match('{')) Fail(here, "\\N without a name", "name a character, as in \\N{EM DASH}");
        const size_t from = at_;
        while (Peek() != '}' && Peek() != kEndOfPattern) SkipToken();
        if (Peek() == kEndOfPattern)
          Fail(here, "unterminated character name",
               "close it with \"}\", as in \\N{EM DASH}");
        const std::string name = Slice(from, at_++);
        *out = name.empty() || !options_.lookup_name ? kEndOfPattern : options_.lookup_name(name);
        if (*out > 0x10FFFF)
          Fail(here, "undefined character name \"" + name + "\"", "use a name that unicodedata.lookup knows, or \\u");
        return true;
      }
      default: return false;
    }
    if (ReadHex(digits, out) != digits)
      Fail(here, "incomplete escape " + Slice(here, at_),
           "give exactly " + std::to_string(digits) + " hexadecimal digits after \\" + static_cast<char>(c));
    if (*out > 0x10FFFF) Fail(here, "escape " + Slice(here, at_) + " beyond U+10FFFF", "name an existing code point");
    return true;
  }

  uint32_t ParseEscape(uint32_t flags) {
    const size_t here = at_;
    const uint32_t c = text_[here + 1];
    at_ += 2;
    Class set;
    bool negated;
    if (ClassOf(c, flags, &set, &negated)) return AddClass(set, negated, here);
    switch (c) {
      case 'A': return Add(RegexKind::kStart, here);
      case 'Z':
      case 'z': return Add(RegexKind::kEnd, here);  // its name since Python 3.14
      case 'b':
      case 'B': {
        const uint32_t node = Add(RegexKind::kBoundary, here, ClassIndex(flags & kAscii ? kAsciiWord : kWord, false));
        tree_.nodes[node].negated = c == 'B';
        return node;
      }
      case 'p':
      case 'P': return AddSet(FoldedProperty(here, flags), here, true);
      default: break;
    }
    uint32_t value;
    if (ReadCharacterEscape(here, &value)) return AddLiteral(value, flags, here);
    if (c == '0') {
      value = 0;
      for (int i = 0; i < 2 && IsOctal(Peek()); ++i) value = value * 8 + (text_[at_++] - '0');
      return AddLiteral(value, flags, here);
    }
    if (IsDigit(c)) {
      uint32_t group = c - '0';
      if (IsDigit(Peek())) {
        const uint32_t second = text_[at_++];
        if (IsOctal(c) && IsOctal(second) && IsOctal(Peek())) {
          value = (c - '0') * 64 + (second - '0') * 8 + (text_[at_++] - '0');
          if (value > 0377) Fail(here, "octal escape " + Slice(here, at_) + " above \\377", "use \\u or \\x");
          return AddLiteral(value, flags, here);
        }
        group = group * 10 + (second - '0');
      }
      return BackReference(group, here, flags);
    }
    if (IsLetter(c)) BadEscape(here, at_);
    return AddLiteral(c, flags, here);
  }

  uint32_t BackReference(uint32_t group, size_t here, uint32_t flags) {
    if (group >= groups_.size())
      Fail(here, "reference to group " + std::to_string(group) + ", which does not exist", "number an existing group");
    if (!groups_[group].closed) Fail(here, "reference to a group that is still open", "refer to it after its \")\"");
    CheckLookbehindGroup(group, here);
    const uint32_t node = Add(RegexKind::kReference, here);
    tree_.refers = true;
    tree_.nodes[node].low = group;  // its place, at the end
    if (flags & kIgnoreCase)
      tree_.nodes[node].first = static_cast<uint32_t>(kReferenceIgnoresCase) | (flags & kAscii ? kReferenceAscii : 0u);
    return node;
  }

  void CheckLookbehindGroup(uint32_t group, size_t here) {
    if (!lookbehind_) return;
    if (group >= groups_.size() || !groups_[group].closed || group >= lookbehind_)
      Fail(here, "reference inside a lookbehind to a group that it defines or that is open",
           "refer to an earlier group");
  }

  // One member of a class: a character (true) or a set that is appended to *sets.
  bool ReadClassItem(uint32_t flags, uint32_t* c, CodePointRanges* sets) {
    const size_t here = at_;
    *c = text_[at_++];
    if (*c != '\\') return true;
    const uint32_t e = text_[at_++];
    Class set;
    bool negated;
    if (ClassOf(e, flags, &set, &negated)) {
      const CodePointRanges& ranges = ClassRanges(set, negated);
      sets->insert(sets->end(), ranges.begin(), ranges.end());
      return false;
    }
    if (e == 'p' || e == 'P') {
      const CodePointRanges ranges = FoldedProperty(here, flags);
      sets->insert(sets->end(), ranges.begin(), ranges.end());
      return false;
    }
    if (e == 'b') {
      *c = '\b';
      return true;
    }
    if (ReadCharacterEscape(here, c)) return true;
    if (IsOctal(e)) {
      *c = e - '0';
      for (int i = 0; i < 2 && IsOctal(Peek()); ++i) *c = *c * 8 + (text_[at_++] - '0');
      if (*c > 0377) Fail(here, "octal escape " + Slice(here, at_) + " above \\377", "use \\u or \\x");
      return true;
    }
    if (IsDigit(e) || IsLetter(e)) BadEscape(here, at_);
    *c = e;
    return true;
  }

  uint32_t ParseClass(uint32_t flags) {
    const size_t here = at_++;
    const bool negated = Match('^');
    const auto unterminated = [&] { Fail(here, "unterminated character class", "close it with \"]\""); };
    CodePointRanges ranges;
    ranges.reserve(8);
    bool empty = true;
    for (;;) {
      if (Peek() == kEndOfPattern) unterminated();
      if (Peek() == ']' && !empty) {
        ++at_;
        break;
      }
      empty = false;
      const size_t item = at_;
      uint32_t low;
      const bool character = ReadClassItem(flags, &low, &ranges);
      if (Peek() != '-') {
        if (character) AppendFolded(low, low, flags, &ranges);
        continue;
      }
      ++at_;
      if (Peek() == kEndOfPattern) unterminated();
      if (Match(']')) {
        if (character) AppendFolded(low, low, flags, &ranges);
        ranges.emplace_back('-', '-');
        break;
      }
      uint32_t high;
      if (!ReadClassItem(flags, &high, &ranges) || !character || high < low)
        Fail(item, "bad character range " + Slice(item, at_),
             "order its ends, and write - first or last in the class when it stands for itself");
      AppendFolded(low, high, flags, &ranges);
    }
    if (negated) return AddSet(ComplementRanges(ranges), here, true);
    return AddSet(std::move(ranges), here);
  }

  // ---- groups

  // A name up to the terminator.
  std::pair<size_t, size_t> ReadName(uint32_t terminator, size_t start) {
    const size_t from = at_;
    while (Peek() != kEndOfPattern && Peek() != terminator) SkipToken();
    if (Peek() == kEndOfPattern)
      Fail(start, "unterminated group name", std::string("close it with \"") + static_cast<char>(terminator) + "\"");
    return {from, at_++};
  }

  bool IsIdentifier(size_t from, size_t to) const {
    if (from == to || !IsIdentifierStart(text_[from])) return false;
    for (size_t i = from + 1; i < to; ++i)
      if (!IsIdentifierContinue(text_[i])) return false;
    return true;
  }

  void CheckName(size_t from, size_t to) const {
    if (!IsIdentifier(from, to))
      Fail(from, "bad group name \"" + Slice(from, to) + "\"", "use a Python identifier, as in (?P<year>...)");
  }

  uint32_t OpenGroup(size_t start) {
    groups_.emplace_back();
    groups_.back().position = static_cast<uint32_t>(start);
    return static_cast<uint32_t>(groups_.size() - 1);
  }

  void Close(size_t start) {
    if (!Match(')')) Fail(start, "unterminated group", "close it with \")\", or write \\( for a parenthesis");
  }

  // Appends what a parenthesis opens (nothing, for comments and global flags).
  void ParseGroup(uint32_t depth, uint32_t* flags, bool may_be_global, Sequence* items) {
    const size_t start = at_++;
    CheckDepth(depth, start);
    uint32_t group = 0, inner = *flags;
    size_t name = 0, name_end = 0;
    RegexKind kind = RegexKind::kGroup;
    bool capture = true;
    if (Match('?')) {
      capture = false;
      const uint32_t c = Peek();
      if (c == kEndOfPattern) Fail(start, "unterminated group", "close it with \")\"");
      ++at_;
      if (c == 'P') {
        if (Match('<')) {
          std::tie(name, name_end) = ReadName('>', start);
          CheckName(name, name_end);
          const auto& named = options_.named;
          if (std::find(named.begin(), named.end(), Slice(name, name_end)) != named.end()) {
            ParseNamed(depth, *flags, start, Slice(name, name_end), items);
            return;
          }
          if (names_.count(Slice(name, name_end)))
            Fail(name, "second group named \"" + Slice(name, name_end) + "\"", "rename one of them");
          capture = true;
        } else if (Match('=')) {
          const auto [from, to] = ReadName(')', start);
          CheckName(from, to);
          Append(items, BackReference(FindGroup(from, to), start, *flags));
          return;
        } else {
          Fail(start, "unknown group (?P" + Slice(at_, at_ + 1),
               Peek() == '>' ? InsteadOfGroup('&') : "use (?P<name>...) for a named group");
        }
      } else if (c == ':') {
      } else if (c == '>') {
        kind = RegexKind::kAtomic;
      } else if (c == '#') {
        while (Peek() != kEndOfPattern && Peek() != ')') SkipToken();
        if (!Match(')')) Fail(start, "unterminated comment", "close it with \")\"");
        return;
      } else if (c == '=' || c == '!' || c == '<') {
        ParseLook(depth, *flags, c, start, items);
        return;
      } else if (c == '(') {
        ParseConditional(depth, *flags, start, items);
        return;
      } else if (FlagOf(c) || c == 'L' || c == 't' || c == '-') {
        if (ReadFlags(c, start, &inner)) {
          if (!may_be_global)
            Fail(start, "global flags not at the start of the pattern", "move them there, or scope them: (?i:...)");
          *flags = inner;
          return;
        }
      } else {
        Fail(start, "unknown group (?" + Slice(at_ - 1, at_), InsteadOfGroup(c));
      }
    }
    if (capture) {
      group = OpenGroup(start);
      if (name_end > name) names_[Slice(name, name_end)] = group;
    }
    const uint32_t child = ParseAlternation(depth, inner);
    Close(start);
    if (capture) {
      groups_[group].closed = true;
      groups_[group].inside = child;
    }
    const uint32_t node = Add(kind, start, child);
    tree_.nodes[node].low = static_cast<uint32_t>(name);
    tree_.nodes[node].high = static_cast<uint32_t>(name_end - name);
    Append(items, node);
  }

  // What is inside a group whose name stands for a language, and its end.
  void ParseNamed(uint32_t depth, uint32_t flags, size_t start, const std::string& name, Sequence* items) {
    NamedGroup group;
    group.name = name;
    group.position = static_cast<uint32_t>(start);
    if (in_look_) Unsupported(start, "named group " + name + " inside a lookaround", "write out what to look for");
    for (const char c : std::string_view("aimsx"))
      if (flags & FlagOf(static_cast<uint32_t>(c))) group.flags.push_back(c);
    do {
      const size_t from = at_;
      const uint32_t node = ParseSequence(depth, &flags, false);
      NamedGroup::Alternative alternative;
      alternative.pattern = Slice(from, at_);
      alternative.is_text = AppendText(node, &alternative.text);
      group.alternatives.push_back(std::move(alternative));
    } while (Match('|'));
    Close(start);
    Append(items, Add(RegexKind::kLanguage, start, static_cast<uint32_t>(tree_.named.size())));
    tree_.named.push_back(std::move(group));
  }

  // Appends the one text that a node matches; false where it is no plain text.
  bool AppendText(uint32_t node, std::string* out) const {
    const RegexNode& n = tree_.nodes[node];
    if (n.kind == RegexKind::kEpsilon) return true;
    if (n.kind == RegexKind::kGroup) return AppendText(n.first, out);
    if (n.kind == RegexKind::kCharacter && (n.first < 0xD800 || n.first >= 0xE000)) {
      AppendUtf8(n.first, out);
      return true;
    }
    if (n.kind != RegexKind::kConcat) return false;
    for (uint32_t c = n.first; c; c = tree_.nodes[c].next)
      if (!AppendText(c, out)) return false;
    return true;
  }

  uint32_t FindGroup(size_t from, size_t to) {
    const auto found = names_.find(Slice(from, to));
    if (found == names_.end()) Fail(from, "unknown group name \"" + Slice(from, to) + "\"", "name an earlier group");
    return found->second;
  }

  void ParseLook(uint32_t depth, uint32_t flags, uint32_t c, size_t start, Sequence* items) {
    const bool behind = c == '<';
    if (behind) {
      c = Peek();
      if (c != '=' && c != '!')
        Fail(start, "unknown group (?<" + Slice(at_, at_ + 1),
             "use (?P<name>...) for a named group, (?<=...) to look behind");
      ++at_;
    }
    const uint32_t outer = lookbehind_;
    if (behind && !lookbehind_) lookbehind_ = static_cast<uint32_t>(groups_.size());
    ++in_look_;
    const uint32_t child = ParseAlternation(depth, flags);
    --in_look_;
    lookbehind_ = outer;
    Close(start);
    if (behind) {
      const Width w = WidthOf(child);
      if (w.low != w.high)
        Fail(start, "lookbehind without a fixed width",
             "give all its alternatives the same length, or use several lookbehinds");
    }
    const uint32_t node = Add(behind ? RegexKind::kLookbehind : RegexKind::kLookahead, start, child);
    tree_.nodes[node].negated = c == '!';
    Append(items, node);
  }

  void ParseConditional(uint32_t depth, uint32_t flags, size_t start, Sequence* items) {
    const auto [from, to] = ReadName(')', start);
    uint32_t group = 0;
    bool number = from < to;
    for (size_t i = from; i < to; ++i) number = number && IsDigit(text_[i]);
    if (number) {
      const size_t end = at_;
      at_ = from;
      group = ReadNumber(&number);
      at_ = end;
      if (group == 0) Fail(from, "bad group number 0", "groups are numbered from 1");
      conditions_.emplace(group, from);
    } else {
      CheckName(from, to);
      group = FindGroup(from, to);
    }
    CheckLookbehindGroup(group, start);
    uint32_t branches[2] = {ParseSequence(depth, &flags, false), 0};
    if (Match('|')) {
      branches[1] = ParseSequence(depth, &flags, false);
      if (Peek() == '|')
        Fail(start, "conditional group with more than two branches",
             "group the alternatives: (?:a|b)");
    }
    Close(start);
    for (uint32_t& branch : branches) branch = Add(RegexKind::kGroup, start, branch);
    tree_.nodes[branches[0]].next = branches[1];
    const uint32_t node = Add(RegexKind::kConditional, start, branches[0]);
    tree_.refers = true;
    tree_.nodes[node].low = group;
    Append(items, node);
  }

  // After "(?" and the flag c. True: global flags, up to ")"; false: scoped ones, up to ":".
  bool ReadFlags(uint32_t c, size_t start, uint32_t* flags) {
    uint32_t add = 0, remove = 0;
    const auto next = [&](const char* expected) {
      if (Peek() == kEndOfPattern)
        Fail(start, std::string("unterminated flags, missing ") + expected,
             "write (?i) or (?i:...)");
      return text_[at_++];
    };
    const auto check = [&](uint32_t flag) {
      if (flag == 'L') Fail(at_ - 1, "flag L", "it is for bytes patterns; leave it out");
      if (!FlagOf(flag))
        Fail(at_ - 1, "unknown flag \"" + Slice(at_ - 1, at_) + "\"",
             "use flags of \"aimsux\", as in (?i:...)");
      return FlagOf(flag);
    };
    while (c != ')' && c != '-' && c != ':') {
      add |= check(c);
      if (add & kAscii && add & kUnicode) Fail(at_ - 1, "flags a and u together", "keep one of them");
      c = next("\")\" or \":\"");
    }
    if (c == ')') {
      if ((global_ | add) & kAscii && (global_ | add) & kUnicode)
        Fail(start, "flags a and u together",
             "keep one of them");
      global_ |= add;
      *flags |= add;
      return true;
    }
    if (c == '-') {
      c = next("a flag");
      if (c == ':' || c == ')') Fail(at_ - 1, "\"-\" without a flag", "name what to turn off, as in (?-i:...)");
      while (c != ':') {
        const uint32_t flag = check(c);
        if (flag & (kAscii | kUnicode)) Fail(at_ - 1, "flag a or u turned off", "turn on the other one instead");
        remove |= flag;
        c = next("\":\"");
        if (c == ')') Fail(at_ - 1, "flags turned off without a scope", "give them one: (?-i:...)");
      }
    }
    if (add & remove) Fail(start, "flag turned on and off", "keep one of the two");
    if (add & (kAscii | kUnicode)) *flags &= ~(kAscii | kUnicode);
    *flags = (*flags | add) & ~remove;
    return false;
  }

  // Characters that a node matches, at least and at most.
  Width WidthOf(uint32_t node) {
    const RegexNode& n = tree_.nodes[node];
    Width w;
    switch (n.kind) {
      case RegexKind::kCharacter:
      case RegexKind::kSet: return {1, 1};
      case RegexKind::kConcat:
        for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
          const Width x = WidthOf(c);
          w = {std::min(kMaxWidth, w.low + x.low), std::min(kMaxWidth, w.high + x.high)};
        }
        return w;
      case RegexKind::kAlternate:
        w.low = kMaxWidth;
        for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
          const Width x = WidthOf(c);
          w = {std::min(w.low, x.low), std::max(w.high, x.high)};
        }
        return w;
      case RegexKind::kRepeat:
      case RegexKind::kPossessive: {
        const Width x = WidthOf(n.first);
        const auto times = [](uint64_t a, uint64_t b) { return a && b > kMaxWidth / a ? kMaxWidth : a * b; };
        return {times(x.low, n.low), n.high == kUnbounded ? (x.high ? kMaxWidth : 0) : times(x.high, n.high)};
      }
      case RegexKind::kGroup:
      case RegexKind::kAtomic: return WidthOf(n.first);
      case RegexKind::kLanguage: return {0, kMaxWidth};
      case RegexKind::kReference: {
        Group& group = groups_[n.low];
        if (!group.measured) group.width = WidthOf(group.inside);
        group.measured = true;
        return group.width;
      }
      case RegexKind::kConditional: {
        const Width yes = WidthOf(n.first), no = WidthOf(tree_.nodes[n.first].next);
        return {std::min(yes.low, no.low), std::max(yes.high, no.high)};
      }
      case RegexKind::kWords:
        w.low = kMaxWidth;
        ForEachWord(tree_, n, [&w](uint32_t begin, uint32_t end) {
          w = {std::min<uint64_t>(w.low, end - begin), std::max<uint64_t>(w.high, end - begin)};
        });
        return w;
      default: return w;
    }
  }

  uint32_t global_ = 0;
  std::vector<Group> groups_{Group{}};
  std::map<std::string, uint32_t> names_;
  std::map<uint32_t, size_t> conditions_;  // group numbers of conditional groups, checked at the end
  uint32_t in_look_ = 0;                   // lookarounds that are open
  uint32_t lookbehind_ = 0;                // groups that existed before the outermost open lookbehind
};

}  // namespace

void ParsePythonRegex(RegexTree* tree, const RegexOptions& options) { PythonParser(tree, options).Parse(); }

}  // namespace tokamata
