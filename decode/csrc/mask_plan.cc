// How the mask of a state is made: which states loop over characters, which are like another one.
#include <algorithm>

#include "automata/csrc/utf8.h"
#include "automata/csrc/wide_spaces.h"
#include "decode/csrc/mask.h"

namespace tokamata {
namespace {

constexpr size_t kMaxRegion = 64;      // (state, UTF-8 phase) pairs of one semantic loop
constexpr size_t kMaxAsciiRegion = 24;  // of one over ASCII characters
constexpr int kFewBytes = 24;           // that a loop over few characters begins with
constexpr int kFewWays = 8;           // bytes that a state reads next, so few that no class is among them
constexpr uint32_t kFewTurns = 8;       // of a loop, in which few tokens are long enough to leave it by a frequent byte
constexpr uint32_t kManyTurns = 8;      // of a loop, from which it is worth finding out how many a token can take

bool FewWays(const ByteSet& bytes) {
  if (bytes.words[2] | bytes.words[3]) return false;
  int count = 0;
  for (uint64_t word : {bytes.words[0], bytes.words[1]})
    for (; word && count <= kFewWays; word &= word - 1) ++count;
  return count <= kFewWays;
}

}  // namespace

MaskBuilder::State MaskBuilder::FindCanonical(State q) {
  State found = acceptor_->Canonical(acceptor_->Clamped(acceptor_->Forget(q), &clamp_), vocabulary_->MaxTokenBytes());
  State star, unbounded;
  uint32_t low, high;
  Loop loop;
  if (!acceptor_->Plain(found)) FindCounted(found, &loop);  // which says what it reads without making its row
  if (counted_.state == found && !ReadsMany() && acceptor_->Counts(found, &low, &high, &star, &unbounded)) {
    const uint32_t most = high == kUnboundedLoop ? low : high, turns = most > kManyTurns ? MostTurns(star) : kNoIndex;
    if (turns < most) found = acceptor_->Canonical(found, turns);
  }
  return KnownOf(q).canonical = found;
}

// Whether the state that FindCounted was asked about last loops over many characters; known without a row of the state.
bool MaskBuilder::ReadsMany() const {
  const LoopShape& shape = counted_.loop.shape;
  return shape.non_ascii || shape.all_but_spaces || shape.ascii.Count() > kFewBytes;
}

// The most bytes of a token that a loop over few characters reads, so that it cannot count any further; kNoIndex where
// that is not found out.
uint32_t MaskBuilder::MostTurns(State star) {
  constexpr uint32_t kMostNodes = 4000;
  const auto [known, added] = most_turns_->try_emplace(star, kNoIndex);
  if (!added) return known->second;
  const ByteSet& live = acceptor_->Live(star);
  const ByteSet blanks = ByteSet::Of(' ') | ByteSet::Of('\t') | ByteSet::Of('\n') | ByteSet::Of('\r');
  if (live.Count() > kFewBytes || !(live - blanks).Any()) return kNoIndex;  // tokens of blanks are long
  std::vector<StateRow> rows(trie_.max_depth + 2);
  rows[0] = acceptor_->Row(star);
  uint32_t turns = 0, visited = 0;
  for (uint32_t n = 1; n < trie_.Size();) {
    const Trie::Node& node = trie_.nodes[n];
    const State next = rows[node.depth - 1][node.byte];
    if (!next) {
      n = node.end;
      continue;
    }
    if (++visited > kMostNodes) return kNoIndex;
    turns = std::max(turns, node.depth);
    rows[node.depth] = acceptor_->Row(next);
    ++n;
  }
  return (*most_turns_)[star] = turns;
}

MaskBuilder::Plan MaskBuilder::PlanOf(State q, int depth) {
  if (depth >= kMaxDepth) return {LoopOf(q).kind != Loop::kNone ? Plan::kLoop : Plan::kWalk};
  if (KnownOf(q).plan.how == Plan::kUnknown) {
    const Plan found = FindPlan(q);  // which may ask about other states
    KnownOf(q).plan = found;
  }
  return known_[q].plan;
}

// Where a quote opens texts that may not repeat: a state before whose quote opens the same ones but for one that
// occurred since; kDead where there is none.
MaskBuilder::State MaskBuilder::OpenedBefore(State q) {
  const bool one = ReadsOneByte(q);
  const State texts = !one ? acceptor_->Row(q)['"'] : TraitsOf(q).byte == '"' ? TraitsOf(q).after : State{DelayedAcceptor::kDead};
  State before;
  TextNode place;
  if (!texts || !ReadsTexts(texts) || !acceptor_->TextsSince(texts, &before, &place)) return DelayedAcceptor::kDead;
  (*opened_)[texts] = q;
  const auto known = opened_->find(before);
  return known == opened_->end() ? State{DelayedAcceptor::kDead} : known->second;
}

bool MaskBuilder::FindTraits(State q) {
  Traits t;
  t.single = acceptor_->ReadsOneByte(q, &t.byte, &t.after);
  KnownOf(q).few = t.single || FewWays(acceptor_->First(q));
  const bool far = !t.single && acceptor_->BoundIsFar(q, &t.high, &t.unbounded);
  if (!t.single && !far && acceptor_->Plain(q)) {
    known_[q].traits = kPlain;
    return true;
  }
  State model;
  TextNode place;
  t.texts = !t.single && acceptor_->Texts(q, &model, &place);
  t.counts = !t.single && !t.texts && acceptor_->Counts(q, &t.low, &t.high, &t.star, &t.unbounded);
  if (far && !t.texts && !t.counts) {
    t.counts = true;
    t.low = 0;
    t.star = t.unbounded;
  }
  if (!t.single && !t.texts && !t.counts)
    for (State a : acceptor_->Alternatives(q, kMaxAlternatives))
      t.parts = t.parts || acceptor_->Texts(a, &model, &place);
  known_[q].traits = kPlain;
  if (!t.single && !t.texts && !t.counts && !t.parts) return true;
  known_[q].traits = static_cast<uint32_t>(traits_.size()) + kFirstTraits;
  traits_.push_back(t);
  return false;
}

// Whether bytes may come next that go on with a character.
bool MaskBuilder::GoesOnInside(State q) { return acceptor_->Live(q).Has(0x80) || acceptor_->Live(q).Has(0xBF); }

// kBegun where q is inside a character, in some phase of UTF-8, after which it loops over characters: to that state;
// else kUnknown.
MaskBuilder::Plan MaskBuilder::FindBegun(State q) {
  const auto reads = [this](State from, const Utf8Phase& p) {
    const StateRow row = acceptor_->Row(from);
    bool alike = row.Live() == ByteSet::Range(p.low, p.high);
    row.ForEachStep([&](const ByteSet&, State to) { alike = alike && to == row[p.low]; });
    return alike;
  };
  if (!GoesOnInside(q)) return {};
  for (uint8_t phase = Utf8Phase::kNumPhases - 1; phase; --phase) {  // those that lack the most bytes first
    State after = q;
    uint8_t p = phase;
    for (; p && reads(after, kUtf8Phases[p]); p = kUtf8Phases[p].next) after = acceptor_->Row(after)[kUtf8Phases[p].low];
    if (p) continue;
    const State loops = Canonical(after);
    if (GoesOnInside(loops) || ReadsTexts(after) || PlanOf(loops, 0).how != Plan::kLoop) break;
    if (LoopOf(loops).HasBegun()) return {Plan::kBegun, after, phase};
    break;
  }
  return {};
}

// A walk visits little then; what lies below is looked at there.
bool MaskBuilder::HasFewWaysOn(State q) {
  return FewWays(acceptor_->First(q)) || FewWays(acceptor_->Live(q));
}

MaskBuilder::Plan MaskBuilder::FindPlan(State q) {
  State texts;
  TextNode place;
  if (uint8_t byte; acceptor_->ReadsOneByte(q, &byte, &texts)) return {Plan::kWalk, q};
  if (!acceptor_->Plain(q) && acceptor_->Texts(q, &texts, &place)) return {Plan::kTexts, texts};  // traits cost more
  Loop counted;
  const bool counts = FindCounted(q, &counted);
  const bool few = !ReadsMany() && HasFewWaysOn(q);  // fewer than any class has
  if (few && !TraitsOf(q).parts) return {Plan::kWalk, q};
  if (!(counts && counted.shape.high > 1) && TraitsOf(q).parts) return {Plan::kUnion, q};
  if (!counts && few) return {Plan::kWalk, q};
  if (const State model = EndsLike(q)) return {Plan::kEnds, model};
  if (counts && Outgrown(q, counted.shape)) return {counted.shape.low ? Plan::kWalk : Plan::kSplit, q};
  if (!counts || counted.shape.high == 1)
    if (const State model = BeginsLike(q)) return {Plan::kShared, model};
  if (const Plan begun = counts ? Plan() : FindBegun(q); begun.how == Plan::kBegun) return begun;
  if (!counts)  // cheaper than to look for loops in what states do, if these are many or most bytes lead to the model
    if (const State model = SharedState(q, true); model && AgreeBeyondAscii(q, model))
      if (!acceptor_->Plain(q) || FewDiffer(q, model)) return {Plan::kShared, model};
  const std::vector<State> parts = acceptor_->Alternatives(q, kMaxAlternatives);
  if (SomeAreWide(parts)) return {Plan::kUnion, q};
  if (const Loop& own = LoopOf(q); own.kind != Loop::kNone) {
    // Such a loop leaves out the bytes that lead elsewhere now, wherever they stand.
    if (own.excluded.Any())
      if (const State model = MostBytesLeadTo(q); model && FewDiffer(q, model) && AgreeBeyondAscii(q, model))
        if (LoopOf(Canonical(model)).kind != Loop::kNone) return {Plan::kShared, model};
    return {Plan::kLoop, q};
  }
  if (AnyLoops(parts)) return {Plan::kUnion, q};
  if (const State model = SharedState(q, false)) return {Plan::kShared, model};
  return {Plan::kWalk, q};
}

// The states whose union q is, as its plan has it.
std::vector<MaskBuilder::State> MaskBuilder::PartsOf(State q, const Plan& plan) {
  return plan.how == Plan::kSplit ? acceptor_->LoopParts(q) : acceptor_->Alternatives(q, kMaxAlternatives);
}

// Whether more tokens begin, beyond ASCII, with what follows q's loop than with a character of it. As a loop q would
// leave all of them to be walked; what follows may begin with a loop of its own, which knows them.
bool MaskBuilder::Outgrown(State q, const LoopShape& shape) {
  constexpr size_t kManyTokens = 2'000;
  const ByteSet beyond = ByteSet::Range(0x80, 0xFF), turn = shape.body_first & beyond, rest = shape.rest_first & beyond;
  if (shape.non_ascii || shape.all_but_spaces || !turn.Any() || !rest.Any()) return false;
  const size_t ends = TokensFrom(rest);
  return ends >= kManyTokens && ends > TokensFrom(turn) && !acceptor_->LoopParts(q).empty();
}

// How many tokens with one of some bytes are listed, those with several more than once; kNoIndex where some are not.
uint32_t MaskBuilder::TokensListedBy(const ByteSet& bytes) const {
  uint32_t tokens = 0;
  bool listed = true;
  bytes.ForEach([&](uint8_t b) {
    tokens += factoring_.TokensWithByte(b);
    listed = listed && (!factoring_.TokensWithByte(b) || factoring_.Containing(b));
  });
  return listed ? tokens : kNoIndex;
}

// Where a loop's last character may be each of the others but for some that few tokens have: the loop that ends with any
// of them, of which those tokens differ; else kDead. Of ASCII, loops that stay alive know all but a few long tokens.
MaskBuilder::State MaskBuilder::EndsLike(State q) {
  constexpr uint32_t kMostTokens = 8'000, kMostLookedAt = 30'000;
  ByteSet differing;
  bool fewer = false;
  const State model = acceptor_->EndsLike(q, &differing, &fewer);
  if (!model || TokensListedBy(differing) > (fewer ? kMostLookedAt : kMostTokens)) return DelayedAcceptor::kDead;
  constexpr int kFewLeads = 4;  // what letters without case have beyond ASCII
  const bool beyond = (acceptor_->First(q) & ByteSet::Range(0x80, 0xFF)).Count() > kFewLeads;
  if (Loop alive; !beyond && FindAlive(q, false, &alive)) return DelayedAcceptor::kDead;
  return model;
}

// Where q reads one character of a class of its own and then loops over much the same ones, that loop; else kDead.
MaskBuilder::State MaskBuilder::BeginsLike(State q) {
  constexpr size_t kSomeTokens = 12'000, kQuicker = 4;  // times that a token is cleared sooner than walked to
  const ByteSet first = acceptor_->First(q), beyond = ByteSet::Range(0x80, 0xFF);
  if (ByteSet differing; const State counted = acceptor_->BeginsLike(q, &differing))
    if (TokensFrom(differing & first) <= kSomeTokens && TokensFrom(differing - first) <= kQuicker * TokensFrom(first - differing))
      return counted;
  if (TokensFrom(first & beyond) <= kSomeTokens) return DelayedAcceptor::kDead;
  const State model = MostBytesLeadTo(q);
  if (!model || !FewDiffer(q, model)) return DelayedAcceptor::kDead;
  const ByteSet different = Different(acceptor_->Row(q), acceptor_->Row(model)) & beyond;
  if (TokensFrom(different) > kSomeTokens) return DelayedAcceptor::kDead;
  const Loop& loop = LoopOf(Canonical(model));
  return loop.learns || loop.shape.non_ascii || loop.shape.all_but_spaces ? model : State{DelayedAcceptor::kDead};
}

// ---------------------------------------------------------------------------------------------- finding loops

bool MaskBuilder::AnyLoops(const std::vector<State>& states) {
  return std::any_of(states.begin(), states.end(),
                     [this](State a) { return ReadsTexts(a) || LoopOf(Canonical(a)).kind != Loop::kNone; });
}

// Whether some of the states say that they loop over characters beyond ASCII, and others do not: there is no such loop
// of all of them together then, and their masks are made sooner than the tokens beyond ASCII are walked. Or whether some
// have a class of their own to learn.
bool MaskBuilder::SomeAreWide(const std::vector<State>& states) {
  size_t wide = 0;
  bool learns = false;
  for (State a : states) {
    Loop loop;
    if (!FindCounted(Canonical(a), &loop)) continue;
    wide += loop.shape.non_ascii || loop.shape.all_but_spaces;
    const bool beyond = loop.shape.body_first.Intersects(ByteSet::Range(0x80, 0xFF));  // of ASCII, asking is counted
    learns = learns || (beyond && Learns(Canonical(a), loop.shape));
  }
  return learns || (wide && wide < states.size());
}

const MaskBuilder::Loop& MaskBuilder::LoopOf(State q) {
  static const Loop none;
  const auto slot = [this](State s) -> uint32_t& { return KnownOf(s).loop; };
  constexpr uint32_t kUnknown = 0, kNone = 1, kFirst = 2;
  if (slot(q) == kUnknown) {
    Loop loop;
    std::vector<State> alike{q};
    if (!FindLoop(q, &loop, &alike)) {
      slot(q) = kNone;
    } else {
      loops_.push_back(arena_.Copy(&loop, 1));
      for (State s : alike) slot(s) = static_cast<uint32_t>(loops_.size() - 1) + kFirst;
    }
  }
  return slot(q) == kNone ? none : *loops_[slot(q) - kFirst];
}

// Lists further states with the same loop in *alike.
bool MaskBuilder::FindLoop(State q, Loop* loop, std::vector<State>* alike) {
  constexpr uint32_t kSomeTokens = 2'000, kQuicker = 2;  // to walk a token than to run one
  constexpr size_t kFewPlaces = 400;
  const bool counted = FindCounted(q, loop);
  if (counted) loop->kind = Loop::kCounted;
  if (counted && Learns(q, loop->shape)) return loop->learns = true;
  const bool bounded = counted && loop->shape.high != kUnboundedLoop;
  if (counted && (bounded || (loop->outer < 0 && loop->inner <= kNotNewline))) return true;
  Tried tried;
  const auto semantic = [&](int class_id, bool exclude) {
    Loop found;
    std::vector<State> between;
    if (!FindSemantic(q, class_id, exclude, &found, &between, &tried)) return false;
    *loop = found;
    if (found.outer >= 0) {  // below nodes that are no root a class inside of the loop is needed
      Loop own;
      std::vector<State> inside;
      if (FindSemantic(q, kWord, false, &own, &inside, &tried)) {
        loop->inner = own.inner;
        return true;  // its states need not agree on the others
      }
    }
    for (State s : between) {
      Loop own;  // a loop that knows more of itself keeps that
      if (s != q && !(FindCounted(s, &own) && own.inner >= 0 && own.inner <= kNotNewline)) alike->push_back(s);
    }
    return true;
  };
  const ByteSet& live = acceptor_->Live(q);
  if (live.Count() >= kWideLive) {
    Loop alive;
    const bool lives = FindAlive(q, true, &alive);
    const size_t places = lives ? LeftAlive(alive) : 0;
    const auto stay = [&] {
      *loop = alive;
      return true;
    };
    // No state is looked at; nor are those of a counter, which are too many to agree on what leads out.
    if (lives && (places <= kFewPlaces || (!counted && alive.shape.high != kUnboundedLoop))) return stay();
    for (const bool exclude : {false, true}) {
      if (exclude) tried.many = tried.many && tried.way_out.empty();
      for (int c : {kAny, kNotNewline, kJsonText, kVisible})
        if (!tried.many && semantic(c, exclude)) return true;
      if (counted && loop->outer >= 0 && !LeavesOften(*loop)) {
        const uint32_t inside = LeftInside(*loop);
        if (!lives || inside < kSomeTokens || kQuicker * places > inside) return true;
      }
      if (lives) return stay();
    }
  }
  if (counted && loop->outer >= 0) return true;
  // Where what follows a loop begins with letters of it, few tokens are inside of what is left of its characters.
  const auto inside = [this](int c) { return c < 0 ? 0 : factoring_.At(0, c)->inside.size(); };
  const size_t known = inside(loop->inner) + inside(loop->wide_too ? kNonAscii : -1);
  for (int c : {kWord, kAlnum, kAlpha, kLower, kUpper})
    if (inside(c) > known && CharacterClasses()[static_cast<size_t>(c)].first.SubsetOf(live) && semantic(c, false))
      return true;
  return counted || FindAlive(q, false, loop);
}

// Whether characters that are too frequent for an index are ways out of a loop whose class lacks some characters.
bool MaskBuilder::LeavesOften(const Loop& loop) const {
  if (loop.outer < 0) return false;
  bool often = false;
  ((loop.shape.rest_first | loop.shape.body_first) & loop.excluded).ForEach([&](uint8_t b) {
    often = often || (factoring_.RowContaining(b) && !factoring_.Containing(b));
  });
  return often;
}

// How many tokens have a character of a loop that is a way out of it, too: after it they are walked.
uint32_t MaskBuilder::LeftInside(const Loop& loop) const {
  uint32_t tokens = 0;
  (loop.shape.rest_first & loop.shape.body_first & loop.excluded).ForEach([&](uint8_t b) {
    tokens += factoring_.TokensWithByte(b);
  });
  return tokens;
}

// How many tokens, and places where tokens leave what stays alive, are run.
size_t MaskBuilder::LeftAlive(const Loop& loop) const {
  const Factor& f = *factoring_.At(0, loop.inner);
  size_t places = TokensListedBy(loop.checked);
  (f.exit_bytes & loop.ways_out).ForEach([&](uint8_t b) { places += f.ExitsBy(b).size(); });
  return places;
}

// Where whatever is read of a class can be extended, although the states on the way go on differently: tokens of the
// class are allowed, but for those of too many characters, which are run from q as what leaves the class is.
bool MaskBuilder::FindAlive(State q, bool wide, Loop* loop) {
  constexpr uint32_t kMostLong = 500, kSomeTokens = 2000;
  const ByteSet& live = acceptor_->Live(q);
  bool possible = wide;  // where no class of many tokens can come next, what may is not worth finding
  for (int c = 0; c < kNumClasses && !possible; ++c)
    possible = factoring_.At(0, c)->inside.size() >= kSomeTokens &&
               CharacterClasses()[static_cast<size_t>(c)].first.SubsetOf(live);
  LoopShape shape;
  if (!possible || !acceptor_->StaysAlive(q, &shape)) return false;
  ClassChoice choice;
  choice.ascii = shape.ascii;
  choice.wide = shape.non_ascii || shape.all_but_spaces;
  FindInner(&choice);
  if (choice.wide && wide) FindChecked(&choice);
  if (choice.inner < 0) return false;
  const CharacterClass& c = CharacterClasses()[static_cast<size_t>(choice.inner)];
  const Factor& f = *factoring_.At(0, choice.inner);
  if ((wide && (!c.non_ascii || !c.ascii.Any())) || f.inside.size() < kSomeTokens) return false;
  if (f.inside.size() - f.offsets[std::min(shape.high, f.max_chars) + 1] > kMostLong) return false;
  *loop = Loop();
  loop->kind = Loop::kAlive;
  loop->inner = choice.inner;
  loop->checked = choice.excluded;
  loop->ways_out = (shape.rest_first | shape.ascii) - c.first;
  if (choice.wide && !c.non_ascii) loop->ways_out = loop->ways_out | ByteSet::Range(0xC2, 0xF4);
  loop->shape.high = shape.high;
  loop->shape.all_but_spaces = shape.all_but_spaces && c.non_ascii;
  return true;
}

bool MaskBuilder::FindCounted(State q, Loop* loop) {
  if (counted_.state != q) {
    counted_ = Counted();
    if (acceptor_->Loop(q, &counted_.loop.shape)) {
      const ClassChoice& choice = ChoiceOf(counted_.loop.shape);
      counted_.loop.inner = choice.inner;
      counted_.loop.outer = choice.outer;
      counted_.loop.excluded = choice.excluded;
      if (counted_.loop.shape.high < kFewTurns && choice.inner >= 0 && LeavesOften(counted_.loop)) counted_.loop.outer = -1;
      counted_.loop.wide_too = choice.wide_too && counted_.loop.outer < 0;
      counted_.found = choice.inner >= 0 || choice.outer >= 0;
    }
    counted_.state = q;
  }
  if (counted_.found) *loop = counted_.loop;
  return counted_.found;
}

// Whether to learn of a loop's own class, as the known ones leave many tokens to walk. Of ASCII they leave fewer than it
// takes to learn of a class, so that it has to be met some times before.
bool MaskBuilder::Learns(State q, const LoopShape& shape) {
  constexpr uint32_t kManyTokens = 2'000, kManyOfAscii = 20'000, kTimesBefore = 4;
  if (shape.non_ascii || shape.all_but_spaces) return false;
  const ByteSet leads = shape.body_first & ByteSet::Range(0x80, 0xFF);
  if (shape.han && leads == ByteSet::Range(0xE4, 0xE9)) return false;
  if (!leads.Any()) {
    if (ChoiceOf(shape).inner_leaves < kManyOfAscii) return false;
    return factoring_.AskLearned(shape.ascii, ExitsOf(shape), kTimesBefore);
  }
  uint32_t begun = 0;
  leads.ForEach([&](uint8_t b) { begun += factoring_.TokensFrom(b); });
  return begun >= kManyTokens && acceptor_->WideOfLoop(q) != nullptr;
}

std::shared_ptr<const LearnedClass> MaskBuilder::LearnedOf(uint32_t node, State q, const LoopShape& shape) {
  constexpr size_t kMostKept = 8;
  const bool ascii = !shape.body_first.Intersects(ByteSet::Range(0x80, 0xFF));
  const std::shared_ptr<const WideCharacters> wide = ascii ? WideCharacters::None() : acceptor_->WideOfLoop(q);
  const ByteSet exits = ExitsOf(shape);
  for (const auto& [known, tokens] : *learned_)
    if (known == wide && tokens->node == node && tokens->ascii == shape.ascii && tokens->exit_bytes == exits) return tokens;
  learned_->push_front({wide, factoring_.Learned(node, shape.ascii, wide, exits)});
  if (learned_->size() > kMostKept) learned_->pop_back();
  return learned_->front().tokens;
}

// Bytes of ASCII that come next and are no character of the loop, and those beyond that may begin what follows it.
ByteSet MaskBuilder::ExitsOf(const LoopShape& shape) {
  return (((shape.rest_first | shape.body_first) - shape.ascii) & ByteSet::Range(0, 0x7F)) |
         (shape.rest_first & ByteSet::Range(0x80, 0xFF));
}

// States of one pattern mostly differ in how many turns they have still to take, not in what they read.
const MaskBuilder::ClassChoice& MaskBuilder::ChoiceOf(const LoopShape& shape) {
  constexpr size_t kMostChoices = 8;
  const bool wide = shape.non_ascii || shape.all_but_spaces;
  const ByteSet first = wide ? shape.rest_first | shape.body_first : ByteSet();
  for (const ClassChoice& known : choices_)
    if (known.ascii == shape.ascii && known.wide == wide && known.han == shape.han && known.first == first) return known;
  ClassChoice& choice = choices_.size() < kMostChoices ? choices_.emplace_back() : choices_[next_choice_++ % kMostChoices];
  choice = ClassChoice();
  choice.ascii = shape.ascii;
  choice.wide = wide;
  choice.han = shape.han;
  choice.first = first;
  const double left = FindInner(&choice);
  choice.inner_leaves = choice.inner < 0 ? 1e9 : left;
  if (wide) FindOuter(choice.inner_leaves, &choice);
  return choice;
}

// The class inside the loop's characters that leaves the fewest tokens to walk: so many.
double MaskBuilder::FindInner(ClassChoice* choice) const {
  double best = -1;
  const size_t wide = factoring_.TokensWithNonAscii(), mixed = wide - factoring_.At(0, kNonAscii)->inside.size();
  for (int c = 0; c < kNumClasses; ++c) {
    const CharacterClass& k = CharacterClasses()[static_cast<size_t>(c)];
    if (!k.ascii.SubsetOf(choice->ascii) || (k.non_ascii && !choice->wide) || (c == kHan && !choice->han)) continue;
    const bool wide_too = choice->wide && !k.non_ascii;
    double left = static_cast<double>(wide_too ? mixed : choice->han && c != kHan ? wide : 0);
    (choice->ascii - k.ascii).ForEach([&](uint8_t b) { left += factoring_.TokensWithByte(b); });
    left -= 1e-6 * static_cast<double>(factoring_.At(0, c)->inside.size());  // of equals, the larger class
    if (best < 0 || left < best) {
      best = std::max(left, 0.0);
      choice->inner = static_cast<int8_t>(c);
      choice->wide_too = wide_too;
    }
  }
  return best;
}

// A class beyond ASCII too, all of whose characters are the loop's but for some `excluded` that are in so few tokens that
// these are run one by one; where there is none inside of the loop.
void MaskBuilder::FindChecked(ClassChoice* choice) const {
  constexpr uint32_t kMostTokens = 10'000;
  if (choice->inner >= 0 && CharacterClasses()[static_cast<size_t>(choice->inner)].non_ascii &&
      CharacterClasses()[static_cast<size_t>(choice->inner)].ascii.Any())
    return;
  uint32_t best = kMostTokens;
  for (int c : {kAny, kNotNewline, kJsonText, kVisible}) {
    const ByteSet excluded = CharacterClasses()[static_cast<size_t>(c)].ascii - choice->ascii;
    const uint32_t tokens = TokensListedBy(excluded);
    if (tokens >= best) continue;
    best = tokens;
    choice->inner = static_cast<int8_t>(c);
    choice->excluded = excluded;
  }
}

// A class most of whose characters are the loop's, where clearing the tokens with others of them, and walking from
// characters of the loop beyond the class, is cheaper than walking what the inner class leaves.
void MaskBuilder::FindOuter(double inner_cost, ClassChoice* choice) const {
  const ByteSet non_ascii_lead = ByteSet::Range(0xC2, 0xF4);
  double best = inner_cost / 2;
  for (int c : {kAny, kNotNewline, kJsonText, kVisible}) {
    const CharacterClass& k = CharacterClasses()[static_cast<size_t>(c)];
    const ByteSet excluded = k.ascii - choice->ascii, exits = choice->first - (choice->ascii & k.ascii) - non_ascii_lead;
    double cost = 0;
    bool possible = true;
    (excluded | exits).ForEach([&](uint8_t b) {
      const uint32_t tokens = factoring_.TokensWithByte(b);
      const bool indexed = !tokens || factoring_.Containing(b);
      possible = possible && (indexed || (factoring_.RowContaining(b) && !choice->ascii.Has(b)));
      cost += indexed || !exits.Has(b) ? std::min<uint32_t>(tokens, 700) : tokens;
    });
    if (!possible || !excluded.Any() || cost >= best) continue;
    best = cost;
    choice->outer = static_cast<int8_t>(c);
    choice->excluded = excluded;
  }
}

// Whether all states reached from q by whole characters of the class stay alive on every such character, and agree on
// every byte that begins no character of the class: then they all allow the same tokens. Lists those states. With
// `exclude`, a few rare ASCII bytes of the class may end the loop; rare bytes that the states do not agree on are
// noted. White space beyond ASCII may end it, or lead elsewhere: the loop is then one of all_but_spaces.
bool MaskBuilder::FindSemantic(State q, int class_id, bool exclude, Loop* loop, std::vector<State>* between,
                               Tried* tried) {
  constexpr int kMostExcluded = 8;
  const CharacterClass& c = CharacterClasses()[static_cast<size_t>(class_id)];
  const size_t most = c.non_ascii ? kMaxRegion : kMaxAsciiRegion;
  const auto rare = [&](uint8_t b) { return exclude && factoring_.Containing(b) != nullptr; };
  ByteSet first = c.first, checked;
  const auto drop = [&](uint8_t b) {  // takes a byte out of the loop if that is possible
    if (!rare(b)) return false;
    first.Remove(b);
    return (c.first - first).Count() <= kMostExcluded;
  };
  bool possible = true;
  (first - acceptor_->Live(q)).ForEach([&](uint8_t b) { possible = possible && drop(b); });
  // Takes one of some bytes out: the one that the fewest tokens have.
  const auto drop_rarest = [&](std::vector<uint8_t> bytes) {
    std::stable_sort(bytes.begin(), bytes.end(), [&](uint8_t a, uint8_t b) {
      return factoring_.TokensWithByte(a) < factoring_.TokensWithByte(b);
    });
    return std::any_of(bytes.begin(), bytes.end(), drop);
  };
  const std::vector<uint8_t>& known_way = tried->way_out;
  if (!known_way.empty() && std::all_of(known_way.begin(), known_way.end(), [&](uint8_t b) { return first.Has(b); }))
    possible = possible && exclude && drop_rarest({known_way.begin() + tried->ends, known_way.end()});
  const auto indexed = [&] {  // with excluded bytes, every way out needs its index
    bool all = true;
    (acceptor_->Live(q) - first).ForEach([&](uint8_t b) {
      all = all && (factoring_.Containing(b) || !factoring_.TokensWithByte(b));
    });
    return all;
  };
  if (!possible || ((c.first - first).Any() && !indexed())) return false;
  struct At {
    State state;
    uint8_t phase;
    int16_t via;     // the ASCII byte that first led here, or -1
    uint32_t from;   // in the list of work: where it was read
    uint32_t begun;  // what was read of a character, where it may become white space
  };
  const WideSpaceBytes& spaces = WideSpaces();
  bool spaced = false;
  const StateRow reference = acceptor_->Row(q);
  std::vector<At> work;
  // Takes a byte on the way to a place out of the loop, or one that leads out there.
  const auto drop_way = [&](At at, std::vector<uint8_t> bytes) {
    for (; at.via >= 0; at = work[at.from]) bytes.push_back(static_cast<uint8_t>(at.via));
    return drop_rarest(std::move(bytes));
  };
  // The bytes on the way to a place from which a byte leads out, that one first; none where some are beyond ASCII.
  const auto note_way = [&](At at, uint8_t byte) {
    tried->way_out.assign(1, byte);
    tried->ends = false;
    for (; at.via >= 0; at = work[at.from]) tried->way_out.push_back(static_cast<uint8_t>(at.via));
    if (at.state != q || at.phase || byte >= 0x80) tried->way_out.clear();
  };
  const auto known = [&work](State s) {
    return std::any_of(work.begin(), work.end(), [s](const At& a) { return a.state == s && !a.phase; });
  };
  const auto push = [&work, most](State s, uint8_t phase, int b, uint32_t begun, size_t from) {
    for (const At& a : work)
      if (a.state == s && a.phase == phase && a.begun == begun) return true;
    if (work.size() >= most) return false;
    work.push_back({s, phase, static_cast<int16_t>(b < 0x80 ? b : -1), static_cast<uint32_t>(from), begun});
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    work.assign(1, {q, 0, -1, 0, 0});
    between->clear();
    checked = ByteSet();
    spaced = false;
    for (size_t i = 0; i < work.size() && !again; ++i) {
      const At at = work[i];
      const StateRow row = acceptor_->Row(at.state);
      const Utf8Phase& p = kUtf8Phases[at.phase];
      State last = DelayedAcceptor::kDead;
      uint8_t last_phase = 0;
      uint32_t last_begun = 0;
      if (at.phase == 0) {
        // A state that ends the loop for most characters: what ends it is rather the byte that leads there.
        const ByteSet dead = at.via >= 0 ? first - acceptor_->Live(at.state) : ByteSet();
        if (dead.Count() > kMostExcluded) {
          if (!exclude) {
            note_way(at, dead.First());
            tried->ends = true;
          }
          if (!drop_way(at, {})) return false;
          again = true;
          break;
        }
        between->push_back(at.state);
      }
      const ByteSet inside = at.phase ? ByteSet::Range(p.low, p.high) : first;
      const bool plain_phase = at.phase && !at.begun;
      bool fails = false;
      const auto follow = [&](uint8_t byte) {
        if (again || fails) return;
        const State next = row[byte];
        // Where the next state alone tells.
        if ((plain_phase || byte < 0x80) && next && next == last && !last_begun && (at.phase || !last_phase)) return;
        const uint8_t phase = at.phase ? p.next : Utf8LeadPhase(byte);
        const uint32_t read = at.phase && !at.begun ? 0 : at.begun << 8 | byte;
        const bool begins = phase && read && (at.phase ? spaces.Begins(read) : spaces.first.Has(byte));
        const uint32_t begun = begins ? read : 0;
        if (next && next == last && phase == last_phase && begun == last_begun) return;
        if (at.begun && !phase && spaces.Is(read)) {
          spaced = spaced || !next || !known(next);
          return;
        }
        if (!next) {
          if (!exclude) note_way(at, byte);
          // Without this byte, or without one that leads here, from the start.
          fails = at.phase || !drop_way(at, {byte});
          again = !fails;
        } else if (!push(next, phase, byte, begun, i)) {
          // Deep inside of something that a rare byte begins: without that.
          if (!exclude) note_way(at, byte);
          again = exclude && drop_way(at, byte < 0x80 && !at.phase ? std::vector<uint8_t>{byte} : std::vector<uint8_t>());
          fails = tried->many = !again;
        }
        last = next;
        last_phase = phase;
        last_begun = begun;
      };
      // Bytes that lead where they lead from q were followed from there, which is the first place.
      const ByteSet different = at.phase ? acceptor_->Live(at.state) : Different(row, reference);
      (i && !at.phase ? inside & different : inside).ForEach(follow);
      if (fails) return false;
      if (again) break;
      const ByteSet others = different - inside;
      if (at.phase && others.Any()) return false;
      others.ForEach([&](uint8_t byte) { fails = fails || !rare(byte); });
      if (fails) return false;
      checked = checked | others;
    }
  }
  loop->kind = Loop::kSemantic;
  loop->shape.high = kUnboundedLoop;
  loop->shape.all_but_spaces = spaced;
  loop->checked = checked;
  loop->excluded = c.first - first;
  if (loop->excluded.Any()) {
    if (!indexed()) return false;
    loop->outer = static_cast<int8_t>(class_id);
  } else {
    loop->inner = static_cast<int8_t>(class_id);
  }
  return true;
}

// A looping state (with `counted`, one that says so itself, or that is known to loop and much like q) to which most
// ASCII characters lead q; kDead when there is none. Where they lead elsewhere, q's tokens are compared with the
// model's along the trie, so a model never costs much more than it saves.
MaskBuilder::State MaskBuilder::SharedState(State q, bool counted) {
  const State shared = MostBytesLeadTo(q);
  if (!shared) return DelayedAcceptor::kDead;
  const State model = Canonical(shared);
  Loop loop;
  const bool known = Looked(model) && FewDiffer(q, model);
  const bool loops = counted && !known ? FindCounted(model, &loop) : LoopOf(model).kind != Loop::kNone;
  return loops ? shared : State{DelayedAcceptor::kDead};
}

// The state other than q to which most ASCII characters lead, if those are many; else kDead.
MaskBuilder::State MaskBuilder::MostBytesLeadTo(State q) {
  constexpr uint32_t kManyBytes = 40;
  if ((acceptor_->Live(q) & ByteSet::Range(0, 127)).Count() < static_cast<int>(kManyBytes)) return DelayedAcceptor::kDead;
  std::vector<std::pair<State, uint32_t>> mass;  // bytes by target
  acceptor_->Row(q).ForEachStep([&](const ByteSet& bytes, State target) {
    const uint32_t count = static_cast<uint32_t>((bytes & ByteSet::Range(0, 127)).Count());
    const auto known = std::find_if(mass.begin(), mass.end(), [&](const auto& m) { return m.first == target; });
    if (known != mass.end())
      known->second += count;
    else
      mass.emplace_back(target, count);
  });
  if (mass.empty()) return DelayedAcceptor::kDead;
  const auto best = std::max_element(mass.begin(), mass.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return best->second < kManyBytes || best->first == q ? State{DelayedAcceptor::kDead} : best->first;
}

// Then comparing the two along the trie costs less than to look for a loop of the one.
bool MaskBuilder::FewDiffer(State a, State b) {
  constexpr int kFewBytes = 24;
  return (Different(acceptor_->Row(a), acceptor_->Row(b)) & ByteSet::Range(0, 127)).Count() <= kFewBytes;
}

// But for white space. Otherwise comparing the two along the trie takes as long as walking it.
bool MaskBuilder::AgreeBeyondAscii(State a, State b) {
  const ByteSet different = Different(acceptor_->Row(a), acceptor_->Row(b));
  return ((different & ByteSet::Range(0x80, 0xFF)) - WideSpaces().first).Count() == 0;
}

}  // namespace tokamata
