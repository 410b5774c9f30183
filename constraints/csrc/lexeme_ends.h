// LexemeEnds: the ways to finish a lexeme, with what runs beside the rules.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/id_table.h"
#include "automata/csrc/pair_numbers.h"
#include "automata/csrc/regular_operand.h"
#include "automata/csrc/summaries.h"
#include "constraints/csrc/lexer.h"

namespace tokamata {

// Beside the rules run the pending lexer state of earlier lexemes, which must not become longer ones after all, and the
// state of a regular language, if there is one; both together have a number.
class LexemeEnds {
 public:
  using Beside = uint32_t;
  // Without an operand no regular language runs beside.
  LexemeEnds(Lexer* lexer, RegularOperand* operand) : lexer_(lexer), operand_(operand) {}

  Beside Number(Lexer::State pending, Expr r) { return besides_.Of(pending, r); }
  Expr RegularOf(Beside beside) const { return besides_[beside].second; }

  // Calls found(terminal, beside) for every way to finish the lexeme that is being read; spend(steps) may throw.
  template <class Found, class Spend>
  void ForEach(Lexer::State lexer, Beside beside, Found found, Spend spend) {
    std::vector<std::pair<Lexer::State, Beside>> queue{{lexer, beside}};
    std::unordered_set<uint64_t> seen{PairKey(lexer, beside)};
    for (size_t i = 0; i < queue.size(); ++i) {
      const auto [q, n] = queue[i];
      const auto [pending, r] = besides_[n];
      lexer_->AnyEnd(q, [&, pending = pending, r = r](uint32_t accepted, Lexer::State longer) {
        const Beside after = Number(lexer_->UnionOfPending(pending, longer), r);
        lexer_->ForEachAccepted(accepted, [&](uint32_t t) { found(t, after); });
        return false;
      });
      const auto add = [&](Lexer::State to, Beside beside_it) {
        if (seen.insert(PairKey(to, beside_it)).second) queue.emplace_back(to, beside_it);
      };
      if (!pending && !operand_) {
        const std::vector<Lexer::State>& ahead = lexer_->Ahead(q);
        for (const Lexer::State to : ahead) add(to, n);
        if (!ahead.empty()) {
          spend(size_t{16});
          continue;
        }
      }
      Expr call;
      std::vector<Expr> after_call;
      const bool goes_past = !pending && operand_;
      if (const Lexer::State past = goes_past ? lexer_->PastCall(q, &call) : q; past != q && PastCall(call, r, &after_call)) {
        spend(size_t{16});
        for (const Expr s : after_call) add(past, Number(Lexer::kDead, s));
        continue;
      }
      const Lexer::State* row = lexer_->DenseRow(q);
      const Lexer::State* pending_row = pending ? lexer_->DenseRow(pending) : nullptr;
      const RegularOperand::Row* regular = operand_ ? &operand_->RowOf(r) : nullptr;
      spend(size_t{16});
      Lexer::State last_q = Lexer::kDead, last_pending = Lexer::kDead;
      Expr last_r = kEmpty;
      for (size_t b = 0; b < 256; ++b) {
        const Lexer::State m = pending_row ? pending_row[b] : Lexer::State{Lexer::kDead};
        const bool reads = regular && !(lexer_->HasEnd() && b == Lexer::kEndByte);
        const Expr s = reads ? (*regular)[b] : r;
        if (!row[b] || (regular && s == kEmpty) || (m && lexer_->IsFinal(m))) continue;
        if (row[b] == last_q && m == last_pending && s == last_r) continue;
        last_q = row[b];
        last_pending = m;
        last_r = s;
        add(row[b], Number(m, s));
      }
    }
  }

 private:
  // Where texts of a call lead in the regular language; false where that is unknown.
  bool PastCall(Expr call, Expr from, std::vector<Expr>* ends) {
    return lexer_->WithPool([&](Expressions* pool) {
      if (!calls_) calls_ = std::make_unique<Summaries>(pool, pool->limits.emptiness, operand_);
      return calls_->Ends(call, from, ends);
    });
  }

  Lexer* lexer_;
  RegularOperand* operand_;
  std::unique_ptr<Summaries> calls_;
  PairNumbers besides_;
};

}  // namespace tokamata
