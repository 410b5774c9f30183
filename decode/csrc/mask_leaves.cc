// Masks of automata inside expressions: grammars with a lexer, and pieces of a text.
#include <cstring>

#include "decode/csrc/mask.h"
#include "decode/csrc/rows.h"
#include "decode/csrc/substring_mask.h"

namespace tokamata {

// The state of a grammar with a lexer.
bool MaskBuilder::BuildLexed(State q, uint32_t* row) {
  bool built = false;
  grammars_->WithLeaf(q, [&](LeafAutomaton* leaf, uint32_t state) {
    std::unique_ptr<LexedMask>& masks = (*lexed_)[leaf];
    if (!masks) {
      auto* grammar = dynamic_cast<LexedGrammar*>(leaf);
      if (!grammar) return;
      masks = std::make_unique<LexedMask>(grammar, vocabulary_);
    }
    std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
    const uint64_t alike = masks->Add(state, row);
    if (row == building_) alike_ = alike;
    built = true;
  });
  return built;
}

const void** MaskBuilder::Shared(State q) {
  const void** place = nullptr;
  if (grammars_ && complete_)
    grammars_->WithLeaf(q, [&](LeafAutomaton* leaf, uint32_t state) {
      const auto masks = lexed_->find(leaf);
      if (masks != lexed_->end() && masks->second) place = masks->second->Shared(state);
    });
  return place;
}

// A piece of a text and what follows it, or a union with such a state.
bool MaskBuilder::BuildPieces(State q, uint32_t* row, int depth) {
  const SuffixAutomaton* text = nullptr;
  Substrings::Ranges ranges;
  bool final = false;
  State rest = DelayedAcceptor::kDead;
  const auto read = [&](LeafAutomaton* leaf, uint32_t state, State after) {
    auto* pieces = dynamic_cast<Substrings*>(leaf);
    if (!pieces) return;
    text = &pieces->Automaton();
    ranges = pieces->RangesOf(state);
    final = pieces->IsFinal(state);
    rest = after;
  };
  grammars_->WithLeafAndRest(q, read);
  if (!text) {
    if (depth >= kMaxDepth) return false;
    const std::vector<State> parts = acceptor_->Alternatives(q, kMaxAlternatives);
    for (State a : parts) grammars_->WithLeafAndRest(a, read);
    if (!text) return false;
    std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
    std::vector<uint32_t> part(factoring_.Words());
    for (State a : parts) {
      BuildAny(Canonical(a), part.data(), depth + 1);
      OrRow(part.data(), factoring_.Words(), row);
    }
    return true;
  }
  std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
  const size_t base = stack_.size();
  const ByteSet follows = rest ? acceptor_->Live(rest) : ByteSet();
  const auto inside = [&](uint32_t node) { SetTokens(trie_, node, row); };
  const auto ends = [&](uint32_t node) {
    if (!follows.Any()) return;
    bool any = node == 0;
    trie_.ForEachChild(node, [&](uint32_t child) { any = any || follows.Has(trie_.nodes[child].byte); });
    if (any) stack_.emplace_back(node, Near(rest, trie_, node));
  };
  WalkSubstrings(*text, ranges, final, trie_, inside, ends);
  Drain(base, row);
  return true;
}

}  // namespace tokamata
