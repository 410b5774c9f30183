#include "tokenizer_fst/csrc/character_class.h"

namespace tokamata {

const std::array<CharacterClass, kNumClasses>& CharacterClasses() {
  static const std::array<CharacterClass, kNumClasses> classes = [] {
    const ByteSet lower = ByteSet::Range('a', 'z'), upper = ByteSet::Range('A', 'Z'), digit = ByteSet::Range('0', '9');
    const ByteSet ascii = ByteSet::Range(0, 0x7F);
    const ByteSet json = ByteSet::Range(0x20, 0x7F) - ByteSet::Of('"') - ByteSet::Of('\\');
    const ByteSet space = ByteSet::Range('\t', '\r') | ByteSet::Of(' ');
    std::array<CharacterClass, kNumClasses> c = {{{"json text", json, true, {}},
                                                  {"any", ascii, true, {}},
                                                  {"not newline", ascii - ByteSet::Of('\n'), true, {}},
                                                  {"alnum", lower | upper | digit, false, {}},
                                                  {"alpha", lower | upper, false, {}},
                                                  {"word", lower | upper | digit | ByteSet::Of('_'), false, {}},
                                                  {"lower", lower, false, {}},
                                                  {"upper", upper, false, {}},
                                                  {"digit", digit, false, {}},
                                                  {"space", space, false, {}},
                                                  {"visible", json - ByteSet::Of(' '), true, {}},
                                                  {"Han", {}, false, {}},
                                                  {"non-ASCII", {}, true, {}}}};
    for (CharacterClass& k : c) k.first = k.non_ascii ? k.ascii | ByteSet::Range(0xC2, 0xF4) : k.ascii;
    c[kHan].first = ByteSet::Range(0xE4, 0xE9);
    return c;
  }();
  return classes;
}

}  // namespace tokamata
