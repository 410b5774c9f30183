#include "decode/csrc/lexed_mask.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"
#include "automata/csrc/utf8.h"
#include "decode/csrc/rows.h"

namespace tokamata {
namespace {

constexpr uint32_t kManyTokens = 256;  // below a node, from which its rows are kept
constexpr uint32_t kSomeTokens = 8;    // from which a row is worth more than walking
constexpr uint32_t kFewInside = 64;    // tokens inside a lexeme, up to which they are kept with those that leave it
constexpr uint32_t kFewTokens = 3;     // up to which walking takes no longer than to look up what was found before
constexpr size_t kFewPlaces = 500;     // up to which each is entered where parents of nodes are not known yet
constexpr size_t kFewerPlaces = 4;     // the same where they are
constexpr size_t kMostBytes = size_t{48} << 20, kMostFoundBytes = size_t{24} << 20;
// Cutting ambiguous stacks off further down costs more than asking the few tokens left over for each of them.
constexpr uint32_t kDepths[] = {1, 2, 3, 4, 6, 8};

template <class T>
std::unique_ptr<T> TakeSpare(std::vector<std::unique_ptr<T>>* spare) {
  if (spare->empty()) return std::make_unique<T>();
  std::unique_ptr<T> taken = std::move(spare->back());
  spare->pop_back();
  return taken;
}

// Where one lexeme may end and the next one begin at any byte, the same positions are reached over and over.
void DropRepeated(std::vector<Position>* positions) {
  if (positions->size() < 2) return;
  std::sort(positions->begin(), positions->end(), [](const Position& a, const Position& b) {
    return std::tie(a.lexer, a.pending, a.stacks) < std::tie(b.lexer, b.pending, b.stacks);
  });
  positions->erase(std::unique(positions->begin(), positions->end()), positions->end());
}

}  // namespace

LexedMask::LexedMask(LexedGrammar* grammar, const Vocabulary* vocabulary)
    : grammar_(grammar),
      vocabulary_(vocabulary),
      factoring_(vocabulary->Masks()),
      trie_(factoring_.trie()),
      words_(factoring_.Words()),
      most_bytes_(kMostBytes) {}

void LexedMask::Write(const Tokens& tokens, uint32_t* row) const {
  for (const uint32_t id : tokens.ids) SetToken(id, row);
  if (!tokens.row.empty()) OrRow(tokens.row.data(), words_, row);
}

void LexedMask::Append(const uint32_t* ids, size_t count, Tokens* to) {
  if (to->row.empty()) {
    to->ids.insert(to->ids.end(), ids, ids + count);
    if (to->ids.size() <= words_) return;
    to->row.assign(words_, 0);
    std::vector<uint32_t> all;
    all.swap(to->ids);
    return Append(all.data(), all.size(), to);
  }
  for (size_t i = 0; i < count; ++i) SetToken(ids[i], to->row.data());
}

void LexedMask::Merge(const Tokens& from, Tokens* to) {
  if (!from.row.empty()) return MergeRow(from.row.data(), to);
  Append(from.ids.data(), from.ids.size(), to);
}

void LexedMask::MergeRow(const uint32_t* row, Tokens* to) {
  if (to->row.empty()) {
    to->row.assign(row, row + words_);
    for (const uint32_t id : to->ids) SetToken(id, to->row.data());
    to->ids.clear();
  } else {
    OrRow(row, words_, to->row.data());
  }
}

uint64_t LexedMask::Add(uint32_t state, uint32_t* row) {
  const bool full = bytes_ > most_bytes_;
  if (full || found_bytes_ > kMostFoundBytes) {
    found_.clear();
    found_ids_ = IdTable();
    blocks_.clear();
    found_bytes_ = room_left_ = 0;
  }
  if (full) {
    rows_.clear();
    levels_.clear();
    bytes_ = 0;
  }
  grammar_->PositionsOf(state, &positions_);
  for (const Position& p : positions_) AddPosition(p, row);
  const Position& first = positions_.front();
  const uint32_t lexing = Number(first.lexer, first.pending);
  return MixHash(PairKey(grammar_->stacks().Truncate(first.stacks, kDepths[0]), lexing) + positions_.size()) | 1;
}

const void** LexedMask::Shared(uint32_t state) {
  grammar_->PositionsOf(state, &positions_);
  if (positions_.size() != 1) return nullptr;
  const Position& p = positions_[0];
  const Lexer::State lexer = p.lexer == Position::kBoundary ? grammar_->steps().Begin(p.stacks) : p.lexer;
  if (!lexer || grammar_->stacks().HasFewLevels(p.stacks)) return nullptr;
  const uint32_t lexing = Number(lexer, p.pending);
  for (const uint32_t depth : kDepths) {
    const auto level = levels_.find(PairKey(grammar_->stacks().Truncate(p.stacks, depth), lexing));
    if (level == levels_.end()) return nullptr;
    if (level->second->blocked.empty()) return &level->second->shared[grammar_->IsFinal(state)];
  }
  return nullptr;
}

void LexedMask::AddPosition(const Position& p, uint32_t* row) {
  const Lexer::State lexer = p.lexer == Position::kBoundary ? grammar_->steps().Begin(p.stacks) : p.lexer;
  if (!lexer) return;
  ParserStates& stacks = grammar_->stacks();
  if (stacks.HasFewLevels(p.stacks)) {
    Level level;
    Walk(0, {lexer, p.pending, p.stacks}, &level);
    return Write(level.tokens, row);
  }
  const uint32_t lexing = Number(lexer, p.pending);
  Write(RowAt(0, lexing).inside, row);
  const Level* before = nullptr;
  for (const uint32_t depth : kDepths) {
    const Set cut = stacks.Truncate(p.stacks, depth);
    const bool whole = !stacks.HasVariables(cut);
    before = &LevelOf(cut, lexing, before);
    Write(before->tokens, row);
    if (before->blocked.empty() || whole) return;
  }
  Write(LevelOf(p.stacks, lexing, before).tokens, row);
}

uint32_t LexedMask::Number(Lexer::State lexer, Lexer::State pending) {
  const auto [it, added] = lexing_ids_.emplace(PairKey(lexer, pending), static_cast<uint32_t>(lexings_.size()));
  if (added) lexings_.push_back({lexer, pending});
  return it->second;
}

// What a lexing and stacks allow beyond tokens inside the lexeme and what the level before has found out.
const LexedMask::Level& LexedMask::LevelOf(Set stacks, uint32_t lexing, const Level* before) {
  const auto known = levels_.find(PairKey(stacks, lexing));
  if (known != levels_.end()) return *known->second;
  auto level = std::make_unique<Level>();
  if (!before) {
    ApplyEnds(0, lexing, stacks, level.get());
  } else {
    path_.Start({lexings_[lexing].lexer, lexings_[lexing].pending, stacks});
    for (const Blocked& b : before->blocked) Retry(b, &path_, level.get());
  }
  std::stable_sort(level->blocked.begin(), level->blocked.end(),
                   [](const Blocked& a, const Blocked& b) { return a.node < b.node; });
  bytes_ += sizeof(Level) + (level->tokens.ids.size() + level->tokens.row.size()) * sizeof(uint32_t) +
            level->blocked.size() * sizeof(Blocked) + 64;
  return *(levels_[PairKey(stacks, lexing)] = std::move(level));
}

LexedMask::Answer LexedMask::Ask(const Position& p) {
  if (p.stacks == ParserStates::kUnknown) return Answer::kUnknown;
  if (grammar_->stacks().HasVariables(p.stacks))
    return grammar_->completable().EndsFreelyAt(p) ? Answer::kYes : Answer::kUnknown;
  return grammar_->completable().Ask(p) ? Answer::kYes : Answer::kNo;
}

// ---------------------------------------------------------------------------------------------- inside one lexeme

const ByteSet& LexedMask::FollowOf(uint32_t accepted) {
  static const ByteSet all = ByteSet::All();
  const std::vector<ByteSet>& follow = grammar_->Rules().follow;
  if (accepted < follow.size()) return follow[accepted];
  if (accepted < Lexer::kFirstSet) return all;  // a newline
  const auto [known, added] = follow_.try_emplace(accepted);
  if (added)
    grammar_->lexer().ForEachAccepted(accepted, [&](uint32_t t) { known->second = known->second | follow[t]; });
  return known->second;
}

// Whether every character of a class leads back to a state, so that what is inside or leaves the class below a node is
// known; a lexeme that may end there must surely go on inside the class.
bool LexedMask::Loops(Lexer::State state, const CharacterClass& c) {
  Lexer& lexemes = grammar_->lexer();
  const Lexer::State* row = lexemes.DenseRow(state);
  bool loops = true;
  c.ascii.ForEach([&](uint8_t b) { loops = loops && row[b] == state; });
  if (!loops || lexemes.IsGuarded(state) || EndingBytes(state).Intersects(c.ascii)) return false;
  return !c.non_ascii || LeadsBeyondAscii(state, state);
}

ByteSet LexedMask::EndingBytes(Lexer::State state) {
  Lexer& lexemes = grammar_->lexer();
  if (!lexemes.IsFinal(state)) return {};
  ByteSet follow = FollowOf(lexemes.Accepted(state));
  const Lexer::State longer = lexemes.Pending(state);
  const Lexer::State* more = longer ? lexemes.DenseRow(longer) : nullptr;
  for (int b = 0; more && b < 0x80; ++b)
    if (more[b] && lexemes.IsFinal(more[b])) follow.Remove(static_cast<uint8_t>(b));
  return follow;
}

bool LexedMask::LeadsBeyondAscii(Lexer::State from, Lexer::State to) {
  Lexer& lexemes = grammar_->lexer();
  const Lexer::State* row = lexemes.DenseRow(from);
  if (EndingBytes(from).Intersects(ByteSet::Range(0x80, 0xFF))) return false;
  struct Inside {  // of a character
    Lexer::State state;
    uint8_t phase;
  };
  std::vector<Inside> work;
  const auto go = [&](Lexer::State next, uint8_t phase) {
    if (!next || (phase ? lexemes.IsFinal(next) : next != to)) return false;
    const auto same = [&](const Inside& i) { return i.state == next && i.phase == phase; };
    if (phase && std::none_of(work.begin(), work.end(), same)) work.push_back({next, phase});
    return true;
  };
  for (int b = 0x80; b < 0x100; ++b) {
    const uint8_t phase = Utf8LeadPhase(static_cast<uint8_t>(b));
    if (phase ? !go(row[b], phase) : row[b] != Lexer::kDead) return false;
  }
  for (size_t i = 0; i < work.size(); ++i) {
    const Inside at = work[i];
    const Utf8Phase& p = kUtf8Phases[at.phase];
    const Lexer::State* next = lexemes.DenseRow(at.state);
    for (int b = 0; b < 0x100; ++b) {
      const bool inside = b >= p.low && b <= p.high;
      if (inside ? !go(next[b], p.next) : next[b] != Lexer::kDead) return false;
    }
  }
  return true;
}

// The class with the most tokens over which a state loops, or -1.
int8_t LexedMask::LoopOf(Lexer::State state) {
  constexpr int8_t kNotAsked = -2, kNone = -1;
  if (state >= loop_of_.size()) loop_of_.resize(std::max<size_t>(state + 1, loop_of_.size() * 2), kNotAsked);
  if (loop_of_[state] == kNotAsked) {
    int8_t best = kNone;
    for (int c = 0; c < kHan; ++c) {
      const bool more = best < 0 || factoring_.At(0, c)->inside.size() > factoring_.At(0, best)->inside.size();
      if (more && Loops(state, CharacterClasses()[static_cast<size_t>(c)])) best = static_cast<int8_t>(c);
    }
    loop_of_[state] = best;
  }
  return loop_of_[state];
}

const LexedMask::Around& LexedMask::AroundOf(Lexer::State state) {
  const auto known = around_.find(state);
  return known != around_.end() ? known->second : around_.emplace(state, FindAround(state)).first->second;
}

LexedMask::Around LexedMask::FindAround(Lexer::State state) {
  constexpr int kMostExcluded = 16;
  constexpr size_t kSomeInside = 48;
  Around around;
  around.from = state;
  Lexer& lexemes = grammar_->lexer();
  const Lexer::State* row = lexemes.DenseRow(state);
  std::vector<std::pair<Lexer::State, int>> targets;  // of bytes of ASCII, with how many these are
  for (int b = 0; b < 0x80; ++b) {
    if (!row[b]) continue;
    const auto same = std::find_if(targets.begin(), targets.end(), [&](const auto& t) { return t.first == row[b]; });
    if (same == targets.end())
      targets.emplace_back(row[b], 1);
    else
      ++same->second;
  }
  if (targets.empty() || lexemes.IsGuarded(state)) return around;
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  around.loop = std::max_element(targets.begin(), targets.end(), fewer)->first;
  if (lexemes.IsGuarded(around.loop)) return around;
  const auto elsewhere = [&](Lexer::State from) {
    ByteSet bytes = EndingBytes(from);
    const Lexer::State* next = lexemes.DenseRow(from);
    for (int b = 0; b < 0x80; ++b)
      if (next[b] != around.loop) bytes.Add(static_cast<uint8_t>(b));
    return bytes & ByteSet::Range(0, 0x7F);
  };
  const ByteSet excluded = elsewhere(around.loop), apart = elsewhere(state);
  std::optional<bool> beyond;
  size_t best = kSomeInside;
  for (int c = 0; c < kHan; ++c) {
    const CharacterClass& characters = CharacterClasses()[static_cast<size_t>(c)];
    const ByteSet without = characters.ascii & excluded, not_first = characters.ascii & apart;
    if (without.Count() > kMostExcluded) continue;
    const Factor& factor = *factoring_.At(0, c);
    size_t lost = 0;  // tokens, and places to look at
    without.ForEach([&](uint8_t b) { lost += factoring_.TokensWithByte(b); });
    not_first.ForEach([&](uint8_t b) { lost += factoring_.TokensFrom(b); });
    if (without.Any()) lost += factor.exit_offsets[factor.exit_bytes.Count()];
    if (factor.inside.size() <= best + lost) continue;
    if (characters.non_ascii) {
      if (!beyond) beyond = LeadsBeyondAscii(state, around.loop) && LeadsBeyondAscii(around.loop, around.loop);
      if (!*beyond) continue;
    }
    best = factor.inside.size() - lost;
    around.class_id = static_cast<int8_t>(c);
    around.excluded = without;
    around.apart = not_first;
  }
  return around;
}

std::optional<LexedMask::Around> LexedMask::AroundAt(uint32_t node, const Lexing& entered) {
  constexpr uint32_t kManyBelow = 2000;
  if (entered.pending || !factoring_.At(node, 0)) return std::nullopt;
  if (trie_.CountBelow(node) >= kManyBelow) {
    const Around& around = AroundOf(entered.lexer);
    // What lies above a node would count as read: tokens are listed by all of their bytes.
    const uint32_t depth = trie_.nodes[node].depth;
    const std::string_view path = vocabulary_->Token(trie_.order[trie_.nodes[node].tokens]).substr(0, depth);
    const auto excluded = [&](char b) { return around.excluded.Has(static_cast<uint8_t>(b)); };
    if (around.class_id != Around::kNone && std::none_of(path.begin(), path.end(), excluded)) return around;
  }
  const int8_t loop = LoopOf(entered.lexer);
  return loop < 0 ? std::nullopt : std::optional<Around>({entered.lexer, entered.lexer, loop, {}, {}});
}

// The table of that class below a node; null where there is none.
const Factor* LexedMask::FactorAt(uint32_t node, Lexer::State state, Lexer::State pending) {
  if (pending || !factoring_.At(node, 0)) return nullptr;
  const int8_t loop = LoopOf(state);
  return loop < 0 ? nullptr : factoring_.At(node, loop);
}

// A place inside a lexeme.
struct LexedMask::LexemeAt {
  Lexer::State state;
  const Lexer::State* row;
  const Lexer::State* pending;  // the row of what is pending, or null
  const Lexer::State* longer;   // where the state is final: the row of what is pending then, or null
  bool ends, guarded;
  const ByteSet* follow;  // where it is final: the bytes that may come after the lexeme
};

// What a row is made of: tokens, exits and the rows of nodes with many tokens.
struct LexedMask::RowParts {
  struct Stretch {  // of siblings with all below them
    uint32_t begin, end;
    Lexer::State lexer, pending;  // above them
  };
  static constexpr uint32_t kNoGroup = 0xffffffff;
  struct Group {
    Exit exit;
    uint32_t next;  // group of this byte
  };
  std::vector<LexemeAt> path;
  std::vector<Stretch> walks;
  std::vector<std::pair<uint32_t, uint32_t>> below;  // nodes with many tokens, and lexings
  std::vector<uint32_t> ids;
  std::map<uint64_t, std::vector<uint32_t>> asked;  // by where tokens end
  std::vector<uint32_t> row;  // further tokens, where they are many
  uint64_t row_end;           // where they end, or 0 if freely
  std::vector<Group> groups;
  std::vector<std::pair<uint32_t, uint32_t>> places;  // groups and nodes
  uint32_t heads[256];                                // groups by byte

