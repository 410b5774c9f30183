#include "constraints/csrc/json_leaves.h"

namespace tokamata {

JsonLeaves::JsonLeaves(bool canonical_strings, bool canonical_numbers)
    : strings_(&pool_, canonical_strings), numbers_(&pool_, canonical_numbers) {
  strings_.Any();
  if (!canonical_strings) {
    strings_.RawCharacters(ByteSet());
    strings_.NonAsciiNumbers();
  }
  numbers_.Grammar();
  numbers_.Number();
  numbers_.Integer();
}

template <bool kStrings, bool kNumbers>
const JsonLeaves& JsonLeaves::Made() {
  static const JsonLeaves leaves(kStrings, kNumbers);
  return leaves;
}

const JsonLeaves& JsonLeaves::Of(bool canonical_strings, bool canonical_numbers) {
  if (canonical_strings) return canonical_numbers ? Made<true, true>() : Made<true, false>();
  return canonical_numbers ? Made<false, true>() : Made<false, false>();
}

}  // namespace tokamata
