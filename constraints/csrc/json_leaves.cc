#include "constraints/csrc/json_leaves.h"

namespace tokamata {

JsonLeaves::JsonLeaves(StringStyle strings, bool canonical_numbers)
    : strings_(&pool_, strings), numbers_(&pool_, canonical_numbers) {
  strings_.Any();
  if (strings == StringStyle::kJson) {
    strings_.RawCharacters(ByteSet());
    strings_.NonAsciiNumbers();
  }
  numbers_.Grammar();
  numbers_.Number();
  numbers_.Integer();
}

template <StringStyle kStrings, bool kNumbers>
const JsonLeaves& JsonLeaves::Made() {
  static const JsonLeaves* const leaves = new JsonLeaves(kStrings, kNumbers);  // never ends
  return *leaves;
}

const JsonLeaves& JsonLeaves::Of(StringStyle strings, bool canonical_numbers) {
  switch (strings) {
    case StringStyle::kJson:
      return canonical_numbers ? Made<StringStyle::kJson, true>() : Made<StringStyle::kJson, false>();
    case StringStyle::kJsonCanonical:
      return canonical_numbers ? Made<StringStyle::kJsonCanonical, true>() : Made<StringStyle::kJsonCanonical, false>();
    default: return canonical_numbers ? Made<StringStyle::kYamlDouble, true>() : Made<StringStyle::kYamlDouble, false>();
  }
}

}  // namespace tokamata
