#include "automata/csrc/blank_scan.h"

#include "automata/csrc/wide_spaces.h"

namespace tokamata {
namespace {

enum Blank { kNo, kPart, kMaybe, kYes };

// To some regular expressions U+0085, U+FEFF and four control characters are white space, to others they are not.
Blank AsciiBlank(uint8_t byte) {
  if (byte >= 0x1C && byte <= 0x1F) return kMaybe;
  return byte == ' ' || (byte >= 0x09 && byte <= 0x0D) ? kYes : kNo;
}

// Of two or three bytes.
Blank WideBlank(uint32_t bytes) {
  constexpr uint32_t kNoBreak = 0xC2A0, kMark = 0xEFBBBF;  // U+00A0, U+FEFF: between them there is no doubt
  if (WideSpaces().Is(bytes)) return bytes < kNoBreak || bytes >= kMark ? kMaybe : kYes;
  return WideSpaces().Begins(bytes) ? kPart : kNo;
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
    last_ = WideSpaces().first.Has(byte) ? byte : 0;
    before_ = last_ && begun;
    return false;
  }
  last_ = 0;
  begun_ = blank != kYes;
  return blank == kMaybe || before_;
}

}  // namespace tokamata
