#include "automata/csrc/blank_scan.h"

#include "automata/csrc/delayed_acceptor.h"

namespace tokamata {
namespace {

enum Blank { kNo, kPart, kMaybe, kYes };

// To some regular expressions U+0085, U+FEFF and four control characters are white space, to others they are not.
Blank AsciiBlank(uint8_t byte) {
  if (byte >= 0x1C && byte <= 0x1F) return kMaybe;
  return byte == ' ' || (byte >= 0x09 && byte <= 0x0D) ? kYes : kNo;
}

// The bytes that characters of kWideSpaces begin with.
bool BeginsWide(uint8_t byte) { return byte == 0xC2 || (byte >= 0xE1 && byte <= 0xE3) || byte == 0xEF; }

// Of two or three bytes.
Blank WideBlank(uint32_t bytes) {
  for (const auto& [low, high] : kWideSpaces)
    for (uint32_t c = low; c <= high; ++c) {
      const uint32_t two = (0xC0 | c >> 6) << 8 | (0x80 | (c & 63));
      const uint32_t three = (0xE0 | c >> 12) << 16 | (0x80 | (c >> 6 & 63)) << 8 | (0x80 | (c & 63));
      if (bytes == (c < 0x800 ? two : three)) return c < 0xA0 || c >= 0xFEFF ? kMaybe : kYes;
      if (c >= 0x800 && bytes == three >> 8) return kPart;
    }
  return kNo;
}

}  // namespace

bool BlankScan::Step(uint8_t byte) {
  const bool begun = begun_, letter = byte == 'n' || byte == 't' || byte == 'r' || byte == 'f' || byte == 'u';
  const bool escaped = escapes_ && letter;
  escapes_ = byte == '\\';
  begun_ = true;
  if (byte < 0x80) {
    const Blank blank = AsciiBlank(byte);
    last_ = 0;
    begun_ = blank != kYes;
    return escaped || blank == kMaybe || (blank == kYes && begun);
  }
  const Blank blank = last_ ? WideBlank(last_ << 8 | byte) : kNo;
  if (blank == kPart) {
    last_ = last_ << 8 | byte;
    return false;
  }
  if (blank == kNo) {
    last_ = BeginsWide(byte) ? byte : 0;
    before_ = last_ && begun;
    return false;
  }
  last_ = 0;
  begun_ = blank != kYes;
  return blank == kMaybe || before_;
}

}  // namespace tokamata
