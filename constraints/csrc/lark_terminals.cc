#include "constraints/csrc/lark_terminals.h"

#include <algorithm>

#include "automata/csrc/hex_digits.h"
#include "automata/csrc/utf8.h"
#include "constraints/csrc/regex_syntax.h"

namespace tokamata {
namespace {

constexpr int kMostDepth = 200;                  // terminals inside each other
constexpr size_t kMostJoined = size_t{1} << 22;  // bytes of patterns

uint64_t Capped(uint64_t n) { return std::min(n, LarkWidth::kWidest); }

// As sre counts them, for kinds of nodes that take characters; what only looks around takes none.
LarkWidth WidthOf(const RegexTree& tree, uint32_t node) {
  const RegexNode& n = tree.nodes[node];
  LarkWidth width;
  switch (n.kind) {
    case RegexKind::kCharacter:
    case RegexKind::kSet: return {1, 1};
    case RegexKind::kConcat:
      for (uint32_t c = n.first; c; c = tree.nodes[c].next) {
        const LarkWidth w = WidthOf(tree, c);
        width = {Capped(width.least + w.least), Capped(width.most + w.most)};
      }
      return width;
    case RegexKind::kAlternate:
      width.least = LarkWidth::kWidest;
      for (uint32_t c = n.first; c; c = tree.nodes[c].next) {
        const LarkWidth w = WidthOf(tree, c);
        width = {std::min(width.least, w.least), std::max(width.most, w.most)};
      }
      return width;
    case RegexKind::kRepeat:
    case RegexKind::kPossessive:
      width = WidthOf(tree, n.first);
      if (n.low > 1000 || (n.high > 1000 && n.high != kUnbounded)) throw NotPlainLark();
      if (!width.most && n.high == kUnbounded) throw NotPlainLark();
      return {Capped(width.least * n.low), n.high == kUnbounded ? LarkWidth::kWidest : Capped(width.most * n.high)};
    case RegexKind::kGroup:
    case RegexKind::kAtomic: return WidthOf(tree, n.first);
    case RegexKind::kNone: throw NotPlainLark();
    default: return {};
  }
}

RegexTree Parse(const std::string& regexp) {
  RegexOptions options;
  options.lookup_name = [](std::string_view) -> uint32_t { throw NotPlainLark(); };
  RegexTree tree = ParseRegex(regexp, options);
  SpellWords(&tree);
  return tree;
}

LarkWidth WidthOf(const std::string& regexp) {
  if (regexp.find("\\p") != std::string::npos || regexp.find("\\P") != std::string::npos) throw NotPlainLark();
  const RegexTree tree = Parse(regexp);
  return WidthOf(tree, tree.root);
}

// What a literal's text stands for: Lark has Python evaluate \n, \r, \t, \f, \x.., \u.... and \U........, turns \" into
// a quote, and leaves all other backslashes to the regular expression.
std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c < ' ' && c != '\t') throw NotPlainLark();
    if (c != '\\') {
      out.push_back(text[i]);
      continue;
    }
    if (++i == text.size()) throw NotPlainLark();
    const char next = text[i];
    size_t digits = 0;
    switch (next) {
      case 'n': out.push_back('\n'); continue;
      case 'r': out.push_back('\r'); continue;
      case 't': out.push_back('\t'); continue;
      case 'f': out.push_back('\f'); continue;
      case '"': out.push_back('"'); continue;
      case '\\':
        if (i + 1 < text.size() && text[i + 1] == '"') throw NotPlainLark();  // Lark drops a backslash there
        out += "\\\\";
        continue;
      case 'x': digits = 2; break;
      case 'u': digits = 4; break;
      case 'U': digits = 8; break;
      default:
        if (static_cast<unsigned char>(next) < ' ') throw NotPlainLark();
        out.push_back('\\');
        out.push_back(next);
        continue;
    }
    uint64_t code = 0;
    for (size_t d = 0; d < digits; ++d) {
      const int digit = ++i < text.size() ? HexValue(static_cast<uint8_t>(text[i])) : -1;
      if (digit < 0) throw NotPlainLark();
      code = 16 * code + static_cast<uint64_t>(digit);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) throw NotPlainLark();
    AppendUtf8(static_cast<uint32_t>(code), &out);
  }
  return out;
}

// re.escape
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("()[]{}?*+-|^$\\.&~# \t\n\r\v\f").find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuationByte(static_cast<uint8_t>(c)); }));
}

bool LooksAround(const std::string& regexp) {
  const RegexTree tree = Parse(regexp);
  return std::any_of(tree.nodes.begin(), tree.nodes.end(), [](const RegexNode& n) {
    switch (n.kind) {
      case RegexKind::kEpsilon:
      case RegexKind::kCharacter:
      case RegexKind::kSet:
      case RegexKind::kConcat:
      case RegexKind::kAlternate:
      case RegexKind::kGroup: return false;
      case RegexKind::kRepeat: return n.negated;
      default: return true;
    }
  });
}

std::string LarkPattern::ToRegexp() const {
  const std::string body = is_string ? Escaped(value) : value;
  return flag ? std::string("(?") + flag + ":" + body + ")" : body;
}

LarkTerminals::LarkTerminals(const LarkFile& file) : file_(file) {
  for (uint32_t d = 0; d < file.definitions.size(); ++d)
    if (file.definitions[d].is_terminal && !definitions_.emplace(file.definitions[d].name, d).second)
      throw NotPlainLark();
}

