#include "automata/csrc/wide_spaces.h"

#include <algorithm>
#include <string>

#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/utf8.h"

namespace tokamata {

bool WideSpaceBytes::Begins(uint32_t bytes) const { return std::binary_search(begun.begin(), begun.end(), bytes); }

bool WideSpaceBytes::Is(uint32_t bytes) const { return std::binary_search(whole.begin(), whole.end(), bytes); }

const WideSpaceBytes& WideSpaces() {
  static const WideSpaceBytes spaces = [] {
    WideSpaceBytes s;
    for (const auto& [low, high] : kWideSpaces)
      for (uint32_t c = low; c <= high; ++c) {
        std::string text;
        AppendUtf8(c, &text);
        uint32_t bytes = 0;
        for (const char b : text) {
          if (bytes) s.begun.push_back(bytes);
          bytes = bytes << 8 | static_cast<uint8_t>(b);
        }
        s.whole.push_back(bytes);
        s.first.Add(static_cast<uint8_t>(text[0]));
      }
    std::sort(s.begun.begin(), s.begun.end());
    std::sort(s.whole.begin(), s.whole.end());
    return s;
  }();
  return spaces;
}

}  // namespace tokamata
