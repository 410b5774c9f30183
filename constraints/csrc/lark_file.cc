#include "constraints/csrc/lark_file.h"

namespace tokamata {
namespace {

constexpr int kMostDepth = 100;  // of groups; calls are nested as they are
constexpr size_t kMostDigits = 9;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    file_.text = text;
    file_.tokens = CutLark(text);
  }

  LarkFile Run() {
    while (at_ < file_.tokens.size()) Statement();
    return std::move(file_);
  }

 private:
  LarkKind Peek(size_t ahead = 0) const {
    return at_ + ahead < file_.tokens.size() ? file_.tokens[at_ + ahead].kind : LarkKind::kNewline;
  }
  std::string_view TextOf(const LarkToken& t) const { return text_.substr(t.begin, t.end - t.begin); }
  bool Match(LarkKind kind) {
    if (Peek() != kind) return false;
    ++at_;
    return true;
  }
  const LarkToken& Expect(LarkKind kind) {
    if (at_ >= file_.tokens.size() || file_.tokens[at_].kind != kind) throw NotPlainLark();
    return file_.tokens[at_++];
  }
  uint32_t Add(LarkNode node) {
    file_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(file_.nodes.size() - 1);
  }
  int64_t Number() {
    std::string_view digits = TextOf(Expect(LarkKind::kNumber));
    const bool negative = digits[0] == '-';
    if (digits[0] == '-' || digits[0] == '+') digits.remove_prefix(1);
    if (digits.size() > kMostDigits) throw NotPlainLark();
    int64_t value = 0;
    for (const char c : digits) value = 10 * value + (c - '0');
    return negative ? -value : value;
  }
  uint32_t Count() {
    const int64_t n = Number();
    if (n < 0) throw NotPlainLark();
    return static_cast<uint32_t>(n);
  }

  void Statement() {
    if (Match(LarkKind::kNewline)) return;
    if (Match(LarkKind::kIgnore)) {
      const size_t begin = at_;
      file_.ignored.push_back({Choice(0), file_.definitions.size()});
      Uses(begin);
    } else if (Match(LarkKind::kDeclare)) {
      do {
        const LarkToken& name = Expect(LarkKind::kTerminal);
        file_.declared.emplace_back(TextOf(name), name.begin);
      } while (Peek() != LarkKind::kNewline);
    } else if (Match(LarkKind::kImport)) {
      Import();
    } else {
      Definition();
    }
    Expect(LarkKind::kNewline);
  }

  void Import() {
    if (TextOf(Expect(LarkKind::kRule)) != "common") throw NotPlainLark();
    const auto add = [this](const LarkToken& name, const LarkToken& alias) {
      file_.imports.push_back({TextOf(name), TextOf(alias), alias.begin});
    };
    if (Match(LarkKind::kOpen)) {
      do {
        const LarkToken& name = Expect(LarkKind::kTerminal);
        add(name, name);
      } while (Match(LarkKind::kComma));
      Expect(LarkKind::kClose);
      return;
    }
    Expect(LarkKind::kDot);
    const LarkToken& name = Expect(LarkKind::kTerminal);
    add(name, Match(LarkKind::kTo) ? Expect(LarkKind::kTerminal) : name);
  }

  void Definition() {
    LarkDefinition d;
    const bool modified = Match(LarkKind::kModifiers);
    const bool inlined = modified && TextOf(file_.tokens[at_ - 1]).find('?') != std::string_view::npos;
    d.is_terminal = !modified && Peek() == LarkKind::kTerminal;
    const LarkToken& name = Expect(d.is_terminal ? LarkKind::kTerminal : LarkKind::kRule);
    d.name = TextOf(name);
    d.at = name.begin;
    if (inlined && d.name[0] == '_') throw NotPlainLark();
    if (!d.is_terminal && Match(LarkKind::kOpenUse)) {
      do {
        d.parameters.push_back(TextOf(Expect(LarkKind::kRule)));
      } while (Match(LarkKind::kComma));
      Expect(LarkKind::kCloseUse);
    }
    if (Match(LarkKind::kDot)) d.priority = Number();
    Expect(LarkKind::kColon);
    const size_t begin = at_;
    d.tree = Choice(0);
    Uses(begin);
    file_.definitions.push_back(std::move(d));
  }