const LarkTerminal& LarkTerminals::Named(std::string_view name) {
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  // Terminals call each other: one that is not finished is in a cycle, which nests too deeply.
  return known_[name] = Of(Definition(name).tree);
}

LarkTerminal LarkTerminals::Literal(std::string_view token) {
  const auto known = literals_.find(token);
  if (known != literals_.end()) return known->second;
  const char quote = token[0];
  const size_t end = token.rfind(quote);
  const std::string_view flags = token.substr(end + 1);
  if (flags.size() > 1 || (!flags.empty() && flags != "i" && flags != "m" && flags != "s")) throw NotPlainLark();
  LarkTerminal made;
  LarkPattern& p = made.pattern;
  p.is_string = quote == '"';
  p.flag = flags.empty() ? '\0' : flags[0];
  p.raw = token;
  p.value = Unescaped(token.substr(1, end - 1));
  if (p.value.empty()) throw NotPlainLark();
  if (p.is_string) {
    std::string value;
    for (size_t i = 0; i < p.value.size(); ++i) {
      value.push_back(p.value[i]);
      if (p.value.compare(i, 2, "\\\\") == 0) ++i;
    }
    p.value = std::move(value);
    made.width.least = made.width.most = CountCharacters(p.value);
  } else {
    made.width = WidthOf(p.ToRegexp());
  }
  return literals_[token] = std::move(made);
}

// Lark puts the characters into a class as they are written.
LarkTerminal LarkTerminals::Range(const LarkNode& node) const {
  const auto plain = [](std::string_view token) {
    if (token.size() != 3 || token[0] != '"' || token[2] != '"') throw NotPlainLark();
    const char c = token[1];
    const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!word) throw NotPlainLark();
    return c;
  };
  const char low = plain(node.text), high = plain(node.last);
  if (high < low) throw NotPlainLark();
  LarkTerminal made;
  made.pattern.is_string = false;
  made.pattern.value = std::string("[") + low + "-" + high + "]";
  made.pattern.raw = std::string(node.text) + ".." + std::string(node.last);
  made.width = {1, 1};
  return made;
}

LarkTerminal LarkTerminals::Of(uint32_t tree, int depth) {
  if (depth > kMostDepth) throw NotPlainLark();
  const LarkNode& node = file_.nodes[tree];
  std::vector<LarkTerminal> parts;
  switch (node.kind) {
    case LarkNode::kLiteral: return Literal(node.text);
    case LarkNode::kRange: return Range(node);
    case LarkNode::kTerminal: {
      const auto known = known_.find(node.text);
      if (known != known_.end()) return known->second;
      if (!Has(node.text)) throw NotPlainLark();
      LarkTerminal made = Of(Definition(node.text).tree, depth + 1);
      return known_[node.text] = made;
    }
    case LarkNode::kName:
    case LarkNode::kUse:
    case LarkNode::kAlias: throw NotPlainLark();
    default: break;
  }
  for (const uint32_t child : node.children) parts.push_back(Of(child, depth + 1));
  LarkTerminal made;
  LarkPattern& p = made.pattern;
  LarkWidth& width = made.width;
  if (node.kind == LarkNode::kRepeat || node.kind == LarkNode::kMaybe) {
    const LarkTerminal& inner = parts[0];
    const char sign = node.sign ? node.sign : '?';
    const uint64_t low = sign == '~' ? node.low : sign == '+' ? 1 : 0;
    const uint64_t high = sign == '~' ? node.high : sign == '?' ? 1 : LarkWidth::kWidest;
    std::string bounds(1, sign);
    if (sign == '~') bounds = "{" + std::to_string(low) + (low == high ? "" : "," + std::to_string(high)) + "}";
    p.is_string = false;
    p.value = "(?:" + inner.pattern.ToRegexp() + ")" + bounds;
    p.flag = inner.pattern.flag;
    const bool bounded = sign == '~' || sign == '?';
    width = {inner.width.least * low, bounded ? Capped(inner.width.most * high) : LarkWidth::kWidest};
  } else if (parts.size() == 1) {
    return std::move(parts[0]);
  } else if (node.kind == LarkNode::kChoice) {  // wide ones first
    std::vector<size_t> lengths(parts.size()), order(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      lengths[i] = CountCharacters(parts[i].pattern.value);
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const LarkWidth &x = parts[a].width, &y = parts[b].width;
      if (x.most != y.most) return x.most > y.most;
      return x.least != y.least ? x.least > y.least : lengths[a] > lengths[b];
    });
    p.is_string = false;
    width.least = LarkWidth::kWidest;
    for (const size_t i : order) {
      p.value += (p.value.empty() ? "(?:" : "|") + parts[i].pattern.ToRegexp();
      width = {std::min(width.least, parts[i].width.least), std::max(width.most, parts[i].width.most)};
    }
    p.value += ")";
  } else {
    p.is_string = parts.empty();
    for (const LarkTerminal& part : parts) {
      p.value += part.pattern.ToRegexp();
      width = {width.least + part.width.least, Capped(width.most + part.width.most)};
    }
  }
  joined_ += p.value.size();
  if (joined_ > kMostJoined || width.least > LarkWidth::kWidest) throw NotPlainLark();
  return made;
}

}  // namespace tokamata
