#include "constraints/csrc/json_document.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "automata/csrc/errors.h"
#include "automata/csrc/hex_digits.h"
#include "automata/csrc/utf8.h"

namespace tokamata {
namespace {

constexpr uint32_t kSmallObject = 8;
constexpr size_t kChunk = 1 << 16;

enum : uint8_t { kPlain = 0, kQuote, kEscape, kControl, kHigh };

struct ByteClasses {
  uint8_t of[256];
  constexpr ByteClasses() : of() {
    for (int b = 0; b < 256; ++b) of[b] = b < 0x20 ? kControl : b >= 0x80 ? kHigh : kPlain;
    of[static_cast<int>('"')] = kQuote;
    of[static_cast<int>('\\')] = kEscape;
  }
};
constexpr ByteClasses kBytes;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The first eight bytes as a number that compares as they do.
uint64_t Prefix(std::string_view key) {
  uint64_t prefix = 0;
  const size_t n = std::min<size_t>(key.size(), 8);
  for (size_t i = 0; i < n; ++i) prefix |= static_cast<uint64_t>(static_cast<uint8_t>(key[i])) << (56 - 8 * i);
  return prefix;
}

}  // namespace

// Builds a document in one pass. Open containers are frames; their finished children wait on a stack until the
// container closes and they move, side by side, to their final place.
class JsonParser {
 public:
  JsonParser(JsonDocument* document, const JsonLimits& limits)
      : document_(*document),
        limits_(limits),
        begin_(document->text_.data()),
        p_(begin_),
        end_(begin_ + document->text_.size()) {
    frames_.reserve(16);
    values_.reserve(64);
    keys_.reserve(32);
    key_offsets_.reserve(32);
  }

  void Parse() {
    if (static_cast<size_t>(end_ - begin_) > std::min<uint64_t>(limits_.bytes, 0xffffffffu)) {
      throw LimitError(document_.name_ + ": the limit bytes=" + std::to_string(limits_.bytes) +
                       " was reached: the text has " + std::to_string(end_ - begin_) +
                       "; put parts of it into documents of a registry");
    }
    if (end_ - p_ >= 3 && std::memcmp(p_, "\xEF\xBB\xBF", 3) == 0) {
      Fail("expected JSON, got a byte order mark; decode the file as utf-8-sig", p_);
    }
    for (;;) {
      if (Value()) continue;
      // A value is finished: close containers until one expects another.
      for (;;) {
        SkipSpace();
        if (frames_.empty()) {
          if (p_ != end_) Fail("expected the end of the text, got " + Found(), p_);
          Finish();
          return;
        }
        const bool object = frames_.back().object;
        if (p_ < end_ && *p_ == ',') {
          ++p_;
          SkipSpace();
          if (object) Key();
          break;
        }
        if (p_ < end_ && *p_ == (object ? '}' : ']')) {
          ++p_;
          Close();
          continue;
        }
        Fail(std::string("expected \",\" or \"") + (object ? '}' : ']') + "\", got " + Found(), p_);
      }
    }
  }

 private:
  struct Frame {
    bool object;
    uint32_t offset;
    uint32_t id;
    uint32_t values;  // where its children begin on the stacks
    uint32_t keys;
  };

  [[noreturn]] void Fail(const std::string& what, const char* at) const {
    const char* remedy = what.find("; ") == std::string::npos ? "; mend the JSON text there" : "";
    throw ConstraintError(document_.name_ + ": " + document_.Place(static_cast<uint32_t>(at - begin_)) + ": " + what + remedy);
  }

  std::string Found() const {
    if (p_ == end_) return "the end of the text";
    if (*p_ == '\'') return "a single quote (JSON quotes with \")";
    const size_t n = CharacterLength({p_, static_cast<size_t>(end_ - p_)});
    if (n == 0) return "a byte that is not UTF-8";
    if (static_cast<uint8_t>(*p_) < 0x20) return "a control character";
    return "'" + std::string(p_, n) + "'";
  }

