#include "automata/csrc/places.h"

namespace tokamata {

std::string WithPlace(std::string text, const std::string& place) {
  constexpr const char* kReached = " was reached";
  const size_t at = text.find(kReached);
  if (place.empty() || at == text.npos || text.find(" was reached at ") != text.npos) return text;
  return text.insert(at + std::char_traits<char>::length(kReached), " at " + place);
}

}  // namespace tokamata
