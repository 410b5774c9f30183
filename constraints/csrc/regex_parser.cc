#include "constraints/csrc/regex_parser.h"

#include <algorithm>

#include "automata/csrc/hex_digits.h"
#include "automata/csrc/utf8.h"

namespace tokamata {
namespace {

// Decodes UTF-8 in which lone surrogates may be encoded too (Python's "surrogatepass").
std::vector<uint32_t> Decode(std::string_view s) {
  std::vector<uint32_t> out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size();) {
    const uint8_t b = static_cast<uint8_t>(s[i]);
    if (b < 0x80) {
      out.push_back(b);
      ++i;
      continue;
    }
    const int more = b < 0xC2 ? -1 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : b < 0xF5 ? 3 : -1;
    bool good = more > 0 && i + static_cast<size_t>(more) < s.size();
    uint32_t c = more == 1 ? b & 31 : more == 2 ? b & 15 : b & 7;
    for (int k = 1; good && k <= more; ++k) {
      const uint8_t d = static_cast<uint8_t>(s[i + static_cast<size_t>(k)]);
      good = IsContinuationByte(d);
      c = c << 6 | (d & 63);
    }
    good = good && !(more == 2 && c < 0x800) && !(more == 3 && (c < 0x10000 || c > 0x10FFFF));
    if (!good)
      throw ConstraintError("regex: expected a pattern in UTF-8, got an invalid byte at offset " + std::to_string(i) +
                            ": pass the pattern as str");
    out.push_back(c);
    i += static_cast<size_t>(more) + 1;
  }
  return out;
}

std::string Place(const std::vector<uint32_t>& text, size_t position, const std::string& what,
                  const std::string& remedy) {
  return "regex: " + what + " at position " + std::to_string(position) + " of " + RegexExcerpt(text, position) + ": " +
         remedy;
}

}  // namespace

std::string RegexExcerpt(const std::vector<uint32_t>& text, size_t position) {
  constexpr size_t kAround = 30, kWhole = 80;
  size_t low = 0, high = text.size();
  if (text.size() > kWhole) {
    low = position > kAround ? position - kAround : 0;
    high = std::min(text.size(), position + kAround);
  }
  std::string out = low ? "\"..." : "\"";
  for (size_t i = low; i < high; ++i) {
    const uint32_t c = text[i];
    if (c < 0x20 || c == 0x7F || (c >= 0xD800 && c < 0xE000)) {
      out += c < 0x100 ? "\\x" : "\\u";
      AppendHex(c, c < 0x100 ? 2 : 4, &out);
    } else {
      AppendUtf8(c, &out);
    }
  }
  return out + (high < text.size() ? "...\"" : "\"");
}

void ThrowMalformed(const std::vector<uint32_t>& text, size_t position, const std::string& what,
                    const std::string& remedy) {
  throw ConstraintError(Place(text, position, what, remedy));
}

void ThrowUnsupported(const std::vector<uint32_t>& text, size_t position, const std::string& what,
                      const std::string& remedy) {
  throw UnsupportedError(Place(text, position, what, remedy));
}

namespace {

void ParseEcma(RegexTree* tree, const RegexOptions& options) {
  if (options.syntax == RegexSyntax::kEcma) return ParseEcmaRegex(tree, options, true);
  const std::vector<uint32_t> text = tree->text;
  try {
    ParseEcmaRegex(tree, options, true);
  } catch (const UnsupportedError&) {
    throw;
  } catch (const ConstraintError&) {
    *tree = RegexTree();
    tree->text = text;
    ParseEcmaRegex(tree, options, false);
  }
}

}  // namespace

RegexTree ParseRegex(std::string_view pattern, const RegexOptions& options) {
  RegexTree tree;
  if (pattern.size() > 4 * options.length || (tree.text = Decode(pattern)).size() > options.length)
    throw LimitError("regex: the limit length=" + std::to_string(options.length) +
                     " (code points of a pattern) was reached: use tokamata.choice for lists of texts, or build the "
                     "constraint of parts with | and +");
  tree.nodes.reserve(std::min<size_t>(tree.text.size(), 250) + 4);
  tree.sets.reserve(8);
  if (options.syntax == RegexSyntax::kPython)
    ParsePythonRegex(&tree, options);
  else
    ParseEcma(&tree, options);
  if (tree.refers) ResolveReferences(&tree, options);
  return tree;
}

bool IsZeroWidth(const RegexTree& tree, uint32_t node) {
  const RegexNode& n = tree.nodes[node];
  switch (n.kind) {
    case RegexKind::kCharacter:
    case RegexKind::kSet:
    case RegexKind::kLanguage: return false;
    case RegexKind::kConcat:
    case RegexKind::kAlternate:
      for (uint32_t c = n.first; c; c = tree.nodes[c].next)
        if (!IsZeroWidth(tree, c)) return false;
      return true;
    case RegexKind::kRepeat:
    case RegexKind::kPossessive: return n.high == 0 || IsZeroWidth(tree, n.first);
    case RegexKind::kGroup:
    case RegexKind::kAtomic: return IsZeroWidth(tree, n.first);
    case RegexKind::kWords: {
      bool empty = true;
      ForEachWord(tree, n, [&](uint32_t begin, uint32_t end) { empty = empty && begin == end; });
      return empty;
    }
    default: return true;
  }
}