  char* Allocate(size_t bytes, size_t align) {
    size_t at = (used_ + align - 1) / align * align;
    if (document_.chunks_.empty() || at + bytes > capacity_) {
      capacity_ = std::max(bytes, std::min<size_t>(kChunk << std::min<size_t>(document_.chunks_.size(), 6),
                                                   static_cast<size_t>(end_ - begin_) * 8 + 1024));
      document_.chunks_.push_back(std::unique_ptr<char[]>(new char[capacity_]));
      at = 0;
    }
    used_ = at + bytes;
    return document_.chunks_.back().get() + at;
  }

  void SkipSpace() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
  }

  // Reads a value, or the opening of a container with its first key: then the result is true.
  bool Value() {
    SkipSpace();
    if (p_ == end_) Fail("expected a value, got the end of the text", p_);
    JsonValue value;
    value.offset = static_cast<uint32_t>(p_ - begin_);
    value.id = document_.size_++;
    switch (*p_) {
      case '{':
      case '[': {
        const bool object = *p_ == '{';
        if (frames_.size() >= limits_.depth) {
          throw LimitError(document_.name_ + ": the limit depth=" + std::to_string(limits_.depth) + " was reached at " +
                           document_.Place(value.offset) + ": arrays and objects nest deeper; give inner ones names that $ref refers to");
        }
        frames_.push_back({object, value.offset, value.id, static_cast<uint32_t>(values_.size()),
                           static_cast<uint32_t>(keys_.size())});
        ++p_;
        SkipSpace();
        if (p_ < end_ && *p_ == (object ? '}' : ']')) {
          ++p_;
          Close();
          return false;
        }
        if (object) Key();
        return true;
      }
      case '"':
        value.kind = JsonKind::kString;
        value.text = String();
        break;
      case 't':
        Word("true");
        value.kind = JsonKind::kBoolean;
        value.boolean = true;
        break;
      case 'f':
        Word("false");
        value.kind = JsonKind::kBoolean;
        break;
      case 'n':
        Word("null");
        break;
      default:
        value.kind = JsonKind::kNumber;
        value.text = Number();
    }
    values_.push_back(value);
    return false;
  }

  void Word(std::string_view word) {
    if (static_cast<size_t>(end_ - p_) < word.size() || std::memcmp(p_, word.data(), word.size()) != 0) {
      Fail("expected a value, got " + Found(), p_);
    }
    p_ += word.size();
  }

  void Key() {
    if (p_ == end_ || *p_ != '"') Fail("expected a key in double quotes, got " + Found(), p_);
    key_offsets_.push_back(static_cast<uint32_t>(p_ - begin_));
    keys_.push_back(String());
    SkipSpace();
    if (p_ == end_ || *p_ != ':') Fail("expected \":\" after a key, got " + Found(), p_);
    ++p_;
  }

  std::string_view Number() {
    const char* start = p_;
    const char* q = p_;
    if (q < end_ && *q == '-') ++q;
    const auto digits = [&](const char* what) {
      if (q == end_ || !IsDigit(*q)) {
        p_ = q;
        if (q == start) Fail("expected a value, got " + Found(), q);
        Fail(std::string("expected a digit ") + what + ", got " + Found(), q);
      }
      while (q < end_ && IsDigit(*q)) ++q;
    };
    const char* whole = q;
    digits("in a number");
    if (*whole == '0' && q - whole > 1) Fail("expected a number without leading zeros", start);
    if (q < end_ && *q == '.') {
      ++q;
      digits("after the decimal point");
    }
    if (q < end_ && (*q == 'e' || *q == 'E')) {
      ++q;
      if (q < end_ && (*q == '+' || *q == '-')) ++q;
      const char* exponent = q;
      digits("in an exponent");
      while (exponent < q && *exponent == '0') ++exponent;
      uint64_t value = 0;
      for (const char* d = exponent; d < q && value <= limits_.exponent; ++d) value = value * 10 + (*d - '0');
      if (value > limits_.exponent) {
        throw LimitError(document_.name_ + ": the limit exponent=" + std::to_string(limits_.exponent) +
                         " was reached at " + document_.Place(static_cast<uint32_t>(start - begin_)) +
                         ": a number has a larger one; use a smaller number");
      }
    }
    p_ = q;
    return std::string_view(start, static_cast<size_t>(q - start));
  }