  void Clear() {
    walks.clear();
    below.clear();
    ids.clear();
    asked.clear();
    row.clear();
    groups.clear();
    places.clear();
    std::fill_n(heads, 256, kNoGroup);
  }
  uint32_t GroupOf(uint32_t terminal, Lexer::State pending, Lexer::State next, uint8_t byte) {
    const Lexer::State on = pending ? Lexer::State{Lexer::kDead} : next;
    for (uint32_t g = heads[byte]; g != kNoGroup; g = groups[g].next) {
      const Exit& e = groups[g].exit;
      if (e.terminal == terminal && e.pending == pending && e.on == on) return g;
    }
    groups.push_back({{terminal, pending, on, byte, 0, 0}, heads[byte]});
    return heads[byte] = static_cast<uint32_t>(groups.size() - 1);
  }
  void Place(uint32_t group, uint32_t node) {
    ++groups[group].exit.count;
    places.emplace_back(group, node);
  }
};

LexedMask::~LexedMask() = default;

Lexer::State LexedMask::Near(uint32_t node, Lexer::State state, Lexer::State pending) {
  if (pending || !grammar_->lexer().HasCounters()) return state;
  if (state >= counted_.size()) counted_.resize(std::max<size_t>({state + 1, counted_.size() * 2, 64}));
  if (!counted_[state].asked) {
    Counted counted{true};
    Completable& completable = grammar_->completable();
    if (!grammar_->lexer().Counts(state, &counted.star, &counted.high) || !completable.EndsFreely(state) ||
        !completable.EndsFreely(counted.star))
      counted.star = Lexer::kDead;
    counted_[state] = counted;
  }
  const Counted& counted = counted_[state];
  return counted.star && counted.high > trie_.Height(node) ? counted.star : state;
}

LexedMask::LexemeAt LexedMask::Enter(Lexer::State q, Lexer::State pending) {
  Lexer& lexemes = grammar_->lexer();
  LexemeAt at{q, lexemes.DenseRow(q), pending ? lexemes.DenseRow(pending) : nullptr, nullptr, lexemes.IsFinal(q), lexemes.IsGuarded(q), nullptr};
  if (at.ends && !at.guarded) at.follow = &FollowOf(lexemes.Accepted(q));
  const Lexer::State longer = at.ends && !at.guarded ? lexemes.Pending(q) : Lexer::State{Lexer::kDead};
  if (longer) at.longer = lexemes.DenseRow(longer);
  return at;
}

// What a state allows below a node from which characters lead to one that loops over them: the tables know the tokens
// inside and the ways out, and the trie where bytes are that lead elsewhere.
void LexedMask::WalkAround(uint32_t node, const Around& around, RowParts* parts) {
  const Trie::Node* nodes = trie_.nodes.data;
  const Factor& factor = *factoring_.At(node, around.class_id);
  Lexer& lexemes = grammar_->lexer();
  const LexemeAt first = Enter(around.from, Lexer::kDead), on = Enter(around.loop, Lexer::kDead);
  std::vector<uint32_t> dropped;  // tokens that are not inside, as a row
  const auto drop = [&](uint32_t id) { SetToken(id, dropped.data()); };
  if (around.excluded.Any() || around.apart.Any()) dropped.assign(words_, 0);
  // ---- places where tokens leave
  std::vector<uint32_t> ways;
  around.apart.ForEach([&](uint8_t b) {
    const uint32_t child = trie_.Child(node, b);
    if (child == kNoIndex) return;
    ways.push_back(child);
    std::for_each(trie_.order.begin() + nodes[child].tokens, trie_.order.begin() + nodes[nodes[child].end].tokens, drop);
  });
  around.excluded.ForEach([&](uint8_t b) {
    const std::vector<uint32_t>& all = factoring_.NodesWith(b);
    const auto begin = std::upper_bound(all.begin(), all.end(), node);
    ways.insert(ways.end(), begin, std::lower_bound(begin, all.end(), nodes[node].end));
    if (const uint32_t* with = factoring_.RowContaining(b))
      OrRow(with, words_, dropped.data());
    else if (const ByteIndex* index = factoring_.Containing(b))
      std::for_each(index->ids.begin(), index->ids.end(), drop);
  });
  const size_t by_bytes = ways.size();
  const auto is_apart = [&](uint32_t n) {  // with only such places before, in order
    const auto after = std::upper_bound(ways.begin(), ways.begin() + static_cast<ptrdiff_t>(by_bytes), n);
    return after != ways.begin() && n < nodes[after[-1]].end;
  };
  const bool all_ways = around.excluded.Any();  // also those that lead nowhere: what lies below them does, too
  factor.exit_bytes.ForEach([&](uint8_t b) {
    if (!all_ways && !first.ends && !on.ends && !first.row[b] && !on.row[b]) return;
    for (const FactorExit& way : factor.ExitsBy(b))
      if (all_ways || !by_bytes || !is_apart(way.node)) ways.push_back(way.node);
  });
  if (all_ways) std::sort(ways.begin(), ways.end());
  uint32_t below = 0;  // the end of what lies below the last one
  for (const uint32_t n : ways) {
    if (all_ways && n < below) continue;
    below = nodes[n].end;
    const LexemeAt& at = nodes[n].depth == nodes[node].depth + 1 ? first : on;
    const uint8_t b = nodes[n].byte;
    if (!grammar_->steps().IsText(b)) continue;
    if (at.row[b]) {
      parts->walks.push_back({n, nodes[n].end, at.state, Lexer::kDead});
      continue;
    }
    if (!at.ends || !at.follow->Has(b)) continue;
    const Lexer::State longer = at.longer ? at.longer[b] : Lexer::State{Lexer::kDead};
    if (!longer || !lexemes.IsFinal(longer))
      parts->Place(parts->GroupOf(lexemes.Accepted(at.state), longer, Lexer::kDead, b), n);
  }
  // ---- tokens inside
  const uint64_t end = grammar_->completable().EndsFreely(on.state) ? 0 : PairKey(on.state, Lexer::kDead);
  const uint32_t least = factor.offsets[1];  // those before it end at the node
  if (!node && factor.row != kNoIndex) {
    const uint32_t* all = factoring_.Row(factor.row);
    parts->row.assign(all, all + words_);
    parts->row_end = end;
    for (uint32_t i = 0; i < least; ++i) ClearToken(factor.inside[i], parts->row.data());
    for (uint32_t w = 0; w < dropped.size(); ++w) parts->row[w] &= ~dropped[w];
  } else {
    std::vector<uint32_t>& to = end ? parts->asked[end] : parts->ids;
    std::copy_if(factor.inside.begin() + least, factor.inside.end(), std::back_inserter(to),
                 [&](uint32_t id) { return dropped.empty() || !HasToken(dropped.data(), id); });
  }
  TimeLimit::Spend(static_cast<int64_t>(1 + trie_.CountBelow(node) / 16 + ways.size()));
}

// The tokens and exits below a node that was entered so, but for those of nodes with many tokens.
void LexedMask::WalkLexeme(uint32_t node, const Lexing& entered, RowParts* parts) {
  using At = LexemeAt;
  Lexer& lexemes = grammar_->lexer();
  Completable& completable = grammar_->completable();
  const Positions& steps = grammar_->steps();
  const Trie::Node* nodes = trie_.nodes.data;
  const uint32_t* order = trie_.order.data;
  uint64_t last = 0;
  std::vector<uint32_t>* to = nullptr;  // where tokens go that end like the last one
  const auto ends_at = [&](Lexer::State state, Lexer::State pending) {
    if (PairKey(state, pending) != last) {
      last = PairKey(state, pending);
      to = !pending && completable.EndsFreely(state) ? &parts->ids : &parts->asked[last];
    }
    return to;
  };
  // What a state that loops over a class allows below a node: its table knows the tokens inside and the ways out.
  const auto loop = [&](uint32_t below, const Factor& factor, const At& at) {
    std::vector<uint32_t>* tokens = ends_at(at.state, Lexer::kDead);
    tokens->insert(tokens->end(), factor.inside.begin() + factor.offsets[1], factor.inside.end());
    (at.ends ? factor.exit_bytes : factor.exit_bytes & lexemes.Live(at.state)).ForEach([&](uint8_t b) {
      if (!steps.IsText(b)) return;
      const Span<const FactorExit> ways = factor.ExitsBy(b);
      if (at.row[b]) {
        for (const FactorExit& way : ways)
          parts->walks.push_back({way.node, nodes[way.node].end, at.state, Lexer::kDead});
        return;
      }
      const Lexer::State longer = at.longer ? at.longer[b] : Lexer::State{Lexer::kDead};
      if ((longer && lexemes.IsFinal(longer)) || (at.follow && !at.follow->Has(b))) return;
      const uint32_t group = parts->GroupOf(lexemes.Accepted(at.state), longer, Lexer::kDead, b);
      for (const FactorExit& way : ways) parts->Place(group, way.node);
    });
    TimeLimit::Spend(1 + trie_.CountBelow(below) / 16);
  };
  std::vector<At>& path = parts->path;
  path.resize(trie_.max_depth + 2);
  if (const std::optional<Around> around = AroundAt(node, entered))
    WalkAround(node, *around, parts);
  else
    parts->walks.push_back({node + 1, nodes[node].end, entered.lexer, entered.pending});
  for (size_t w = 0; w < parts->walks.size(); ++w) {
    const RowParts::Stretch walk = parts->walks[w];
    const uint32_t base = nodes[walk.begin].depth - 1;
    path[0] = Enter(walk.lexer, walk.pending);
    for (uint32_t n = walk.begin; n < walk.end;) {
      const Trie::Node& child = nodes[n];
      const uint32_t depth = child.depth - base;
      const At& at = path[depth - 1];
      const Lexer::State pending = at.pending ? at.pending[child.byte] : Lexer::State{Lexer::kDead};
      if (pending && lexemes.IsFinal(pending)) {  // an earlier lexeme was longer
        n = child.end;
        continue;
      }
      if (!steps.IsText(child.byte)) {
        n = child.end;
        continue;
      }
      const Lexer::State next = at.row[child.byte];
      if (at.guarded) {
        lexemes.AnyEnd(at.state, [&](uint32_t accepted, Lexer::State more) {
          const Lexer::State longer = more ? lexemes.Next(more, child.byte) : Lexer::State{Lexer::kDead};
          if (!longer || !lexemes.IsFinal(longer))
            parts->Place(parts->GroupOf(accepted, lexemes.UnionOfPending(pending, longer), next, child.byte), n);
          return false;
        });
      } else if (at.ends && at.follow->Has(child.byte)) {
        const Lexer::State longer = at.longer ? at.longer[child.byte] : Lexer::State{Lexer::kDead};
        if (!longer || !lexemes.IsFinal(longer))
          parts->Place(
              parts->GroupOf(lexemes.Accepted(at.state), lexemes.UnionOfPending(pending, longer), next, child.byte), n);
      }
      if (!next) {
        n = child.end;
        continue;
      }
      const bool leaf = child.end == n + 1;
      const Lexer::State near = leaf ? next : Near(n, next, pending);
      const bool all = !leaf && StaysInside(n, near, pending);
      if (const uint32_t end = nodes[all ? child.end : n + 1].tokens; child.tokens != end) {
        std::vector<uint32_t>* tokens = ends_at(next, pending);
        tokens->insert(tokens->end(), order + child.tokens, order + end);
      }
      if (leaf || all) {
        n = child.end;
        continue;
      }
      if (trie_.CountBelow(n) >= kManyTokens) {
        parts->below.emplace_back(n, Number(near, pending));
        n = child.end;
        continue;
      }
      const At inner = Enter(near, pending);
      if (const Factor* factor = FactorAt(n, near, pending)) {
        loop(n, *factor, inner);
        n = child.end;
        continue;
      }
      path[depth] = inner;
      ++n;
    }
  }
  TimeLimit::Spend(static_cast<int64_t>(parts->ids.size() / 8 + parts->groups.size()));
}

const LexedMask::Row& LexedMask::RowAt(uint32_t node, uint32_t lexing) {
  const auto known = rows_.find(PairKey(node, lexing));
  if (known != rows_.end()) return *known->second;
  const auto [lexer, pending] = lexings_[lexing];
  if (const Lexer::State near = Near(node, lexer, pending); near != lexer) return RowAt(node, Number(near, pending));
  std::unique_ptr<RowParts> parts = TakeSpare(&spare_parts_);
  parts->Clear();
  WalkLexeme(node, Lexing(lexings_[lexing]), parts.get());
  auto row = std::make_unique<Row>();
  Append(parts->ids.data(), parts->ids.size(), &row->inside);
  for (const auto& [below, entered] : parts->below) {
    const Row& part = RowAt(below, entered);
    Merge(part.inside, &row->inside);
    for (const auto& [at, some] : part.asked) {  // ids, below the root
      std::vector<uint32_t>& all = parts->asked[PairKey(at.lexer, at.pending)];
      all.insert(all.end(), some.ids.begin(), some.ids.end());
    }
    for (const Exit& e : part.exits) {
      const uint32_t group = parts->GroupOf(e.terminal, e.pending, e.on, e.byte);
      for (uint32_t i = e.first; i < e.first + e.count; ++i) parts->Place(group, part.nodes[i]);
    }
  }
  if (!parts->row.empty()) {
    if (!parts->row_end) MergeRow(parts->row.data(), &row->inside);
    else parts->asked[parts->row_end];
  }
  for (auto& [key, some] : parts->asked) {
    Tokens tokens{std::move(some), {}};
    if (!parts->row.empty() && key == parts->row_end) MergeRow(parts->row.data(), &tokens);
    bytes_ += (tokens.ids.size() + tokens.row.size()) * sizeof(uint32_t);
    row->asked.emplace_back(Lexing{static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)}, std::move(tokens));
  }
  row->exits.reserve(parts->groups.size());
  for (RowParts::Group& g : parts->groups) {
    g.exit.first = g.next = static_cast<uint32_t>(row->exits.size());
    row->exits.push_back(g.exit);
  }
  std::sort(row->exits.begin(), row->exits.end(), [](const Exit& a, const Exit& b) {
    return std::tie(a.terminal, a.pending, a.byte, a.on) < std::tie(b.terminal, b.pending, b.byte, b.on);
  });
  uint32_t first = 0;
  for (Exit& e : row->exits) {
    parts->groups[e.first].next = first;
    e.first = std::exchange(first, first + e.count);
  }
  row->nodes.resize(first);
  for (const auto& [group, place] : parts->places) row->nodes[parts->groups[group].next++] = place;
  bytes_ += sizeof(Row) + (row->inside.ids.size() + row->inside.row.size()) * sizeof(uint32_t) +
            row->exits.size() * sizeof(Exit) + row->nodes.size() * sizeof(uint32_t) + 64;
  spare_parts_.push_back(std::move(parts));
  return *(rows_[PairKey(node, lexing)] = std::move(row));
}

