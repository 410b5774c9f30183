// JsonLeaves: what nearly every schema needs of strings and numbers, made once.
#pragma once
#include "automata/csrc/expression.h"
#include "constraints/csrc/json_number.h"
#include "constraints/csrc/json_string.h"

namespace tokamata {

// A pool that begins with this one has any character, any contents, all numbers and all integers. Neither changes nor
// ends once it is made.
class JsonLeaves {
 public:
  static const JsonLeaves& Of(StringStyle strings, bool canonical_numbers);

  const Expressions& pool() const { return pool_; }
  const JsonStrings& strings() const { return strings_; }
  const JsonNumbers& numbers() const { return numbers_; }

 private:
  JsonLeaves(StringStyle strings, bool canonical_numbers);
  template <StringStyle kStrings, bool kNumbers>
  static const JsonLeaves& Made();

  Expressions pool_;
  JsonStrings strings_;
  JsonNumbers numbers_;
};

}  // namespace tokamata
