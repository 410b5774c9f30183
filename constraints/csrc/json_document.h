// JsonDocument: a JSON text (RFC 8259) as an immutable tree; strict, iterative, quick.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tokamata {

enum class JsonKind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

// A node of a document; lives as long as the document and never moves.
struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  bool boolean = false;
  uint32_t offset = 0;  // of its first byte in the source text
  uint32_t id = 0;      // position in document order: the root is 0, a parent comes before its children
  uint32_t size = 0;    // elements or members
  const JsonValue* parent = nullptr;
  // A string's decoded value (UTF-8; a lone surrogate escape as the three bytes UTF-8 would give it), a number's
  // source.
  std::string_view text;
  const JsonValue* elements = nullptr;     // of an array, or the values of an object's members in source order
  const std::string_view* keys = nullptr;  // an object's decoded keys, parallel to elements
  const uint32_t* by_key = nullptr;        // positions of the members in byte order of their keys; null up to 8 members

  bool IsObject() const { return kind == JsonKind::kObject; }
  bool IsArray() const { return kind == JsonKind::kArray; }
  bool IsString() const { return kind == JsonKind::kString; }
  bool IsNumber() const { return kind == JsonKind::kNumber; }
  bool IsBoolean() const { return kind == JsonKind::kBoolean; }
  // The value of a member, null where there is none or this is no object. O(log members).
  const JsonValue* Find(std::string_view key) const;
  const JsonValue* begin() const { return elements; }
  const JsonValue* end() const { return elements + size; }
};

struct JsonLimits {
  uint32_t depth = 10'000;             // nesting of arrays and objects
  uint64_t bytes = 1'000'000'000;      // length of the text
  uint64_t exponent = 1'000'000'000;   // of a number, in absolute value
};

// Shared by whoever holds nodes of it.
class JsonDocument {
 public:
  // Throws ConstraintError with line and column (in characters, from 1) for what is not JSON, for duplicate keys and
  // for bytes that are not UTF-8; LimitError past a limit. `name` begins the error texts. O(text), plus sorting the
  // keys of large objects.
  static std::shared_ptr<const JsonDocument> Parse(std::string text, const std::string& name,
                                                   const JsonLimits& limits = {});
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  const JsonValue& Root() const { return root_; }
  const std::string& Text() const { return text_; }
  const std::string& Name() const { return name_; }
  uint32_t size() const { return size_; }  // nodes; ids are below it
  // "line 3, column 7" of a byte of the text.
  std::string Place(uint32_t offset) const;

 private:
  friend class JsonParser;
  JsonDocument() = default;
  std::string text_;
  std::string name_;
  JsonValue root_;
  uint32_t size_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
};

// The JSON Pointer (RFC 6901) of a node within its document; "" for the root. O(depth + keys written).
std::string JsonPointer(const JsonValue& value);
// The node that a JSON Pointer leads to from `value`, null where there is none. O(pointer · log members).
const JsonValue* FindJsonPointer(const JsonValue& value, std::string_view pointer);

// Equality of JSON values: numbers by exact decimal value (1 = 1.0 = 1e0), objects in any order of members.
bool JsonEqual(const JsonValue& a, const JsonValue& b);
// Equal values have equal hashes.
uint64_t JsonHash(const JsonValue& value);

// A number's exact decimal value: sign, digits without leading or trailing zeros ("" for zero) and the power of ten of
// the last digit, such that value = ±digits · 10^exponent.
struct JsonNumber {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
  bool IsInteger() const { return exponent >= 0; }
  bool operator==(const JsonNumber& other) const {
    return negative == other.negative && digits == other.digits && exponent == other.exponent;
  }
};
JsonNumber ParseJsonNumber(std::string_view source);
// As Python's json.dumps(json.loads(source)) writes it, where a double holds the value exactly or to its shortest
// spelling; the source itself where it does not (more digits than a double, overflow).
std::string JsonNumberText(std::string_view source);

// What json.dumps(value, separators=(",", ":"), ensure_ascii=False) writes, numbers by JsonNumberText, lone surrogates
// as \udxxx.
void WriteJson(const JsonValue& value, std::string* out);
void WriteJsonString(std::string_view text, std::string* out);

// How many of the first bytes stand for themselves between quotes: ASCII without controls, quotation mark and
// backslash.
inline size_t CountPlain(const char* begin, const char* end) {
  constexpr uint64_t kOnes = 0x0101010101010101u, kHigh = 0x80 * kOnes;
  const auto has_zero = [](uint64_t x) { return (x - kOnes) & ~x & kHigh; };
  const char* p = begin;
  for (; end - p >= 8; p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    if ((word & kHigh) | ((word - 0x20 * kOnes) & ~word & kHigh) | has_zero(word ^ '"' * kOnes) | has_zero(word ^ '\\' * kOnes))
      break;
  }
  while (p < end && static_cast<uint8_t>(*p) >= 0x20 && static_cast<uint8_t>(*p) < 0x80 && *p != '"' && *p != '\\') ++p;
  return static_cast<size_t>(p - begin);
}

}  // namespace tokamata
