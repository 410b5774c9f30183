#include "automata/csrc/expression.h"
#include "automata/csrc/hex_digits.h"

namespace tokamata {

std::string Expressions::Describe(Expr root, size_t limit) const {
  std::string out;
  const auto byte = [](int b) {
    const std::string c(1, static_cast<char>(b));
    if (b <= 0x20 || b >= 0x7f) return std::string("\\x") + kHexDigits[0][b >> 4] + kHexDigits[0][b & 15];
    return std::string("\\^$.|?*+()[]{}-~&").find(c) == std::string::npos ? c : "\\" + c;
  };
  const auto set = [&](const ByteSet& s) {
    if (s == ByteSet::All()) return std::string("[^]");
    if (s.Count() == 1) return byte(s.First());
    const bool negated = s.Count() > 128;
    const ByteSet shown = negated ? ~s : s;
    std::string text = negated ? "[^" : "[";
    for (int b = 0; b < 256; ++b) {
      if (!shown.Has(static_cast<uint8_t>(b))) continue;
      int end = b;
      while (end < 255 && shown.Has(static_cast<uint8_t>(end + 1))) ++end;
      text += byte(b);
      if (end > b) text += (end > b + 1 ? "-" : "") + byte(end);
      b = end;
    }
    return text + "]";
  };
  struct Item {
    Expr e;
    const char* text;  // when set, printed instead of e
    std::string owned;
  };
  std::vector<Item> stack;  // printed from the back
  stack.push_back({root, nullptr, {}});
  while (!stack.empty() && out.size() < limit) {
    const Item item = std::move(stack.back());
    stack.pop_back();
    if (item.text || !item.owned.empty()) {
      out += item.text ? item.text : item.owned;
      continue;
    }
    const Node& n = nodes_[item.e];
    const auto push = [&](Expr e) { stack.push_back({e, nullptr, {}}); };
    const auto text = [&](const char* t) { stack.push_back({0, t, {}}); };
    switch (n.kind) {
      case ExprKind::kEmpty: out += "∅"; break;
      case ExprKind::kEpsilon: out += "ε"; break;
      case ExprKind::kBytes: out += set(n.first); break;
      case ExprKind::kConcat: push(n.b), push(n.a); break;
      case ExprKind::kUnion:
      case ExprKind::kIntersect:
        text(")");
        for (uint32_t i = n.b; i-- > 0;) {
          push(Members(item.e)[i]);
          text(i ? (n.kind == ExprKind::kUnion ? "|" : "&") : "(");
        }
        break;
      case ExprKind::kRepeat: {
        std::string bounds = n.b == 0 && n.c == kUnbounded ? "*" : n.b == 1 && n.c == kUnbounded ? "+" : "{" + std::to_string(n.b);
        if (bounds[0] == '{') bounds += n.c == n.b ? "}" : n.c == kUnbounded ? ",}" : "," + std::to_string(n.c) + "}";
        stack.push_back({0, nullptr, ")" + bounds});
        push(n.a);
        text("(");
        break;
      }
      case ExprKind::kComplement: text(")"), push(n.a), text("~("); break;
      case ExprKind::kCall: out += "<rule " + std::to_string(n.b) + ">"; break;
      case ExprKind::kLeaf: out += "<leaf " + std::to_string(n.a) + ":" + std::to_string(n.b) + ">"; break;
      case ExprKind::kTexts: {
        const TextList& texts = *lists_[n.a];
        const TextList::Node node = TextNodeOf(item.e);
        for (uint32_t i = node.low; i < node.high && out.size() < limit; ++i) {
          out += i == node.low ? "(" : "|";
          for (char c : texts.Rest(i, node.depth)) out += byte(static_cast<uint8_t>(c));
        }
        out += ")";
        break;
      }
      case ExprKind::kPaths: {
        const std::string high = n.c == kUnbounded ? "" : std::to_string(n.c);
        out += "<paths " + std::to_string(n.a) + "{" + std::to_string(n.b) + "," + high + "}>";
        break;
      }
      case ExprKind::kAutomaton: out += "<automaton " + std::to_string(n.a) + ":" + std::to_string(n.b) + ">"; break;
    }
  }
  if (!stack.empty() || out.size() > limit) out = out.substr(0, limit) + "…";
  return out;
}

}  // namespace tokamata
