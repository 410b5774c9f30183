#include "constraints/csrc/lark_tokens.h"

namespace tokamata {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  std::vector<LarkToken> Run() {
    while (at_ < text_.size()) Next();
    Add(LarkKind::kNewline, at_);
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool StartsWith(std::string_view word) const { return text_.substr(at_, word.size()) == word; }

  void Add(LarkKind kind, size_t end) {
    tokens_.push_back({kind, static_cast<uint32_t>(at_), static_cast<uint32_t>(end)});
    at_ = end;
  }

  // What \s* matches. White space beyond ASCII, or close to it, is left to Lark.
  size_t SkipSpace(size_t i) const {
    for (; i < text_.size(); ++i) {
      const unsigned char c = static_cast<unsigned char>(text_[i]);
      if (c >= 0x80 || (c >= 0x1c && c < 0x20)) throw NotPlainLark();
      if (c != ' ' && (c < '\t' || c > '\r')) break;
    }
    return i;
  }

  size_t EndOfLine(size_t i) const {
    const size_t end = text_.find('\n', i);
    return end == std::string_view::npos ? text_.size() : end;
  }

  // The end of a string or regular expression; backslashes and quotes after backslashes do not close it.
  size_t EndOfLiteral(char quote) const {
    for (size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == quote) return i + 1;
      if (text_[i] == '\n' && quote == '"') break;
      if (text_[i] == '\\' && i + 1 < text_.size() && (text_[i + 1] == quote || text_[i + 1] == '\\')) ++i;
    }
    throw NotPlainLark();
  }

  template <class In>
  size_t EndOfName(size_t i, In in) const {
    while (i < text_.size() && (in(text_[i]) || text_[i] == '_' || IsDigit(text_[i]))) ++i;
    return i;
  }

  size_t EndOfNumber(size_t i) const {
    while (i < text_.size() && IsDigit(text_[i])) ++i;
    if (i < text_.size() && static_cast<unsigned char>(text_[i]) >= 0x80) throw NotPlainLark();  // maybe digits
    return i;
  }

  bool NameFollows(size_t ahead) const { return Peek(ahead) == '_' || IsLower(Peek(ahead)); }

  void Next() {
    const char c = Peek();
    if (c == '/' && Peek(1) != '/') {
      size_t end = EndOfLiteral('/');
      while (end < text_.size() && std::string_view("imslux").find(text_[end]) != std::string_view::npos) ++end;
      return Add(LarkKind::kRegexp, end);
    }
    if (c == '"') {
      const size_t end = EndOfLiteral('"');
      return Add(LarkKind::kString, end < text_.size() && text_[end] == 'i' ? end + 1 : end);
    }
    const size_t after_space = SkipSpace(at_);
    if (after_space < text_.size() && (text_[after_space] == '#' || text_.substr(after_space, 2) == "//")) {
      at_ = EndOfLine(after_space);
      return;
    }
    const size_t name = c == '_' ? 1 : 0;
    if (IsLower(Peek(name))) return Add(LarkKind::kRule, EndOfName(at_ + name, IsLower));
    if (IsUpper(Peek(name))) return Add(LarkKind::kTerminal, EndOfName(at_ + name, IsUpper));
    if (c == '\n' || (c == '\r' && Peek(1) == '\n')) {
      if (after_space < text_.size() && text_[after_space] == '|') return Add(LarkKind::kOr, after_space + 1);
      return Add(LarkKind::kNewline, after_space);
    }
    if (c == '\\') {
      size_t i = at_ + 1;
      while (i < text_.size() && text_[i] == ' ') ++i;
      if (i == text_.size() || text_[i] != '\n') throw NotPlainLark();
      at_ = i + 1;
      return;
    }
    if (IsDigit(c) || ((c == '+' || c == '-') && IsDigit(Peek(1)))) return Add(LarkKind::kNumber, EndOfNumber(at_ + 1));
    if (c == ' ' || c == '\t') {  // all of them: what follows was looked at
      while (Peek() == ' ' || Peek() == '\t') ++at_;
      return;
    }
    NextSign(c);
  }

  void NextSign(char c) {
    switch (c) {
      case '%':
        if (StartsWith("%ignore")) return Add(LarkKind::kIgnore, at_ + 7);
        if (StartsWith("%declare")) return Add(LarkKind::kDeclare, at_ + 8);
        if (StartsWith("%import")) return Add(LarkKind::kImport, at_ + 7);
        throw NotPlainLark();
      case '!':
        if (NameFollows(1)) return Add(LarkKind::kModifiers, at_ + 1);
        if (Peek(1) == '?' && NameFollows(2)) return Add(LarkKind::kModifiers, at_ + 2);
        throw NotPlainLark();
      case '?':
        if (Peek(1) == '!' && NameFollows(2)) return Add(LarkKind::kModifiers, at_ + 2);
        return Add(NameFollows(1) ? LarkKind::kModifiers : LarkKind::kOperator, at_ + 1);
      case '-':
        if (Peek(1) == '>') return Add(LarkKind::kTo, at_ + 2);
        throw NotPlainLark();
      case '.': return Peek(1) == '.' ? Add(LarkKind::kRange, at_ + 2) : Add(LarkKind::kDot, at_ + 1);
      case '*':
      case '+': return Add(LarkKind::kOperator, at_ + 1);
      case '~': return Add(LarkKind::kTilde, at_ + 1);
      case '|': return Add(LarkKind::kOr, at_ + 1);
      case ',': return Add(LarkKind::kComma, at_ + 1);
      case ':': return Add(LarkKind::kColon, at_ + 1);
      case '(': return Add(LarkKind::kOpen, at_ + 1);
      case ')': return Add(LarkKind::kClose, at_ + 1);
      case '[': return Add(LarkKind::kOpenMaybe, at_ + 1);
      case ']': return Add(LarkKind::kCloseMaybe, at_ + 1);
      case '{': return Add(LarkKind::kOpenUse, at_ + 1);
      case '}': return Add(LarkKind::kCloseUse, at_ + 1);
      default: throw NotPlainLark();
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::vector<LarkToken> tokens_;
};

}  // namespace

std::vector<LarkToken> CutLark(std::string_view text) { return Cutter(text).Run(); }

}  // namespace tokamata