  // A quoted string at p_: a view of the source, or of a decoded copy where it has escapes.
  std::string_view String() {
    const char* start = ++p_;
    for (;;) {
      p_ += CountPlain(p_, end_);
      if (p_ == end_) Fail("expected a closing \", got the end of the text", p_);
      switch (kBytes.of[static_cast<uint8_t>(*p_)]) {
        case kQuote:
          return std::string_view(start, static_cast<size_t>(p_++ - start));
        case kHigh:
          SkipCharacter();
          break;
        case kEscape:
          return Escaped(start);
        default:
          Fail("expected a string on one line with control characters escaped, got a control character", p_);
      }
    }
  }

  void SkipCharacter() {
    const size_t n = CharacterLength({p_, static_cast<size_t>(end_ - p_)});
    if (n == 0) Fail("expected UTF-8, got a byte that is not", p_);
    p_ += n;
  }

  std::string_view Escaped(const char* start) {
    scratch_.assign(start, p_);
    for (;;) {
      const char* run = p_;
      p_ += CountPlain(p_, end_);
      scratch_.append(run, p_);
      if (p_ == end_) Fail("expected a closing \", got the end of the text", p_);
      switch (kBytes.of[static_cast<uint8_t>(*p_)]) {
        case kQuote: {
          ++p_;
          char* copy = Allocate(scratch_.size(), 1);
          std::memcpy(copy, scratch_.data(), scratch_.size());
          return std::string_view(copy, scratch_.size());
        }
        case kHigh:
          run = p_;
          SkipCharacter();
          scratch_.append(run, p_);
          break;
        case kEscape:
          Escape();
          break;
        default:
          Fail("expected a string on one line with control characters escaped, got a control character", p_);
      }
    }
  }