// ---------------------------------------------------------------------------------------------- past lexemes

void LexedMask::ApplyEnds(uint32_t node, uint32_t lexing, Set stacks, Level* level) {
  const Row& r = RowAt(node, lexing);
  for (uint32_t i = 0; i < r.asked.size(); ++i) ApplyAsked(r, i, node, lexing, stacks, level);
  ApplyExits(r, 0, static_cast<uint32_t>(r.exits.size()), node, lexing, stacks, level);
}

void LexedMask::ApplyAsked(const Row& r, uint32_t asked, uint32_t node, uint32_t lexing, Set stacks, Level* level) {
  const auto& [end, tokens] = r.asked[asked];
  switch (Ask({end.lexer, end.pending, stacks})) {
    case Answer::kNo: return;
    case Answer::kUnknown:
      return level->blocked.push_back({node, lexing, static_cast<uint32_t>(r.exits.size()) + asked, 1});
    case Answer::kYes:
      Merge(tokens, &level->tokens);
  }
}

// The exits of a row from `exit` to `end`, those after the same lexemes side by side.
void LexedMask::ApplyExits(const Row& r, uint32_t exit, uint32_t end, uint32_t node, uint32_t lexing, Set stacks,
                           Level* level) {
  const auto block = [&](uint32_t first, uint32_t last) {
    if (!level->blocked.empty()) {
      Blocked& b = level->blocked.back();
      if (b.node == node && b.lexing == lexing && b.what != Blocked::kNode && b.what + b.count == first) {
        b.count += last - first;
        return;
      }
    }
    level->blocked.push_back({node, lexing, first, last - first});
  };
  for (uint32_t i = exit; i < end;) {
    const uint32_t first = i, terminal = r.exits[i].terminal;
    while (i < end && r.exits[i].terminal == terminal) ++i;
    TimeLimit::Spend(1 + (i - first) / 4);
    const Set after = grammar_->steps().After(stacks, terminal);
    if (after == ParserStates::kNone) continue;
    if (after == ParserStates::kUnknown || grammar_->stacks().Allowed(after) == ParserStates::kUnknown) {
      block(first, i);
      continue;
    }
    const Lexer::State begin = grammar_->steps().Begin(after);
    if (!begin) continue;
    const Lexer::State* const row = grammar_->lexer().DenseRow(begin);
    std::vector<Entry> entries;
    size_t places = 0;
    for (uint32_t x = first; x < i; ++x) {
      const Exit& e = r.exits[x];
      const Position next{row[e.byte], e.pending, after};
      if (!next.lexer || (e.on == next.lexer && AreAlike(next.lexer, after, stacks))) continue;  // as if it went on
      const Answer answer = Ask(next);
      if (answer == Answer::kUnknown) block(x, x + 1);
      if (answer != Answer::kYes) continue;
      entries.push_back({&e, next, grammar_->lexer().DenseRow(next.lexer)});
      places += e.count;
    }
    TimeLimit::Spend(static_cast<int64_t>(places / 4));
    if (places > (parents_.empty() ? kFewPlaces : kFewerPlaces)) {
      for (const auto& [node, entry] : FirstPlaces(r, entries)) {
        AddAt(node, &level->tokens);
        Below(node, entries[entry].next, level);
      }
      continue;
    }
    for (const Entry& entry : entries)
      for (uint32_t k = entry.exit->first; k < entry.exit->first + entry.exit->count; ++k) {
        AddAt(r.nodes[k], &level->tokens);
        Below(r.nodes[k], entry.next, level);
      }
  }
}

