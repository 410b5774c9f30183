// CanonicalLoops: tables over a tokenizer for constraints that read many characters of a class, one after another.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"
#include "decode/csrc/split_patterns.h"
#include "tokenizer_fst/csrc/trie.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// Shared by all constraints over the tokenizer; safe to share between threads.
class CanonicalLoops {
 public:
  // Characters of a loop; see LoopShape.
  struct Characters {
    ByteSet ascii;
    bool non_ascii = false, all_but_spaces = false;
    bool operator<(const Characters& o) const;
  };
  // The tokens that consist of whole characters of a class, by their number.
  struct Class {
    std::vector<uint32_t> inside;       // tokens, in the order of their lengths
    std::vector<uint32_t> inside_bits;
    std::vector<uint32_t> not_longer;   // by length: how many have at most that many characters
    // Tokens that end inside of a character, after whole ones of the class, and how many they are with that one.
    std::vector<std::pair<uint32_t, uint32_t>> begun;
    uint32_t Longest() const { return static_cast<uint32_t>(not_longer.size()) - 1; }
    uint32_t NotLonger(uint32_t length) const { return not_longer[std::min(length, Longest())]; }

   private:
    friend class CanonicalLoops;
    bool has_outside = false;
    std::vector<Trie::Node> nodes;
    std::vector<uint32_t> order;
    Trie outside;  // over these
  };
  // Of the tokens inside of a class that a piece can go on with: those after which it can end if some character of the
  // class comes next, whatever follows that, as bits; and the others.
  struct Ends {
    std::vector<uint32_t> sure, others;
    uint32_t num_sure = 0;
    // Of Class::begun, if all characters from U+0080 are of the class: those after which tokens can write the rest of
    // the character, and then the same holds.
    std::vector<std::pair<uint32_t, uint32_t>> begun;
  };

  // Both outlive this object.
  CanonicalLoops(const Vocabulary& vocabulary, const SplitPatterns& patterns);

  // Null where few tokens begin with a character of the class, fewer than `few`.
  Class* Find(const Characters& characters, uint32_t few);
  // The trie of the tokens that are not inside.
  const Trie& Outside(Class* c) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!c->has_outside) FillOutside(c);
    c->has_outside = true;
    return c->outside;
  }
  // The trie of the tokens of whole characters, in the pretokenizer's classes of these instead of bytes.
  const Trie& InClasses();
  // What is kept for a class and what a pretokenizer has read of a piece; make() is called where nothing is.
  template <class F>
  std::shared_ptr<const Ends> EndsOf(const Class* c, const std::vector<uint32_t>& split, F make) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto at = ends_.find({c, split});
      if (at != ends_.end()) return at->second;
    }
    auto made = std::make_shared<const Ends>(make());
    const std::lock_guard<std::mutex> lock(mutex_);
    if ((ends_.size() + 1) * made->sure.size() * sizeof(uint32_t) > kCacheBytes) ends_.clear();
    return ends_.emplace(std::make_pair(c, split), std::move(made)).first->second;
  }

 private:
  static constexpr size_t kCacheBytes = size_t{64} << 20, kMostClasses = 64;
  void FillInside(const Characters& characters, Class* c) const;
  void FillOutside(Class* c) const;

  const Vocabulary& vocabulary_;
  const SplitPatterns& patterns_;
  const Trie& trie_;
  std::mutex mutex_;
  TrieArrays<Owned> in_classes_arrays_;
  Trie in_classes_{};
  std::map<Characters, std::unique_ptr<Class>> classes_;
  std::map<std::pair<const Class*, std::vector<uint32_t>>, std::shared_ptr<const Ends>> ends_;
};

}  // namespace tokamata