  void Escape() {
    static constexpr char kNames[] = "\"\\/bfnrt";
    static constexpr char kValues[] = "\"\\/\b\f\n\r\t";
    const char* at = p_++;
    const char* name = p_ < end_ && *p_ != 0 ? std::strchr(kNames, *p_) : nullptr;
    if (name != nullptr) {
      scratch_.push_back(kValues[name - kNames]);
      ++p_;
      return;
    }
    if (p_ == end_ || *p_ != 'u') Fail("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX", at);
    ++p_;
    uint32_t c = CodeUnit(at);
    if (c >= 0xD800 && c < 0xDC00 && end_ - p_ >= 6 && p_[0] == '\\' && p_[1] == 'u') {
      const char* second = p_;
      p_ += 2;
      const uint32_t low = CodeUnit(second);
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      } else {
        p_ = second;
      }
    }
    AppendUtf8(c, &scratch_);
  }

  uint32_t CodeUnit(const char* at) {
    uint32_t c = 0;
    for (int i = 0; i < 4; ++i, ++p_) {
      const int digit = p_ < end_ ? HexValue(static_cast<uint8_t>(*p_)) : -1;
      if (digit < 0) Fail("expected four hexadecimal digits after \\u", at);
      c = c << 4 | static_cast<uint32_t>(digit);
    }
    return c;
  }

  void Close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    JsonValue value;
    value.kind = frame.object ? JsonKind::kObject : JsonKind::kArray;
    value.offset = frame.offset;
    value.id = frame.id;
    value.size = static_cast<uint32_t>(values_.size()) - frame.values;
    if (value.size != 0) {
      value.elements = reinterpret_cast<JsonValue*>(Place(values_.data() + frame.values, value.size));
      for (const JsonValue& child : value) Adopt(child);
      values_.resize(frame.values);
      if (frame.object) {
        value.keys = reinterpret_cast<std::string_view*>(Place(keys_.data() + frame.keys, value.size));
        IndexKeys(&value, key_offsets_.data() + frame.keys);
        keys_.resize(frame.keys);
        key_offsets_.resize(frame.keys);
      }
    }
    values_.push_back(value);
  }

  template <class T>
  char* Place(const T* items, uint32_t n) {
    static_assert(std::is_trivially_copyable_v<T>);
    char* memory = Allocate(n * sizeof(T), alignof(T));
    std::memcpy(memory, static_cast<const void*>(items), n * sizeof(T));
    return memory;
  }

  // Tells the children of a node that has reached its final place where that is.
  static void Adopt(const JsonValue& node) {
    for (uint32_t i = 0; i < node.size; ++i) const_cast<JsonValue&>(node.elements[i]).parent = &node;
  }

  void IndexKeys(JsonValue* value, const uint32_t* offsets) {
    const uint32_t n = value->size;
    const auto duplicate = [&](uint32_t i) {
      std::string shown;
      WriteJsonString(value->keys[i], &shown);
      Fail("expected different keys in an object, got " + shown + " twice", begin_ + offsets[i]);
    };
    if (n <= kSmallObject) {
      for (uint32_t i = 1; i < n; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
          if (value->keys[i] == value->keys[j]) duplicate(i);
        }
      }
      return;
    }
    order_.resize(n);
    for (uint32_t i = 0; i < n; ++i) order_[i] = {Prefix(value->keys[i]), i};
    std::sort(order_.begin(), order_.end(), [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      const int c = value->keys[a.second].compare(value->keys[b.second]);
      return c != 0 ? c < 0 : a.second < b.second;
    });
    auto* by_key = reinterpret_cast<uint32_t*>(Allocate(n * sizeof(uint32_t), alignof(uint32_t)));
    for (uint32_t i = 0; i < n; ++i) {
      by_key[i] = order_[i].second;
      if (i > 0 && value->keys[by_key[i]] == value->keys[by_key[i - 1]]) duplicate(by_key[i]);
    }
    value->by_key = by_key;
  }

  void Finish() {
    document_.root_ = values_.back();
    Adopt(document_.root_);
  }

  JsonDocument& document_;
  const JsonLimits& limits_;
  const char* begin_;
  const char* p_;
  const char* end_;
  size_t used_ = 0, capacity_ = 0;
  std::vector<Frame> frames_;
  std::vector<JsonValue> values_;
  std::vector<std::string_view> keys_;
  std::vector<uint32_t> key_offsets_;
  std::vector<std::pair<uint64_t, uint32_t>> order_;
  std::string scratch_;
};

std::shared_ptr<const JsonDocument> JsonDocument::Parse(std::string text, const std::string& name,
                                                        const JsonLimits& limits) {
  std::shared_ptr<JsonDocument> document(new JsonDocument);
  document->text_ = std::move(text);
  document->name_ = name;
  JsonParser(document.get(), limits).Parse();
  return document;
}

