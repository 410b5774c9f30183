// Masks of grammars with a lexer intersected with regular languages.
#include <utility>

#include "automata/csrc/sure_meets.h"
#include "decode/csrc/mask.h"
#include "decode/csrc/rows.h"

namespace tokamata {

// The tokens that both operands allow, where that leads into no dead end or where these are so few that each is looked at.
bool MaskBuilder::BuildMeet(State q, uint32_t* row, int depth) {
  constexpr size_t kMostRun = 2000;
  if (depth >= kMaxDepth) return false;
  State grammar = DelayedAcceptor::kDead, others = DelayedAcceptor::kDead;
  bool sure = false;
  grammars_->WithBuilder([&](Expressions& pool) {
    const Expr e = grammars_->SourceOf(q);
    if (pool.Kind(e) != ExprKind::kIntersect) return;
    Expr leaf = kEmpty;
    ExprList regular;
    for (uint32_t i = 0; i < pool.NumMembers(e); ++i) {
      const Expr m = pool.Members(e)[i];
      if (!pool.IsPushDown(m))
        regular.push_back(m);
      else if (leaf == kEmpty && pool.Kind(m) == ExprKind::kLeaf)
        leaf = m;
      else
        return;
    }
    if (leaf == kEmpty || regular.empty()) return;
    sure = pool.Sure().FindWherever(e);
    const Expr rest = pool.Intersect(std::move(regular));
    grammar = grammars_->StateAt(leaf);
    others = grammars_->StateAt(rest);
  });
  if (!grammar || !others) return false;
  const uint32_t words = factoring_.Words();
  std::vector<uint32_t> allowed(words);
  const uint8_t to_run = std::exchange(to_run_, 0);
  BuildOperand(grammar, row, depth);
  const State like = Canonical(others);
  if (!BuildOperand(like, allowed.data(), depth)) KeepPart(like, allowed.data());
  to_run_ = to_run;
  size_t count = 0;
  for (uint32_t i = 0; i < words; ++i) count += PopCount(row[i] &= allowed[i]);
  if (sure) return true;
  if (count > kMostRun) return false;
  std::vector<uint32_t> ids;
  ForEachTokenIn(row, words, [&](uint32_t id) { ids.push_back(id); });
  for (const uint32_t id : ids)
    if (!acceptor_->Run(q, vocabulary_->Token(id))) ClearToken(id, row);
  return true;
}

}  // namespace tokamata
