// The formats of JSON Schema (draft 2020-12, section 7.3 of its validation vocabulary) as sets of string contents.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "constraints/csrc/json_string.h"
#include "constraints/csrc/json_time.h"

namespace tokamata {

struct JsonFormat {
  Expr language = kEmpty;
  bool exact = true;      // otherwise wider than the specification
  const char* note = "";  // where not exact: what is let through
};

// Formats over one JsonStrings, each made when it is first asked for.
class JsonFormats {
 public:
  explicit JsonFormats(JsonStrings* strings) : strings_(*strings), times_(strings) {}
  JsonFormats(const JsonFormats&) = delete;
  JsonFormats& operator=(const JsonFormats&) = delete;

  // Whether a format is known, without building it.
  static bool Known(std::string_view name);
  // Empty for a format that is not known.
  std::optional<JsonFormat> Format(std::string_view name);

 private:
  struct Made;
  Expr Build(std::string_view name);

  JsonStrings& strings_;
  JsonTimes times_;
  std::map<std::string, JsonFormat, std::less<>> formats_;
};

}  // namespace tokamata
