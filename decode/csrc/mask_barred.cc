// Masks of states in which nearly all texts of a class can be read, but for some words.
#include <algorithm>

#include "decode/csrc/mask.h"
#include "decode/csrc/rows.h"
#include "decode/csrc/walk.h"

namespace tokamata {

// The class that most tokens are made of, without those of its characters that cannot come next, where these are few;
// -1 where it has few tokens. It has none of the bytes `out`.
int MaskBuilder::ClassOfBarred(State q, const ByteSet& out) {
  constexpr int kFewMissing = 12;
  constexpr size_t kMostPart = 4;  // of the tokens: others are walked in no time
  const ByteSet& live = acceptor_->Live(q);
  int best = -1;
  size_t most = factoring_.NumTokens() / kMostPart;
  for (int c = 0; c < kNumClasses; ++c) {
    const CharacterClass& k = CharacterClasses()[static_cast<size_t>(c)];
    const ByteSet missing = k.first - live;
    if (!k.ascii.Any() || k.first.Intersects(out) || missing.Count() > kFewMissing) continue;
    size_t without = 0;
    missing.ForEach([&](uint8_t b) { without += 2 * size_t{factoring_.TokensWithByte(b)}; });
    const size_t inside = factoring_.At(0, c)->inside.size();
    if (inside <= without || inside - without <= most) continue;
    best = c;
    most = inside - without;
  }
  return best;
}

// What bars words in q, for all states of a region when first asked for; null where nothing was found.
const BarredWords* MaskBuilder::BarredOf(State q) {
  constexpr uint16_t kNone = 1, kFirst = 2;
  constexpr size_t kMostPlaces = 512, kMostTried = 1024, kNodesEach = 8;  // of the trie, which take less time
  constexpr size_t kMostKept = 256;
  if (const uint16_t known = KnownOf(q).barred) return known == kNone ? nullptr : &(*barred_)[known - kFirst];
  const size_t places = std::min<size_t>(kMostPlaces, trie_.Size() / kNodesEach);
  BarredWords words;
  bool found = false;
  for (ByteSet out; !found && barred_tried_ <= kMostTried && barred_->size() < kMostKept;) {
    const int class_id = ClassOfBarred(q, out);
    if (class_id < 0) break;
    words = BarredWords();
    found = words.Find(acceptor_, factoring_, q, class_id, places, *barred_);
    if (!found) barred_tried_ += words.num_places();
    if (!words.led_out().Any()) break;
    out = out | words.led_out();  // what follows these is something else
  }
  if (found) barred_->push_back(std::move(words));
  const BarredWords& of = found ? barred_->back() : words;
  const uint16_t slot = found ? static_cast<uint16_t>(barred_->size() - 1 + kFirst) : kNone;
  KnownOf(q).barred = slot;
  for (const State s : of.states())
    if (!KnownOf(s).barred) KnownOf(s).barred = slot;
  return found ? &barred_->back() : nullptr;
}

// Whether little is known of the characters that q loops over, if at all, so that most tokens are walked.
bool MaskBuilder::WalksMuch(State q, const Plan& plan) {
  if (plan.how != Plan::kLoop) return plan.how == Plan::kWalk;
  const Loop& loop = LoopOf(q);
  return loop.kind == Loop::kSemantic && loop.outer < 0 && loop.inner > kNotNewline && loop.inner != kVisible;
}

// Tokens of the class are allowed but for those that are known to be dead, and some that are run; and so are tokens
// that leave the class.
bool MaskBuilder::BuildBarred(State q, uint32_t* row, int depth) {
  constexpr int kManyBytes = 40;  // fewer than any class has that many tokens are made of
  if (ReadsOneByte(q) || ReadsTexts(q) || KnownOf(q).few || acceptor_->Live(q).Count() < kManyBytes) return false;
  if (!KnownOf(q).barred) {
    const State model = depth < kMaxDepth ? MostBytesLeadTo(q) : State{DelayedAcceptor::kDead};
    if (model && KnownOf(Canonical(model)).barred > 1 && FewDiffer(q, model)) {
      BuildShared(q, model, row, depth);
      return true;
    }
  }
  const BarredWords* const words = BarredOf(q);
  if (!words) return false;
  const Factoring::Base base = factoring_.InsideAtMost(words->class_id(), kUnboundedLoop);
  const SuffixTrie* const suffixes = words->agreed().Any() ? factoring_.Suffixes(words->class_id()) : nullptr;
  const uint32_t* const ended = suffixes ? EndedBy(*suffixes, words->agreed(), base.row) : nullptr;
  CopyRow(ended ? ended : base.row, factoring_.Words(), row);
  if (row == building_) base_ = ended ? ended : base.row;
  const size_t bottom = stack_.size();
  if (suffixes) {
    const Trie& trie = suffixes->trie;
    words->agreed().ForEach([&](uint8_t b) {
      const uint32_t child = trie.Child(0, b);
      if (child == kNoIndex) return;
      if (!ended) SetTokens(trie, child, row);
      ForEachLiveToken(trie, child, acceptor_, acceptor_->Next(q, b), &path_,
                       [&](uint32_t node, State) { SetTokens(trie, node, row); });
    });
  }
  words->ForEachDead(q, [&](uint32_t node) { ClearFrom(node, row); });
  const auto run = [&](uint32_t node) {
    if (const State next = acceptor_->Run(q, PathTo(node))) Enter(node, next, row);
  };
  for (const uint32_t node : words->exits()) run(node);
  for (const uint32_t node : words->to_run()) {
    ClearFrom(node, row);
    run(node);
  }
  Drain(bottom, row);
  return true;
}

}  // namespace tokamata
