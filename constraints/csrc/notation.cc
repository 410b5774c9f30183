#include "constraints/csrc/notation.h"

#include <algorithm>
#include <cstring>

namespace tokamata {
namespace {

constexpr size_t kMostDepth = 1'000'000;  // of groups
constexpr size_t kMostDigits = 9;     // of a bound

struct NotPlain {};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsSpace(char c) { return c != '\0' && std::strchr(" \t\n\r\f\v", c); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Reader {
 public:
  Reader(std::string_view text, Notation notation) : text_(text), gbnf_(notation == Notation::kGbnf) {}

  std::vector<NotationNode> Read() {
    Skip();
    while (at_ < text_.size()) {
      Rule();
      if (!gbnf_)
        Skip();
      else if (!NewLine())
        throw NotPlain();
    }
    if (gbnf_ && nodes_.empty()) throw NotPlain();
    Place();
    return std::move(nodes_);
  }

 private:
  char Now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Comes(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  // ---- blanks
  void SkipBlanks() {
    while (IsBlank(Now())) ++at_;
  }

  // GBNF: blanks, line ends and comments. Whether there was a line end or a comment.
  bool SkipLines() {
    bool line = false;
    for (;; ++at_) {
      if (Now() == '#') {
        line = true;
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      }
      const char c = Now();
      if (!IsSpace(c)) return line;
      if (c == '\f' || c == '\v' || (c == '\r' && text_.substr(at_ + 1, 1) != "\n")) throw NotPlain();
      line = line || c == '\n';
    }
  }

  // What separates and means nothing else.
  void Skip() {
    if (gbnf_) {
      SkipLines();
      return;
    }
    for (;;) {
      if (IsSpace(Now())) {
        ++at_;
      } else if (Comes("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) throw NotPlain();
        at_ = end + 2;
      } else if (Now() == '[' && SkipNote()) {
      } else {
        return;
      }
    }
  }

  // EBNF: [wfc: ...] and the like.
  bool SkipNote() {
    size_t i = at_ + 1;
    bool odd = false;  // maybe blanks beyond ASCII
    const auto skip = [&] {
      for (; i < text_.size() && (IsSpace(text_[i]) || (text_[i] & 0x80)); ++i) odd = odd || (text_[i] & 0x80);
    };
    skip();
    size_t length = 0;
    for (const std::string_view name : {"wfc", "WFC", "nsc", "vc", "VC"})
      if (!length && text_.substr(i, name.size()) == name) length = name.size();
    if (!length) return false;
    i += length;
    skip();
    if (i >= text_.size() || text_[i] != ':') return false;
    const size_t end = text_.find(']', i);
    if (odd || end == std::string_view::npos) throw NotPlain();
    at_ = end + 1;
    return true;
  }

  // GBNF: the end of a line, behind which nothing goes on.
  bool NewLine() {
    const size_t begin = at_;
    SkipBlanks();
    if (SkipLines() || at_ == text_.size()) return true;
    at_ = begin;
    return false;
  }

  // ---- names
  bool IsNameByte(char c, bool first) const {
    if (IsLetter(c) || c == '_') return true;
    return gbnf_ ? IsDigit(c) || c == '-' : !first && (IsDigit(c) || c == '.');
  }

  // Past a name; false where there is none.
  bool Name() {
    if (!IsNameByte(Now(), true)) return false;
    while (IsNameByte(Now(), false)) ++at_;
    return true;
  }

  // EBNF: whether a rule begins here; then *name is where its name stands, and at_ behind ::=.
  bool Head(size_t* name, size_t* end) {
    const size_t before = at_;
    if (Now() == '[') {
      ++at_;
      const size_t digits = at_;
      while (IsDigit(Now())) ++at_;
      bool numbered = at_ > digits;
      if (Now() >= 'a' && Now() <= 'z') ++at_;
      numbered = numbered && Now() == ']';
      if (numbered) ++at_;
      SkipBlanks();
      if (!numbered) {
        at_ = before;
        return false;
      }
    }
    *name = at_;
    const bool named = Name();
    *end = at_;
    while (IsSpace(Now())) ++at_;
    if (named && Comes("::=")) {
      at_ += 3;
      return true;
    }
    at_ = before;
    return false;
  }

  bool IsHead() {
    const size_t before = at_;
    size_t name, end;
    const bool head = Head(&name, &end);
    at_ = before;
    return head;
  }

  // ---- parts
  NotationNode& Add(const char* kind, size_t begin, size_t end, uint32_t parts = 0) {
    nodes_.push_back({kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), 0, 0, parts});
    return nodes_.back();
  }

  void Rule() {
    size_t name = at_, end;
    if (gbnf_) {
      if (!Name()) throw NotPlain();
      end = at_;
      SkipBlanks();
      if (!Comes("::=")) throw NotPlain();
      at_ += 3;
      SkipLines();
    } else {
      if (!Head(&name, &end)) throw NotPlain();
      Skip();
    }
    Choice(name);
    Add("rule", name, end, 1);
  }

  // A choice that is being read, with its alternative and its item.
  struct Open {
    size_t around;  // where what it belongs to begins
    size_t begin = kNone, end = kNone;
    uint32_t alternatives = 0;
    std::vector<size_t> empty = {};  // nodes
    size_t first = kNone, last = kNone;
    uint32_t items = 0;
    size_t item = kNone, operand = kNone;  // operand: of the exception that waits for another one
  };

  // Reads a choice, and the choices in its groups.
  void Choice(size_t around) {
    open_.push_back({around});
    for (;;) {
      Open& now = open_.back();
      if (BeginsItem()) {
        now.item = at_;
        if (Now() == '(') {
          open_.push_back({at_++});
          if (open_.size() > kMostDepth) throw NotPlain();
          Skip();
          continue;
        }
        if (Atom()) {
          Operators();
          continue;
        }
        at_ = before_;
      }
      if (now.operand != kNone) throw NotPlain();
      EndSequence();
      if (Or(&now.begin, &now.end)) continue;
      EndChoice();
      open_.pop_back();
      if (open_.empty()) return;
      Skip();
      if (Now() != ')') throw NotPlain();
      ++at_;
      Add("group", open_.back().item, at_, 1);
      Operators();
    }
  }

  // Past what separates items; before_ is where it began. False where none can come.
  bool BeginsItem() {
    before_ = at_;
    if (!gbnf_) {
      Skip();
    } else if (open_.size() == 1) {
      SkipBlanks();
    } else {
      SkipLines();
    }
    if (at_ < text_.size()) return true;
    at_ = before_;
    return false;
  }

  void EndSequence() {
    Open& now = open_.back();
    if (gbnf_ && open_.size() > 1 && now.items) {  // with the line's end
      SkipLines();
      if (Now() == ')') now.last = at_;
      at_ = before_;
    }
    const bool none = now.first == kNone;
    if (now.items != 1) Add("sequence", none ? at_ : now.first, none ? at_ : End(now.first, now.last), now.items);
    if (none) {
      now.empty.push_back(nodes_.size() - 1);
    } else {
      if (now.begin == kNone) now.begin = now.first;
      now.end = now.last;
    }
    ++now.alternatives;
    now.first = kNone;
    now.items = 0;
  }

  void EndChoice() {
    Open& now = open_.back();
    const bool none = now.begin == kNone;
    const size_t begin = none ? now.around : now.begin;
    for (const size_t node : now.empty) nodes_[node].begin = nodes_[node].end = static_cast<uint32_t>(begin);
    if (now.alternatives != 1) Add("choice", begin, none ? begin : End(begin, now.end), now.alternatives);
  }

  // Without white space.
  size_t End(size_t begin, size_t end) const {
    while (end > begin && IsSpace(text_[end - 1])) --end;
    return end;
  }

  // Past a bar, with the blanks around it, that goes on with a choice.
  bool Or(size_t* begin, size_t* end) {
    const size_t before = at_;
    Skip();
    if (Now() != '|') {
      at_ = before;
      return false;
    }
    if (*begin == kNone) *begin = at_;
    *end = ++at_;
    Skip();
    if (gbnf_) *end = at_;
    return true;
  }

  // What may follow an atom or a group, up to the next item.
  void Operators() {
    Open& now = open_.back();
    for (;;) {
      const size_t before = at_;
      if (!gbnf_)
        Skip();
      else if (open_.size() > 1)
        SkipLines();
      else
        SkipBlanks();
      int64_t low = 0, high = NotationNode::kMany;
      const char c = Now();
      if (c == '*' || c == '+' || c == '?') {
        low = c == '+';
        if (c == '?') high = 1;
        ++at_;
      } else if (gbnf_ && c == '{') {
        Bounds(&low, &high);
      } else {
        at_ = before;
        break;
      }
      NotationNode& node = Add("repeat", now.item, at_, 1);
      node.low = low;
      node.high = high;
    }
    if (now.operand != kNone) Add("exception", now.operand, at_, 2);
    const size_t begin = now.operand != kNone ? now.operand : now.item, end = at_;
    now.operand = kNone;
    if (!gbnf_) {
      Skip();
      if (Now() == '-') {
        ++at_;
        now.operand = begin;
        return;
      }
      at_ = end;
    }
    if (!now.items++) now.first = begin;
    now.last = end;
  }

  void Bounds(int64_t* low, int64_t* high) {
    const auto number = [this](int64_t* out) {
      SkipBlanks();
      const size_t first = at_;
      for (*out = 0; IsDigit(Now()); ++at_) {
        if (at_ - first == kMostDigits) throw NotPlain();
        *out = *out * 10 + (Now() - '0');
      }
      const bool any = at_ > first;
      SkipBlanks();
      return any;
    };
    ++at_;
    const bool least = number(low);
    bool most = false;
    *high = *low;
    if (Now() == ',') {
      ++at_;
      most = number(high);
      if (!most) *high = NotationNode::kMany;
    }
    if ((!least && !most) || Now() != '}') throw NotPlain();
    ++at_;
  }

  bool Atom() {
    const size_t begin = at_;
    const char c = Now();
    if (c == '"' || (!gbnf_ && c == '\'')) return Quoted("string", c);
    if (c == '[') return (gbnf_ || !IsHead()) && Quoted("class", ']');
    if (gbnf_ && (c == '<' || (c == '!' && text_.substr(at_ + 1, 1) == "<"))) {
      const size_t end = text_.find_first_of("<>\r\n", at_ + (c == '!' ? 2 : 1));
      if (end == std::string_view::npos || text_[end] != '>' || text_[end - 1] == '<') throw NotPlain();
      at_ = end + 1;
      Add("token", begin, at_);
      return true;
    }
    if (gbnf_ && c == '.') {
      ++at_;
      Add("any", begin, at_);
      return true;
    }
    if (!gbnf_ && c == '#') {
      if (!Comes("#x")) throw NotPlain();
      at_ += 2;
      while (IsDigit(Now()) || (Now() >= 'a' && Now() <= 'f') || (Now() >= 'A' && Now() <= 'F')) ++at_;
      if (at_ == begin + 2) throw NotPlain();
      Add("character", begin, at_);
      return true;
    }
    if (!gbnf_ && IsHead()) return false;
    if (!Name()) return false;
    if (gbnf_) {  // no rule begins inside of a line
      const size_t end = at_;
      SkipBlanks();
      if (Comes("::=")) throw NotPlain();
      at_ = end;
    }
    Add("call", begin, at_);
    return true;
  }

  bool Quoted(const char* kind, char end) {
    const size_t begin = at_++;
    for (;; ++at_) {
      if (at_ >= text_.size()) throw NotPlain();
      if (text_[at_] == end) break;
      if (gbnf_ && text_[at_] == '\\') ++at_;
    }
    ++at_;
    Add(kind, begin, at_);
    return true;
  }

  // ---- offsets of bytes as places of characters
  void Place() {
    std::vector<uint32_t> characters(text_.size() + 1), lines{0};
    uint32_t count = 0;
    for (size_t i = 0; i < text_.size(); ++i) {
      characters[i] = count;
      if ((text_[i] & 0xC0) != 0x80) ++count;
      if (text_[i] == '\n') lines.push_back(static_cast<uint32_t>(i + 1));
    }
    characters[text_.size()] = count;
    for (NotationNode& n : nodes_) {
      const auto line = std::upper_bound(lines.begin(), lines.end(), n.begin);
      n.line = static_cast<uint32_t>(line - lines.begin());
      n.column = characters[n.begin] - characters[*(line - 1)] + 1;
      n.begin = characters[n.begin];
      n.end = characters[n.end];
    }
  }

  static constexpr size_t kNone = ~size_t{0};
  const std::string_view text_;
  const bool gbnf_;
  size_t at_ = 0;
  size_t before_ = 0;
  std::vector<Open> open_;
  std::vector<NotationNode> nodes_;
};

}  // namespace

std::optional<std::vector<NotationNode>> ReadNotation(std::string_view text, Notation notation) {
  constexpr size_t kMostBytes = size_t{1} << 31;
  if (text.size() > kMostBytes) return std::nullopt;
  try {
    return Reader(text, notation).Read();
  } catch (const NotPlain&) {
    return std::nullopt;
  }
}

}  // namespace tokamata
