#include "tokenizer_fst/csrc/lexicon.h"

#include <cstring>

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

std::string LexiconFile(const Fst& fst) {
  std::string out;
  out.reserve(100 + static_cast<size_t>(fst.NumStates()) * 20 + fst.NumArcs() * sizeof(Arc));
  const auto put = [&out](auto value) { out.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  put(int32_t{2125659606});  // magic
  for (const char* type : {"const", "standard"}) {
    put(static_cast<int32_t>(std::strlen(type)));
    out += type;
  }
  put(int32_t{2});     // version: not aligned
  put(int32_t{0});     // flags: no symbol tables
  put(uint64_t{0x1});  // properties: expanded
  put(int64_t{fst.Start()});
  put(int64_t{fst.NumStates()});
  put(static_cast<int64_t>(fst.NumArcs()));
  uint32_t first = 0;
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    uint32_t input_epsilons = 0, output_epsilons = 0;
    for (const Arc& arc : fst.Arcs(s)) {
      input_epsilons += arc.ilabel == kEpsilon;
      output_epsilons += arc.olabel == kEpsilon;
    }
    const uint32_t count = static_cast<uint32_t>(fst.Arcs(s).size());
    put(fst.Final(s));
    for (uint32_t number : {first, count, input_epsilons, output_epsilons}) put(number);
    first += count;
  }
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    out.append(reinterpret_cast<const char*>(fst.Arcs(s).data), fst.Arcs(s).size() * sizeof(Arc));
  }
  return out;
}

}  // namespace tokamata