// Whether it does not matter which of two sets of stacks comes with what is being read.
bool LexedMask::AreAlike(Lexer::State lexer, Set a, Set b) {
  if (a == b) return true;
  if (grammar_->Rules().indentation) return false;
  return !grammar_->lexer().AnyPossible(lexer, [&](uint32_t t) {
    const Set after = grammar_->steps().After(a, t);
    return after == ParserStates::kUnknown || after != grammar_->steps().After(b, t);
  });
}

// The places of exits after one terminal, with their entries, but for those that one byte above another one of these
// places leads to as well: where a word may end behind each of its letters, the second one begins behind the first.
std::vector<std::pair<uint32_t, uint32_t>> LexedMask::FirstPlaces(const Row& r, const std::vector<Entry>& entries) {
  if (parents_.empty()) {
    parents_.resize(trie_.Size());
    entry_at_.resize(trie_.Size());
    std::vector<uint32_t> path(trie_.max_depth + 1);
    for (uint32_t n = 0; n < trie_.Size(); ++n) {
      const uint32_t depth = trie_.nodes[n].depth;
      parents_[n] = depth ? path[depth - 1] : 0;
      path[depth] = n;
    }
    bytes_ += 2 * trie_.Size() * sizeof(uint32_t);
  }
  const auto for_each = [&](auto f) {
    for (uint32_t x = 0; x < entries.size(); ++x)
      for (uint32_t k = 0; k < entries[x].exit->count; ++k) f(r.nodes[entries[x].exit->first + k], x);
  };
  for_each([&](uint32_t node, uint32_t entry) { entry_at_[node] = entry + 1; });
  std::vector<std::pair<uint32_t, uint32_t>> first;
  for_each([&](uint32_t node, uint32_t entry) {
    const uint32_t above = entry_at_[parents_[node]];
    const Entry& e = entries[entry];
    const bool led_to = above && !e.next.pending && !entries[above - 1].next.pending &&
                        entries[above - 1].row[e.exit->byte] == e.next.lexer;
    if (!led_to) first.emplace_back(node, entry);
  });
  for_each([&](uint32_t node, uint32_t) { entry_at_[node] = 0; });
  return first;
}