void SpellWords(RegexTree* tree) {
  const size_t size = tree->nodes.size();
  for (size_t i = 0; i < size; ++i) {
    if (tree->nodes[i].kind != RegexKind::kWords) continue;
    const RegexNode words = tree->nodes[i];
    uint32_t last = 0, first = 0;
    ForEachWord(*tree, words, [&](uint32_t begin, uint32_t end) {
      uint32_t next = 0;
      for (uint32_t k = end; k-- > begin;) {
        const uint32_t character = tree->Add(RegexKind::kCharacter, k, tree->text[k]);
        tree->nodes[character].next = next;
        next = character;
      }
      const uint32_t word = tree->Add(next ? RegexKind::kConcat : RegexKind::kEpsilon, begin, next);
      (last ? tree->nodes[last].next : first) = word;
      last = word;
    });
    RegexNode& n = tree->nodes[i];
    n.kind = RegexKind::kAlternate;
    n.first = first;
    n.low = n.high = 0;
  }
}

// ---------------------------------------------------------------------------------------------- RegexParser

size_t RegexParser::ReadHex(size_t most, uint32_t* value) {
  size_t n = 0;
  *value = 0;
  for (; n < most && HexValue(Peek()) >= 0; ++n) *value = *value << 4 | static_cast<uint32_t>(HexValue(text_[at_++]));
  return n;
}

std::string RegexParser::Slice(size_t from, size_t to) const {
  std::string out;
  for (size_t i = from; i < to && i < text_.size(); ++i) AppendUtf8(text_[i], &out);
  return out;
}

std::string RegexParser::InsteadOfEscape(uint32_t c) {
  switch (c) {
    case 'G': return "leave it out: a match begins where the text does";
    case 'K': return "leave it out: all that is matched is the text";
    case 'h': return "write [ \\t] for blanks";
    case 'H': return "write [^ \\t] for what is no blank";
    case 'R': return "write (?:\\r\\n|[\\n\\r]) for a line end";
    case 'X': return "write . for a code point, or the code points of what is to stand there";
    case 'm':
    case 'M': return "write \\b for where a word begins or ends";
    case 'e': return "write \\x1b for that control character";
    case 'c': return "write a control character by its number, as in \\x0a";
    case 'Q':
    case 'E': return "put a backslash before each character that is to stand for itself";
    default: return "write the character itself, or \\\\ for a backslash";
  }
}

std::string RegexParser::InsteadOfGroup(uint32_t c, bool ecma) {
  if (IsDigit(c)) c = 'R';
  switch (c) {
    case 'R':
    case '&':
    case '+': return "a pattern cannot call itself or its groups; write what is called again, or rules of a grammar";
    case '|': return "write (?:...) around the alternatives";
    case '\'': return std::string(ecma ? "use (?<name>" : "use (?P<name>") + "...) for a named group";
    case '#': return "leave the comment out";
    case '>': return "use (?:...): there are no atomic groups here";
    case '(': return "which branch applies depends on a captured group; write both cases out as alternatives";
    case 'x': return "write the pattern without blanks and comments";
    default: return "use (?:...) for a plain group, or write \\( for a parenthesis";
  }
}

void RegexParser::Unsupported(size_t position, const std::string& what, const std::string& remedy) {
  if (unsupported_) return;
  unsupported_ = true;
  unsupported_at_ = position;
  unsupported_what_ = what;
  unsupported_remedy_ = remedy;
}

void RegexParser::ThrowIfUnsupported() const {
  if (unsupported_) ThrowUnsupported(text_, unsupported_at_, unsupported_what_, unsupported_remedy_);
}

void RegexParser::CheckDepth(uint32_t depth, size_t position) const {
  if (depth > options_.depth)
    throw LimitError("regex: the limit depth=" + std::to_string(options_.depth) +
                     " (nesting of groups) was reached at position " + std::to_string(position) + " of " +
                     RegexExcerpt(text_, position) +
                     ": nest fewer groups, or raise it with tokamata.regex(..., max_depth=n)");
}

uint32_t RegexParser::ReadNumber(bool* any) {
  uint64_t value = 0;
  *any = false;
  for (; IsDigit(Peek()); ++at_) {
    *any = true;
    value = std::min<uint64_t>(value * 10 + (text_[at_] - '0'), kUnbounded);
  }
  return static_cast<uint32_t>(value);
}

uint32_t RegexParser::Add(RegexKind kind, size_t position, uint32_t first) {
  RegexNode n;
  n.kind = kind;
  n.position = static_cast<uint32_t>(position);
  n.first = first;
  tree_.nodes.push_back(n);
  return static_cast<uint32_t>(tree_.nodes.size() - 1);
}

