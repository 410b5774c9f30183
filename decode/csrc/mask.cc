#include "decode/csrc/mask.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "automata/csrc/line_keys.h"
#include "decode/csrc/rows.h"
#include "decode/csrc/walk.h"

namespace tokamata {
namespace {

constexpr uint32_t kSomeTokens = 256;  // below a node, from which it is worth finding out how its state loops
constexpr uint32_t kSomeNodes = 16;    // below one, from which it is worth knowing that they all stay inside of a loop
constexpr uint32_t kSomeInside = 64;   // of them inside a class, from which its factor is better than a walk
constexpr uint32_t kSomeTurns = 8;     // of a loop, from which few tokens are longer than those that are left
constexpr ptrdiff_t kFewMore = 64;     // tokens by which a row may differ from its base before it is completed

// Bytes of the longest text that ends below a node, from the byte into the node on; kNoIndex where that is not known.
uint32_t LongestFrom(const Trie& trie, uint32_t node) {
  const uint32_t height = trie.Height(node);
  return height == kNoIndex ? kNoIndex : height + 1;
}

// The acceptor as one of expressions if some of them are grammars, else null.
ExpressionAcceptor* WithGrammars(DelayedAcceptor* acceptor) {
  auto* expressions = dynamic_cast<ExpressionAcceptor*>(acceptor);
  const auto has = [](const Expressions& pool) { return pool.HasLeaves(); };
  return expressions && expressions->WithPool(has) ? expressions : nullptr;
}

}  // namespace

MaskBuilder::MaskBuilder(DelayedAcceptor* acceptor, const Vocabulary* vocabulary)
    : acceptor_(acceptor),
      grammars_(WithGrammars(acceptor)),
      vocabulary_(vocabulary),
      factoring_(vocabulary->Masks()),
      trie_(factoring_.trie()),
      complete_(vocabulary->SpellsAnyText()),
      may_remember_(acceptor->MayRemember()),
      key_lines_(may_remember_ ? WithLineKeys(acceptor) : nullptr),
      clamp_(vocabulary->MaxTokenBytes(), [vocabulary](uint8_t b) { return vocabulary->MostOf(b); },
             [vocabulary] { return vocabulary->MostBlanks(); }),
      path_(trie_.max_depth + 2) {
  traits_.push_back({});
}

void MaskBuilder::SetEos(State q, uint32_t* row) const {
  for (uint32_t id : vocabulary_->EosIds()) {
    ClearToken(id, row);
    if (acceptor_->IsFinal(q)) SetToken(id, row);
  }
}

void MaskBuilder::Build(State q, uint32_t* row) {
  stack_.clear();  // what a LimitError left
  if (!complete_) return BuildByWalking(q, row);
  to_run_ = 0;
  asked_ = false;
  building_ = row;
  base_ = nullptr;
  alike_ = 0;
  visits_ = 0;
  BuildAny(q, row, 0);
  RunExceptions(q, row);
  RunWholeKeys(q, row);
  if (visits_ > kManyVisits && !may_remember_) KeepShort(q);
  SetEos(q, row);
}

void MaskBuilder::BuildByWalking(State q, uint32_t* row) {
  std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
  const bool runs = !complete_ && acceptor_->Remembers();  // what forgets may finish where what remembers cannot
  ForEachLiveToken(trie_, 0, acceptor_, q, &path_, [&](uint32_t node, State next) {
    if (runs) next = acceptor_->Run(q, TokenAt(node));
    if (complete_ || (next && CanFinish(next))) SetTokens(trie_, node, row);
  });
  RunWholeKeys(q, row);
  SetEos(q, row);
}

void MaskBuilder::BuildAny(State q, uint32_t* row, int depth) {
  const uint32_t words = factoring_.Words();
  if (grammars_ && (BuildLexed(q, row) || BuildMeet(q, row, depth) || BuildPieces(q, row, depth))) return;
  if (depth < kMaxDepth && !KnownOf(q).unlimited) {
    if (BuildBounded(q, row, depth) || (depth == 0 && BuildUnbounded(q, row))) return;
    if (depth == 0) KnownOf(q).unlimited = true;
  }
  if (depth == 0 && BuildByShort(q, row, depth)) return;
  const Plan plan = PlanOf(q, depth);
  if (WalksMuch(q, plan) && (BuildBarred(q, row, depth) || BuildOperands(q, row, depth))) return;
  if (plan.how == Plan::kLoop) return BuildLoop(q, LoopOf(q), row);
  if (plan.how == Plan::kShared) return BuildShared(q, plan.model, row, depth);
  if (plan.how == Plan::kEnds) return BuildEnds(q, plan.model, row, depth);
  if (plan.how == Plan::kBegun && BuildBegun(plan, row)) return;
  if (plan.how == Plan::kTexts && BuildSince(q, row)) return;
  if (plan.how == Plan::kWalk && row == building_ && finished_)
    if (const State before = OpenedBefore(q); before && finished_(before, row, &base_)) return Correct(0, q, before, row);
  if (plan.how == Plan::kTexts && plan.model) {
    BuildModel(plan.model, row, depth);
  } else {
    std::memset(row, 0, size_t{words} * sizeof(uint32_t));
  }
  if (plan.how == Plan::kTexts) {
    State model;
    TextNode place;
    acceptor_->Texts(q, &model, &place);
    WalkTexts(0, place, model, row);
    if (row != building_ && may_remember_) KeepPart(q, row);
    return;
  }
  if (plan.HasParts()) {
    std::vector<uint32_t> part(words);
    for (State a : PartsOf(q, plan)) {
      BuildAny(Canonical(a), part.data(), depth + 1);
      OrRow(part.data(), words, row);
    }
    return;
  }
  stack_.emplace_back(0, q);
  Drain(stack_.size() - 1, row);
}

// From the row of a state that counts otherwise, but allows the same short tokens: long ones are run.
bool MaskBuilder::BuildByShort(State q, uint32_t* row, int depth) {
  if (!short_rows_) return false;
  std::deque<ShortRows::Clamp>& clamps = short_rows_->clamps;
  const State like = LikeShort(q, &clamps[0]);
  if (like == q) return false;
  std::vector<ShortRows::Kept>& rows = short_rows_->rows;
  const auto find = [&] {
    return std::find_if(rows.begin(), rows.end(), [like](const ShortRows::Kept& k) { return k.like == like; });
  };
  auto kept = find();
  if (kept == rows.end()) {
    if (acceptor_->Clamped(q, &clamps[0].counters) == q) return false;  // as what counts characters, which is no work
    KeepShort(q);
    kept = find();
  }
  size_t most = 0;
  while (most + 1 < clamps.size() && LikeShort(q, &clamps[most + 1]) == like) ++most;
  if (kept->row.empty()) {
    BuildAny(Canonical(like), row, depth + 1);
    RunExceptions(like, row);
    to_run_ = 0;
    if (kept = find(); kept != rows.end()) kept->row.assign(row, row + factoring_.Words());  // operands keep others
  } else {
    CopyRow(kept->row.data(), factoring_.Words(), row);
  }
  if (row == building_) {
    base_ = nullptr;
    alike_ = (uint64_t{like} + 1) * 0x9E3779B97F4A7C15u;
  }
  const auto [longer, end] = vocabulary_->LongerThan(clamps[most].length);
  for (const uint32_t* id = longer; id != end; ++id)
    if (acceptor_->Run(q, vocabulary_->Token(*id)))
      SetToken(*id, row);
    else
      ClearToken(*id, row);
  return true;
}

// A state without bounds that no text of so many bytes reaches.
MaskBuilder::State MaskBuilder::LikeShort(State q, ShortRows::Clamp* clamp) {
  State like = acceptor_->Clamped(q, &clamp->counters), star, unbounded;
  uint32_t low, high;
  if (acceptor_->Counts(like, &low, &high, &star, &unbounded) && high >= clamp->length) like = unbounded;
  return acceptor_->Canonical(like, clamp->length);
}

// The row of q took long: those of states that allow the same short tokens would, too.
void MaskBuilder::KeepShort(State q) {
  constexpr size_t kMostRows = 16;
  if (!short_rows_ && !MakeShortRows()) return;
  const State like = LikeShort(q, &short_rows_->clamps[0]);
  if (like == q) return;
  std::vector<ShortRows::Kept>& rows = short_rows_->rows;
  if (std::any_of(rows.begin(), rows.end(), [like](const ShortRows::Kept& k) { return k.like == like; })) return;
  if (rows.size() < kMostRows) rows.emplace_back();
  rows[short_rows_->next++ % kMostRows] = {like, {}};
}

bool MaskBuilder::MakeShortRows() {
  constexpr uint32_t kLengths[] = {24, 32, 48, 64, 80, 96, 112};
  constexpr ptrdiff_t kFewLong = 500;
  auto made = std::make_unique<ShortRows>();
  const auto most = [v = vocabulary_](uint8_t b) { return v->MostOf(b); };
  const auto blanks = [v = vocabulary_] { return v->MostBlanks(); };
  for (const uint32_t length : kLengths) {
    const auto [longer, end] = vocabulary_->LongerThan(length);
    if (end - longer > kFewLong || length >= vocabulary_->MaxTokenBytes()) continue;
    made->clamps.push_back({length, CounterClamp(length, most, blanks)});
  }
  if (made->clamps.empty()) return false;
  short_rows_ = std::move(made);
  return true;
}

// From the last row of a state that reads the same texts but for some that may not be repeated.
bool MaskBuilder::BuildSince(State q, uint32_t* row) {
  constexpr size_t kMostSince = 8;
  std::vector<TextNode> places;
  TextNode place;
  for (State before; places.size() < kMostSince && acceptor_->TextsSince(q, &before, &place); q = before) {
    places.push_back(place);
    if (!CopyBefore(before, row)) continue;
    for (; !places.empty(); places.pop_back()) WalkTexts(0, places.back(), true, row);
    if (row != building_) KeepPart(q, row);
    return true;
  }
  return false;
}

bool MaskBuilder::CopyBefore(State before, uint32_t* row) {
  return row == building_ ? finished_ && finished_(before, row, &base_) : CopyPart(before, row);
}

bool MaskBuilder::CopyPart(State q, uint32_t* row) {
  for (const Part& part : parts_) {
    if (part.state != q) continue;
    CopyRow(part.row.data(), factoring_.Words(), row);
    to_run_ |= part.to_run;
    return true;
  }
  return false;
}

// Finished masks are kept by the owner; those of members of unions and of operands are not finished.
void MaskBuilder::KeepPart(State q, const uint32_t* row) {
  Part& part = parts_[next_part_++ % parts_.size()];
  part.state = q;
  part.row.assign(row, row + factoring_.Words());
  part.to_run = to_run_;
}

// ---------------------------------------------------------------------------------------------- building rows

// How many tokens begin with one of some bytes.
size_t MaskBuilder::TokensFrom(const ByteSet& bytes) const {
  size_t count = 0;
  bytes.ForEach([&](uint8_t b) { count += factoring_.TokensFrom(b); });
  return count;
}

// A state like one without bounds, but for the few longest tokens.
bool MaskBuilder::BuildUnbounded(State q, uint32_t* row) {
  constexpr uint32_t kShort[] = {24, 32, 48}, kLong[] = {64, 80, 96, 112, 128};
  constexpr ptrdiff_t kFewLong = 500;
  State model = q;
  uint32_t length = 0;
  for (const uint32_t l : kShort) {
    const auto [longer, end] = vocabulary_->LongerThan(l);
    if (length || end - longer > kFewLong) continue;
    length = l;
    model = acceptor_->Unbounded(q, length);
  }
  if (model == q) return false;
  // Which runs less; but the model of a plain state is that of many.
  if (Loop alive; !acceptor_->Plain(q) && FindAlive(q, acceptor_->Live(q).Count() >= kWideLive, &alive)) return false;
  for (const uint32_t l : kLong) {  // fewer tokens are longer
    if (!vocabulary_->LongerThan(length).first || acceptor_->Unbounded(q, l) != model) break;
    length = l;
  }
  BuildModel(model, row, 0);
  base_ = nullptr;
  const auto [longer, end] = vocabulary_->LongerThan(length);
  for (const uint32_t* id = longer; id != end; ++id)
    if (HasToken(row, *id) && !acceptor_->Run(q, vocabulary_->Token(*id))) ClearToken(*id, row);
  return true;
}

void MaskBuilder::BuildModel(State model, uint32_t* row, int depth) {
  const uint32_t words = factoring_.Words();
  const bool top = row == building_;
  for (const Model& m : models_) {
    if (m.state != model) continue;
    CopyRow(m.row.data(), words, row);
    if (top) base_ = m.base, alike_ = m.alike;
    asked_ = asked_ || m.asked;
    return;
  }
  const uint8_t to_run = to_run_;
  to_run_ = 0;
  const uint32_t* base = nullptr;
  bool asked = false;
  if (top && finished_ && (key_lines_ || !acceptor_->Remembers()) && finished_(Canonical(model), row, &base)) {
    base_ = base;
    asked = AskAgain(Canonical(model), row);
  } else {
    BuildAny(Canonical(model), row, depth + 1);
    RunExceptions(model, row);  // a model has rows, who is like it may have none
  }
  if (top) {
    Model& m = models_[next_model_++ % models_.size()];
    m.state = model;
    m.row.assign(row, row + words);
    m.base = base_;
    m.alike = alike_;
    m.asked = asked;
  }
  to_run_ = to_run;
}

void MaskBuilder::BuildShared(State q, State model, uint32_t* row, int depth) {
  BuildModel(model, row, depth);
  Correct(0, q, model, row);
}

// From the row of a loop that may end with more characters than q's.
void MaskBuilder::BuildEnds(State q, State model, uint32_t* row, int depth) {
  ByteSet differing;
  bool fewer;
  acceptor_->EndsLike(q, &differing, &fewer);
  BuildModel(model, row, depth);
  if (!fewer) return RunTokensWith(differing, q, row);
  differing.ForEach([&](uint8_t b) {
    const ByteIndex* index = factoring_.Containing(b);
    if (!index) return;
    for (const uint32_t id : index->ids)
      if (HasToken(row, id) && !acceptor_->Run(q, vocabulary_->Token(id))) ClearToken(id, row);
  });
}

// Below a node that is entered with q, the row holds what the model allows; afterwards it holds what q allows. Only
// nodes to which the two lead in different states are visited.
void MaskBuilder::Correct(uint32_t node, State q, State model, uint32_t* row) {
  struct Both {
    uint32_t node;
    State mine, other;  // different and alive
  };
  std::vector<Both> open{{node, q, model}};
  const size_t base = stack_.size();
  while (!open.empty()) {
    const Both at = open.back();
    open.pop_back();
    const StateRow mine = acceptor_->Row(at.mine), other = acceptor_->Row(at.other);
    const auto visit = [&](uint32_t child, uint8_t b) {
      if (mine[b] == other[b]) return;
      if (!mine[b]) return ClearFrom(child, row);
      if (!other[b]) return Enter(child, mine[b], row);
      TextNode place;
      if (State before; ReadsTexts(mine[b]) && acceptor_->TextsSince(mine[b], &before, &place) && before == other[b])
        return WalkTexts(child, place, true, row);
      if (trie_.nodes[child].end == child + 1) return;
      const Both below{child, Near(mine[b], trie_, child), Near(other[b], trie_, child)};
      if (below.mine == below.other) return;
      if (!Apart(child, mine[b], other[b])) return open.push_back(below);
      ClearFrom(child, row);
      Enter(child, mine[b], row);
    };
    if (!trie_.nodes[at.node].wide) {
      trie_.ForEachChild(at.node, [&](uint32_t child) { visit(child, trie_.nodes[child].byte); });
      continue;
    }
    trie_.ForEachLiveChild(at.node, Different(mine, other), visit);
  }
  Drain(base, row);
}

// The tokens below a node that was entered with q, which reads texts: those of its model, but for the texts.
void MaskBuilder::BuildTexts(uint32_t node, State q, uint32_t* row) {
  if (TraitsOf(q).parts) {
    for (State a : acceptor_->Alternatives(q, kMaxAlternatives)) AddPart(node, a, row);
    return;
  }
  State model;
  TextNode place;
  acceptor_->Texts(q, &model, &place);
  if (model) {
    const size_t base = stack_.size();
    stack_.emplace_back(node, model);
    Drain(base, row);
  }
  WalkTexts(node, place, model, row);
}

// Goes along the texts as far as there are tokens; with `clears`, the row holds what the model allows below the node.
void MaskBuilder::WalkTexts(uint32_t root, const TextNode& place, bool clears, uint32_t* row) {
  struct Along {
    uint32_t node;
    TextNode place;
  };
  std::vector<Along> open{{root, place}};
  const size_t base = stack_.size();
  while (!open.empty()) {
    const Along at = open.back();
    open.pop_back();
    const Trie::Node& top = trie_.nodes[at.node];
    if (top.end == at.node + 1) continue;
    if ((factoring_.InsideBelow(at.node) >> kJsonText & 1) && EnterRaw(at.node, at.place, row)) continue;
    ByteSet first;
    if (top.wide)
      first = trie_.wides[top.wide - 1].bytes;
    else
      trie_.ForEachChild(at.node, [&](uint32_t child) { first.Add(trie_.nodes[child].byte); });
    const auto visit = [&](std::string_view text, const TextNode* child, State after) {
      uint32_t node = at.node;
      for (size_t i = 0; i < text.size(); ++i) {
        if (i) SetTokens(trie_, node, row);
        node = trie_.Child(node, static_cast<uint8_t>(text[i]));
        if (node == kNoIndex) return;
      }
      if (child) {
        SetTokens(trie_, node, row);
        open.push_back({node, *child});
        return;
      }
      if (clears) ClearFrom(node, row);
      if (after) Enter(node, after, row);
    };
    acceptor_->ForEachText(at.place, first, std::cref(visit));  // by reference: a copy takes memory
  }
  Drain(base, row);
}

// Where all tokens below a node are characters of JSON strings.
bool MaskBuilder::EnterRaw(uint32_t root, const TextNode& place, uint32_t* row) {
  SmallVector<uint32_t, 64> way;  // nodes, by depth below the root
  way.push_back(root);
  const auto enter = [&](uint32_t depth, uint8_t byte) {
    const uint32_t node = trie_.Child(way[depth], byte);
    if (node == kNoIndex) return false;
    SetTokens(trie_, node, row);
    way.resize(depth + 1);
    way.push_back(node);
    return trie_.nodes[node].end > node + 1;
  };
  return acceptor_->ForEachRawByte(place, std::cref(enter));
}

void MaskBuilder::AddPart(uint32_t node, State q, uint32_t* row) {
  std::vector<uint32_t> part(factoring_.Words());
  const size_t base = stack_.size();
  stack_.emplace_back(node, q);
  Drain(base, part.data());
  OrRow(part.data(), factoring_.Words(), row);
}

template <class M, class F>
void MaskBuilder::ForEachExit(State q, const Loop& loop, const ByteSet& loop_first, bool runs, M asked, F visit) {
  const LoopShape& shape = loop.shape;
  if (CountIsFree(shape)) {
    const StateRow row = acceptor_->Row(q);
    (row.Live() - loop_first).ForEach([&](uint8_t b) { visit(b, row[b], 0u, kUnboundedLoop); });
    return;
  }
  ((shape.rest_first | shape.body_first) - loop_first).ForEach([&](uint8_t b) {
    const Asked a = asked(b);
    if (a.nobody) return;
    const uint32_t high = std::min(shape.high, a.chars);
    if (!shape.body_first.Has(b)) {  // only what follows the loop begins with b
      if (shape.low > high) return;
      // Where there is an end to the loop, the state at the end: others of the same loop have it, too.
      const uint32_t turns = shape.high == kUnboundedLoop ? shape.low : shape.high;
      const State next = acceptor_->Next(acceptor_->AfterLoop(q, turns), b);
      if (next) visit(b, next, shape.low, high);
      return;
    }
    const bool free = a.bytes != kNoIndex && uint64_t{a.chars} + a.bytes <= shape.high;
    if ((shape.low == 0 && free) || (runs && RunsLong(shape, b))) {  // here it makes none, too
      if (const State next = acceptor_->Next(q, b)) visit(b, next, 0u, high);
      return;
    }
    for (uint32_t l = 0; l <= high; ++l) {
      const bool settled = shape.high == kUnboundedLoop && l >= shape.low;  // more turns make no difference
      const State next = acceptor_->Next(Canonical(acceptor_->AfterLoop(q, l)), b);
      if (next) visit(b, next, l, settled ? high : l);
      if (settled) break;
    }
  });
}

bool MaskBuilder::RunsLong(const LoopShape& shape, uint8_t b) const {
  return shape.low == 0 && shape.high >= kSomeTurns && shape.high < vocabulary_->MaxTokenBytes() && shape.body_first.Has(b);
}

bool MaskBuilder::Fits(State q, const Loop& loop, uint32_t id) {
  const std::string_view token = vocabulary_->Token(id);
  return token.size() <= loop.shape.high || acceptor_->Run(q, token);
}

void MaskBuilder::BuildLoop(State q, const Loop& loop, uint32_t* row) {
  if (loop.learns) return BuildLearned(0, q, loop, row);
  const int class_id = loop.outer >= 0 ? loop.outer : loop.inner;
  to_run_ |= ToRunOf(loop, class_id);
  const Factoring::Base base = factoring_.InsideAtMost(class_id, loop.shape.high);
  if (row == building_) {
    alike_ = reinterpret_cast<uintptr_t>(base.row);
    for (uint64_t word : loop.excluded.words) alike_ = (alike_ ^ word) * 0x9E3779B97F4A7C15u;
  }
  const SuffixTrie* suffixes = loop.outer < 0 && loop.kind != Loop::kAlive ? factoring_.Suffixes(class_id) : nullptr;
  const ByteSet& first = CharacterClasses()[static_cast<size_t>(class_id)].first;
  const uint32_t* ended = nullptr;
  if (suffixes && CountIsFree(loop.shape)) ended = EndedBy(*suffixes, acceptor_->Live(q) - first, base.row);
  if (loop.outer < 0) {
    const uint32_t* from = ended ? ended : base.row;
    CopyRow(from, factoring_.Words(), row);
    if (row == building_ && !loop.wide_too && base.more_end - base.more < kFewMore) base_ = from;
    for (const uint32_t* id = base.more; id != base.more_end; ++id) SetToken(*id, row);
  } else {
    Having& having = HavingOf(loop.excluded);
    const uint32_t words = factoring_.Words(), *__restrict with = having.row.data(), *__restrict from = base.row;
    if (having.base != base.row) {
      for (uint32_t i = 0; i < words; ++i) row[i] = from[i] & ~with[i];
      having.base = base.row;
      having.rest.clear();
    } else {  // longer loops begin with the same row
      if (having.rest.empty()) {
        having.rest.resize(words);
        uint32_t* __restrict rest = having.rest.data();
        for (uint32_t i = 0; i < words; ++i) rest[i] = from[i] & ~with[i];
      }
      CopyRow(having.rest.data(), words, row);
    }
    for (const uint32_t* id = base.more; id != base.more_end; ++id)
      row[*id >> 5] |= (1u << (*id & 31)) & ~with[*id >> 5];
  }
  if (loop.outer >= 0) {
    RunExitsFromOuter(q, loop, row);
  } else if (loop.wide_too) {
    BuildInner(0, q, loop, row);
  } else if (!suffixes) {
    RunExits(0, class_id, *factoring_.At(0, class_id), q, loop, {}, row);
  } else {
    const Trie& trie = suffixes->trie;
    const auto asked = [&](uint8_t b) {
      const uint32_t child = trie.Child(0, b);
      return child == kNoIndex ? Asked{0, 0, true} : Asked{suffixes->max_chars[b], LongestFrom(trie, child)};
    };
    const auto any = [](uint32_t) { return true; };
    const auto fits = [&](uint32_t i) { return Fits(q, loop, trie.order[i]); };
    ForEachExit(q, loop, first, true, asked, [&](uint8_t b, State next, uint32_t low, uint32_t high) {
      const uint32_t child = trie.Child(0, b);
      if (child == kNoIndex) return;
      if (RunsLong(loop.shape, b))
        WalkSuffixes(*suffixes, child, next, low, high, fits, !ended, row);
      else
        WalkSuffixes(*suffixes, child, next, low, high, any, !ended, row);
    });
  }
  if (loop.checked.Any()) RunTokensWith(loop.checked, q, row);
}

void MaskBuilder::BuildLearned(uint32_t node, State q, const Loop& loop, uint32_t* row) {
  const std::shared_ptr<const LearnedClass> learned = LearnedOf(node, q, loop.shape);
  const LearnedClass& c = *learned;
  if (node) {
    OrRow(c.RowOf(loop.shape.high), factoring_.Words(), row);
  } else {
    if (row == building_) alike_ = reinterpret_cast<uintptr_t>(&c);
    CopyRow(c.RowOf(loop.shape.high), factoring_.Words(), row);
  }
  for (const uint32_t id : c.Longer(loop.shape.high)) ClearToken(id, row);
  if (loop.shape.high != kUnboundedLoop) {
    const size_t depth = node ? trie_.nodes[node].depth : 0;
    for (const LearnedClass::Cut& t : c.cut)
      if (t.chars == loop.shape.high && acceptor_->Run(q, vocabulary_->Token(t.id).substr(depth))) SetToken(t.id, row);
  }
  const size_t base = stack_.size();
  RunExitsOf(c, c.first, q, loop, {}, row);
  Drain(base, row);
}

// A state inside a character, after which the characters of a loop follow; false where it was found since that the loop
// is like another one's, of which less is known.
bool MaskBuilder::BuildBegun(const Plan& plan, uint32_t* row) {
  const State loops = Canonical(plan.model);
  const Loop& loop = LoopOf(loops);
  if (!loop.HasBegun()) return false;
  const Factor& factor = factoring_.Begun(loop.inner, plan.phase);
  std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
  SetInside(factor, loop.shape.high, row);
  RunExits(0, loop.inner, factor, loops, loop, {}, row);
  return true;
}

// See Factoring::EndedBy, which takes a lock.
const uint32_t* MaskBuilder::EndedBy(const SuffixTrie& suffixes, const ByteSet& exits, const uint32_t* row) {
  for (const Ended& known : ended_)
    if (known.suffixes == &suffixes && known.from == row && known.exits == exits) return known.row;
  const uint32_t* const made = factoring_.EndedBy(suffixes, exits, row);
  if (made) ended_[next_ended_++ % ended_.size()] = {&suffixes, row, exits, made};
  return made;
}

// The tokens that have some of the bytes; states that follow one another mostly ask for the same.
MaskBuilder::Having& MaskBuilder::HavingOf(const ByteSet& bytes) {
  for (Having& known : *having_)
    if (known.bytes == bytes && !known.row.empty()) return known;
  Having& made = (*having_)[next_having_++ % having_->size()];
  made = Having();
  made.bytes = bytes;
  made.row.assign(factoring_.Words(), 0);
  uint32_t* to = made.row.data();
  bytes.ForEach([this, to](uint8_t b) {
    if (const uint32_t* with = factoring_.RowContaining(b)) return OrRow(with, factoring_.Words(), to);
    const ByteIndex* index = factoring_.Containing(b);
    if (!index) return;  // in no token
    for (uint32_t id : index->ids) SetToken(id, to);
  });
  return made;
}

// For a loop over a class without some ASCII bytes: no token with such a byte stays inside, and the tokens that leave
// by a byte are found by that byte's index.
void MaskBuilder::RunExitsFromOuter(State q, const Loop& loop, uint32_t* row) {
  const ByteSet first = CharacterClasses()[static_cast<size_t>(loop.outer)].first - loop.excluded;
  const uint64_t bad[2] = {~first.words[0], ~first.words[1]};  // may not come before the way out
  const auto asked = [&](uint8_t b) {
    const ByteIndex* index = factoring_.Containing(b);
    if (!index && factoring_.RowContaining(b)) return Asked{vocabulary_->MaxTokenBytes(), kNoIndex};
    const uint32_t child = index ? index->suffixes.trie.Child(0, b) : kNoIndex;
    return child == kNoIndex ? Asked{0, 0, true}
                             : Asked{index->suffixes.max_chars[b], LongestFrom(index->suffixes.trie, child)};
  };
  ForEachExit(q, loop, first, true, asked, [&](uint8_t b, State next, uint32_t low, uint32_t high) {
    const ByteIndex* index = factoring_.Containing(b);
    if (!index) return RunExitsBy(q, loop, b, first, next, low, high, row);
    const uint32_t child = index->suffixes.trie.Child(0, b);
    if (child == kNoIndex) return;
    const auto inside = [&](uint32_t i) { return !(index->before[i][0] & bad[0]) && !(index->before[i][1] & bad[1]); };
    const auto fits = [&](uint32_t i) { return inside(i) && Fits(q, loop, index->suffixes.trie.order[i]); };
    if (RunsLong(loop.shape, b))
      WalkSuffixes(index->suffixes, child, next, low, high, fits, true, row);
    else
      WalkSuffixes(index->suffixes, child, next, low, high, inside, true, row);
  });
}

// The same for a byte of so many tokens that they have no index: those that are characters of the loop before it.
void MaskBuilder::RunExitsBy(State q, const Loop& loop, uint8_t b, const ByteSet& first, State next, uint32_t low,
                             uint32_t high, uint32_t* row) {
  const bool runs = RunsLong(loop.shape, b);
  const uint32_t* with = factoring_.RowContaining(b);
  if (!with) return;  // in no token
  ForEachTokenIn(with, factoring_.Words(), [&](uint32_t id) {
    const std::string_view token = vocabulary_->Token(id);
    uint32_t chars = 0;
    uint8_t phase = 0;
    for (size_t i = 0; i < token.size(); ++i) {
      const uint8_t byte = static_cast<uint8_t>(token[i]);
      const bool begins = phase == 0;
      if (byte == b && begins) {
        if (chars >= low && (!runs || Fits(q, loop, id)) && acceptor_->Run(next, token.substr(i + 1))) SetToken(id, row);
        return;
      }
      if ((begins && !first.Has(byte)) || !Utf8Step(byte, &phase)) return;
      if (begins && ++chars > high) return;
    }
  });
}

template <class Ids>
void MaskBuilder::RunTokens(const Ids& ids, State q, uint32_t* row) {
  for (uint32_t id : ids) {
    if (acceptor_->Run(q, vocabulary_->Token(id)))
      SetToken(id, row);
    else
      ClearToken(id, row);
  }
}

void MaskBuilder::RunExceptions(State q, uint32_t* row) {
  if (to_run_ & kWithSpaces) RunTokens(vocabulary_->WithWideSpaces(), q, row);
  if (to_run_ & kWithRareHan) RunTokens(vocabulary_->WithRareHan(), q, row);
}

void MaskBuilder::RunTokensWith(const ByteSet& bytes, State q, uint32_t* row) {
  bytes.ForEach([&](uint8_t b) {
    const ByteIndex* index = factoring_.Containing(b);
    if (index) RunTokens(index->ids, q, row);
  });
}

// The tokens below the factor's node that are made of at most `high` characters of its class.
void MaskBuilder::SetInside(const Factor& f, uint32_t high, uint32_t* row) {
  if (high >= f.max_chars && f.row != kNoIndex) {
    OrRow(factoring_.Row(f.row), factoring_.Words(), row);
  } else {
    const uint32_t end = f.offsets[std::min(high, f.max_chars) + 1];
    for (uint32_t i = 0; i < end; ++i) SetToken(f.inside[i], row);
  }
}

void MaskBuilder::BuildInner(uint32_t node, State q, const Loop& loop, uint32_t* row) {
  if (LearnsBelow(node, loop)) return BuildLearned(node, q, loop, row);
  if (const int class_id = ApartClass(node, q, loop); class_id >= 0) return BuildApart(node, class_id, q, loop, row);
  const auto build = [&](int class_id, const ByteSet& seen_to) {
    const Factor& factor = *factoring_.At(node, class_id);
    if (node) {
      SetInside(factor, loop.shape.high, row);
    } else {
      const Factoring::Base base = factoring_.InsideAtMost(class_id, loop.shape.high);
      OrRow(base.row, factoring_.Words(), row);
      SetAll(base.more, base.more_end, row);
    }
    RunExits(node, class_id, factor, q, loop, seen_to, row);
  };
  if (!loop.wide_too) return build(loop.inner, {});
  build(loop.inner, CharacterClasses()[kNonAscii].first);
  build(kNonAscii, CharacterClasses()[static_cast<size_t>(loop.inner)].first);
}

// The class of a loop's characters but for some bytes, where the tokens below a node that have one of these, and one after
// which more may come, are few enough to be run; -1 where there is none.
int MaskBuilder::ApartClass(uint32_t node, State q, const Loop& loop) {
  constexpr uint32_t kManyBelow = 1'000, kMostListed = 30'000;
  const int class_id = loop.outer >= 0 ? loop.outer : loop.kind == Loop::kAlive ? loop.inner : -1;
  if (!node || class_id < 0 || trie_.CountBelow(node) < kManyBelow || !CountIsFree(loop.shape)) return -1;
  const ByteSet apart = loop.excluded | loop.checked;
  if (!apart.Any() || TokensListedBy(MoreAfter(q, loop)) > kMostListed || Touches(PathTo(node), apart)) return -1;
  return factoring_.At(node, class_id)->inside.size() >= kSomeInside ? class_id : -1;
}

// Of those bytes, the ones after which more may come; of all that the loop's states do not agree on, wherever it is.
ByteSet MaskBuilder::MoreAfter(State q, const Loop& loop) { return (loop.excluded & acceptor_->Live(q)) | loop.checked; }

void MaskBuilder::BuildApart(uint32_t node, int class_id, State q, const Loop& loop, uint32_t* row) {
  const Factor& f = *factoring_.At(node, class_id);
  const ByteSet apart = loop.excluded | loop.checked;
  const uint32_t depth = trie_.nodes[node].depth, *__restrict with = HavingOf(apart).row.data();
  to_run_ |= ToRunOf(loop, class_id);
  if (f.row != kNoIndex) {
    const uint32_t* __restrict inside = factoring_.Row(f.row);
    for (uint32_t i = 0; i < factoring_.Words(); ++i) row[i] |= inside[i] & ~with[i];
  } else {
    for (const uint32_t id : f.inside)
      if (!HasToken(with, id)) SetToken(id, row);
  }
  if (const ByteSet more = MoreAfter(q, loop); more.Any()) RunBelow(node, HavingOf(more).row.data(), q, row);
  const size_t base = stack_.size();
  const bool alive = loop.kind == Loop::kAlive;
  const ByteSet out = alive ? loop.ways_out : acceptor_->Live(q) - CharacterClasses()[static_cast<size_t>(class_id)].first;
  ((out & f.exit_bytes) - apart).ForEach([&](uint8_t b) {
    const State after = acceptor_->Next(q, b);
    for (const FactorExit& exit : f.ExitsBy(b)) {
      const std::string_view way = PathTo(exit.node).substr(depth);
      if (Touches(way, apart)) continue;
      if (const State next = alive ? acceptor_->Run(q, way) : after) Enter(exit.node, next, row);
    }
  });
  Drain(base, row);
}

// Sets those of the tokens below a node, which is entered with q, that are among some and may come.
void MaskBuilder::RunBelow(uint32_t node, const uint32_t* among, State q, uint32_t* row) {
  const uint32_t depth = trie_.nodes[node].depth;
  const auto run = [&](uint32_t id) {
    if (HasToken(among, id) && acceptor_->Run(q, vocabulary_->Token(id).substr(depth))) SetToken(id, row);
  };
  const Factor& any = *factoring_.At(node, kAny);
  const uint32_t first = trie_.TokensEnd(node), end = trie_.TokensBegin(trie_.nodes[node].end);
  if (any.row == kNoIndex || any.inside.size() < end - first) {  // some are no text
    for (uint32_t i = first; i < end; ++i) run(trie_.order[i]);
    return;
  }
  std::vector<uint32_t> those(factoring_.Words());
  for (uint32_t i = 0; i < factoring_.Words(); ++i) those[i] = among[i] & factoring_.Row(any.row)[i];
  ForEachTokenIn(those.data(), factoring_.Words(), run);
}

// The tokens below the factor's node that leave a loop over its class.
void MaskBuilder::RunExits(uint32_t node, int class_id, const Factor& f, State q, const Loop& loop, const ByteSet& seen_to,
                           uint32_t* row) {
  to_run_ |= ToRunOf(loop, class_id);
  const size_t base = stack_.size();
  if (loop.kind == Loop::kAlive) {
    RunExitsAlive(node, f, q, loop, row);
    return Drain(base, row);
  }
  RunExitsOf(f, CharacterClasses()[static_cast<size_t>(class_id)].first, q, loop, seen_to, row);
  Drain(base, row);
}

// Of a factor, or what was learned, of a class whose characters begin with `first`.
template <class F>
void MaskBuilder::RunExitsOf(const F& f, const ByteSet& first, State q, const Loop& loop, const ByteSet& seen_to,
                             uint32_t* row) {
  const auto asked = [&](uint8_t b) {
    if (!f.exit_bytes.Has(b)) return Asked{0, 0, true};
    Asked a{0, 0};
    for (const FactorExit& exit : f.ExitsBy(b)) {
      a.chars = std::max(a.chars, exit.chars);
      a.bytes = std::max(a.bytes, LongestFrom(trie_, exit.node));
    }
    return a;
  };
  ForEachExit(q, loop, first, false, asked, [&](uint8_t b, State next, uint32_t low, uint32_t most) {
    if (!f.exit_bytes.Has(b)) return;
    const uint32_t least = seen_to.Has(b) ? std::max(low, 1u) : low;
    for (const FactorExit& exit : f.ExitsBy(b)) {
      if (exit.chars >= least && exit.chars <= most) Enter(exit.node, next, row);
    }
  });
}

// Those that leave it by bytes that its states need not agree on, and those with more characters than are sure.
void MaskBuilder::RunExitsAlive(uint32_t node, const Factor& f, State q, const Loop& loop, uint32_t* row) {
  const uint32_t depth = node ? trie_.nodes[node].depth : 0;
  (f.exit_bytes & loop.ways_out).ForEach([&](uint8_t b) {
    for (const Factor::Exit& exit : f.ExitsBy(b)) {
      if (const State next = acceptor_->Run(q, PathTo(exit.node).substr(depth))) Enter(exit.node, next, row);
    }
  });
  for (size_t i = f.offsets[std::min(loop.shape.high, f.max_chars) + 1]; i < f.inside.size(); ++i)
    if (acceptor_->Run(q, vocabulary_->Token(f.inside[i]).substr(depth))) SetToken(f.inside[i], row);
}

// ---------------------------------------------------------------------------------------------- walking

template <class S>
bool MaskBuilder::Follow(const Trie& trie, uint32_t* node, State* q, S set) {
  while (ReadsOneByte(*q)) {
    const Traits& t = TraitsOf(*q);
    *node = trie.Child(*node, t.byte);
    if (*node == kNoIndex) return false;
    set(trie.TokensBegin(*node), trie.TokensEnd(*node));
    *q = t.after;
  }
  return trie.nodes[*node].end != *node + 1;
}

// The tokens at and below a node of the main trie that was entered with state q. Wide nodes wait on the stack.
void MaskBuilder::Enter(uint32_t node, State q, uint32_t* row) {
  SetTokens(trie_, node, row);
  if (trie_.nodes[node].end != node + 1) EnterBelow(node, q, row);
}

void MaskBuilder::EnterBelow(uint32_t node, State q, uint32_t* row) {
  const auto set = [&](uint32_t i, uint32_t last) { SetAll(trie_.order.data + i, trie_.order.data + last, row); };
  if (!Follow(trie_, &node, &q, set)) return;
  q = Near(q, trie_, node);
  const Trie::Node& at = trie_.nodes[node];
  if (at.end - node >= kSomeNodes && SetBelow(node, q, row)) return;
  if (at.wide || ReadsTexts(q))
    stack_.emplace_back(node, q);
  else
    Scan(at.depth, node + 1, at.end, q, row);
}

// Where a state loops over a class of characters of which all is made that is below a node, sets its tokens; whether it
// does. Loops are not looked for where there is little below.
bool MaskBuilder::SetBelow(uint32_t node, State state, uint32_t* row) {
  const uint16_t classes = factoring_.InsideBelow(node);
  if (!classes || ReadsTexts(state) || known_[state].few) return false;
  const State q = Canonical(state);
  if (!Looked(q) && (trie_.CountBelow(node) < kSomeTokens || PlanOf(q, 0).how != Plan::kLoop)) return false;
  const Loop& loop = LoopOf(q);
  if (loop.inner < 0 || !(classes >> loop.inner & 1) || ToRunOf(loop, loop.inner)) return false;
  if (loop.kind == Loop::kAlive && loop.checked.Any()) return false;
  if (loop.shape.high < trie_.Height(node)) return false;
  const Factor* factor = node ? factoring_.At(node, loop.inner) : nullptr;
  if (factor && factor->row != kNoIndex)
    OrRow(factoring_.Row(factor->row), factoring_.Words(), row);
  else
    SetAll(trie_.order.data + trie_.TokensEnd(node), trie_.order.data + trie_.TokensBegin(trie_.nodes[node].end), row);
  return true;
}

// In preorder, with the rows of the states above at hand. set(first, last) is told of tokens in trie.order that are
// reached; done(node, state) sees to all that is below a node when it returns true, and is asked where that is much;
// waits(node, state) takes a node out of the sweep when it returns true.
template <class S, class D, class W>
void MaskBuilder::Sweep(const Trie& trie, uint32_t base, uint32_t first, uint32_t end, State q, S set, D done, W waits) {
  const Trie::Node* nodes = trie.nodes.data;
  StateRow* const path = path_.data();
  path[0] = acceptor_->Row(q);
  for (uint32_t n = first; n < end;) {
    const Trie::Node& node = nodes[n];
    const uint32_t at = n++, depth = node.depth - base;
    const State next = path[depth - 1][node.byte];
    if (!next) {
      n = node.end;
      continue;
    }
    set(node.tokens, nodes[n].tokens);
    if (node.end - at >= kSomeNodes && done(at, next)) {
      n = node.end;
      continue;
    }
    if (!node.wide && next < plain_rows_.size()) {
      if (const StateRow known = plain_rows_[next]) {  // no matter whether anything is below
        path[depth] = known;
        continue;
      }
    }
    if (node.end == n) continue;
    const bool plain = Plain(next);
    const State near = plain ? next : Near(next, trie, at);
    if ((!plain || node.wide) && waits(at, near)) {
      n = node.end;
      continue;
    }
    path[depth] = acceptor_->Row(near);
    if (plain) plain_rows_.Reach(near) = path[depth];
  }
}

// Calls sweep(first, end) for the live children of a wide node and what is below them, those that stand side by side
// together.
template <class F>
void MaskBuilder::ForEachLiveRun(const Trie& trie, uint32_t node, const ByteSet& live, F sweep) {
  uint32_t first = 0, end = 0;
  trie.ForEachLiveChild(node, live, [&](uint32_t child, uint8_t) {
    if (child != end) {
      if (end) sweep(first, end);
      first = child;
    }
    end = trie.nodes[child].end;
  });
  if (end) sweep(first, end);
}

// Wide nodes with many tokens, or few of whose children are alive, wait on the stack.
void MaskBuilder::Scan(uint32_t base, uint32_t first, uint32_t end, State q, uint32_t* row) {
  const uint32_t* order = trie_.order.data;
  const auto set = [=](uint32_t i, uint32_t last) { SetAll(order + i, order + last, row); };
  const auto done = [&](uint32_t node, State state) { return SetBelow(node, state, row); };
  Sweep(trie_, base, first, end, q, set, done, [&](uint32_t node, State state) {
    if (!Plain(state) && (ReadsTexts(state) || ReadsOneByte(state))) {
      stack_.emplace_back(node, state);
      return true;
    }
    if (!trie_.nodes[node].wide || !Waits(node, state)) return false;
    stack_.emplace_back(node, state);
    return true;
  });
}

// Whether a wide node is better worked off by itself: it may have a factor, or most of its children are dead.
bool MaskBuilder::Waits(uint32_t node, State q) {
  return trie_.CountBelow(node) >= kSomeTokens || Looked(q) || FewAlive(trie_, node, q);
}

// Whether q is dead after most children of a wide node.
bool MaskBuilder::FewAlive(const Trie& trie, uint32_t node, State q) {
  const Trie::Wide& wide = trie.wides[trie.nodes[node].wide - 1];
  uint32_t alive = 0;
  for (const uint64_t word : (wide.bytes & acceptor_->Live(q)).words) alive += word ? PopCount(word) : 0;
  return 2 * alive < trie.NumChildren(wide);
}

bool MaskBuilder::Touches(std::string_view text, const ByteSet& bytes) {
  return std::any_of(text.begin(), text.end(), [&](char c) { return bytes.Has(static_cast<uint8_t>(c)); });
}

bool MaskBuilder::HasFactor(uint32_t node, const Loop& loop) const {
  if (LearnsBelow(node, loop)) return true;
  return loop.inner >= 0 && factoring_.At(node, loop.inner)->inside.size() >= kSomeInside;
}

// The looping state that q is like, where a wide node has a factor for it; kDead where there is none. q is canonical.
MaskBuilder::State MaskBuilder::LoopWithFactor(uint32_t node, State q) {
  const Plan plan = PlanOf(q, 0);
  const State loops = plan.how == Plan::kShared ? Canonical(plan.model) : q;
  const Loop& loop = LoopOf(loops);
  const bool has = (HasFactor(node, loop) && loop.IsAlike()) || ApartClass(node, loops, loop) >= 0;
  return has ? loops : State{DelayedAcceptor::kDead};
}

// Whether two states that lead into a node with many tokens go on differently after most bytes, so that the first one's
// tokens are found sooner by its factor than by comparing them.
bool MaskBuilder::Apart(uint32_t node, State a, State b) {
  constexpr uint32_t kManyTokens = 1024;
  if (!trie_.nodes[node].wide || trie_.CountBelow(node) < kManyTokens || !factoring_.At(node, 0)) return false;
  const StateRow x = acceptor_->Row(a), y = acceptor_->Row(b);
  int both = 0, different = 0;
  trie_.wides[trie_.nodes[node].wide - 1].bytes.ForEach([&](uint8_t byte) {
    both += x[byte] && y[byte];
    different += x[byte] && y[byte] && x[byte] != y[byte];
  });
  return 2 * different > both && LoopWithFactor(node, Canonical(a));
}

// Works off the wide nodes: by a factor where the state loops, else child by child, live bytes only.
void MaskBuilder::Drain(size_t base, uint32_t* row) {
  while (stack_.size() > base) {
    const Visit at = stack_.back();
    stack_.pop_back();
    ++visits_;
    if (ReadsTexts(at.state)) {
      BuildTexts(at.node, at.state, row);
      continue;
    }
    if (ReadsOneByte(at.state)) {
      EnterBelow(at.node, at.state, row);
      continue;
    }
    const bool many = trie_.CountBelow(at.node) >= kSomeTokens;
    if (at.node && factoring_.At(at.node, 0) && (many || Looked(at.state))) {
      const State q = Canonical(at.state);
      const Plan plan = PlanOf(q, 0);
      if (const State loops = plan.how == Plan::kSplit ? State{} : LoopWithFactor(at.node, q)) {
        const Loop& loop = LoopOf(loops);
        BuildInner(at.node, loops, loop, row);
        if (plan.how == Plan::kShared) Correct(at.node, q, plan.model, row);
        continue;
      }
      if (many && plan.HasParts()) {
        const std::vector<State> parts = PartsOf(q, plan);
        const auto quick = [&](State a) { return ReadsTexts(a) || HasFactor(at.node, LoopOf(Canonical(a))); };
        if (std::any_of(parts.begin(), parts.end(), quick)) {
          for (State a : parts) AddPart(at.node, a, row);
          continue;
        }
      }
    }
    const Trie::Node& node = trie_.nodes[at.node];
    if (!node.wide || !FewAlive(trie_, at.node, at.state)) {
      Scan(node.depth, at.node + 1, node.end, at.state, row);
      continue;
    }
    ForEachLiveRun(trie_, at.node, acceptor_->Live(at.state), [&](uint32_t first, uint32_t end) {
      Scan(trie_.nodes[at.node].depth, first, end, at.state, row);
    });
  }
}

template <class P>
void MaskBuilder::WalkSuffixes(const SuffixTrie& s, uint32_t node, State q, uint32_t low, uint32_t high, P passes,
                               bool itself, uint32_t* row) {
  const Trie& trie = s.trie;
  const bool all = low == 0 && high >= s.max_chars[trie.nodes[node].byte];
  const auto set = [=, order = trie.order.data, chars = s.chars](uint32_t i, uint32_t last) {
    if (all) {
      for (; i < last; ++i)
        if (passes(i)) SetToken(order[i], row);
      return;
    }
    for (; i < last; ++i)
      if (chars[i] >= low && chars[i] <= high && passes(i)) SetToken(order[i], row);
  };
  if (itself) set(trie.TokensBegin(node), trie.TokensEnd(node));
  const size_t base = stack_.size();
  stack_.emplace_back(node, q);
  while (stack_.size() > base) {
    Visit at = stack_.back();
    stack_.pop_back();
    ++visits_;
    if (!Follow(trie, &at.node, &at.state, set)) continue;
    const Trie::Node& top = trie.nodes[at.node];
    const auto sweep = [&](uint32_t first, uint32_t end) {
      const auto never = [](uint32_t, State) { return false; };
      Sweep(trie, top.depth, first, end, at.state, set, never, [&](uint32_t below, State state) {
        if (!trie.nodes[below].wide && !ReadsOneByte(state)) return false;
        stack_.emplace_back(below, state);
        return true;
      });
    };
    if (top.wide)
      ForEachLiveRun(trie, at.node, acceptor_->Live(at.state), sweep);
    else
      sweep(at.node + 1, top.end);
  }
}

}  // namespace tokamata
