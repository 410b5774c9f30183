// URI references (RFC 3986), as far as JSON Schema needs them: splitting, resolution, percent-decoding.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace tokamata {

// The reference without its fragment, and the fragment without "#" ("" where there is none).
std::pair<std::string_view, std::string_view> SplitFragment(std::string_view reference);

// Reference resolution (RFC 3986, 5.2, strict). The base may be relative or empty: then what it lacks stays lacking.
std::string ResolveUri(std::string_view base, std::string_view reference);

// %XX replaced by its byte; a "%" that no two hexadecimal digits follow stays.
std::string PercentDecode(std::string_view text);

}  // namespace tokamata
