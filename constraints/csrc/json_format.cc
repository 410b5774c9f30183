#include "constraints/csrc/json_format.h"

namespace tokamata {

bool JsonFormats::Known(std::string_view) { return false; }

std::optional<JsonFormat> JsonFormats::Format(std::string_view name) {
  const auto known = formats_.find(name);
  if (known != formats_.end()) return known->second;
  return std::nullopt;
}

}  // namespace tokamata
