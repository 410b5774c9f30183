// Dates and times of RFC 3339, section 5.6, as contents of JSON strings: days by month and leap year, leap seconds only
// where the time is 23:59:60 in UTC.
#pragma once
#include <memory>

#include "constraints/csrc/json_string.h"

namespace tokamata {

// A leap second ties the offset to hour and minute, which takes 1440 states: they are rules, expanded when they are
// met.
class JsonTimes {
 public:
  explicit JsonTimes(JsonStrings* strings) : strings_(*strings) {}

  Expr Date();      // full-date
  Expr Time();      // full-time
  Expr DateTime();  // date-time

 private:
  JsonStrings& strings_;
  Expr date_ = kEmpty, time_ = kEmpty;
};

}  // namespace tokamata
