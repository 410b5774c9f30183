// The spelling of JSON values: numbers by exact value, and what json.dumps writes.
#include <charconv>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "automata/csrc/hex_digits.h"
#include "constraints/csrc/json_document.h"

namespace tokamata {

JsonNumber ParseJsonNumber(std::string_view source) {
  JsonNumber number;
  size_t i = 0;
  if (i < source.size() && source[i] == '-') {
    number.negative = true;
    ++i;
  }
  int64_t fraction = 0;
  bool point = false;
  for (; i < source.size() && source[i] != 'e' && source[i] != 'E'; ++i) {
    if (source[i] == '.') {
      point = true;
      continue;
    }
    fraction += point;
    if (!number.digits.empty() || source[i] != '0') number.digits.push_back(source[i]);
  }
  int64_t exponent = 0;
  if (i < source.size()) {
    ++i;
    const bool negative = i < source.size() && source[i] == '-';
    if (i < source.size() && (source[i] == '+' || source[i] == '-')) ++i;
    for (; i < source.size() && exponent < int64_t{1} << 55; ++i) exponent = exponent * 10 + (source[i] - '0');
    if (negative) exponent = -exponent;
  }
  number.exponent = exponent - fraction;
  size_t zeros = 0;
  while (zeros < number.digits.size() && number.digits[number.digits.size() - 1 - zeros] == '0') ++zeros;
  number.digits.resize(number.digits.size() - zeros);
  number.exponent += static_cast<int64_t>(zeros);
  if (number.digits.empty()) {
    number.negative = false;
    number.exponent = 0;
  }
  return number;
}

std::string JsonNumberText(std::string_view source) {
  if (source.find_first_of(".eE") == std::string_view::npos) return source == "-0" ? "0" : std::string(source);
  double value = 0;
  const auto read = std::from_chars(source.data(), source.data() + source.size(), value);
  if (read.ec != std::errc()) return std::string(source);
  // The shortest digits that give the same double, laid out as Python's repr does.
  char buffer[40];
  const auto made = std::to_chars(buffer, buffer + sizeof buffer - 1, value, std::chars_format::scientific);
  *made.ptr = '\0';
  std::string_view shortest(buffer, static_cast<size_t>(made.ptr - buffer));
  const bool negative = shortest[0] == '-';
  if (negative) shortest.remove_prefix(1);
  const size_t e = shortest.find('e');
  std::string digits(1, shortest[0]);
  if (e > 2) digits += shortest.substr(2, e - 2);
  const int exponent = std::atoi(buffer + negative + e + 1);
  std::string text = negative ? "-" : "";
  if (exponent >= 16 || exponent < -4) {
    text += digits.substr(0, 1);
    if (digits.size() > 1) text += "." + digits.substr(1);
    const std::string power = std::to_string(std::abs(exponent));
    text += std::string("e") + (exponent < 0 ? '-' : '+') + (power.size() < 2 ? "0" : "") + power;
  } else if (exponent < 0) {
    text += "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  } else {
    const size_t whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    text += digits.substr(0, whole) + "." + (digits.size() > whole ? digits.substr(whole) : "0");
  }
  return ParseJsonNumber(text) == ParseJsonNumber(source) ? text : std::string(source);
}

void WriteJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  const auto unit = [&](uint32_t c) {
    *out += "\\u";
    AppendHex(c, 4, out);
  };
  size_t written = 0;
  const char* const end = text.data() + text.size();
  for (size_t i = CountPlain(text.data(), end); i < text.size(); i += 1 + CountPlain(text.data() + i + 1, end)) {
    const uint8_t c = static_cast<uint8_t>(text[i]);
    if (c >= 0x80 && c != 0xED) continue;
    out->append(text, written, i - written);
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\b':
        *out += "\\b";
        break;
      case '\f':
        *out += "\\f";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        if (c < 0x20) {
          unit(c);
        } else if (c == 0xED && i + 2 < text.size() && static_cast<uint8_t>(text[i + 1]) >= 0xA0) {
          unit(0xD000u | (static_cast<uint8_t>(text[i + 1]) & 63u) << 6 | (static_cast<uint8_t>(text[i + 2]) & 63u));
          i += 2;
        } else {
          out->push_back(static_cast<char>(c));
        }
    }
    written = i + 1;
  }
  out->append(text, written);
  out->push_back('"');
}

void WriteJson(const JsonValue& value, std::string* out) {
  struct Frame {
    const JsonValue* node;
    uint32_t next;
  };
  std::vector<Frame> frames;
  const auto write = [&](const JsonValue& node) {
    switch (node.kind) {
      case JsonKind::kNull:
        *out += "null";
        break;
      case JsonKind::kBoolean:
        *out += node.boolean ? "true" : "false";
        break;
      case JsonKind::kNumber:
        *out += JsonNumberText(node.text);
        break;
      case JsonKind::kString:
        WriteJsonString(node.text, out);
        break;
      case JsonKind::kArray:
      case JsonKind::kObject:
        out->push_back(node.IsObject() ? '{' : '[');
        frames.push_back({&node, 0});
        break;
    }
  };
  write(value);
  while (!frames.empty()) {
    const JsonValue& node = *frames.back().node;
    const uint32_t i = frames.back().next++;
    if (i == node.size) {
      out->push_back(node.IsObject() ? '}' : ']');
      frames.pop_back();
      continue;
    }
    if (i > 0) out->push_back(',');
    if (node.IsObject()) {
      WriteJsonString(node.keys[i], out);
      out->push_back(':');
    }
    write(node.elements[i]);
  }
}

}  // namespace tokamata
