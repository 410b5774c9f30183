// ByteState: a position in a token automaton's constraint, byte by byte; what parts of a larger text are made of.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/csrc/generations.h"
#include "decode/csrc/token_automaton.h"

namespace tokamata {

// A live state between two bytes. Tokens that begin here may end inside the part, or run on into what follows it from a
// place where the part can end. A value that never changes; threads may share it.
class ByteState {
 public:
  using State = TokenAutomaton::State;
  explicit ByteState(std::shared_ptr<Generations> generations);

  // The state after some bytes; nothing where no member begins like that.
  std::optional<ByteState> After(std::string_view bytes) const;
  bool IsFinal() const { return automaton_->IsFinal(state_); }
  // Whether a longer member exists.
  bool GoesOn() const;
  std::string LiveBytes() const;
  // Equal for states of the same automaton that are the same, as long as one of them exists.
  std::pair<uintptr_t, uint32_t> Key() const { return {reinterpret_cast<uintptr_t>(automaton_.get()), state_}; }
  uint32_t Words() const { return automaton_->Words(); }
  bool SpellsAnyText() const { return automaton_->Tokens().SpellsAnyText(); }
  bool BeginsMarker(uint8_t byte) const { return automaton_->BeginsMarker(byte); }

  // A place inside a token where the part can end, as the node of the vocabulary's trie that is reached there.
  struct End {
    uint32_t node;
    bool goes_on;       // whether the part can go on behind it
    bool leaf;          // whether all tokens that come here end here
    std::string bytes;  // from the node that was asked about
    uint32_t from;      // which of the nodes that were asked about
  };
  // The places below a node where the part can end and it matters what follows: tokens go on there, or the part cannot.
  // At most `most`; *complete tells whether these are all. O(nodes of the subtree that are live).
  // Where row is not null, sets the bits of the other tokens that lead to a live state.
  std::vector<End> Ends(const std::vector<uint32_t>& nodes, size_t most, uint32_t* row, bool* complete) const;
  // Sets the bits of all tokens that lead to a live state, but for EOS and those that end at the nodes left out.
  void AddMask(const std::vector<uint32_t>& left_out, uint32_t* row) const;
  // Sets the bits of the tokens below some nodes that lead to a live state.
  void AddTokens(const std::vector<uint32_t>& nodes, uint32_t* row) const;
  // Sets the bits of the tokens that end at a node itself.
  void AddTokensAt(uint32_t node, uint32_t* row) const;

 private:
  ByteState(std::shared_ptr<Generations> generations, std::shared_ptr<TokenAutomaton> automaton, State state)
      : generations_(std::move(generations)), automaton_(std::move(automaton)), state_(state) {}
  const Trie& Tokens() const;
  // Calls f(automaton, state); again in the next generation where the automaton has no room for more states.
  template <class F>
  auto WithRoom(F f) const;

  std::shared_ptr<Generations> generations_;
  std::shared_ptr<TokenAutomaton> automaton_;
  State state_;
};

}  // namespace tokamata
