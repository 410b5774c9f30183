// TokensLeft: with how many tokens texts of a grammar with a lexer can be ended, at most.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automata/csrc/expression_acceptor.h"
#include "constraints/csrc/lexed_grammar.h"
#include "constraints/csrc/stack_lengths.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// Upper bounds that need no search: the lexeme that is being read is ended, a separator follows, and stacks are emptied
// with a short lexeme of each terminal, as LexedTexts finds them. How much longer what is left of the stacks may become
// with a token follows from the lexemes that it may have. Used under the owner's lock.
class TokensLeft {
 public:
  using State = DelayedAcceptor::State;
  static constexpr uint32_t kNotKnown = 0xffffffff;

  // Each byte is a token of the vocabulary.
  TokensLeft(ExpressionAcceptor* acceptor, const Vocabulary* vocabulary) : acceptor_(acceptor), vocabulary_(vocabulary) {}

  // The tokens with which a text can be ended from q, at most.
  uint32_t Of(State q) { return Find(q).now; }
  // The same from wherever any token leads; kNotKnown where it is more than k for most tokens.
  uint32_t OfTargets(State q, uint32_t k);
  // The tokens that may lead further than k from an end, and maybe others; null where that is not known.
  const std::vector<uint32_t>* MayBeFar(State q, uint32_t k);

 private:
  struct Grammar {
    LexedGrammar* leaf = nullptr;
    std::unique_ptr<StackLengths> lengths;  // null where they are not known
    std::vector<uint32_t> growth;           // by terminal
    uint32_t separator = 0;                 // the tokens of one, or of a newline and the column that is asked for
    uint32_t newline = 0;                   // the terminal, where there is indentation
    uint32_t Growth(uint32_t t) const { return growth[t < growth.size() ? t : newline]; }  // t: newlines by column, too
    std::vector<bool> grows_from;           // by byte: whether a lexeme that begins with it may be of a terminal that grows
    Lexer::State begin = Lexer::kDead;
    uint32_t most_growth = 0;
    std::vector<uint16_t> costs;            // by token, as far as they were needed
    std::optional<uint32_t> most_cost;
    std::vector<uint32_t> by_cost;          // the dearest first; made when that is asked for often
    uint32_t left_open = 0;                 // questions for which too many tokens would have been looked at
  };
  struct Left {
    uint32_t now = kNotKnown, later = kNotKnown;  // later: after a token, without what that costs
    Grammar* grammar = nullptr;
  };
  Left Find(State q);
  void Prepare(Grammar* grammar);
  uint32_t CostOf(Grammar* grammar, uint32_t id);
  void SortByCost(Grammar* grammar);
  uint32_t CostOf(const Grammar& grammar, std::string_view token);
  uint32_t GrowthOf(const Grammar& grammar, Lexer::State q);

  ExpressionAcceptor* acceptor_;
  const Vocabulary* vocabulary_;
  std::unordered_map<LeafAutomaton*, Grammar> grammars_;
  std::vector<Position> positions_;
  std::vector<uint32_t> far_, most_;  // scratch
};

}  // namespace tokamata
