#include "constraints/csrc/yaml_value.h"

#include "automata/csrc/byte_table.h"
#include "automata/csrc/utf8.h"
#include "constraints/csrc/yaml_spellings.h"
#include "constraints/csrc/yaml_string.h"

namespace tokamata {
namespace {

bool IsPlainString(std::string_view text) {
  uint32_t state = 0;
  const ByteTable& plain = YamlPlainTable(&state);
  for (const char c : text) state = plain.next[state * 256 + static_cast<uint8_t>(c)];
  return plain.final[state];
}

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) : text_(text) {}

  std::string Read(size_t column) {
    if (Has(0, " ")) ++at_;
    Block(column);
    return std::move(json_);
  }

 private:
  bool Has(size_t ahead, std::string_view what) const {
    return at_ + ahead <= text_.size() && text_.substr(at_ + ahead, what.size()) == what;
  }
  bool EndsLine() const { return at_ >= text_.size() || text_[at_] == '\n'; }

  // Whether the next line begins at a column, with a dash or with something else; goes there.
  bool GoesOn(size_t column, bool dash) {
    size_t spaces = 1;
    if (!Has(0, "\n")) return false;
    while (Has(spaces, " ")) ++spaces;
    if (spaces - 1 != column || Has(spaces, "- ") != dash) return false;
    at_ += spaces;
    return true;
  }

  // A value whose further lines, if it has any, begin at a column. Recursion follows levels of indentation.
  void Block(size_t column) {
    if (Has(0, "- ")) return Sequence(column);
    if (Has(0, "[") || Has(0, "{")) return Flow();
    const size_t begin = json_.size();
    Scalar();
    if (!Has(0, ":")) return;
    json_.insert(begin, 1, '{');
    for (bool more = true; more;) {
      ++at_;
      json_ += ':';
      if (EndsLine()) {
        const size_t line = ++at_;
        while (Has(0, " ")) ++at_;
        Block(at_ - line);
      } else {
        ++at_;
        Block(column);
      }
      more = GoesOn(column, false);
      if (!more) break;
      json_ += ',';
      Scalar();
    }
    json_ += '}';
  }

  void Sequence(size_t column) {
    json_ += '[';
    for (bool more = true; more;) {
      at_ += 2;
      Block(column + 2);
      more = GoesOn(column, true);
      if (more) json_ += ',';
    }
    json_ += ']';
  }

  // Between brackets there are double quotes only, and all else is JSON.
  void Flow() {
    int depth = 0;
    do {
      if (Has(0, "\"")) {
        Scalar();
        continue;
      }
      depth += Has(0, "[") || Has(0, "{");
      depth -= Has(0, "]") || Has(0, "}");
      json_ += text_[at_++];
    } while (depth);
  }

  // A string, or null, a boolean or a number; up to a colon that makes it a key.
  void Scalar() {
    if (Has(0, "\"") || Has(0, "'")) return Quoted();
    const size_t begin = at_;
    while (!EndsLine() && !Has(0, ": ") && !Has(0, ":\n")) ++at_;
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (IsPlainString(text))
      String(text);
    else
      json_ += text;
  }

  void Quoted() {
    const char quote = text_[at_++];
    const StringStyle style = quote == '"' ? StringStyle::kYamlDouble : StringStyle::kYamlSingle;
    std::string text;
    while (text_[at_] != quote || (quote == '\'' && Has(1, "'"))) {
      uint32_t c = 0;
      size_t n = 1;
      while (ReadYamlSpelling(text_.substr(at_, n), style, &c) == Spelling::kBegun) ++n;
      AppendUtf8(c, &text);
      at_ += n;
    }
    ++at_;
    String(text);
  }

  void String(std::string_view text) {
    json_ += '"';
    AppendJsonString(text, &json_);
    json_ += '"';
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string json_;
};

}  // namespace

std::string YamlAsJson(std::string_view text, size_t column) { return YamlReader(text).Read(column); }

}  // namespace tokamata
