// Masks of intersections that are those of their operands: of grammars with a lexer and regular languages, and of these.
#include <algorithm>
#include <utility>

#include "automata/csrc/sure_meets.h"
#include "decode/csrc/mask.h"
#include "decode/csrc/rows.h"

namespace tokamata {

// Sorted by counting.
const MaskBuilder::TokenCosts& MaskBuilder::CostsOf(const std::array<uint32_t, 256>& per_byte) {
  constexpr uint32_t kMost = 2048;
  if (!token_costs_.more.empty() && token_costs_.per_byte == per_byte) return token_costs_;
  const uint32_t num_tokens = vocabulary_->Size();
  std::vector<uint16_t> cost(num_tokens);
  std::vector<uint32_t> more(kMost + 1, 0);
  for (uint32_t id = 0; id < num_tokens; ++id) {
    uint64_t sum = 0;
    for (const char c : vocabulary_->Token(id)) sum += uint64_t{1} + per_byte[static_cast<uint8_t>(c)];
    cost[id] = static_cast<uint16_t>(std::min<uint64_t>(sum, kMost));
    if (cost[id]) ++more[cost[id] - 1];
  }
  for (uint32_t c = kMost; c-- > 0;) more[c] += more[c + 1];
  std::vector<uint32_t> place(more.begin() + 1, more.end());  // of the next one of that cost + 1
  token_costs_.ids.resize(more[0]);
  for (uint32_t id = 0; id < num_tokens; ++id)
    if (cost[id]) token_costs_.ids[place[cost[id] - 1]++] = id;
  token_costs_.per_byte = per_byte;
  token_costs_.more = std::move(more);
  return token_costs_;
}

// The tokens that both operands allow, where that leads into no dead end or where these are so few that each is looked at.
bool MaskBuilder::BuildMeet(State q, uint32_t* row, int depth) {
  constexpr size_t kMostRun = 2000, kMostLongRun = 500;
  if (depth >= kMaxDepth) return false;
  State grammar = DelayedAcceptor::kDead, others = DelayedAcceptor::kDead;
  uint64_t room = 0;  // what tokens may cost after which there surely is a way on
  std::array<uint32_t, 256> per_byte;
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
    room = pool.Sure().FindWherever(e, &per_byte);
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
  if (room == SureMeets::kAny) return true;
  std::vector<uint32_t> ids;
  if (count <= kMostRun) {
    ForEachTokenIn(row, words, [&](uint32_t id) { ids.push_back(id); });
  } else {
    if (!room) return false;
    const TokenCosts& costs = CostsOf(per_byte);
    const uint32_t num_more = costs.more[std::min<uint64_t>(room, costs.more.size() - 2)];
    for (uint32_t i = 0; i < num_more; ++i) {
      if (!HasToken(row, costs.ids[i])) continue;
      if (ids.size() == kMostLongRun) return false;
      ids.push_back(costs.ids[i]);
    }
  }
  for (const uint32_t id : ids)
    if (!acceptor_->Run(q, vocabulary_->Token(id))) ClearToken(id, row);
  return true;
}

// The same of regular operands, where most tokens would be walked.
bool MaskBuilder::BuildOperands(State q, uint32_t* row, int depth) {
  constexpr int kManyBytes = 100;  // with less than nearly all characters few tokens are walked
  constexpr ptrdiff_t kMostRun = 1500;
  constexpr uint32_t kSome = 32, kOften = 4;  // bytes that are enough at first: to find more out is worth it later
  if (depth >= kMaxDepth || KnownOf(q).few || acceptor_->Live(q).Count() < kManyBytes) return false;
  auto* const expressions = dynamic_cast<ExpressionAcceptor*>(acceptor_);
  if (!expressions) return false;
  uint32_t most_bytes = 0;
  std::vector<State> operands;
  expressions->WithBuilder([&](Expressions& pool) {
    const Expr e = expressions->SourceOf(q);
    if (pool.Kind(pool.FirstPart(e)) != ExprKind::kIntersect) return;
    if (!meets_) meets_ = std::make_unique<RegularMeets>(&pool);
    ExprList split;
    const uint32_t enough = met_ < kOften ? kSome : vocabulary_->MaxTokenBytes();
    if (!meets_->Split(e, enough, &split, &most_bytes)) return;
    met_ += most_bytes < vocabulary_->MaxTokenBytes();
    for (const Expr x : split) operands.push_back(expressions->StateAt(x));
  });
  if (operands.empty()) return false;
  const auto [longer, end] = vocabulary_->LongerThan(most_bytes);
  if (end - longer > kMostRun) return false;
  const uint32_t words = factoring_.Words();
  const uint8_t to_run = std::exchange(to_run_, 0);
  std::vector<uint32_t> allowed(words);
  for (size_t k = 0; k < operands.size(); ++k) {
    uint32_t* const out = k ? allowed.data() : row;
    const State like = Canonical(operands[k]);
    if (!BuildOperand(like, out, depth)) KeepPart(like, out);
    for (uint32_t i = 0; k && i < words; ++i) row[i] &= allowed[i];
  }
  to_run_ = to_run;
  for (const uint32_t* id = longer; id != end; ++id)
    if (HasToken(row, *id) && !acceptor_->Run(q, vocabulary_->Token(*id))) ClearToken(*id, row);
  return true;
}

}  // namespace tokamata