std::string JsonDocument::Place(uint32_t offset) const {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < offset && i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      ++line;
      column = 1;
    } else if (!IsContinuationByte(static_cast<uint8_t>(text_[i]))) {
      ++column;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

const JsonValue* JsonValue::Find(std::string_view key) const {
  if (kind != JsonKind::kObject) return nullptr;
  if (by_key == nullptr) {
    for (uint32_t i = 0; i < size; ++i) {
      if (keys[i] == key) return elements + i;
    }
    return nullptr;
  }
  const uint32_t* found = std::lower_bound(by_key, by_key + size, key,
                                           [&](uint32_t i, std::string_view wanted) { return keys[i] < wanted; });
  return found != by_key + size && keys[*found] == key ? elements + *found : nullptr;
}

std::string JsonPointer(const JsonValue& value) {
  std::vector<const JsonValue*> path;
  for (const JsonValue* node = &value; node->parent != nullptr; node = node->parent) path.push_back(node);
  std::string pointer;
  for (size_t i = path.size(); i-- > 0;) {
    const JsonValue& parent = *path[i]->parent;
    const size_t position = static_cast<size_t>(path[i] - parent.elements);
    pointer.push_back('/');
    if (!parent.IsObject()) {
      pointer += std::to_string(position);
      continue;
    }
    for (const char c : parent.keys[position]) {
      if (c == '~') {
        pointer += "~0";
      } else if (c == '/') {
        pointer += "~1";
      } else {
        pointer.push_back(c);
      }
    }
  }
  return pointer;
}

const JsonValue* FindJsonPointer(const JsonValue& value, std::string_view pointer) {
  const JsonValue* node = &value;
  std::string step;
  while (!pointer.empty()) {
    if (pointer[0] != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::string_view raw = pointer.substr(0, std::min(pointer.find('/'), pointer.size()));
    pointer.remove_prefix(raw.size());
    if (node->IsObject()) {
      step.clear();
      for (size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '~') {
          step.push_back(raw[i]);
          continue;
        }
        if (++i == raw.size() || (raw[i] != '0' && raw[i] != '1')) return nullptr;
        step.push_back(raw[i] == '0' ? '~' : '/');
      }
      node = node->Find(step);
    } else {
      const bool number = !raw.empty() && raw.size() < 10 && raw.find_first_not_of("0123456789") == raw.npos &&
                          (raw.size() == 1 || raw[0] != '0');
      const size_t position = number ? std::stoul(std::string(raw)) : 0;
      node = node->IsArray() && number && position < node->size ? node->elements + position : nullptr;
    }
    if (node == nullptr) return nullptr;
  }
  return node;
}

bool JsonEqual(const JsonValue& a, const JsonValue& b) {
  std::vector<std::pair<const JsonValue*, const JsonValue*>> todo{{&a, &b}};
  while (!todo.empty()) {
    const auto [x, y] = todo.back();
    todo.pop_back();
    if (x == y) continue;
    if (x->kind != y->kind || x->size != y->size) return false;
    switch (x->kind) {
      case JsonKind::kNull:
        break;
      case JsonKind::kBoolean:
        if (x->boolean != y->boolean) return false;
        break;
      case JsonKind::kNumber:
        if (x->text != y->text && !(ParseJsonNumber(x->text) == ParseJsonNumber(y->text))) return false;
        break;
      case JsonKind::kString:
        if (x->text != y->text) return false;
        break;
      case JsonKind::kArray:
        for (uint32_t i = 0; i < x->size; ++i) todo.push_back({x->elements + i, y->elements + i});
        break;
      case JsonKind::kObject:
        for (uint32_t i = 0; i < x->size; ++i) {
          // Mostly the same order: look there first.
          const JsonValue* other = y->keys[i] == x->keys[i] ? y->elements + i : y->Find(x->keys[i]);
          if (other == nullptr) return false;
          todo.push_back({x->elements + i, other});
        }
        break;
    }
  }
  return true;
}

namespace {

uint64_t Mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  return h;
}

uint64_t HashText(std::string_view text, uint64_t h) {
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return Mix(h);
}

}  // namespace

uint64_t JsonHash(const JsonValue& value) {
  // Every scalar adds a hash of its path and itself, so that the order of members does not matter.
  uint64_t sum = 0;
  std::vector<std::pair<const JsonValue*, uint64_t>> todo{{&value, 0x9e3779b97f4a7c15u}};
  while (!todo.empty()) {
    const auto [node, path] = todo.back();
    todo.pop_back();
    const uint64_t h = Mix(path + static_cast<uint64_t>(node->kind) + 1);
    switch (node->kind) {
      case JsonKind::kNull:
        sum += h;
        break;
      case JsonKind::kBoolean:
        sum += Mix(h + node->boolean);
        break;
      case JsonKind::kNumber: {
        const JsonNumber number = ParseJsonNumber(node->text);
        sum += HashText(number.digits, h + number.negative + 2 * static_cast<uint64_t>(number.exponent));
        break;
      }
      case JsonKind::kString:
        sum += HashText(node->text, h);
        break;
      case JsonKind::kArray:
        sum += Mix(h + node->size);
        for (uint32_t i = 0; i < node->size; ++i) todo.push_back({node->elements + i, Mix(h + 3 * i + 1)});
        break;
      case JsonKind::kObject:
        sum += Mix(h + node->size);
        for (uint32_t i = 0; i < node->size; ++i) todo.push_back({node->elements + i, HashText(node->keys[i], h)});
        break;
    }
  }
  return Mix(sum);
}

}  // namespace tokamata
