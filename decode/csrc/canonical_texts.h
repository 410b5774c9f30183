// CanonicalTexts: the texts that a tokenizer leaves as they are, as an automaton over bytes.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/byte_table.h"
#include "automata/csrc/language.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// Others are normalized, say, or have added tokens in them. Safe to share between threads.
class CanonicalTexts {
 public:
  using State = uint32_t;  // 0 is dead, all others can reach a final one
  // LimitError past the language's own limits.
  CanonicalTexts(const Language& texts, std::shared_ptr<const Vocabulary> vocabulary);

  const Language& Texts() const { return texts_; }
  const std::shared_ptr<const ByteTable>& Table() const { return table_; }
  State Start() const { return start_; }
  const State* Row(State t) const { return table_->next.data() + size_t{t} * 256; }
  State Run(State t, std::string_view bytes) const {
    for (size_t i = 0; i < bytes.size() && t; ++i) t = Row(t)[static_cast<uint8_t>(bytes[i])];
    return t;
  }
  bool IsFinal(State t) const { return table_->final[t]; }
  // No other object's.
  uint64_t Id() const { return id_; }
  // Bytes, ASCII, all of whose strings may follow a state that is open, which is final: most are.
  const ByteSet& Usual() const { return usual_; }
  bool IsOpen(State t) const { return open_[t]; }
  // The tokens that lead from a state to an open one, as bits, and those that lead to another one that is not dead.
  // O(nodes of the vocabulary's trie) the first time.
  struct Tokens {
    std::vector<uint32_t> open, others;
  };
  std::shared_ptr<const Tokens> TokensFrom(State t);

 private:
  void FindOpen();
  std::vector<uint8_t> Usually(const ByteSet& bytes) const;

  const uint64_t id_;
  Language texts_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const ByteTable> table_;
  State start_ = 0;
  ByteSet usual_ = ByteSet::Range(0, 0x7F);
  std::vector<uint8_t> open_;
  static constexpr size_t kMostKept = 256;  // about 20 KB each
  std::mutex mutex_;
  std::unordered_map<State, std::shared_ptr<const Tokens>> tokens_from_;
};

}  // namespace tokamata
