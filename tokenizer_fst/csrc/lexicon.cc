#include "tokenizer_fst/csrc/lexicon.h"

#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {

Fst Lexicon(const Vocabulary& vocabulary) {
  const Trie& trie = vocabulary.Masks().trie();
  Fst fst(SemiringKind::kTropical);
  const uint32_t size = trie.Size();
  fst.AddStates(size);
  fst.ReserveArcs(size - 1 + trie.order.size());
  fst.SetStart(0);
  fst.SetFinal(0, fst.One());
  for (uint32_t n = 0; n < size; ++n) {
    const StateId s = static_cast<StateId>(n);
    for (uint32_t i = trie.TokensBegin(n); i < trie.TokensEnd(n); ++i) {
      fst.AddArc(s, {TokenLabel(trie.order[i]), kEpsilon, fst.One(), 0});
    }
    uint32_t nul = kNoIndex;
    trie.ForEachChild(n, [&](uint32_t child) {
      const uint8_t byte = trie.nodes[child].byte;
      if (byte == 0) {
        nul = child;  // its label is the greatest
      } else {
        fst.AddArc(s, {kEpsilon, ByteLabel(byte), fst.One(), static_cast<StateId>(child)});
      }
    });
    if (nul != kNoIndex) fst.AddArc(s, {kEpsilon, kNulLabel, fst.One(), static_cast<StateId>(nul)});
  }
  return fst;
}

}  // namespace tokamata
