// Masks of states with an upper bound on their characters.
#include <algorithm>
#include <utility>

#include "decode/csrc/mask.h"
#include "decode/csrc/rows.h"

namespace tokamata {

// The row of a state whose row is a part of another one's, with to_run_ as 0. Whether it was kept.
bool MaskBuilder::BuildOperand(State q, uint32_t* row, int depth) {
  const bool known = CopyPart(q, row);
  if (!known && BuildByShort(q, row, depth + 1)) return false;
  const size_t before = visits_;
  if (!known) BuildAny(q, row, depth + 1);
  RunExceptions(q, row);
  to_run_ = 0;
  if (visits_ - before > kManyVisits && !may_remember_) KeepShort(q);
  return known;
}

// A state with an upper bound on its characters: the tokens that both operands allow, except that those which may reach
// the bound are looked at one by one. They have so many characters: one of the bound's is one of the text or more.
bool MaskBuilder::BuildBounded(State q, uint32_t* row, int depth) {
  constexpr size_t kMostLong = 12000, kMostUnsure = 4000, kMany = 4000;
  State unbounded, counter;
  uint32_t slack, high;
  if (!acceptor_->Bounded(q, &unbounded, &counter, &slack, &high)) return false;
  ByteSet plain;
  std::vector<ByteSet> sought;
  const bool seeks = acceptor_->BoundedSeeks(q, &plain, &sought);
  if (!seeks && factoring_.CountInside(kAny, slack, high) > kMostLong) return false;
  const auto [longer, end] = vocabulary_->LongerThan(slack);
  const bool many = end - longer > ptrdiff_t{kMany};
  if (many && TokensFrom(acceptor_->First(q)) <= kMany) return false;  // which are run in no time
  const uint32_t words = factoring_.Words();
  const uint8_t to_run = std::exchange(to_run_, 0);  // what has to be run is, in each operand: fewer states do
  std::vector<uint32_t> counted(words);
  const State without = Canonical(unbounded);
  if (!BuildOperand(without, row, depth)) KeepPart(without, row);  // what comes next may have the same one
  BuildOperand(Canonical(counter), counted.data(), depth);
  to_run_ = to_run;
  for (uint32_t i = 0; i < words; ++i) row[i] &= counted[i];
  if (longer == end) return true;
  const Factoring::Base shorter = factoring_.InsideAtMost(kAny, slack);
  std::vector<uint32_t>& unsure = counted;
  for (uint32_t i = 0; i < words; ++i) unsure[i] = row[i] & ~shorter.row[i];
  for (const uint32_t* id = shorter.more; id != shorter.more_end; ++id) ClearToken(*id, unsure.data());
  if (seeks) DecideBySought(plain, sought, high, unsure.data(), row);
  std::vector<uint32_t> ids;
  ForEachTokenIn(unsure.data(), words, [&](uint32_t id) {
    if (vocabulary_->Token(id).size() > slack) ids.push_back(id);
  });
  if (ids.size() > kMostUnsure) return false;
  if (!ids.empty()) {  // the operands may have asked for others
    acceptor_->Bounded(q, &unbounded, &counter, &slack, &high);
    acceptor_->BoundedSeeks(q, &plain, &sought);
  }
  for (const uint32_t id : ids) {
    const std::string_view token = vocabulary_->Token(id);
    const DelayedAcceptor::Allows allows = acceptor_->BoundedAllows(q, token);
    if (allows == DelayedAcceptor::Allows::kNo || (allows == DelayedAcceptor::Allows::kUnsure && !acceptor_->Run(q, token)))
      ClearToken(id, row);
  }
  return true;
}

// Of tokens that may be too long, those of plain bytes, which are characters of the bound: with so many characters at
// most as leave room for those that are still sought.
void MaskBuilder::DecideBySought(const ByteSet& plain, const std::vector<ByteSet>& sought, uint32_t high, uint32_t* unsure,
                                 uint32_t* row) {
  const uint32_t words = factoring_.Words(), n = static_cast<uint32_t>(sought.size());
  const uint32_t *others = HavingOf(ByteSet::Range(0, 0x7F) - plain).row.data(), *beyond = factoring_.RowBeyondAscii();
  std::vector<const uint32_t*> with;  // by set: the tokens with one of its bytes
  for (const ByteSet& bytes : sought) with.push_back(HavingOf(bytes).row.data());
  std::vector<std::vector<uint32_t>> fits;  // by how many sets a token has to have bytes of, but for all of them
  for (uint32_t k = 0; k < n; ++k) {
    std::vector<uint32_t>& fit = fits.emplace_back(words);
    if (high + k < n) continue;
    const Factoring::Base short_enough = factoring_.InsideAtMost(kAny, high + k - n);
    CopyRow(short_enough.row, words, fit.data());
    SetAll(short_enough.more, short_enough.more_end, fit.data());
  }
  std::vector<uint32_t> met(n + 1);  // by number: the tokens that have bytes of at least so many sets
  for (uint32_t i = 0; i < words; ++i) {
    const uint32_t left = unsure[i] & ~(others[i] | beyond[i]);
    if (!left) continue;
    unsure[i] &= ~left;
    std::fill(met.begin(), met.end(), 0);
    met[0] = ~0u;
    for (const uint32_t* has : with)
      for (uint32_t k = n; k > 0; --k) met[k] |= met[k - 1] & has[i];
    uint32_t allowed = met[n];
    for (uint32_t k = 0; k < n; ++k) allowed |= fits[k][i] & met[k];
    row[i] &= ~left | allowed;
  }
}

}  // namespace tokamata
