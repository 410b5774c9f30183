// LexemeEnds: the ways to finish a lexeme, with what runs beside the rules.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "automata/csrc/flat_map.h"
#include "automata/csrc/pair_numbers.h"
#include "automata/csrc/regular_operand.h"
#include "automata/csrc/summaries.h"
#include "constraints/csrc/lexer.h"

namespace tokamata {

// Beside the rules run the pending lexer state of earlier lexemes, which must not become longer ones after all, and the
// state of a regular language, if there is one; both together have a number. What was found out is kept: each pair of a
// lexer's state and what is beside is looked at once.
class LexemeEnds {
 public:
  using Beside = uint32_t;
  // Without an operand no regular language runs beside.
  LexemeEnds(Lexer* lexer, RegularOperand* operand) : lexer_(lexer), operand_(operand) {}

  Beside Number(Lexer::State pending, Expr r) { return besides_.Of(pending, r); }
  Lexer::State PendingOf(Beside beside) const { return besides_[beside].first; }
  Expr RegularOf(Beside beside) const { return besides_[beside].second; }

  // Calls found(terminal, beside) for every way to finish the lexeme that is being read; spend(steps) may throw.
  template <class Found, class Spend>
  void ForEach(Lexer::State lexer, Beside beside, Found found, Spend spend) {
    const List all = Of(lexer, beside, spend);
    for (const auto& [terminal, after] : all) found(terminal, after);
  }

 private:
  using Key = uint64_t;                                  // a state of the lexer and what is beside
  using List = std::vector<std::pair<uint32_t, Beside>>;  // terminals, and what is beside after them; in order
  using Spend = std::function<void(size_t)>;
  struct Visit {
    Key key;
    uint32_t number;
    uint32_t least;    // number of what is known to lead here and back
    size_t first_end;  // place of the first of its lists
    size_t at;         // in `after`
    std::vector<Key> after;
  };

  const List& Of(Lexer::State lexer, Beside beside, const Spend& spend);
  const List* Begin(Key key, std::vector<Key>* to, const Spend& spend);
  const List* Intern(List ends);
  const List* Join(std::vector<const List*> lists);
  // Where texts of a call lead in the regular language; false where that is unknown.
  bool PastCall(Expr call, Expr from, std::vector<Expr>* ends);

  Lexer* lexer_;
  RegularOperand* operand_;
  std::unique_ptr<Summaries> calls_;
  PairNumbers besides_;
  FlatMap<Key, const List*> known_;
  std::set<List> lists_;
  size_t num_listed_ = 0;
};

}  // namespace tokamata