  void Uses(size_t begin) {
    for (size_t i = begin; i < at_; ++i) {
      const LarkToken& t = file_.tokens[i];
      if (t.kind != LarkKind::kRule && t.kind != LarkKind::kTerminal) continue;
      if (i == begin || file_.tokens[i - 1].kind != LarkKind::kTo) file_.uses.push_back(TextOf(t));
    }
  }

  uint32_t Choice(int depth) {
    if (depth > kMostDepth) throw NotPlainLark();
    LarkNode node{LarkNode::kChoice, {}, {}, {}};
    do {
      uint32_t alternative = Sequence(depth);
      if (Match(LarkKind::kTo)) {
        if (depth > 0) throw NotPlainLark();  // Lark takes that name for one that is used
        Expect(LarkKind::kRule);
        alternative = Add({LarkNode::kAlias, {}, {}, {alternative}});
      }
      node.children.push_back(alternative);
    } while (Match(LarkKind::kOr));
    return Add(std::move(node));
  }

  uint32_t Sequence(int depth) {
    LarkNode node{LarkNode::kSequence, {}, {}, {}};
    for (;;) {
      switch (Peek()) {
        case LarkKind::kRule:
        case LarkKind::kTerminal:
        case LarkKind::kString:
        case LarkKind::kRegexp:
        case LarkKind::kOpen:
        case LarkKind::kOpenMaybe: node.children.push_back(Item(depth)); break;
        default: return Add(std::move(node));
      }
    }
  }

  uint32_t Item(int depth) {
    const uint32_t atom = Atom(depth);
    LarkNode node{LarkNode::kRepeat, {}, {}, {atom}};
    if (Peek() == LarkKind::kOperator) {
      node.sign = text_[file_.tokens[at_++].begin];
      return Add(std::move(node));
    }
    if (!Match(LarkKind::kTilde)) return atom;
    node.sign = '~';
    node.low = node.high = Count();
    if (Match(LarkKind::kRange)) node.high = Count();
    if (node.high < node.low) throw NotPlainLark();
    return Add(std::move(node));
  }

  uint32_t Atom(int depth) {
    if (Match(LarkKind::kOpen)) {
      const uint32_t inner = Choice(depth + 1);
      Expect(LarkKind::kClose);
      return inner;
    }
    if (Match(LarkKind::kOpenMaybe)) {
      const uint32_t inner = Choice(depth + 1);
      Expect(LarkKind::kCloseMaybe);
      return Add({LarkNode::kMaybe, {}, {}, {inner}});
    }
    return Value(depth);
  }

  uint32_t Value(int depth) {
    const LarkToken t = file_.tokens[at_++];
    switch (t.kind) {
      case LarkKind::kTerminal: return Add({LarkNode::kTerminal, TextOf(t), {}, {}});
      case LarkKind::kRegexp: return Add({LarkNode::kLiteral, TextOf(t), {}, {}});
      case LarkKind::kString:
        if (Match(LarkKind::kRange)) return Add({LarkNode::kRange, TextOf(t), TextOf(Expect(LarkKind::kString)), {}});
        return Add({LarkNode::kLiteral, TextOf(t), {}, {}});
      case LarkKind::kRule: break;
      default: throw NotPlainLark();
    }
    if (!Match(LarkKind::kOpenUse)) return Add({LarkNode::kName, TextOf(t), {}, {}});
    if (depth > kMostDepth) throw NotPlainLark();
    LarkNode node{LarkNode::kUse, TextOf(t), {}, {}};
    do {
      node.children.push_back(Value(depth + 1));
    } while (Match(LarkKind::kComma));
    Expect(LarkKind::kCloseUse);
    return Add(std::move(node));
  }

  const std::string_view text_;
  size_t at_ = 0;
  LarkFile file_;
};

}  // namespace

LarkFile ReadLarkFile(std::string_view text) { return Parser(text).Run(); }

}  // namespace tokamata