void LexedMask::Below(uint32_t node, const Position& p, Level* level) {
  const Trie::Node& at = trie_.nodes[node];
  if (at.end == node + 1) return;
  if (grammar_->stacks().HasFewLevels(p.stacks)) return Walk(node, p, level);
  if (StaysInside(node, p.lexer, p.pending) && grammar_->completable().EndsFreely(p.lexer)) {
    const uint32_t first = trie_.TokensEnd(node);
    return Append(trie_.order.data + first, trie_.TokensBegin(at.end) - first, &level->tokens);
  }
  if (trie_.CountBelow(node) <= kFewTokens) return Walk(node, p, level);
  const Found& found = FoundAt({node, p});
  if (found.inside) Merge(*found.inside, &level->tokens);
  if (found.ids == Found::kRow)
    MergeRow(found.data, &level->tokens);
  else
    Append(found.data, found.ids, &level->tokens);
  const auto* blocked = reinterpret_cast<const Blocked*>(found.data + (found.ids == Found::kRow ? words_ : found.ids));
  level->blocked.insert(level->blocked.end(), blocked, blocked + found.blocked);
}

// Many exits, of other lexemes and over other stacks, lead to the same places.
const LexedMask::Found& LexedMask::FoundAt(const Place& place) {
  const Position& at = place.at;
  const uint64_t hash = MixHash(MixHash(PairKey(place.node, at.lexer)) ^ PairKey(at.pending, at.stacks));
  const StateId known = found_ids_.Find(hash, [&](StateId i) { return found_[static_cast<size_t>(i)].place == place; });
  if (known != kNoState) return found_[static_cast<size_t>(known)];
  std::unique_ptr<Level> level = TakeSpare(&spare_levels_);
  Found found;
  found.place = place;
  if (trie_.CountBelow(place.node) >= kSomeTokens) {
    const uint32_t lexing = Number(at.lexer, at.pending);
    const Tokens& inside = RowAt(place.node, lexing).inside;
    if (inside.row.empty() && inside.ids.size() <= kFewInside)
      Append(inside.ids.data(), inside.ids.size(), &level->tokens);
    else
      found.inside = &inside;
    ApplyEnds(place.node, lexing, at.stacks, level.get());
  } else {
    Walk(place.node, at, level.get());
  }
  if (std::vector<uint32_t>& ids = level->tokens.ids; ids.size() > trie_.CountBelow(place.node)) {  // found many times
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  const std::vector<uint32_t>& tokens = level->tokens.row.empty() ? level->tokens.ids : level->tokens.row;
  found.ids = level->tokens.row.empty() ? static_cast<uint32_t>(tokens.size()) : Found::kRow;
  found.blocked = static_cast<uint32_t>(level->blocked.size());
  uint32_t* const data = Room(tokens.size() + found.blocked * sizeof(Blocked) / sizeof(uint32_t));
  std::copy(tokens.begin(), tokens.end(), data);
  if (found.blocked) std::memcpy(data + tokens.size(), level->blocked.data(), found.blocked * sizeof(Blocked));
  found.data = data;
  level->tokens.ids.clear();
  level->tokens.row.clear();
  level->blocked.clear();
  spare_levels_.push_back(std::move(level));
  found_ids_.Insert(hash, static_cast<StateId>(found_.size()));
  found_.push_back(found);
  found_bytes_ += sizeof(Found) + 16;
  return found_.back();
}

uint32_t* LexedMask::Room(size_t words) {
  constexpr size_t kBlock = 16384;
  if (words > room_left_) {
    const size_t size = std::max(words, kBlock);
    blocks_.push_back(std::unique_ptr<uint32_t[]>(new uint32_t[size]));
    found_bytes_ += size * sizeof(uint32_t);
    room_ = blocks_.back().get();
    room_left_ = size;
  }
  uint32_t* const room = room_;
  room_ += words;
  room_left_ -= words;
  return room;
}

// The tokens below a node, position by position.
void LexedMask::Walk(uint32_t root, const Position& p, Level* level) {
  const Trie::Node* nodes = trie_.nodes.data;
  const uint32_t base = nodes[root].depth, end = nodes[root].end;
  Positions& steps = grammar_->steps();
  std::vector<std::vector<Positions::Ready>>& path = walked_;
  std::vector<Position>& next = moved_;
  const auto enter = [&](uint32_t depth, const Position* from, size_t count) {
    if (path.size() <= depth) path.resize(depth + 1);
    path[depth].clear();
    for (size_t i = 0; i < count; ++i) path[depth].push_back(steps.Prepare(from[i]));
  };
  enter(0, &p, 1);
  for (uint32_t n = root + 1; n < end;) {
    const Trie::Node& child = nodes[n];
    const uint32_t depth = child.depth - base;
    bool unknown = false;
    next.clear();
    if (!steps.IsText(child.byte)) {
      n = child.end;
      continue;
    }
    for (const Positions::Ready& r : path[depth - 1]) unknown = !steps.Move(r, child.byte, &next) || unknown;
    DropRepeated(&next);
    TimeLimit::Spend(static_cast<int64_t>(1 + 4 * (path[depth - 1].size() + next.size())));
    size_t alive = 0;
    for (const Position& q : next) {
      const Answer answer = Ask(q);
      unknown = unknown || answer == Answer::kUnknown;
      if (answer == Answer::kYes) next[alive++] = q;
    }
    if (unknown) level->blocked.push_back({n, 0, Blocked::kNode, 1});
    if (!alive) {
      n = child.end;
      continue;
    }
    AddAt(n, &level->tokens);
    if (child.end > n + 1) enter(depth, next.data(), alive);
    ++n;
  }
}

// Goes on from where the path to the last node parts from the path to this one. Null where deeper stacks are needed.
const Position* LexedMask::Path::To(uint32_t node, LexedMask* masks, size_t* count) {
  const Trie& trie = masks->trie_;
  Positions& steps = masks->grammar_->steps();
  while (node < at_.back().node || node >= trie.nodes[at_.back().node].end) at_.pop_back();
  while (at_.back().node != node && at_.back().known) {
    uint32_t child = at_.back().node + 1;
    while (trie.nodes[child].end <= node) child = trie.nodes[child].end;
    const At from = at_.back();
    At next{child, true, from.end, from.end};
    TimeLimit::Spend(1 + 4 * (from.end - from.first));
    moved_.clear();
    for (uint32_t i = from.first; i < from.end && next.known; ++i)
      next.known = steps.Move(steps.Prepare(positions_[i]), trie.nodes[child].byte, &moved_);
    DropRepeated(&moved_);
    positions_.resize(from.end);
    for (const Position& q : moved_) {
      if (!next.known) break;
      const Answer answer = masks->Ask(q);
      next.known = answer != Answer::kUnknown;
      if (answer == Answer::kYes) positions_.push_back(q);
    }
    next.end = static_cast<uint32_t>(positions_.size());
    at_.push_back(next);
  }
  *count = at_.back().end - at_.back().first;
  return at_.back().known ? positions_.data() + at_.back().first : nullptr;
}

void LexedMask::Retry(const Blocked& b, Path* path, Level* level) {
  size_t count;
  const Position* const positions = path->To(b.node, this, &count);
  if (!positions) return level->blocked.push_back(b);
  if (b.what == Blocked::kNode) {
    if (count) AddAt(b.node, &level->tokens);
    for (size_t i = 0; i < count; ++i) Below(b.node, positions[i], level);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const Position& p = positions[i];
    if (Number(p.lexer, p.pending) != b.lexing) continue;
    const Row& r = RowAt(b.node, b.lexing);
    if (b.what < r.exits.size())
      ApplyExits(r, b.what, b.what + b.count, b.node, b.lexing, p.stacks, level);
    else
      ApplyAsked(r, b.what - static_cast<uint32_t>(r.exits.size()), b.node, b.lexing, p.stacks, level);
  }
}

}  // namespace tokamata