uint32_t RegexParser::ReadWords() {
  constexpr uint32_t kMany = 16;
  static const ByteSet special = [] {
    ByteSet s;
    for (char c : {'\\', '[', '.', '(', ')', '|', '^', '$', '*', '+', '?', '{', '}'}) s.Add(static_cast<uint8_t>(c));
    return s;
  }();
  size_t end = at_;
  uint32_t bars = 0;
  for (; end < text_.size(); ++end) {
    const uint32_t c = text_[end];
    if (c >= 0x80 || !special.Has(static_cast<uint8_t>(c))) continue;
    if (c == ')') break;
    if (c != '|') return 0;
    ++bars;
  }
  if (bars < kMany) return 0;
  const uint32_t words = Add(RegexKind::kWords, at_);
  tree_.nodes[words].low = static_cast<uint32_t>(at_);
  tree_.nodes[words].high = static_cast<uint32_t>(end - at_);
  at_ = end;
  return words;
}

uint32_t RegexParser::AddSet(CodePointRanges ranges, size_t position, bool normalized) {
  tree_.sets.push_back(normalized ? std::move(ranges) : NormalizeRanges(std::move(ranges)));
  return Add(RegexKind::kSet, position, static_cast<uint32_t>(tree_.sets.size() - 1));
}

void RegexParser::Append(RegexTree* tree, Sequence* sequence, uint32_t node) {
  if (sequence->size++)
    tree->nodes[sequence->last].next = node;
  else
    sequence->first = node;
  sequence->last = node;
}

uint32_t RegexParser::Finish(const Sequence& sequence, RegexKind kind, size_t position) {
  if (sequence.size == 1) return sequence.first;
  if (sequence.size == 0) return Add(RegexKind::kEpsilon, position);
  return Add(kind, position, sequence.first);
}

void RegexParser::Wrap(Sequence* sequence, const RegexNode& wrapper) {
  // The wrapper takes over the slot, so that the links to it stay right.
  const RegexNode inner = tree_.nodes[sequence->last];
  tree_.nodes.push_back(inner);
  RegexNode& outer = tree_.nodes[sequence->last];
  outer = wrapper;
  outer.first = static_cast<uint32_t>(tree_.nodes.size() - 1);
  outer.next = 0;
}

uint32_t RegexParser::ClassIndex(Class c, bool negated) {
  uint32_t& index = classes_[negated][c];
  if (!index) {
    CodePointRanges ranges;
    switch (c) {
      case kWord: ranges = UnicodeWord(); break;
      case kDigitClass: ranges = UnicodeDigit(); break;
      case kSpace: ranges = UnicodeSpace(); break;
      case kAsciiWord: ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}; break;
      case kAsciiDigit: ranges = {{'0', '9'}}; break;
      case kAsciiSpace: ranges = {{'\t', '\r'}, {' ', ' '}}; break;
      default:  // kEcmaSpace: WhiteSpace and LineTerminator
        ranges = {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                  {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
    }
    tree_.sets.push_back(negated ? ComplementRanges(ranges) : std::move(ranges));
    index = static_cast<uint32_t>(tree_.sets.size());
  }
  return index - 1;
}

const CodePointRanges& RegexParser::ClassRanges(Class c, bool negated) { return tree_.sets[ClassIndex(c, negated)]; }

uint32_t RegexParser::AddClass(Class c, bool negated, size_t position) {
  const uint32_t index = ClassIndex(c, negated);
  return Add(RegexKind::kSet, position, index);
}

CodePointRanges RegexParser::ReadProperty(size_t escape, bool strict) {
  bool complement = text_[escape + 1] == 'P';
  size_t from = at_, to = at_;
  if (Match('{')) {
    from = at_;
    while (Peek() != '}' && Peek() != kEndOfPattern) ++at_;
    to = at_;
    if (!Match('}')) Fail(escape, "unterminated property", "close it with \"}\", as in \\p{Lu}");
  } else if (!strict && IsLetter(Peek())) {  // \pL
    to = ++at_;
  } else {
    Fail(escape, "\\p without a property", "name one, as in \\p{Lu} or \\p{Script=Greek}");
  }
  if (!strict && from < to && text_[from] == '^') {
    complement = !complement;
    ++from;
  }
  std::string name = Slice(from, to), value;
  const size_t equals = name.find_first_of(strict ? "=" : "=:");
  if (equals != std::string::npos) {
    value = name.substr(equals + 1);
    name = name.substr(0, equals);
  }
  CodePointRanges ranges;
  if ((equals != std::string::npos && value.empty()) || !UnicodeProperty(name, value, strict, &ranges))
    Fail(escape, "unknown property \\p{" + Slice(from, to) + "}",
         "name a general category (Lu, Letter), a script (Script=Greek) or a binary property (Alphabetic)");
  return complement ? ComplementRanges(ranges) : NormalizeRanges(std::move(ranges));
}

}  // namespace tokamata
